"""Random expressions, and compiled C."""

from __future__ import annotations

import ctypes
import subprocess

from didim.expressions.expression import Name, Number, operation
from didim.expressions.nodes import BINARY, NUMPY


def random_expression(rng, names, depth):
    """An expression of up to this depth, of all operators."""
    if depth == 0 or rng.random() < 0.1:
        if rng.random() < 0.7:
            return Name(str(rng.choice(names)))
        return Number(float(rng.choice([-2.5, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 1e-3, 1 / 3])))
    operator = str(rng.choice(list(NUMPY)))
    count = 2 if operator in BINARY else 1
    return operation(operator, *(random_expression(rng, names, depth - 1) for _ in range(count)))


def compiled_c(source, folder, name, arguments):
    """A function double name(double, ...) of C source, compiled by the system's compiler."""
    (folder / "code.c").write_text(source)
    library = folder / "code.so"
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off"]
    command = ["cc", *flags, "-shared", "-fPIC", "-o", library, folder / "code.c", "-lm"]
    subprocess.run(command, check=True, timeout=60)
    function = getattr(ctypes.CDLL(str(library)), name)
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * arguments
    return function
