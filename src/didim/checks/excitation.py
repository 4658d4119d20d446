"""Whether the motion can tell the parameters apart: rank and condition of W (10)-(14), and the rate
that is left of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from didim.checks.data import Subject
from didim.checks.finding import Finding
from didim.identification.least_squares import estimate
from didim.identification.statistics import conditions
from didim.identification.system import LinearSystem, observe, stack
from didim.identification.verdict import REMEDY, untold
from didim.results.judgement import ILL_CONDITIONED
from didim.signals.rows import RowSelection
from didim.signals.states import States, reference_states

MOST = 3000
"""Samples of each record, at most."""

NYQUIST = 3.0
"""Half the decimated rate over the band of the motion, below which decimation cuts into the
motion.
"""


def fitted(
    subjects: Sequence[Subject], measured: bool
) -> tuple[LinearSystem, list[np.ndarray]] | None:
    """W of all records together on the reference (or, where there is none, or if asked for, on the
    measured motion).
    """
    systems, motions = [], []
    for k, subject in enumerate(subjects):
        use_reference = subject.record.q_ref is not None and not (measured and subject.is_measured)
        states = reference_states(subject.even) if use_reference else subject.states
        if states is None:
            return None
        chosen = np.arange(np.size(subject.even.t))[
            subject.inner if not use_reference else slice(None)
        ]
        chosen = chosen[:: -(-chosen.size // MOST)]
        some = States(states.q[chosen], states.dq[chosen], states.ddq[chosen])
        tau = np.asarray(subject.even.tau)[chosen]
        systems.append(observe(subject.model.base, some, tau, RowSelection(1), (0, chosen.size), k))
        motions.append(some.q)
    return stack(systems), motions


def excitation(subjects: Sequence[Subject]) -> Iterator[Finding]:
    """Rank and condition of W."""
    found = fitted(subjects, measured=False)
    if found is None:
        yield Finding(
            "excitation",
            "fail",
            "not judged: there is no motion",
            "name columns.q or columns.q_ref.",
        )
        return
    system, motions = found
    solution = estimate(system, "ols")
    lacks = untold(subjects[0].model.base, system, solution, motions)
    scaled = conditions(system.W)[1]
    figures = (
        f"rank {solution.rank} of {len(system.names)}, condition of W {scaled:.3g} with scaled "
        "columns"
    )
    if lacks:
        yield Finding(
            "excitation",
            "fail",
            f"{figures}; {'; '.join(lacks)}",
            f"{REMEDY[0].lower()}{REMEDY[1:]}",
        )
    elif scaled > ILL_CONDITIONED:
        yield Finding(
            "excitation",
            "warn",
            figures,
            "some parameters are hardly told apart: a richer trajectory, or idim.essential.",
        )
    else:
        yield Finding("excitation", "pass", figures)


def decimation(subject: Subject, factor: int) -> Iterator[Finding]:
    """Whether the decimated rate still holds the motion."""
    half = 0.5 * subject.rate / factor
    text = (
        f"by {factor}: {2 * half:.3g} Hz are left of {subject.rate:.4g}, the motion goes up to "
        f"{subject.band:.3g} Hz"
    )
    if half < NYQUIST * subject.band:
        most = max(1, int(0.5 * subject.rate / (NYQUIST * subject.band)))
        yield Finding(
            "decimation",
            "warn",
            text,
            f"decimate by {most} at most, or the filter cuts into the motion.",
        )
    else:
        yield Finding("decimation", "pass", text)


def rough_parameters(subjects: Sequence[Subject]) -> np.ndarray | None:
    """(b,) the described base parameters, else those of a quick fit to measured motion, else
    none.
    """
    base = subjects[0].model.base
    if np.isfinite(base.nominal).all():
        return np.asarray(base.nominal)
    if (
        not all(subject.is_measured for subject in subjects)
        or (found := fitted(subjects, measured=True)) is None
    ):
        return None
    return np.asarray(estimate(found[0], "ols").values)
