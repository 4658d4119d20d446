"""IDIM, IV, DIDIM and refined DIDIM on the same records, side by side: where methods disagree, an
assumption is wrong.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from didim.errors import InfeasibleError, InputError
from didim.results.common_rows import errors_on_common_rows
from didim.results.doubts import WORSE, worsening
from didim.results.estimate import Estimate
from didim.results.hypothesis import DURBIN_WU_HAUSMAN, INSTRUMENTS, Test
from didim.results.lack_of_fit import LackOfFit
from didim.study.loops import has_unknown_gains
from didim.study.study import Study

DISAGREEMENT_SIGMAS = 3.0
"""Sigmas of their difference beyond which two methods disagree."""

BY_POSITION = ("IDIM", "IV")
"""Methods that differentiate measured positions."""

CELL = 21
"""Characters of a column."""


@dataclass(frozen=True, eq=False)
class Run:
    """One method's result, or why there is none."""

    label: str
    estimate: Estimate | None
    reason: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Disagreement:
    """Two methods that differ in a parameter by more than their uncertainty."""

    name: str
    between: tuple[str, str]
    sigmas: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """The methods' results on the same records."""

    runs: tuple[Run, ...]

    @cached_property
    def same_rows(self) -> list[tuple[str, str, list[float]]]:
        """Each record: "fit" or "held out", its name, and what each method of `found` leaves of its
        torque, on the same rows for all.
        """
        estimates = [estimate for _, estimate in self.found]
        if not estimates:
            return []
        records = [("fit", each) for each in estimates[0].experiments]
        records += [("held out", each) for each in estimates[0].held_out]
        return [(use, each.name, errors_on_common_rows(estimates, each)) for use, each in records]

    @property
    def found(self) -> list[tuple[str, Estimate]]:
        """Labels and results of the methods that could run."""
        return [(run.label, run.estimate) for run in self.runs if run.estimate is not None]

    @property
    def usable(self) -> list[tuple[str, Estimate]]:
        """Those that converged."""
        return [
            (label, estimate) for label, estimate in self.found if estimate.status == "converged"
        ]

    @property
    def converged(self) -> bool:
        """Whether every method that could run converged."""
        return bool(self.found) and all(
            estimate.status == "converged" for _, estimate in self.found
        )

    @property
    def disagreements(self) -> list[Disagreement]:
        """Parameters in which two converged methods differ by more than 3 sigma of the difference,
        the worst pair of each.
        """
        worst: dict[str, Disagreement] = {}
        for (label, one), (other_label, other) in combinations(self.usable, 2):
            for name, (value, sigma) in _known(one).items():
                if name not in (known := _known(other)):
                    continue
                spread = np.hypot(sigma, known[name][1])
                apart = abs(value - known[name][0]) / spread if spread > 0 else 0.0
                if apart > max(DISAGREEMENT_SIGMAS, worst[name].sigmas if name in worst else 0.0):
                    worst[name] = Disagreement(name, (label, other_label), float(apart))
        return list(worst.values())

    @property
    def preferred(self) -> str | None:
        """The method whose estimate to prefer, by the test of Durbin, Wu and Hausman; None: it was
        not made, or no method that it speaks for converged.
        """
        test, usable = self._exogeneity, [label for label, _ in self.usable]
        if test is None:
            return None
        wanted = ("IV", "DIDIM") if test.rejects else ("IDIM",)
        return next((label for label in wanted if label in usable), None)

    @property
    def advice(self) -> str:
        """Why; empty where the tests do not say."""
        test, preferred = self._exogeneity, self.preferred
        if test is None or preferred is None:
            return ""
        said = f"Test of Durbin, Wu and Hausman, p = {test.p_value:.2g}: {test.meaning}"
        if not test.rejects:
            return f"{said} Prefer IDIM, whose intervals are the narrower ones."
        other = dict(self.found)[preferred].tests.get(INSTRUMENTS)
        doubt = f" But: {other.meaning}" if other is not None and other.rejects else ""
        return f"{said} Preferred here: {preferred}.{doubt}"

    @property
    def _exogeneity(self) -> Test | None:
        """That test, with the filter of IDIM, else with that of IV; None where neither has it."""
        found = [each for label, each in self.found if label in BY_POSITION]
        tests = [each.tests.get(DURBIN_WU_HAUSMAN) for each in found]
        return next((each for each in tests if each is not None and each.applies), None)

    def text(self) -> str:
        """The table."""
        names = self.found[0][1].model.parameter_names
        apart = {each.name: each for each in self.disagreements}
        width = max(12, *(len(name) for name in names))
        lines = [
            f"{'':<{width}}" + "".join(f"   {label:^{CELL}}" for label, _ in self.found),
            f"{'parameter':<{width}}" + f"   {'value':>10} {'2 sigma*':>10}" * len(self.found),
        ]
        for name in names:
            cells = [_known(estimate).get(name) for _, estimate in self.found]
            row = "".join(
                f"   {'-':>10} {'-':>10}"
                if cell is None
                else f"   {cell[0]:>10.4g} {2 * cell[1]:>10.2g}"
                for cell in cells
            )
            flag = (
                f"   ! {apart[name].sigmas:.1f} sigma: {' / '.join(apart[name].between)}"
                if name in apart
                else ""
            )
            lines.append(f"{name:<{width}}{row}{flag}")
        lines.append("")
        for title, texts in self._figures():
            lines.append(f"{title:<{width}}" + "".join(f"   {text:>{CELL}}" for text in texts))
        lines.append(
            f"{'seconds':<{width}}"
            + "".join(f"   {run.seconds:>{CELL}.2g}" for run in self.runs if run.estimate)
        )
        lines.append(
            "\n* corrected for the colour of the residuals, as the intervals of didim identify are"
        )
        if self.same_rows:
            lines.append("** on the same rows for every method: all in which a joint moves")
        lines += [
            f"\n{run.label}: not run. {run.reason}" for run in self.runs if run.estimate is None
        ]
        lines += [f"\n{label}: {each.lack.note}" for label, each in self.found if each.lack.note]
        lines += [
            f"\n{label}: {each.message}" for label, each in self.found if each.status != "converged"
        ]
        lines.append(f"\n{self._verdict(len(apart), len(names))}")
        lines += [self.advice] if self.advice else []
        return "\n".join(line.rstrip() for line in lines)

    def _figures(self) -> Iterator[tuple[str, list[str]]]:
        estimates = [estimate for _, estimate in self.found]
        yield "status", [str(each.status) for each in estimates]
        yield "residual", [f"{100 * each.residual:.3g} %" for each in estimates]
        if any(each.tests.get(DURBIN_WU_HAUSMAN) for each in estimates):
            yield "DWH, p", [_p_value(each) for each in estimates]
        yield "lacks", [_lacking(each.lack) for each in estimates]
        for use, name, errors in self.same_rows:
            yield f"{use} {name}**"[:30], [f"{100 * each:.3g} %" for each in errors]

    def _verdict(self, apart: int, count: int) -> str:
        if len(self.usable) < 2:
            return "Nothing can be compared: fewer than two methods converged."
        if apart:
            return (
                f"{apart} of {count} parameters differ by more than {DISAGREEMENT_SIGMAS:g} sigma: "
                "noise in the positions biases IDIM, a wrong loop biases DIDIM, a missing effect "
                "biases both; compare the residuals."
            )
        poor = [
            label
            for label, each in self.usable
            if any(worsening(v, each.residual, each.output) > WORSE for v in each.validation)
        ]
        warning = f" But {', '.join(poor)}: validation is much worse than the fit." if poor else ""
        return (
            f"The methods agree within {DISAGREEMENT_SIGMAS:g} sigma of their difference.{warning}"
        )


def _p_value(estimate: Estimate) -> str:
    """Of the test of Durbin, Wu and Hausman, for a cell."""
    test = estimate.tests.get(DURBIN_WU_HAUSMAN)
    return "-" if test is None or test.p_value is None else f"{test.p_value:.2g}"


def _lacking(lack: LackOfFit) -> str:
    """What the tests name, for a cell."""
    if lack.quiet:
        return "nothing found"
    if not lack.found:
        return "not tested"
    text = ", ".join(row.name for row in lack.found)
    return text if len(text) <= CELL else f"{text[: CELL - 4]} ..."


def _known(estimate: Estimate) -> dict[str, tuple[float, float]]:
    return {
        name: (float(value), float(sigma))
        for name, value, sigma in zip(
            estimate.names, estimate.values, estimate.corrected_sigma, strict=True
        )
    }


def _has_instruments(study: Study) -> bool:
    """Whether there are positions and a loop whose gains are known."""
    loop = study.controller is not None and not has_unknown_gains(study.settings.controller)
    return loop and all(record.q is not None for record in study.experiments)


def compare(
    study: Study, progress: Callable[[str], Callable[[float], Any] | None] | None = None
) -> Comparison:
    """Run the methods; `progress` gives, for a method's name, what is to be called with the
    fraction done.
    """
    plain = {"refine": False, "estimate_gains": False, "estimate_delay": None}
    methods: list[tuple[str, str, dict[str, Any]]] = [
        ("IDIM", "idim", {}),
        *([("IV", "iv", {})] if _has_instruments(study) else []),
        ("DIDIM", "didim", plain),
        ("DIDIM refined", "didim", {"refine": True}),
    ]
    if "output_error" in study.settings.model_fields_set or study.settings.method == "output_error":
        methods.append(("OutputError", "output_error", {}))
    _ = study.experiments
    runs: list[Run] = []
    first: Exception | None = None
    for label, name, changed in methods:
        begin = time.perf_counter()
        try:
            estimate = study.run(
                progress(label) if progress is not None else None, study.method(name, **changed)
            )
        except (InputError, InfeasibleError) as problem:
            runs.append(Run(label, None, str(problem)))
            first = first or problem
        else:
            runs.append(Run(label, estimate, "", time.perf_counter() - begin))
    if first is not None and all(run.estimate is None for run in runs):
        raise InputError(f"No method can run. {first}")
    return Comparison(tuple(runs))
