"""The compiler of kernels, and all that touches Numba's internals: imported when something is
compiled, and not by a process that finds all its kernels compiled.

`kernels` turns a kernel into machine code, `types` makes Numba's types, `inner` leaves inner
kernels to their entries, `intrinsics` and `lanes` are what kernels name that is not Python.
"""
