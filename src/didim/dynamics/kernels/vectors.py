"""Three-vectors as tuples of scalars, which the compiler keeps in registers; used by all other
kernels.
"""

from __future__ import annotations

from typing import Any

from didim.jit.compiled import kernel

Vector = tuple[float, float, float]


@kernel
def get(table: Any, i: int) -> Vector:
    """Row i of a (n, 3) table."""
    return (table[i, 0], table[i, 1], table[i, 2])


@kernel
def put(table: Any, i: int, a: Vector) -> None:
    """Write row i of a (n, 3) table."""
    table[i, 0] = a[0]
    table[i, 1] = a[1]
    table[i, 2] = a[2]


@kernel
def add(a: Vector, b: Vector) -> Vector:
    """a + b"""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel
def scale(k: float, a: Vector) -> Vector:
    """k a"""
    return (k * a[0], k * a[1], k * a[2])


@kernel
def dot(a: Vector, b: Vector) -> float:
    """a . b"""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a: Vector, b: Vector) -> Vector:
    """a x b"""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel
def out_of(R: Any, i: int, a: Vector) -> Vector:
    """R_i a: from the axes of frame i to those of its parent."""
    return (
        R[i, 0, 0] * a[0] + R[i, 0, 1] * a[1] + R[i, 0, 2] * a[2],
        R[i, 1, 0] * a[0] + R[i, 1, 1] * a[1] + R[i, 1, 2] * a[2],
        R[i, 2, 0] * a[0] + R[i, 2, 1] * a[1] + R[i, 2, 2] * a[2],
    )


@kernel
def into(R: Any, i: int, a: Vector) -> Vector:
    """R_i' a: from the axes of the parent of frame i to its own."""
    return (
        R[i, 0, 0] * a[0] + R[i, 1, 0] * a[1] + R[i, 2, 0] * a[2],
        R[i, 0, 1] * a[0] + R[i, 1, 1] * a[1] + R[i, 2, 1] * a[2],
        R[i, 0, 2] * a[0] + R[i, 1, 2] * a[1] + R[i, 2, 2] * a[2],
    )


@kernel
def inertia_times(link: Any, i: int, a: Vector) -> Vector:
    """J_i a, with J_i = [XX XY XZ; XY YY YZ; XZ YZ ZZ] read from row i of the (n, 10) inertial
    parameters.
    """
    return (
        link[i, 0] * a[0] + link[i, 1] * a[1] + link[i, 2] * a[2],
        link[i, 1] * a[0] + link[i, 3] * a[1] + link[i, 4] * a[2],
        link[i, 2] * a[0] + link[i, 4] * a[1] + link[i, 5] * a[2],
    )


@kernel
def first_moment(link: Any, i: int) -> Vector:
    """MS_i = [MX MY MZ] from row i of the (n, 10) inertial parameters."""
    return (link[i, 6], link[i, 7], link[i, 8])


@kernel
def row_times(A: Any, i: int, only: int, x: Any) -> float:
    """Row i of the matrix A (m, n) times the vector x (n,); `only` is its one column that is not
    zero, or -1.
    """
    if only >= 0:
        return float(A[i, only] * x[only])
    total = 0.0
    for k in range(x.size):
        total += A[i, k] * x[k]
    return total
