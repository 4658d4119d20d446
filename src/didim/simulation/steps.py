"""The clock of a run, and a step that meets the outputs and that the stiffness allows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.kernels.law import COMPUTED_TORQUE, Law
from didim.control.law import Controller
from didim.dynamics.kernels.tree import Values
from didim.dynamics.torque import Signals, TorqueModel
from didim.errors import InputError
from didim.signals.kernels.piecewise_cubic import TIME_TOLERANCE
from didim.simulation.kernels.contact import SMOOTH
from didim.simulation.kernels.plant import CONTINUOUS

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

MAX_JITTER = 0.05
"""Fraction of a controller's period by which logged times may miss its clock."""


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
