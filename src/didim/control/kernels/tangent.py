"""The law differentiated: how the control signal changes with the state it sees, its own gains, and
delay and zeros of its reference.

m directions at once. The columns of a direction that is a gain say which of kp, kv, ki, kiv of
which joint; a delay moves the whole reference, q_r(t - delay), a zero adds to that of one joint. A
saturated command has zero derivative, an encoder's steps are taken for a straight line.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from didim.control.kernels.law import (
    BACKWARD_DIFFERENCE,
    COMPUTED_TORQUE,
    FEEDFORWARD,
    GAINS_ONLY,
    GRAVITY,
    MEAN_DIFFERENCE,
    NO_VELOCITY,
    ControllerState,
    Law,
)
from didim.dynamics.kernels.derivatives import add_sliding_derivatives, motion_derivatives
from didim.dynamics.kernels.tree import Tree, Values, Work, place
from didim.jit.compiled import kernel, shared
from didim.jit.lanes import LANES, load, spread, store
from didim.jit.types import float64, int64, record_type


class LawTangent(NamedTuple):
    """Derivatives of the controller state, in m directions, padded to a multiple of LANES."""

    gain: Any  # (6, n) int64 direction of kp, kv, ki, kiv, g, zero of each joint; -1: none
    delay: int  # direction of the reference's delay; -1: none
    error: Any  # (2, n, m) of e and s
    integral: Any  # (2, n, m)
    past: Any  # (2, n, m) of the positions at the last two samples
    line: Any  # (delay + 1, n, m) of the delay line
    v: Any  # (n, m) of the control signal
    drift: Any  # (3, n) rates of q_r, dq_r, ddq_r at this instant
    model: Any  # (n, m) scratch
    M: Any  # (n, n) of the controller's own model; so the next two
    by_q: Any
    by_dq: Any
    ground: Any


_matrix, _cube = float64[:, ::1], float64[:, :, ::1]
law_tangent_type = record_type(
    LawTangent, int64[:, ::1], int64, *[_cube] * 4, _matrix, _matrix, _matrix, *[_matrix] * 4
)


@kernel
def see_tangent(
    law: Law, controller_state: ControllerState, q: Any, dq: Any, T: LawTangent, seen_dq: Any
) -> None:
    """Velocity as a sampled controller has it, and the positions it remembers: q, dq (n, m) in,
    seen_dq (n, m) out.
    """
    first = controller_state.count[0] == 1
    last, before = T.past[0], T.past[1]
    for j in range(q.shape[0]):
        for c in range(0, q.shape[1], LANES):
            at, rate = load(q, j, c), load(dq, j, c)
            if law.velocity == BACKWARD_DIFFERENCE:
                past = at - law.period * rate if first else load(last, j, c)
                rate = (1.0 / law.period) * (at - past)
            elif law.velocity == MEAN_DIFFERENCE:
                past = at - 2.0 * law.period * rate if first else load(before, j, c)
                store(before, j, c, at - law.period * rate if first else load(last, j, c))
                rate = (0.5 / law.period) * (at - past)
            elif law.velocity == NO_VELOCITY:
                rate = spread(0.0)
            store(seen_dq, j, c, rate)
            store(last, j, c, at)


@kernel
def error_tangent(
    law: Law, controller_state: ControllerState, q: Any, dq: Any, integrates: bool, T: LawTangent
) -> None:
    """e, where the law integrates it, and s: minus what is seen, plus e along kp, minus the
    reference's rate along its delay, plus 1 and kp along its zero.
    """
    e, s = T.error[0], T.error[1]
    for j in range(q.shape[0]):
        for c in range(0, q.shape[1], LANES):
            at = load(q, j, c)
            if integrates:
                store(e, j, c, -1.0 * at)
            store(s, j, c, -law.kp[j] * at - load(dq, j, c))
        if T.delay >= 0:
            if integrates:
                T.error[0, j, T.delay] -= T.drift[0, j]
            T.error[1, j, T.delay] -= law.kp[j] * T.drift[0, j] + law.ff[j] * T.drift[1, j]
        if T.gain[0, j] >= 0:
            T.error[1, j, T.gain[0, j]] += controller_state.error[0, j]
        if T.gain[5, j] >= 0:
            if integrates:
                T.error[0, j, T.gain[5, j]] += 1.0
            T.error[1, j, T.gain[5, j]] += law.kp[j]


@kernel
def command_tangent(
    law: Law,
    tree: Tree,
    own: Values,
    controller_state: ControllerState,
    q: Any,
    dq: Any,
    integral: Any,
    work: Work,
    current: Any,
    T: LawTangent,
) -> None:
    """v before the delay line; `current` (n,) is the command itself, to see where it is
    saturated.
    """
    for j in range(q.shape[0]):
        integrates = law.ki[j] != 0.0 or law.kiv[j] != 0.0
        for c in range(0, q.shape[1], LANES):
            v = law.kv[j] * load(T.error[1], j, c)
            if integrates:
                v += law.ki[j] * load(integral[0], j, c) + law.kiv[j] * load(integral[1], j, c)
            store(T.v, j, c, v)
        if T.gain[1, j] >= 0:
            T.v[j, T.gain[1, j]] += controller_state.error[1, j]
        if T.gain[2, j] >= 0:
            T.v[j, T.gain[2, j]] += controller_state.integral[0, j]
        if T.gain[3, j] >= 0:
            T.v[j, T.gain[3, j]] += controller_state.integral[1, j]
    if law.kind != GAINS_ONLY:
        model_tangent(law, tree, own, controller_state, q, dq, work, T)
    for j in range(q.shape[0]):
        if abs(current[j]) >= law.saturation[j]:
            for c in range(0, q.shape[1], LANES):
                store(T.v, j, c, spread(0.0))


@shared
def model_tangent(
    law: Law,
    tree: Tree,
    own: Values,
    controller_state: ControllerState,
    q: Any,
    dq: Any,
    work: Work,
    T: LawTangent,
) -> None:
    """What the controller's own model adds, at the motion that `add_model` left in the controller
    state.
    """
    n, m = q.shape
    gravity, computed = law.kind == GRAVITY, law.kind == COMPUTED_TORQUE
    place(tree, controller_state.model[0], work)
    motion_derivatives(
        tree,
        own,
        controller_state.model[1],
        controller_state.model[2],
        work,
        T.ground,
        T.M,
        T.by_q,
        T.by_dq,
    )
    if tree.terms != 0:
        add_sliding_derivatives(tree.terms, own.term, controller_state.slip, T.by_q, T.by_dq)
    for i in range(n):
        for c in range(0, m, LANES):
            torque = spread(0.0)
            for k in range(n):
                if law.kind != FEEDFORWARD:
                    torque += T.by_q[i, k] * load(q, k, c)
                    torque += (0.0 if gravity else T.by_dq[i, k]) * load(dq, k, c)
                if computed:
                    torque += T.M[i, k] * load(T.v, k, c)
            store(T.model, i, c, torque)
        for k in range(n):
            if T.delay >= 0 and law.kind == FEEDFORWARD:
                T.model[i, T.delay] -= T.by_q[i, k] * T.drift[0, k] + T.by_dq[i, k] * T.drift[1, k]
            if T.delay >= 0 and not gravity:
                T.model[i, T.delay] -= T.M[i, k] * T.drift[2, k]
    for i in range(n):
        for c in range(0, m, LANES):
            v = spread(0.0) if computed else load(T.v, i, c)
            for k in range(n):
                v += law.ungain[i, k] * load(T.model, k, c)
            store(T.v, i, c, v)


@kernel
def counted(law: Law, controller_state: ControllerState, current: Any, k: int, j: int) -> bool:
    """Whether the error entered its integral: anti-windup sets to zero what it takes back from a
    saturated joint.
    """
    return abs(current[j]) < law.saturation[j] or controller_state.error[k, j] != 0.0


@shared
def sampled_tangent(
    law: Law,
    tree: Tree,
    own: Values,
    controller_state: ControllerState,
    q: Any,
    dq: Any,
    work: Work,
    v: Any,
    T: LawTangent,
    seen_dq: Any,
) -> None:
    """T.v (n, m) of the command that is applied from this sample on, after `sampled_command` has
    found it.
    """
    n, m = q.shape
    length = controller_state.line.shape[0]
    slot = (controller_state.count[0] - 1) % length
    current = controller_state.line[slot] if length > 1 else v
    see_tangent(law, controller_state, q, dq, T, seen_dq)
    error_tangent(law, controller_state, q, seen_dq, True, T)
    for k in range(2):
        for j in range(n):
            if counted(law, controller_state, current, k, j):
                for c in range(0, m, LANES):
                    sum_ = load(T.integral[k], j, c) + law.period * load(T.error[k], j, c)
                    store(T.integral[k], j, c, sum_)
    command_tangent(law, tree, own, controller_state, q, seen_dq, T.integral, work, current, T)
    if length > 1:
        oldest = T.line[(slot + 1) % length]
        for j in range(n):
            for c in range(0, m, LANES):
                v = load(T.v, j, c)
                if controller_state.count[0] == 1:
                    for k in range(length):
                        store(T.line[k], j, c, v)
                store(T.line[slot], j, c, v)
                store(T.v, j, c, load(oldest, j, c))
