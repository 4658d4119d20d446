"""Compiled kernels of signals."""
