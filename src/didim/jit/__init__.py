"""Compiled code, and all that touches Numba's and LLVM's internals: no other package imports them.

`compiled` declares and caches kernels, `types` has Numba's types for their signatures,
`struct_pointers` and `function_pointers` hand records and functions over by address, `statements`
and `machine_code` turn straight-line arithmetic into machine code. `docs/decisions/39-numba-range`
says with which versions of Numba this was tested.
"""
