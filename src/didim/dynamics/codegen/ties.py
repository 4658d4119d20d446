"""Joints that follow a coordinate, on symbols: `kernels/ties.py`, written down for one robot. Where
`tied` is None, every joint is a coordinate.
"""

from __future__ import annotations

from didim.dynamics.codegen.trace import Matrix, Trace, Vector
from didim.dynamics.tied import Tied


def spread(code: Trace, tied: Tied | None, x: Vector, positions: bool = False) -> Vector:
    """(m,) rates of the joints, or their `positions`, from those of the coordinates (n,)."""
    if tied is None:
        return x
    moved = [code.mul(float(r), x[i]) for r, i in zip(tied.ratio, tied.coordinate, strict=True)]
    if not positions:
        return moved
    return [code.add(each, float(c)) for each, c in zip(moved, tied.offset, strict=True)]


def gather_torque(code: Trace, tied: Tied | None, tau: Vector) -> Vector:
    """T' tau (n,) of the torques of the joints (m,)."""
    if tied is None:
        return tau
    found: Vector = [0.0] * (1 + int(tied.coordinate.max()))
    for torque, r, i in zip(tau, tied.ratio, tied.coordinate, strict=True):
        found[i] = code.add(found[i], code.mul(float(r), torque))
    return found


def gather_inertia(code: Trace, tied: Tied | None, M: Matrix) -> Matrix:
    """The lower triangle of T' M T (n, n), from that of the joints (m, m)."""
    if tied is None:
        return M
    found: Matrix = [[0.0] * (i + 1) for i in range(1 + int(tied.coordinate.max()))]
    for k, row in enumerate(M):
        for l, inertia in enumerate(row):
            low, high = sorted((int(tied.coordinate[k]), int(tied.coordinate[l])))
            both = float(tied.ratio[k] * tied.ratio[l]) * (2.0 if low == high and k != l else 1.0)
            found[high][low] = code.add(found[high][low], code.mul(both, inertia))
    return found
