"""URDF: `read.py` makes a robot of a file, `write.py` a new file of a robot, and `update.py`
replaces values of a file and nothing else.

`tree.py` has joints and links, `xacro.py` recognises macros, `numbers.py` reads and writes numbers,
`shapes.py` has what collides; `extension.py` and `effects.py` have the elements <didim> for what
URDF cannot express.
"""
