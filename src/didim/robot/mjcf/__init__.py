"""MJCF, MuJoCo's robot files: `read.py` makes a robot of one, `write.py` a new file of a robot, and
`update.py` replaces values of a file and nothing else.

`tree.py` expands includes, MuJoCo does the rest (`compile.py`). `actuators.py` and `gains.py` have
the loops, `shapes.py` what collides, `refusals.py` what a `Robot` cannot express.
"""
