"""Compiled kernels that run the straight-line code of expressions."""
