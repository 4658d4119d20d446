"""Compiled code: Numba's kernels and their cache, struct pointers, and a robot's own machine
code.
"""
