"""Whether the motion identifies the parameters: rank and condition of W (10)-(14), and the rate
after decimation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from didim.checks.data import CheckData
from didim.checks.finding import Finding
from didim.identification.verdict import EXCITE
from didim.regression.identifiable import unidentifiable
from didim.regression.least_squares import fit
from didim.regression.statistics import conditions
from didim.regression.system import LinearSystem, observe, stack
from didim.results.doubts import ILL_CONDITIONED
from didim.signals.rows import RowSelection
from didim.signals.states import States, reference_states

MAX_SAMPLES = 3000
"""Samples of each record, at most."""

MIN_NYQUIST_RATIO = 3.0
"""Half the decimated rate over the band of the motion, below which decimation cuts into the
motion.
"""


def fitted(
    records: Sequence[CheckData], measured: bool
) -> tuple[LinearSystem, list[np.ndarray]] | None:
    """W of all records together on the reference (or, where there is none, or on request, on the
    measured motion).
    """
    systems, motions = [], []
    for k, data in enumerate(records):
        use_reference = data.record.q_ref is not None and not (measured and data.is_measured)
        states = reference_states(data.even) if use_reference else data.states
        if states is None:
            return None
        chosen = np.arange(data.even.t.size)[data.inner if not use_reference else slice(None)]
        chosen = chosen[:: -(-chosen.size // MAX_SAMPLES)]
        tau = data.even_tau[chosen]
        signals = {name: logged[chosen] for name, logged in states.signals.items()}
        signals["load"] = tau  # near enough for rank and condition: its friction is a part of it
        some = States(states.q[chosen], states.dq[chosen], states.ddq[chosen], signals=signals)
        systems.append(observe(data.model.base, some, tau, RowSelection(1), (0, chosen.size), k))
        motions.append(some.q)
    return stack(systems), motions


def excitation(records: Sequence[CheckData]) -> Iterator[Finding]:
    """Rank and condition of W."""
    found = fitted(records, measured=False)
    if found is None:
        yield Finding(
            "excitation",
            "fail",
            "there is no motion",
            "name columns.q or columns.q_ref.",
        )
        return
    system, motions = found
    solution = fit(system, "ols")
    lacks = unidentifiable(records[0].model.base, system, solution, motions)
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
            f"{EXCITE[0].lower()}{EXCITE[1:]}",
        )
    elif scaled > ILL_CONDITIONED:
        yield Finding(
            "excitation",
            "warn",
            figures,
            "some parameters are poorly identified: use a richer trajectory"
            f"{'' if 'essential' in records[0].followed else ', or idim.essential'}.",
        )
    else:
        yield Finding("excitation", "pass", figures)


def decimation(data: CheckData, factor: int) -> Iterator[Finding]:
    """Whether the decimated rate still holds the motion."""
    half = 0.5 * data.rate / factor
    text = (
        f"by {factor}, from {data.rate:.4g} to {2 * half:.3g} Hz; the motion reaches "
        f"{data.band:.3g} Hz"
    )
    if half < MIN_NYQUIST_RATIO * data.band:
        most = max(1, int(0.5 * data.rate / (MIN_NYQUIST_RATIO * data.band)))
        yield Finding(
            "decimation",
            "warn",
            text,
            f"decimate by {most} at most, or the filter cuts into the motion.",
        )
    else:
        yield Finding("decimation", "pass", text)


def rough_parameters(records: Sequence[CheckData]) -> np.ndarray | None:
    """(b,) the described base parameters, else those of a quick fit to measured motion, else
    none.
    """
    base = records[0].model.base
    if np.isfinite(base.nominal).all():
        return base.nominal
    if (
        not all(data.is_measured and data.has_torque for data in records)
        or (found := fitted(records, measured=True)) is None
    ):
        return None
    return fit(found[0], "ols").values
