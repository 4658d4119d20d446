"""The dynamics of one robot as a list of statements: what its geometry makes 0 or 1 is not
computed.

`trace` is arithmetic that writes down what it does, `recursions` and `derivatives` the dynamics in
it. `robot_code`, and for sensitivities `motion_code` and `driven_code`, are the functions that the
simulation calls, as machine code; `export/` writes statements as Python or C.
"""
