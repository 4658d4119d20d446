"""Compiled kernels of the simulation."""
