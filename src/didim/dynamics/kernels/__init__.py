"""Compiled kernels of rigid-body dynamics over flat arrays: single samples for loops, batches for
arrays of samples.
"""
