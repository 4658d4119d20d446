"""The dynamics of one robot as a list of statements: what its geometry makes 0 or 1 is not
computed.

`trace` is arithmetic that writes down what it does, `recursions` the dynamics in it, `robot_code`
the function that the simulation calls, as machine code; `export/` writes statements as Python or C.
"""
