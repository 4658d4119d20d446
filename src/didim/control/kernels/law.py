"""The one joint law behind all controllers, compiled.

    e = q_r - q,  s = kp e + ff dq_r - dq,  v = kv s + ki int(e) + kiv int(s),

clipped at the saturation; tau = gain v (8). The controller may add what its own model says: gravity
at q, the whole torque along the reference, or, for computed torque, M(q) (ddq_r + v) + N(q, dq) in
place of v.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from didim.dynamics.kernels.inverse import contact_speed, inverse_dynamics
from didim.dynamics.kernels.tree import Tree, Values, Work
from didim.dynamics.kernels.vectors import row_times
from didim.jit.compiled import kernel
from didim.jit.function_pointers import call_void
from didim.jit.types import float64, int64, record_type

GAINS_ONLY, GRAVITY, FEEDFORWARD, COMPUTED_TORQUE, USER = range(5)
TRUE, BACKWARD_DIFFERENCE, MEAN_DIFFERENCE, NO_VELOCITY = range(4)


class Law(NamedTuple):
    """A controller's numbers, in the units of the control signal v."""

    kp: Any  # (n,) 1/s
    kv: Any  # (n,)
    ki: Any  # (n,)
    kiv: Any  # (n,)
    ff: Any  # (n,) fraction of the reference velocity that is fed forward
    saturation: Any  # (n,) on |v|
    quantum: Any  # (n,) step of the encoder, 0: none
    gain: Any  # (n, n) g of (8)
    ungain: Any  # (n, n) its inverse
    coupled: int  # whether these have entries beside their diagonals
    kind: int  # what the controller adds from its own model, or the user's law
    reads: int  # how much of the reference it reads: positions, velocities too, accelerations too
    velocity: int  # which velocity it uses
    period: float  # s, 0: continuous
    user: int  # address of the user's law
    origin: float  # s, the time that the loop counts from


class ControllerState(NamedTuple):
    """What the law remembers between samples, and scratch."""

    integral: Any  # (2, n) of e and of s
    past: Any  # (2, n) positions at the last two samples
    line: Any  # (delay + 1, n) delay line: commands not yet applied
    count: Any  # (1,) int64 samples so far
    memory: Any  # (m,) the user's
    reference: Any  # (3, n) q_r, dq_r, ddq_r at this instant
    seen: Any  # (2, n) position and velocity as the controller sees them
    error: Any  # (2, n) e and s
    model: Any  # (4, n) motion for the controller's model, and its torque
    slip: Any  # (c,)


_vector, _matrix = float64[::1], float64[:, ::1]
law_type = record_type(Law, *[_vector] * 7, _matrix, _matrix, *[int64] * 4, float64, int64, float64)
controller_state_type = record_type(
    ControllerState, _matrix, _matrix, _matrix, int64[::1], _vector, *[_matrix] * 4, _vector
)


@kernel
def add_model(
    law: Law, tree: Tree, own: Values, controller_state: ControllerState, work: Work, v: Any
) -> None:
    """What the controller's own model adds to v; Coulomb torques by the sign of the reference
    velocity.
    """
    q, dq, ddq, tau = (
        controller_state.model[0],
        controller_state.model[1],
        controller_state.model[2],
        controller_state.model[3],
    )
    for j in range(v.size):
        q[j] = (
            controller_state.reference[0, j]
            if law.kind == FEEDFORWARD
            else controller_state.seen[0, j]
        )
        dq[j] = (
            0.0
            if law.kind == GRAVITY
            else (
                controller_state.reference[1, j]
                if law.kind == FEEDFORWARD
                else controller_state.seen[1, j]
            )
        )
        ddq[j] = 0.0 if law.kind == GRAVITY else controller_state.reference[2, j]
        if law.kind == COMPUTED_TORQUE:
            ddq[j] += v[j]
            v[j] = 0.0
    for c in range(controller_state.slip.size):
        moving = (
            0.0 if law.kind == GRAVITY else contact_speed(own, c, controller_state.reference[1])
        )
        controller_state.slip[c] = 1.0 if moving > 0.0 else (-1.0 if moving < 0.0 else 0.0)
    inverse_dynamics(tree, own, q, dq, ddq, controller_state.slip, work, tau)
    for j in range(v.size):
        v[j] += row_times(law.ungain, j, -1 if law.coupled else j, tau)


@kernel
def find_errors(law: Law, controller_state: ControllerState) -> None:
    """e and s from the reference and the motion that the controller sees."""
    for j in range(law.kp.size):
        controller_state.error[0, j] = (
            controller_state.reference[0, j] - controller_state.seen[0, j]
        )
        controller_state.error[1, j] = (
            law.kp[j] * controller_state.error[0, j]
            + law.ff[j] * controller_state.reference[1, j]
            - controller_state.seen[1, j]
        )


@kernel
def command(
    law: Law, controller_state: ControllerState, t: float, model_code: int, plant: int, v: Any
) -> None:
    """v (n,) before saturation, from the errors and integrals in the controller state.

    `model_code` is the address of a function that does `add_model` for the plant at the address
    `plant`: few laws have a model.

    Implements (53).
    """
    if law.kind == USER:
        reference, seen = controller_state.reference, controller_state.seen
        motion = (reference[0], reference[1], reference[2], seen[0], seen[1])
        call_void(law.user, (law.origin + t, v.size, *motion, controller_state.memory, v))
        return
    for j in range(v.size):
        v[j] = (
            law.kv[j] * controller_state.error[1, j]
            + law.ki[j] * controller_state.integral[0, j]
            + law.kiv[j] * controller_state.integral[1, j]
        )
    if law.kind != GAINS_ONLY:
        call_void(model_code, (plant,))


@kernel
def clip(law: Law, controller_state: ControllerState, v: Any) -> None:
    """Saturate v. An error that would drive it further is taken back from its integral and set to
    zero: anti-windup.
    """
    for j in range(v.size):
        limit = law.saturation[j]
        if abs(v[j]) > limit:
            for k in range(2):
                if (
                    v[j] * controller_state.error[k, j] * (law.ki[j] if k == 0 else law.kiv[j])
                    > 0.0
                ):
                    controller_state.integral[k, j] -= law.period * controller_state.error[k, j]
                    controller_state.error[k, j] = 0.0
            v[j] = limit if v[j] > 0.0 else -limit


@kernel
def see(law: Law, q: Any, dq: Any, controller_state: ControllerState) -> None:
    """Position and velocity as a sampled controller has them: through its encoder and its
    differences.
    """
    first = controller_state.count[0] == 0
    for j in range(q.size):
        step = law.quantum[j]
        position = step * round(q[j] / step) if step > 0.0 else q[j]
        if first:
            controller_state.past[0, j] = position - law.period * dq[j]
            controller_state.past[1, j] = position - 2.0 * law.period * dq[j]
        if law.velocity == BACKWARD_DIFFERENCE:
            controller_state.seen[1, j] = (position - controller_state.past[0, j]) / law.period
        elif law.velocity == MEAN_DIFFERENCE:
            controller_state.seen[1, j] = (position - controller_state.past[1, j]) / (
                2.0 * law.period
            )
        elif law.velocity == NO_VELOCITY:
            controller_state.seen[1, j] = 0.0
        else:
            controller_state.seen[1, j] = dq[j]
        controller_state.seen[0, j] = position
        controller_state.past[1, j] = controller_state.past[0, j]
        controller_state.past[0, j] = position


@kernel
def sampled_command(
    law: Law,
    controller_state: ControllerState,
    t: float,
    q: Any,
    dq: Any,
    model_code: int,
    plant: int,
    v: Any,
) -> None:
    """v (n,) that is applied from this sample on; the integrals include the sample, the delay is in
    whole samples.
    """
    see(law, q, dq, controller_state)
    find_errors(law, controller_state)
    n = v.size
    for j in range(n):
        controller_state.integral[0, j] += law.period * controller_state.error[0, j]
        controller_state.integral[1, j] += law.period * controller_state.error[1, j]
    command(law, controller_state, t, model_code, plant, v)
    clip(law, controller_state, v)
    length = controller_state.line.shape[0]
    if length > 1:
        slot = controller_state.count[0] % length
        for j in range(n):
            if controller_state.count[0] == 0:
                for k in range(length):
                    controller_state.line[k, j] = v[j]
            controller_state.line[slot, j] = v[j]
            v[j] = controller_state.line[(slot + 1) % length, j]
    controller_state.count[0] += 1


@kernel
def continuous_command(
    law: Law,
    controller_state: ControllerState,
    t: float,
    q: Any,
    dq: Any,
    model_code: int,
    plant: int,
    v: Any,
) -> None:
    """v (n,) at this instant; the errors in the controller state are then the derivatives of the
    integrals.
    """
    for j in range(v.size):
        controller_state.seen[0, j] = q[j]
        controller_state.seen[1, j] = dq[j]
    find_errors(law, controller_state)
    command(law, controller_state, t, model_code, plant, v)
    clip(law, controller_state, v)
