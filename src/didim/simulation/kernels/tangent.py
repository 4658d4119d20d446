"""Sensitivities of the closed loop: the derivatives of the discrete step, stage by stage, in m
directions at once.

The directions are the b parameters of the model, disturbances, which are torques s(t) times an
unknown that is zero, gains of the law and of the drive, and delay and zeros of the reference. From
M ddq = tau - N - D' f,

    M d(ddq) = d(tau) - (d tau/d q) d(q) - (d tau/d dq) d(dq) - W d(chi) - D' d(f),

where W is the regressor (2) at the motion itself, with a column s for each disturbance. Contacts
keep what they do: the force of one that slides changes with its Coulomb limit only; one that is
held changes its force so that its velocity still comes to zero within the step, d(u) + h D d(ddq) =
0. Away from a change of these sets the derivatives are those of the simulation itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from didim.control.kernels.law import GAINS_ONLY, ControllerState, Law
from didim.control.kernels.tangent import (
    LawTangent,
    command_tangent,
    counted,
    error_tangent,
    law_tangent_type,
    sampled_tangent,
)
from didim.dynamics.kernels.derivatives import (
    add_smooth_derivatives,
    motion_derivatives,
)
from didim.dynamics.kernels.regressor import add_entries, columns_type
from didim.dynamics.kernels.tree import Tree, Values, Work, place
from didim.jit.compiled import kernel, record_type, spliced
from didim.jit.function_pointers import call_int64
from didim.jit.lanes import LANES, load, store
from didim.jit.struct_pointers import struct_reader
from didim.jit.types import float64, int64
from didim.signals.kernels.piecewise_cubic import PiecewiseCubic, find, slope
from didim.simulation.kernels.contact import SMOOTH, is_held
from didim.simulation.kernels.linearised import (
    STAGES,
    clear_columns,
    keep_contacts,
    keep_law,
    keep_motion,
    law_torque,
    linearised_type,
)
from didim.simulation.kernels.plant import CONTINUOUS, Plant
from didim.simulation.kernels.variation import (
    add_smooth,
    add_terms_tangent,
    advance_rows,
    apply_tangent,
    clear_rows,
    copy_rows,
    driven,
    end_rows,
    jolt,
    keep_held,
    stage_regressor,
    subtract_rows,
)


class Tangent(NamedTuple):
    """The derivatives that a run carries along, and scratch. Columns m are padded to a multiple of
    LANES, those of the outputs are not.
    """

    driven_code: int  # address of the machine code of `driven`, 0: none
    free_code: int  # the same without d(tau), where the law is in the matrices, 0: it is not
    ahead_code: int  # the same at the stages behind the first, where steps are made as a whole
    motion_code: int  # that of derivatives and link columns of the robot, 0: none
    group: int  # stages that are linearised at once
    at: Any  # Linearised
    columns: Any  # of the regressor
    law: Any
    y: Any  # (s, m) of the state: q, dq and, where the law has them, the integrals
    x: Any  # (s, m) of the state at a stage
    K: Any  # (5, s, m) of the rates
    tau: Any  # (n, m) of the torque
    seen: Any  # (n, m) of the velocity that a sampled controller sees
    parameters: int  # columns of W that are those of parameters, b
    filled: int  # and with disturbances and shapes
    M: Any  # (n, n) scratch
    ground: Any
    A: Any  # (c, c) D M^-1 D' of the held contacts, factored
    force: Any  # (c, m)
    share: Any  # (n,) part of a change of torque that reaches the load
    own: Any  # (2, n, n) scratch of `add_terms_tangent`
    jump: Any  # (n,) of the velocity, where contacts are arrested
    jolted: Any  # (n, m) W there
    reach: Any  # (2,) s, how far ahead a stage is, and the one before it
    none: Any  # (max(n, 3),) zeros
    disturbance: Any  # (N, S) torques, linear between the times of the next
    time: Any  # (N,) s
    place: Any  # (2, S) int64 row and column of W of each
    cursor: Any  # (1,) int64 interval of the time before
    first: Any  # (1,) int64 output row that the buffers begin with
    out_tau: Any  # (rows, n, m)
    out_q: Any  # (rows, n, m)


_vector, _matrix, _cube = float64[::1], float64[:, ::1], float64[:, :, ::1]
tangent_type = record_type(
    Tangent,
    *[int64] * 5,
    linearised_type,
    columns_type,
    law_tangent_type,
    _matrix,
    _matrix,
    _cube,
    _matrix,
    _matrix,
    int64,
    int64,
    *[_matrix] * 4,
    _vector,
    _cube,
    _vector,
    _matrix,
    *[_vector] * 2,
    _matrix,
    _vector,
    int64[:, ::1],
    int64[::1],
    int64[::1],
    _cube,
    _cube,
)
read_tangent = struct_reader(tangent_type)


@kernel
def drift(cubic: PiecewiseCubic, i: int, t: float, rates: Any) -> None:
    """Rates of the reference's three signals in interval i, into rates (3, n)."""
    slope(cubic.value, cubic.time, i, t, rates[0])
    slope(cubic.rate, cubic.time, i, t, rates[1])
    slope(cubic.acceleration, cubic.time, i, t, rates[2])


@spliced
def instant_tangent(
    law: Law,
    tree: Tree,
    own: Values,
    controller_state: ControllerState,
    work: Work,
    v: Any,
    T: LawTangent,
    x: Any,
    tau: Any,
    rate: Any,
) -> None:
    """The torque tau (n, m) of a continuous law, and the rates of its integrals, at a stage whose
    sensitivities are x.
    """
    n, m = tau.shape
    q, dq = x[:n], x[n : 2 * n]
    integrates = x.shape[0] > 2 * n
    if integrates:
        for k in range(2):
            copy_rows(x[(2 + k) * n : (3 + k) * n], T.integral[k])
    error_tangent(law, controller_state, q, dq, integrates, T)
    command_tangent(law, tree, own, controller_state, q, dq, T.integral, work, v, T)
    apply_tangent(law.gain, T.v, tau)
    for k in range(2 if integrates else 0):
        for j in range(n):
            enters = 1.0 * counted(law, controller_state, v, k, j)
            for c in range(0, m, LANES):
                store(rate, (2 + k) * n + j, c, enters * load(T.error[k], j, c))


@spliced
def torque_tangent(
    plant: Plant, T: Tangent, slot: int, t: float, recorded: bool, x: Any, rate: Any
) -> None:
    """How the torque changes at sensitivities x (s, m): after a sample of the controller, or at a
    stage of a continuous law; of one that is in the matrices only where it is recorded.
    """
    n = plant.instant.tau.size
    if T.free_code != 0:
        if recorded:
            law_torque(T.at, slot, plant.law, T.filled, x, T.tau)
        return
    if T.law.delay >= 0:
        drift(plant.reference, plant.cursor[0], t, T.law.drift)
    law, tree, own, controller_state, work, v = (
        plant.law,
        plant.own_tree,
        plant.own,
        plant.controller_state,
        plant.work,
        plant.instant.v,
    )
    if plant.drive == CONTINUOUS:
        instant_tangent(law, tree, own, controller_state, work, v, T.law, x, T.tau, rate)
        if law.kind != GAINS_ONLY:  # the controller's own model was placed where the robot was
            for j in range(n):
                work.angle[j] = T.at.motion[0, j, 0]
    else:
        sampled_tangent(
            law, tree, own, controller_state, x[:n], x[n : 2 * n], work, v, T.law, T.seen
        )
        apply_tangent(law.gain, T.law.v, T.tau)
    for j in range(n):
        if T.law.gain[4, j] >= 0:
            T.tau[j, T.law.gain[4, j]] += v[j]
    if plant.enabled >= 0:
        on = plant.instant.channels[plant.enabled]
        for j in range(n):
            for c in range(0, T.tau.shape[1], LANES):
                store(T.tau, j, c, on * load(T.tau, j, c))


@spliced
def release(
    values: Values,
    column: Any,
    coupling: Any,
    held: Any,
    T: Tangent,
    rows: Any,
    dq: Any,
    rate: float,
) -> None:
    """`keep_held`, where any contact is."""
    for i in range(held.size):
        if held[i]:
            keep_held(values.contact, column, coupling, held, T.A, T.force, rows, dq, rate)
            break


@kernel
def add_disturbances(
    disturbance: Any, time: Any, place: Any, cursor: Any, t: float, W: Any
) -> None:
    """Their torques at time t, into their columns of W."""
    i = find(time, t, cursor[0])
    cursor[0] = i
    part = min(max((t - time[i]) / (time[i + 1] - time[i]), 0.0), 1.0)
    for s in range(place.shape[1]):
        torque = (1.0 - part) * disturbance[i, s] + part * disturbance[i + 1, s]
        W[place[0, s], place[1, s]] += torque


@spliced
def keep_stage(plant: Plant, T: Tangent, slot: int, t: float, state: Any, rate: Any) -> None:
    """What a stage, whose time is t, whose state is `state` and whose rates are `rate`, is
    linearised from, and the columns of W that are no parameters.
    """
    n, S = plant.instant.tau.size, T.at
    keep_motion(S, slot, state[:n], state[n : 2 * n], rate[n : 2 * n], plant.work)
    keep_contacts(S, slot, plant.contacts, plant.friction == SMOOTH)
    if T.motion_code == 0 or plant.tree.terms != 0:
        clear_rows(S.W[slot])
    elif T.parameters < S.W.shape[2]:
        clear_columns(S.W[slot], T.parameters)
    if T.place.shape[1] > 0:
        add_disturbances(T.disturbance, T.time, T.place, T.cursor, t, S.W[slot])
    if T.free_code != 0:
        if T.law.delay >= 0:
            drift(plant.reference, plant.cursor[0], t, T.law.drift)
        keep_law(S, slot, plant.law, plant.controller_state, plant.instant.v, T.law)


@spliced
def linearise(plant: Plant, T: Tangent, state: Any, rate: Any) -> None:
    """d tau/d q, d tau/d dq and W of the stages that were kept. Where they are linearised one by
    one, state and rates are `state` and `rate`, and the plant is still as it was there.

    Implements (38).
    """
    n, values, work, S = plant.instant.tau.size, plant.values, plant.work, T.at
    if T.motion_code != 0:
        viscous = (values.viscous, values.viscous_positive, values.viscous_negative)
        motion = (S.motion[0], S.motion[1], S.motion[2], S.motion[3], S.motion[4])
        call_int64(
            T.motion_code,
            (
                *(values.link, *viscous, plant.law.kp, *motion, S.slope, S.sliding),
                *(S.by_q, S.by_dq, S.W, STAGES),
            ),
        )
    if T.group > 1:
        return
    q, dq, ddq = state[:n], state[n : 2 * n], rate[n : 2 * n]
    slip, by_q, by_dq, W = S.slip[0], S.by_q[0], S.by_dq[0], S.W[0]
    if T.motion_code == 0:
        place(plant.tree, q, work)
        motion_derivatives(plant.tree, values, dq, ddq, work, T.ground, T.M, by_q, by_dq)
        stage_regressor(plant.tree, T.columns, dq, ddq, slip, work, W)
    elif plant.tree.terms != 0:
        add_smooth_derivatives(plant.tree.terms, values.term, q, dq, by_q, by_dq)
        first_term = 4 * n + 3 * slip.size + 1
        add_entries(plant.tree, T.columns, dq, ddq, slip, work, first_term, W)
    if plant.friction == SMOOTH:
        add_smooth(values, plant.contacts, plant.width, slip, by_dq)
    if plant.tree.terms != 0:
        add_terms_tangent(
            plant.tree.terms,
            values,
            plant.contacts,
            T.columns,
            plant.width if plant.friction == SMOOTH else 0.0,
            dq,
            S.held[0],
            slip,
            T.share,
            work.sources,
            T.own,
            by_q,
            by_dq,
            T.filled,
            W,
        )


@spliced
def rates_tangent(
    plant: Plant, T: Tangent, slot: int, stage: int, h: float, length: float, x: Any, K: Any
) -> None:
    """K (s, m): how the rates at a stage change, whose sensitivities are x; in a step that is made
    as a whole x is found here, too. h is how far contacts look ahead, `length` that of the step.

    Implements (38).
    """
    n, m, S = plant.instant.tau.size, T.x.shape[1], T.at
    by_q, by_dq, W, L = S.by_q[slot], S.by_dq[slot], S.W[slot], S.L[slot]
    if T.ahead_code != 0 and stage > 0:
        T.reach[0] = length if stage == 3 else 0.5 * length
        T.reach[1] = 0.0 if stage == 1 else 0.5 * length
        last, before = T.K[stage - 1, n : 2 * n], T.K[max(stage - 2, 0), n : 2 * n]
        if T.free_code != 0:
            call_int64(T.ahead_code, (by_q, by_dq, L, T.reach, W, T.y, last, before, x, K, m))
        else:
            call_int64(
                T.ahead_code,
                (by_q, by_dq, T.share, L, T.reach, W, T.tau, T.y, last, before, x, K, m),
            )
    elif T.free_code != 0:
        call_int64(T.free_code, (by_q, by_dq, L, W, x, K, m))
    else:
        driven(T.driven_code, by_q, by_dq, W, T.tau, T.share, L, x, K)
    column, coupling, held = S.column[slot], S.coupling[slot], S.held[slot]
    release(plant.values, column, coupling, held, T, K[n : 2 * n], x[n : 2 * n], 1.0 / h)


@spliced
def stage_tangent(T: Tangent, size: int, n: int, stage: int, h: float, x: Any) -> None:
    """The sensitivities x at a stage of the classical fourth-order method, as `stage_state` has
    the state; 4 is the end.
    """
    if T.ahead_code == 0:
        advance_rows(T.y, T.K[0], T.K[1], T.K[2], T.K[3], size, stage, h, x)
    elif stage == 4:
        ddq = slice(n, 2 * n)
        end_rows(T.y, T.K[0, ddq], T.K[1, ddq], T.K[2, ddq], T.K[3, ddq], h, x)


@spliced
def arrest_tangent(plant: Plant, T: Tangent, size: int, before: Any, after: Any, h: float) -> None:
    """The end of a step, into T.y; contacts that were held all through it rest, whatever changes.

    What they still moved, and with them the other joints, was taken from the velocity: `before` and
    `after` (n,). The inertia that this used is that of the last stage, whose positions `work` and
    T.x still hold.
    """
    n, contacts, S = plant.instant.tau.size, plant.contacts, T.at
    held = S.held[0]
    for i in range(held.size):
        held[i] = 0
    for a in range(contacts.count[0]):
        i = contacts.slow[a]
        held[i] = contacts.held[i] and is_held(contacts, i)
    moved = 0.0
    for j in range(n):
        T.jump[j] = before[j] - after[j]
        moved = max(moved, abs(T.jump[j]))
    if moved > 0.0:
        jolt(
            T.driven_code,
            plant.tree,
            plant.values,
            plant.work,
            T.ground,
            T.columns,
            S.slip[0],
            T.jolted,
            T.M,
            S.by_q[0],
            S.by_dq[0],
            T.none,
            T.seen,
            T.share,
            T.jump,
            T.x,
            T.K[4],
        )
    stage_tangent(T, size, n, 4, h, T.y)
    if moved > 0.0:
        subtract_rows(T.y, T.K[4], n)
    rows = T.y[n : 2 * n]
    release(plant.values, contacts.column, contacts.A, held, T, rows, rows, 0.0)


@spliced
def record_tangent(T: Tangent, row: int, x: Any) -> None:
    """Write torque and position at this instant."""
    at = row - T.first[0]
    copy_rows(T.tau, T.out_tau[at])
    copy_rows(x, T.out_q[at])
