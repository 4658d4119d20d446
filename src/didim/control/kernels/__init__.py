"""Compiled kernels of the control law."""
