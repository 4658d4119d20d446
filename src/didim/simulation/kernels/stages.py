"""The sensitivities of a step, stage by stage: what is kept of a plain stage, the equations of
motion linearised there, the rates of all directions, and the end of the step.
"""

from __future__ import annotations

from typing import Any

from didim.dynamics.kernels.derivatives import add_smooth_derivatives, motion_derivatives
from didim.dynamics.kernels.regressor import add_entries
from didim.dynamics.kernels.tree import Values, place
from didim.jit.compiled import kernel, spliced
from didim.jit.function_pointers import call_int64
from didim.signals.kernels.piecewise_cubic import find
from didim.simulation.kernels.contact import REST_SPEED, SMOOTH, is_held
from didim.simulation.kernels.linearised import (
    STAGES,
    clear_columns,
    keep_contacts,
    keep_law,
    keep_motion,
)
from didim.simulation.kernels.plant import Plant
from didim.simulation.kernels.tangent import Tangent
from didim.simulation.kernels.torque_tangent import drift
from didim.simulation.kernels.variation import (
    add_smooth,
    add_terms_tangent,
    advance_rows,
    clear_rows,
    copy_rows,
    driven,
    end_rows,
    jolt,
    keep_held,
    stage_regressor,
    subtract_rows,
)


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
            keep_held(
                *(values.contact, values.only, column, coupling, held),
                *(T.A, T.reaction, T.force, rows, dq, rate),
            )
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
    `after` (n,); what rounding leaves of it is no jump. The inertia that this used is that of the
    last stage, whose positions `work` and T.x still hold.
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
    if moved > REST_SPEED:
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
    if moved > REST_SPEED:
        subtract_rows(T.y, T.K[4], n)
    rows = T.y[n : 2 * n]
    release(plant.values, contacts.column, contacts.A, held, T, rows, rows, 0.0)


@spliced
def record_tangent(T: Tangent, row: int, x: Any) -> None:
    """Write torque and position at this instant."""
    at = row - T.first[0]
    copy_rows(T.tau, T.out_tau[at])
    copy_rows(x, T.out_q[at])
