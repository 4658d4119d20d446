"""Checks of the loop: whether it is known, stable, fast enough for the motion, and in time with the
record.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from didim.checks.data import Subject
from didim.checks.finding import Finding
from didim.control.linear import LinearLoop, linearise
from didim.errors import InputError
from didim.signals.alignment import motion_frequency, time_offset
from didim.simulation.prepare import lag_without_integrals, loop_lag

SLOW = 1.0
"""Closed-loop poles over the band of the motion, below which plain DIDIM is not safe."""


def lag(subject: Subject, parameters: np.ndarray | None) -> Iterator[Finding]:
    """The time between reference and motion, beyond what the loop itself takes with these base
    parameters (b,).
    """
    record = subject.record
    if record.q is None or record.q_ref is None:
        return
    n, controller = record.n, subject.controller
    omega = motion_frequency(record)
    own = (
        np.zeros(n)
        if controller is None
        else loop_lag(subject.model.base, parameters, controller, omega)
    )
    try:
        found = time_offset(record, own)
    except InputError:  # nothing moves, or the two do not overlap: other checks say so
        return
    side = "late" if found.seconds > 0 else "early"
    text = (
        f"{1e3 * abs(found.seconds):.2f} ms {side}, beyond the loop's own {1e3 * own.max():.2f} ms"
        if controller is not None
        else (f"{1e3 * abs(found.seconds):.2f} ms {side}, loop and clocks together")
    )
    misfit = f"; the motion misses its reference by {100 * found.misfit_before:.2g} % of its range"
    hidden = (
        0.0
        if controller is None
        else float(np.max(lag_without_integrals(subject.model, controller)))
    )
    vague = 2.0 / subject.rate + 0.1 * own.max() + 0.3 * hidden
    late = abs(found.seconds) > vague and found.misfit < 0.9 * found.misfit_before
    if late and controller is not None:
        remedy = (
            "another loop, or other clocks: reference = { align = true } shifts it, "
            "estimate_delay in [didim] finds it."
        )
        yield Finding("lag", "warn", f"the motion is {text}{misfit}", remedy)
    else:
        yield Finding("lag", "pass", f"the motion is {text}{misfit}")


def known(subject: Subject, assumed: bool) -> Iterator[Finding]:
    """Whether the loop is known at all."""
    if subject.controller is None:
        yield Finding(
            "loop",
            "warn",
            "no controller is described",
            "IDIM does without; DIDIM needs [controller], as well as it is known.",
        )
    elif assumed:
        yield Finding(
            "loop",
            "warn",
            "the loop is assumed, not known",
            "read results with care; estimate_gains = true in [didim] finds gains where the true "
            "reference was recorded.",
        )
    else:
        yield Finding("loop", "pass", repr(subject.controller))


def stability(subject: Subject, parameters: np.ndarray | None) -> Iterator[Finding]:
    """Poles of the linearised loop in the middle of the motion, against its band."""
    if subject.controller is None or subject.states is None:
        return
    if parameters is None:
        yield Finding(
            "stability",
            "pass",
            "not judged: neither the description nor measured positions give inertias",
        )
        return
    middle = 0.5 * (subject.states.q.max(axis=0) + subject.states.q.min(axis=0))
    linear = linearise(subject.model.base, parameters, subject.controller, middle)
    if linear is None:
        yield Finding(
            "stability",
            "pass",
            "not judged: the law is the user's own, or the inertia matrix is not positive there",
        )
        return
    if not linear.stable:
        yield Finding(
            "stability",
            "fail",
            f"the loop is unstable by itself, mostly {subject.label(linear.worst_joint)}",
            "check the gains, drive gain, rate and delay; a loop that ran on the machine is "
            "stable.",
        )
        return
    slowest, band = _slowest(linear, subject), subject.band
    text = f"slowest pole {slowest:.3g} Hz, motion up to {band:.3g} Hz"
    if slowest < SLOW * band:
        yield Finding(
            "bandwidth",
            "warn",
            text,
            "plain DIDIM may not arrive in so soft a loop; refine = true in [didim] does.",
        )
    else:
        yield Finding("bandwidth", "pass", f"stable; {text}")


def _slowest(linear: LinearLoop, subject: Subject) -> float:
    """Hz."""
    rate = (
        subject.controller.rate
        if subject.controller is not None and subject.controller.rate
        else 1.0
    )
    return linear.slowest * (rate if linear.sampled else 1.0) / (2 * np.pi)
