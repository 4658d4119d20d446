"""What a run needs before it starts: the plant for the kernels, the reference, and a step that the
stiffness allows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.kernels.law import COMPUTED_TORQUE, GAINS_ONLY, USER, Law
from didim.control.law import Controller
from didim.control.laws import PD
from didim.dynamics.kernels.elementary import padded
from didim.dynamics.kernels.tree import Values
from didim.dynamics.torque import Signals, TorqueModel
from didim.dynamics.tree_memory import TreeMemory, work_of
from didim.errors import InputError
from didim.signals.kernels.piecewise_cubic import TIME_TOLERANCE, PiecewiseCubic
from didim.signals.reference import Reference
from didim.signals.trajectory import Trajectory
from didim.simulation.instant_code import RunCode
from didim.simulation.kernels.contact import SMOOTH, Code, ContactWorkspace
from didim.simulation.kernels.plant import (
    CONTINUOUS,
    HELD,
    OPEN,
    Instant,
    Plant,
    own_model,
    rates,
    rates_by_code,
    recursion,
    sample,
    terms,
)
from didim.validation import samples

Array = NDArray[np.float64]
LONGEST_STEP = 1e-3
"""Of the integration, s, where nothing else is requested."""

SHORTEST_STEP = 1e-4
"""Outputs that are closer than this, s, are reached by steps on the side and do not set the step of
the run.
"""

MAX_STEP_RATE = 1.0
"""Largest product of a Runge-Kutta step and the fastest decay rate; the method is stable up to
2.7.
"""

MAX_SUBSTEPS = 10_000

ENABLED = "enabled"
"""The logged channel that switches the drives on (1) and off (0), where an effect uses it."""

MAX_JITTER = 0.05
"""Fraction of a controller's period by which logged times may miss its clock."""


def trajectory_of(
    value: ArrayLike | Trajectory | None, t: Array, n: int, interpolation: str, name: str
) -> Trajectory:
    """The reference (or torque) as a trajectory of n joints that covers the times t."""
    if value is None:
        raise InputError(f"{name} is missing: an array on t, a Reference or a trajectory.")
    if not isinstance(value, Trajectory):
        rows = samples(value, name, n, t.size)
        if t.size == 1:
            t, rows = np.array([t[0], t[0] + 1.0]), np.vstack([rows, rows])
        return Reference(t, rows, interpolation=interpolation)
    if value.n != n:
        raise InputError(f"{name} has {value.n} joints, the robot has {n}.")
    start, end = value.span
    spacing = value.spacing if isinstance(value, Reference) else 0.0
    slack = 1e-6 + min(spacing, 0.05)
    if start > t[0] + slack or end < t[-1] - slack:
        raise InputError(
            f"{name} covers {start:g} to {end:g} s, but the simulation runs from {t[0]:g} to "
            f"{t[-1]:g} s."
        )
    return value


def channels_of(
    model: TorqueModel, loop: Controller | None, t: Array, signals: Signals | None
) -> Reference | None:
    """The logged channels that the effects of the model, then those of the controller's own model,
    need, as functions of time: linear between the times t (N,) of the record. None: they need none.
    """
    given, rows = signals or {}, []
    own = () if loop is None or loop.model is None else loop.model.channels
    for name in (*model.channels, *own):
        if name not in given:
            raise InputError(
                f"An effect of {model.robot.name!r} needs the channel {name!r}: give "
                f"signals={{{name!r}: ...}}, or log it with the experiment."
            )
        rows.append(samples(given[name], name, 1, t.size)[:, 0])
    if not rows:
        return None
    table = np.column_stack(rows)
    if t.size == 1:
        t, table = np.array([t[0], t[0] + 1.0]), np.vstack([table, table])
    return Reference(t, table, interpolation="linear")


def on_clock(t: Array, start: float, period: float) -> Array:
    """Logged times, put onto the clock start + k period where they miss it by little.

    Little is a twentieth of the period and a quarter of their own spacing at most. Loggers jitter:
    a command logged a nanosecond before the controller's sample would else be that of the sample
    before.
    """
    nearest = start + np.round((t - start) / period) * period
    jitter = (
        min(MAX_JITTER * period, 0.25 * float(np.diff(t).min()))
        if t.size > 1
        else MAX_JITTER * period
    )
    return np.where(np.abs(t - nearest) < jitter, nearest, t)


def drive_of(loop: Controller | None) -> int:
    """What drives the robot: a held command, a law at every instant, or a given torque."""
    return OPEN if loop is None else (CONTINUOUS if loop.rate is None else HELD)


def law_of(loop: Controller | None, model: TorqueModel, inertia: Array) -> Law:
    """The compiled law's numbers; idle ones in open loop."""
    return (loop or PD(kp=1.0, kv=1.0, drive_gain=1.0)).resolve(model, inertia)


def memory_of(model: TorqueModel, loop: Controller | None) -> tuple[TreeMemory, TreeMemory]:
    """The terms and ties of the robot and of the controller's own model, in memory of their own."""
    own = None if loop is None else loop.model
    layout = (model if own is None else own).layout
    return TreeMemory(model.layout), TreeMemory(layout, with_terms=own is not None)


def code_of(model: TorqueModel, machine_code: RunCode, law: Law, drive: int) -> Code:
    """The addresses of what a run needs, compiled now unless it was; 0 for what it does not."""
    robot, instant, ordinary = machine_code
    return Code(
        0 if robot is None else robot.address,
        recursion.address if robot is None else 0,
        terms.address if model.layout.terms.terms else 0,
        0 if law.kind in (GAINS_ONLY, USER) else own_model.address,
        (rates if instant is None else rates_by_code).address,
        sample.address if drive == HELD else 0,
        0 if instant is None else instant.address,
        0,  # the table is that of a plant
        ordinary,
        rates.address,
    )


def make_plant(
    model: TorqueModel,
    values: Values,
    code: RunCode,
    loop: Controller | None,
    law: Law,
    reference: PiecewiseCubic,
    channels: PiecewiseCubic,
    memory: tuple[TreeMemory, TreeMemory],
    friction: int,
    width: float,
) -> Plant:
    """A plant whose memory is zero; `memory` is that of the robot and of the controller's own
    model, see `memory_of`.
    """
    n, c = model.robot.n, len(model.contacts)
    own_model = loop.model if loop is not None and loop.model is not None else None
    own_tree = (model if own_model is None else own_model).tree
    own_channels = () if own_model is None else own_model.channels
    own = values if loop is None else loop.own_values(values)
    state = (loop or PD(kp=1.0, kv=1.0)).controller_state(n, own.contact.shape[0])
    return Plant(
        memory[0].on(model.tree),
        values,
        code_of(model, code, law, drive_of(loop)),
        memory[1].on(own_tree),
        own,
        law,
        state,
        reference,
        channels,
        len(model.channels),
        model.channels.index(ENABLED) if ENABLED in model.channels else -1,
        np.zeros(2, dtype=np.int64),
        work_of(model.layout, own_tree.parent.size),
        ContactWorkspace(
            np.zeros(c),
            np.zeros(c),
            np.zeros(c, dtype=np.int64),
            np.zeros((c, n)),
            np.zeros((c, c)),
            np.zeros(1, dtype=np.int64),
            np.zeros(c, dtype=np.int64),
            np.zeros(padded(c)),
            np.zeros((2, c)),
        ),
        drive_of(loop),
        friction,
        width,
        Instant(
            np.zeros(n),
            np.zeros(n),
            np.zeros(n),
            np.zeros(c),
            np.zeros(len(model.channels) + len(own_channels)),
        ),
        np.zeros((10, 4 * n)),
    )


def clock_of(loop: Controller | None, t: Array, step: float | None) -> float:
    """The period, s, at which a run advances: the controller's, the requested step, or one that
    meets the outputs.
    """
    if loop is not None and loop.rate is not None:
        return 1.0 / loop.rate
    if step is not None:
        return step
    spacing = _spacing(t) if t.size > 1 else LONGEST_STEP
    if spacing < SHORTEST_STEP:
        return LONGEST_STEP
    return spacing / max(1.0, np.ceil(spacing / LONGEST_STEP - 1e-9))


def _spacing(t: Array) -> float:
    """Of the times t (N,), s. Regular ones have their mean: the digits that a difference of two
    late times lacks would have a long run miss its outputs, and reach each by a step on the side.
    """
    mean = float(t[-1] - t[0]) / (t.size - 1)
    misses = np.abs(t - t[0] - mean * np.arange(t.size)).max()
    return mean if misses < 0.1 * TIME_TOLERANCE else float(np.median(np.diff(t)))


def fastest_rate(
    model: TorqueModel,
    parameters: ArrayLike,
    values: Values,
    law: Law,
    drive: int,
    friction: int,
    width: float,
    q: Array,
    own: Array | None = None,
    signals: Signals | None = None,
) -> float:
    """The fastest decay rate, 1/s, of the velocities at the configurations q (K, n): (kv g + Fv +
    Fc/(2 width)) (M^-1)_jj.

    The slope of smooth friction counts half: it acts only while a contact is slower than the width.
    Terms count with their slopes at rest, at the extremes of the logged channels.
    Computed torque has kv M_own in place of kv g, with the inertia matrices (K, n, n) of the
    controller's `own` model.
    """
    damping = np.abs(np.diagonal(values.viscous)) + np.maximum(
        np.abs(values.viscous_positive), np.abs(values.viscous_negative)
    )
    if friction == SMOOTH:
        limits = np.maximum(np.abs(values.limit_positive), np.abs(values.limit_negative))
        damping = damping + 0.5 * (values.contact**2).T @ limits / width
    if model.layout.terms.terms:
        damping = damping + _term_damping(
            model, parameters, values, width if friction == SMOOTH else np.inf, q, signals
        )
    by_law = law.kv if drive == CONTINUOUS else 0.0 * law.kv
    if law.kind != COMPUTED_TORQUE:
        damping, by_law = damping + np.abs(np.diagonal(law.gain) * by_law), 0.0 * by_law
    M = model.inertia_matrix(q, parameters)
    feasible = np.linalg.eigvalsh(M)[:, 0] > 0
    if not feasible.any():
        return 0.0
    inverse = np.linalg.inv(M[feasible])
    scale = 1.0 if own is None else np.diagonal(inverse @ own[feasible], axis1=1, axis2=2)
    return float(
        (by_law * np.maximum(scale, 1.0) + damping * np.diagonal(inverse, axis1=1, axis2=2)).max()
    )


def _term_damping(
    model: TorqueModel,
    parameters: ArrayLike,
    values: Values,
    width: float,
    q: Array,
    signals: Signals | None,
) -> Array:
    """(n,) largest slope by velocity of the terms at rest at q (K, n): of those without contact,
    and of the limits that they add to contacts, over twice the width of smooth friction.
    """
    still, slip = np.zeros_like(q), np.ones((q.shape[0], len(model.contacts)))
    largest = np.zeros(q.shape[1])
    for extreme in (np.min, np.max):
        at = {name: np.full(q.shape[0], extreme((signals or {})[name])) for name in model.channels}
        slope = np.diagonal(
            model.derivatives(q, still, still, parameters, at)[1], axis1=1, axis2=2
        ) - np.diagonal(values.viscous)
        if np.isfinite(width):
            free, rub = (
                model.inverse_dynamics(q, still, still, parameters, part * slip, at)
                for part in (0.0, 1.0)
            )
            slope = (
                slope + 0.5 * np.abs(rub - free - values.limit_positive @ values.contact) / width
            )
        largest = np.maximum(largest, np.nan_to_num(slope).max(axis=0))
    return largest


def substeps_for(period: float, rate: float, longest: float, most: int = MAX_SUBSTEPS) -> int:
    """How many steps a period is divided into so that each is short against the fastest rate and
    not above `longest`, s.
    """
    wanted = int(np.ceil(max(period * rate / MAX_STEP_RATE, period / longest) - 1e-9))
    if wanted > max(most, int(np.ceil(period / longest))):
        raise InputError(
            f"The loop is too stiff: it decays at {rate:.3g} 1/s, which needs {wanted} steps a "
            "period. "
            "Check gains, friction and the units of the inertias."
        )
    return max(1, wanted)
