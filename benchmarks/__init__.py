"""Benchmarks beside peers, run by `make bench`: ratios within one process, since times do not carry
between machines.
"""
