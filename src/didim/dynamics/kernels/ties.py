"""Joints that follow a coordinate, q_k = ratio_k q_i + offset_k: from the n coordinates to the m
joints of a tree, and back.

With T (m, n), where T[k, i] = ratio_k, the velocities are T dq, the torques T' tau, the inertia
matrix T' M T. A robot hands the address of its ties on, 0 where it has none, so that they cost
nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from didim.jit.compiled import kernel, spliced
from didim.jit.struct_pointers import struct_reader
from didim.jit.types import float64, int64, record_type


class Ties(NamedTuple):
    """The m joints of a tree over its coordinates, and scratch: one copy per thread."""

    coordinate: Any  # (m,) int64 that a joint follows, or its own
    ratio: Any  # (m,)
    offset: Any  # (m,) rad or m
    motion: Any  # (3, m) scratch: positions, velocities and accelerations of the joints
    none: Any  # (m, m) zeros
    M: Any  # (m, m) scratch; so the next two
    by_q: Any
    by_dq: Any
    W: Any  # (m, at least as many as a regressor has columns) scratch


_vector, _matrix = float64[::1], float64[:, ::1]
ties_type = record_type(Ties, int64[::1], _vector, _vector, *[_matrix] * 6)
read_ties = struct_reader(ties_type)


@spliced
def joint_positions(address: int, q: Any) -> Any:
    """Positions (m,) of the joints at the coordinates q (n,): q itself where none follows."""
    if address == 0:
        return q
    ties = read_ties(address)
    for k in range(ties.ratio.size):
        ties.motion[0, k] = ties.ratio[k] * q[ties.coordinate[k]] + ties.offset[k]
    return ties.motion[0]


@spliced
def joint_rates(address: int, dq: Any, ddq: Any) -> tuple[Any, Any]:
    """Velocities and accelerations (m,) of the joints, T dq and T ddq."""
    if address == 0:
        return dq, ddq
    ties = read_ties(address)
    for k in range(ties.ratio.size):
        ties.motion[1, k] = ties.ratio[k] * dq[ties.coordinate[k]]
        ties.motion[2, k] = ties.ratio[k] * ddq[ties.coordinate[k]]
    return ties.motion[1], ties.motion[2]


@spliced
def joint_torques(address: int, tau: Any) -> Any:
    """Where the torques (m,) of the joints go: tau (n,) itself where none follows."""
    if address == 0:
        return tau
    return read_ties(address).motion[2]


@kernel
def gather_torques(address: int, joints: Any, tau: Any) -> None:
    """tau (n,) = T' joints (m,), unless it is the same."""
    if address != 0:
        ties = read_ties(address)
        for i in range(tau.size):
            tau[i] = 0.0
        for k in range(ties.ratio.size):
            tau[ties.coordinate[k]] += ties.ratio[k] * joints[k]


@kernel
def gather_matrix(ties: Ties, joints: Any, A: Any) -> None:
    """A (n, n) += T' joints (m, m) T."""
    for k in range(ties.ratio.size):
        for l in range(ties.ratio.size):
            both = ties.ratio[k] * ties.ratio[l]
            A[ties.coordinate[k], ties.coordinate[l]] += both * joints[k, l]
