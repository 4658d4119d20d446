"""Checks of the loop: whether it is known, stable, fast enough for the motion, and in time with the
record.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from didim.checks.data import CheckData
from didim.checks.finding import Finding, unjudged
from didim.control.linear import LinearLoop, linearise
from didim.control.servo import Servo
from didim.control.tuning import largest_inertias
from didim.errors import InputError
from didim.signals.alignment import motion_frequency, time_offset
from didim.simulation.prepare import lag_without_integrals, loop_lag

MAX_MISFIT = 0.3
"""rms error over rms motion, after the best shift, beyond which a motion does not follow its
reference.
"""

MIN_BANDWIDTH_RATIO = 1.0
"""Closed-loop poles over the band of the motion, below which plain DIDIM is not safe."""


def lag(data: CheckData, parameters: np.ndarray | None) -> Iterator[Finding]:
    """The time between reference and motion, beyond what the loop itself takes with these base
    parameters (b,).
    """
    record = data.record
    if record.q is None or record.q_ref is None or isinstance(data.controller, Servo):
        return  # a servo lags by its load, or swings freely
    n, controller = record.n, data.controller
    omega = motion_frequency(record)
    negative = _not_positive(data, parameters)
    if negative is not None:
        parameters = None
    own = (
        np.zeros(n)
        if controller is None
        else loop_lag(data.model.base, parameters, controller, omega)
    )
    try:
        found = time_offset(record, own)
    except InputError:  # nothing moves, or the two do not overlap: other checks say so
        return
    side = "lags behind" if found.seconds > 0 else "leads"
    lag_text = f"the motion {side} its reference by {1e3 * abs(found.seconds):.2f} ms"
    cause = (
        "of loop and clocks together"
        if controller is None
        else f"beyond the loop's own lag of {1e3 * own.max():.2f} ms"
    )
    error = f"the position error is {100 * found.misfit_before:.2g} % of the range"
    text = f"{lag_text} {cause}; {error}"
    hidden = (
        0.0 if controller is None else float(np.max(lag_without_integrals(data.model, controller)))
    )
    tolerance = 2.0 / data.rate + 0.1 * own.max() + 0.3 * hidden
    shifted = abs(found.seconds) > tolerance and found.misfit < 0.9 * found.misfit_before
    if found.misfit > MAX_MISFIT:
        yield Finding(
            "lag",
            "warn",
            f"the motion does not follow its reference: {text}, {100 * found.misfit:.2g} % after "
            "the best shift",
            "are q and q_ref of the same joints, units and record? Give position_offset where "
            "their zeros differ.",
        )
    elif shifted and controller is None and found.seconds < 0:
        yield Finding(
            "lag",
            "warn",
            text,
            "no loop is ahead of its reference: the clocks differ, or q_ref is not the reference; "
            "reference = { align = true } shifts it.",
        )
    elif negative is not None and controller is not None:
        yield unjudged(
            "lag",
            f"the inertia of {data.label(negative)} that a quick fit gives is not positive, so "
            f"that the loop's own lag is not known; {text}",
            "check sign and units of its torque and position.",
        )
    elif shifted and controller is not None:
        remedy = (
            "the loop or the clocks differ: reference = { align = true } shifts the reference, "
            "estimate_delay in [didim] estimates the delay."
        )
        yield Finding("lag", "warn", text, remedy)
    else:
        yield Finding("lag", "pass", text)


def _not_positive(data: CheckData, parameters: np.ndarray | None) -> int | None:
    """A joint whose inertia is not positive with these base parameters (b,); None: none."""
    if parameters is None or not np.isfinite(parameters).all():
        return None
    J = largest_inertias(data.model.base, parameters)
    return int(J.argmin()) if np.any(J <= 0) else None


def known(data: CheckData, assumed: bool) -> Iterator[Finding]:
    """Whether the loop is known at all."""
    if data.controller is None:
        yield Finding(
            "loop",
            "warn",
            "no controller is described",
            "IDIM needs no controller; DIDIM needs [controller], as far as it is known.",
        )
    elif assumed:
        yield Finding(
            "loop",
            "warn",
            "the loop is assumed, not known",
            "read the results with care."
            if "estimate_gains" in data.followed
            else "read the results with care; estimate_gains = true in [didim] estimates the gains "
            "if the true reference was recorded.",
        )
    else:
        yield Finding("loop", "pass", repr(data.controller))


def stability(data: CheckData, parameters: np.ndarray | None) -> Iterator[Finding]:
    """Poles of the linearised loop in the middle of the motion, against its band."""
    if data.controller is None or data.states is None:
        return
    if parameters is None:
        yield unjudged(
            "stability",
            "neither the description nor measured positions give inertias",
            "describe the links, or name columns.q.",
        )
        return
    middle = 0.5 * (data.states.q.max(axis=0) + data.states.q.min(axis=0))
    linear = linearise(data.model.base, parameters, data.controller, middle)
    if linear is None:
        yield unjudged(
            "stability",
            "the law is the user's own, or the inertia matrix is not positive definite",
            "check the described inertias; without a description, sign and units of the torque.",
        )
        return
    if not linear.stable:
        yield Finding(
            "stability",
            "fail",
            f"the loop is unstable, mainly at {data.label(linear.worst_joint)}",
            "check the gains, drive gain, rate and delay; the loop of the real robot was stable.",
        )
        return
    slowest, band = _slowest(linear, data), data.band
    text = f"slowest pole {slowest:.3g} Hz, motion up to {band:.3g} Hz"
    if slowest < MIN_BANDWIDTH_RATIO * band and "refine" in data.followed:
        yield Finding("bandwidth", "pass", f"{text}: too slow for plain DIDIM, but refine is on")
    elif slowest < MIN_BANDWIDTH_RATIO * band:
        yield Finding(
            "bandwidth",
            "warn",
            text,
            "plain DIDIM may not converge in so slow a loop; refine = true in [didim] does.",
        )
    else:
        yield Finding("bandwidth", "pass", f"stable; {text}")


def _slowest(linear: LinearLoop, data: CheckData) -> float:
    """Hz."""
    rate = data.controller.rate if data.controller is not None and data.controller.rate else 1.0
    return linear.slowest * (rate if linear.sampled else 1.0) / (2 * np.pi)
