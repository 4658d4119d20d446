"""The dynamics of one robot as a list of statements: what its geometry makes 0 or 1 is not
computed.

`trace` is arithmetic that writes down what it does, `recursions` the dynamics in it, `machine_code`
turns statements into a function that the simulation calls; `export/` writes them as Python or C.
"""
