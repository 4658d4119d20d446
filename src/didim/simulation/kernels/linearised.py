"""The equations of motion linearised at the stages of a step: what d(ddq) is found from.

With M d(ddq) = d(tau) - (d tau/d q) d(q) - (d tau/d dq) d(dq) - W d(chi) - D' d(f), everything but
the sensitivities themselves is known once the stage is. The plain stages of a step are therefore
made first, and the robot's code linearises them side by side. A continuous law of gains alone is
part of the same matrices: d(tau) = -g kv (kp d(q) + d(dq)), and a column for each gain.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from didim.control.kernels.law import ControllerState, Law
from didim.control.kernels.tangent import LawTangent
from didim.dynamics.kernels.tree import Work
from didim.jit.compiled import kernel
from didim.jit.lanes import LANES, load, spread, store
from didim.jit.types import float64, int64, record_type
from didim.simulation.kernels.contact import ContactWorkspace
from didim.simulation.kernels.variation import sort_contacts

STAGES = 4
"""Stages that the robot's code linearises side by side."""


class Linearised(NamedTuple):
    """Of S stages: matrices, and the contacts that are held."""

    motion: Any  # (5, n, S) q, cos(q), sin(q), dq, ddq
    slope: Any  # (n, S) g kv of a law that is in the matrices, 0 where it saturates
    sliding: Any  # (c, S) `slip`
    W: Any  # (S, n, m) regressor, with columns for disturbances and, if the law is in, gains
    by_q: Any  # (S, n, n)
    by_dq: Any  # (S, n, n)
    L: Any  # (S, n, n) factor of M
    slip: Any  # (S, c) what a sliding contact's force is over its limit; 0 where it is held
    held: Any  # (S, c) int64
    column: Any  # (S, c, n) M^-1 D' of the slow contacts
    coupling: Any  # (S, c, c) D M^-1 D' of them


_matrix, _cube = float64[:, ::1], float64[:, :, ::1]
linearised_type = record_type(
    Linearised, _cube, _matrix, _matrix, *[_cube] * 4, _matrix, int64[:, ::1], _cube, _cube
)


@kernel
def keep_motion(S: Linearised, slot: int, q: Any, dq: Any, ddq: Any, work: Work) -> None:
    """Motion of a stage, its sines, and the factor of M there."""
    n = q.size
    for j in range(n):
        S.motion[0, j, slot] = q[j]
        S.motion[1, j, slot] = work.cos[j]
        S.motion[2, j, slot] = work.sin[j]
        S.motion[3, j, slot] = dq[j]
        S.motion[4, j, slot] = ddq[j]
    for i in range(n):
        for k in range(i + 1):
            S.L[slot, i, k] = work.M[i, k]


@kernel
def keep_contacts(S: Linearised, slot: int, contacts: ContactWorkspace, smooth: bool) -> None:
    """Which contacts are held at a stage, and their part of M^-1; what the others' slip is."""
    slip = S.slip[slot]
    sort_contacts(contacts, S.held[slot], slip)
    for i in range(slip.size):
        slip[i] = contacts.smooth[i] if smooth else slip[i]
        S.sliding[i, slot] = slip[i]
    for a in range(contacts.count[0]):
        i = contacts.slow[a]
        for j in range(contacts.column.shape[1]):
            S.column[slot, i, j] = contacts.column[i, j]
        for b in range(contacts.count[0]):
            S.coupling[slot, i, contacts.slow[b]] = contacts.A[i, contacts.slow[b]]


@kernel
def clear_columns(W: Any, first: int) -> None:
    """Zeros into the columns of W (n, m) from `first` on, or from up to LANES before it."""
    for i in range(W.shape[0]):
        for c in range(first - first % LANES, W.shape[1], LANES):
            store(W, i, c, spread(0.0))


@kernel
def keep_law(
    S: Linearised, slot: int, law: Law, controller_state: ControllerState, v: Any, T: LawTangent
) -> None:
    """The slope of a continuous law of gains alone at a stage, and, with the opposite sign, its
    columns in W. A saturated command changes with its drive gain only.

    Implements (53).
    """
    W = S.W[slot]
    for j in range(v.size):
        slope = law.gain[j, j] * law.kv[j] if abs(v[j]) < law.saturation[j] else 0.0
        S.slope[j, slot] = slope
        if slope != 0.0:
            if T.gain[0, j] >= 0:
                W[j, T.gain[0, j]] -= slope * controller_state.error[0, j]
            if T.gain[1, j] >= 0:
                W[j, T.gain[1, j]] -= law.gain[j, j] * controller_state.error[1, j]
            if T.gain[5, j] >= 0:
                W[j, T.gain[5, j]] -= slope * law.kp[j]
            if T.delay >= 0:
                W[j, T.delay] += slope * (law.kp[j] * T.drift[0, j] + law.ff[j] * T.drift[1, j])
        if T.gain[4, j] >= 0:
            W[j, T.gain[4, j]] -= v[j]


@kernel
def law_torque(S: Linearised, slot: int, law: Law, filled: int, x: Any, tau: Any) -> None:
    """tau (n, m) of a law that is in the matrices, at the sensitivities x (s, m) of a stage; its
    columns in W begin at `filled`.
    """
    n, m = tau.shape
    for j in range(n):
        slope = S.slope[j, slot]
        for c in range(0, m, LANES):
            seen = law.kp[j] * load(x, j, c) + load(x, n + j, c)
            store(tau, j, c, -slope * seen)
        for c in range(filled, m):
            tau[j, c] -= S.W[slot, j, c]
