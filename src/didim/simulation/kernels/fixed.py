"""The closed loop with a fixed step: the controller's samples, classical Runge-Kutta steps between
them, outputs at the requested times.

Time is counted in whole steps from the start, so that it does not drift. Outputs that fall between
two steps are reached by a shorter step on the side, which leaves the run itself as it is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from didim.jit.compiled import entry, kernel
from didim.jit.function_pointers import call_int64, call_void
from didim.jit.types import Kind, float64, int64, none, record_type, uint8
from didim.signals.kernels.piecewise_cubic import TIME_TOLERANCE
from didim.simulation.kernels.contact import (
    EXACT,
    REST_SPEED,
    arrest,
    can_stick,
    mark_held,
    reverses,
    settle,
)
from didim.simulation.kernels.plant import (
    COMPLETED,
    CONTINUOUS,
    HELD,
    Loop,
    divergence,
    read_loop,
    read_plant,
    write_status,
)
from didim.simulation.kernels.stages import (
    arrest_tangent,
    keep_stage,
    linearise,
    rates_tangent,
    record_tangent,
    stage_tangent,
)
from didim.simulation.kernels.tangent import read_tangent
from didim.simulation.kernels.torque_tangent import torque_tangent


class Output(NamedTuple):
    """Where a run writes, one row per requested time."""

    t: Any  # (N,) s, rising
    q: Any  # (N, n); so the next three
    dq: Any
    ddq: Any
    tau: Any
    slip: Any  # (N, c)
    stuck: Any  # (N, c) uint8


REVERSAL_SUBSTEPS = 4
"""Substeps of a step in which a contact reverses or comes to rest."""

_vector = float64[::1]
output_type = record_type(Output, float64[::1], *[float64[:, ::1]] * 5, uint8[:, ::1])


@kernel
def record(plant: Loop, y: Any, row: int, out: Output) -> None:
    """Write the state y and what `rates` left for it, as it is at this instant."""
    instant, contacts = plant.instant, plant.contacts
    settle(contacts, instant.ddq)
    n = instant.tau.size
    for j in range(n):
        out.q[row, j] = y[j]
        out.dq[row, j] = y[n + j]
        out.ddq[row, j] = instant.ddq[j]
        out.tau[row, j] = instant.tau[j]
    for i in range(instant.slip.size):
        out.slip[row, i] = instant.slip[i]
        out.stuck[row, i] = (
            plant.friction == EXACT
            and can_stick(contacts, i)
            and abs(contacts.speed[i]) <= REST_SPEED
        )


@kernel
def stage_fraction(stage: int) -> float:
    """Of the step, at which a stage of the classical fourth-order method is; stage 4 is the end."""
    return 0.0 if stage == 0 else (0.5 if stage < 3 else 1.0)


@kernel
def stage_state(K: Any, y: Any, size: int, stage: int, h: float, x: Any) -> float:
    """The state x at a stage, and its fraction of the step."""
    for k in range(size):
        if stage == 0:
            x[k] = y[k]
        elif stage < 3:
            x[k] = y[k] + 0.5 * h * K[stage - 1, k]
        elif stage == 3:
            x[k] = y[k] + h * K[2, k]
        else:
            x[k] = y[k] + h / 6.0 * (K[0, k] + 2.0 * K[1, k] + 2.0 * K[2, k] + K[3, k])
    return stage_fraction(stage)


def run(
    plant_address: int,
    tangent: int | None,
    period: float,
    first_sample: int,
    last_sample: int,
    substeps: int,
    size: int,
    y: Any,
    row: int,
    out: Output,
    trouble: Any,
    when: Any,
) -> int:
    """Run samples first_sample to last_sample of the clock k period from state y; returns the next
    output row.

    `tangent` is the address of the `Tangent` that is carried along, or None: then the compiler
    leaves out all that belongs to it. It must see this in one function, which is why this one is
    long. trouble[0] is COMPLETED, INFEASIBLE or DIVERGED, trouble[1] the joint, when[0] the time.

    A step in which a contact reverses or comes to rest is made in parts: the time of the reversal
    is known to the length of the step only. An output between t and t + h is the end of a shorter
    step from the same y. Every evaluation goes through the one call of `rates` below.

    The sensitivities of a group of stages, one or all, follow its plain stages: the equations of
    motion are linearised at all of them together.

    Implements (24).
    """
    trouble[0] = COMPLETED
    plant = read_loop(plant_address)
    if tangent is not None:
        whole, T = read_plant(plant_address), read_tangent(tangent)
    K, x, n = plant.stage, plant.stage[4], plant.instant.tau.size
    for sample in range(first_sample, last_sample):
        if plant.drive == HELD:
            t = sample * period
            call_void(plant.code.sample, (plant_address, t, y))
            if tangent is not None:
                torque_tangent(whole, T, 0, t, True, T.y, T.K[4])
        sub, parts, part = 0, 1, 0
        while sub < substeps:
            h = period / (substeps * parts)
            t = sample * period + (sub * parts + part) * h
            when[0] = t
            stepping, reversing = True, False
            while stepping and row < out.t.size:
                aside = t + TIME_TOLERANCE < out.t[row] < t + h - TIME_TOLERANCE
                length = out.t[row] - t if aside else h
                stepping = aside
                stages, first, ended, recorded = 5 if aside else 4, 0, False, -1
                while first < stages and not ended:
                    last = stages if tangent is None else min(first + T.group, stages)
                    for stage in range(first, last):
                        at = t + stage_state(K, y, size, stage, length, x) * length
                        rate = K[stage] if stage < 4 else plant.stage[5]
                        if write_status(
                            call_int64(plant.code.rates, (plant_address, at, x, h, rate)), trouble
                        ):
                            return row
                        if stage == 0:
                            if parts == 1 and plant.friction == EXACT and reverses(plant.contacts):
                                stepping, reversing, ended = False, True, True
                                break
                            mark_held(plant.contacts)
                        if tangent is not None:
                            keep_stage(whole, T, stage - first, at, x, rate)
                        if stage == 4 or (stage == 0 and out.t[row] <= t + TIME_TOLERANCE):
                            record(plant, x, row, out)
                            recorded = stage
                            row += 1
                            if stage == 0 and (
                                row >= out.t.size or out.t[row] < t + h - TIME_TOLERANCE
                            ):
                                stepping, ended, last = True, True, 1
                                break
                    if tangent is not None and not reversing:
                        if first < 4:
                            linearise(whole, T, x, K[first])
                        for stage in range(first, last):
                            slot, X = stage - first, T.y if stage == 0 else T.x
                            if stage > 0:
                                stage_tangent(T, size, n, stage, length, X)
                            if plant.drive == CONTINUOUS:
                                at = t + stage_fraction(stage) * length
                                is_output = stage == recorded
                                torque_tangent(whole, T, slot, at, is_output, X, T.K[stage])
                            if stage < 4:
                                rates_tangent(whole, T, slot, stage, h, length, X, T.K[stage])
                            if stage == recorded:
                                record_tangent(T, row - 1, X)
                    first = last
            if reversing:
                parts = REVERSAL_SUBSTEPS
                continue
            if not stepping:
                stage_state(K, y, size, 4, h, x)
                if tangent is not None:
                    for j in range(n):
                        T.jump[j] = x[n + j]
                arrest(plant.values, plant.contacts, x[n : 2 * n])
                if tangent is not None:
                    arrest_tangent(whole, T, size, T.jump, x[n : 2 * n], h)
                for k in range(size):
                    y[k] = x[k]
                write_status(divergence(y, n), trouble)
            if trouble[0] != COMPLETED or row >= out.t.size:
                return row
            if part + 1 < parts:
                part += 1
            else:
                sub, parts, part = sub + 1, 1, 0
    return row


_clock: tuple[Kind, ...] = (float64, *[int64] * 4, _vector, int64, output_type, int64[::1], _vector)
run_fixed = entry(int64(int64, none, *_clock), "run_fixed")(run)
run_sensitive = entry(int64(int64, int64, *_clock), "run_sensitive")(run)
