"""Compiled code, and all that touches Numba's and LLVM's internals: no other package imports them.

`compiled` declares kernels, `cache` keeps what is compiled, `processor` loads it and `called` calls
it with values of the `types` of its signature. `compiler` has Numba, and is imported when something
must be compiled (`deferred`). `struct_pointers` and `function_pointers` hand records and functions
over by address, `statements` and `machine_code` turn straight-line arithmetic into machine code.
`docs/decisions/39-numba-range` says with which versions of Numba this was tested.
"""
