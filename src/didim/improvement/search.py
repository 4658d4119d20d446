"""`improve`: identify, test, add the best suspect, repeat.

A suspect stays only where the error of what the fit did not see falls, and the record identifies
the larger structure. With nothing to find, the identification itself is all that is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from didim.dynamics.model import BaseModel, DynamicModel
from didim.errors import InfeasibleError, InputError, shortened
from didim.identification.identify import Method, identify
from didim.identification.methods.didim import DIDIM
from didim.identification.methods.idim import IDIM
from didim.identification.methods.output_error import OutputError
from didim.improvement.candidates import FOR_A_PERSON, candidates, suspects_in_order
from didim.improvement.held_out import Errors, HeldOut, Predictions, held_out
from didim.improvement.path import Ending, Improvement, Outcome, Step
from didim.improvement.significance import insignificant_effects, lost_parameters
from didim.improvement.structure import Candidate, Structure
from didim.results.estimate import Estimate
from didim.results.formatting import listed
from didim.results.lack_of_fit import LackRow
from didim.results.status import Status
from didim.signals.experiment import Experiment, listed_records
from didim.validation import callback

Progress = Callable[[float], Any]

MAX_ROUNDS = 12
MAX_TRIES = 3
"""Suspects that are tried in a round."""

MAX_REPETITIONS = 4
"""Fits until the controller's own model is the identified one."""

SETTLED = 1e-3
"""Relative change of the residual that ends these."""


def improve(
    model: DynamicModel | BaseModel,
    experiments: Experiment | Sequence[Experiment],
    method: Method,
    validation: Experiment | Sequence[Experiment] | None = None,
    progress: Progress | None = None,
    *,
    origin: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
) -> Improvement:
    """Add to a model and its loop what the records support.

    Parameters
    ----------
    model
        The dynamic model to start from.
    experiments
        One record, or a list of records that are used together.
    method
        `didim.IDIM(...)`, `didim.DIDIM(...)` or `didim.OutputError(...)`.
    validation
        Records that no fit sees: a suspect stays if they are predicted better with it. None: each
        third of the experiments in turn, predicted by fits to the other two.
    progress
        Called with the fraction done, 0 to 1; may return False to stop.
    origin
        Further provenance, as for `identify`.
    notes
        Further notes for the reader of the estimate.
    """
    if not isinstance(method, IDIM | DIDIM | OutputError):
        raise InputError(
            "improve needs a method of didim: IDIM(...), DIDIM(...) or OutputError(...), found "
            f"{shortened(method)}."
        )
    if not isinstance(model, DynamicModel | BaseModel):
        raise InputError(
            f"model must be a didim.DynamicModel or its base, found {type(model).__name__}."
        )
    callback(progress)
    full = model if isinstance(model, DynamicModel) else model.full
    records = listed_records(experiments, "experiments")
    others = () if validation is None else listed_records(validation, "validation")
    start = Structure(full, replace(method, lack_of_fit=True))
    more = {"origin": dict(origin or {}), "notes": tuple(notes)}
    return _Path(records, others, _Reporter(progress), more).run(start)


@dataclass
class _Reporter:
    """Progress of a path whose length nobody knows: each stage takes half of what is left, and the
    last answer is remembered.
    """

    progress: Progress | None
    stages: int = 0
    stopped: bool = False

    def tell(self, fraction: float = 0.0) -> bool:
        """Report the fraction of the current stage; False: stop."""
        if self.progress is not None:
            done = 1.0 - 0.5**self.stages * (1.0 - 0.5 * fraction)
            self.stopped = self.stopped or self.progress(done) is False
        return not self.stopped

    def next(self) -> None:
        """The next stage."""
        self.stages += 1
        self.tell()


@dataclass(frozen=True, eq=False)
class _Fit:
    """A structure with its estimate."""

    structure: Structure
    estimate: Estimate

    @property
    def is_identified(self) -> bool:
        """Whether it converged, with a finite sigma of every unknown."""
        found = self.estimate
        further = [sigma for _, sigma in (*found.gains.values(), *found.shapes.values())]
        finite = np.isfinite(found.sigma).all() and np.isfinite(further).all()
        return found.status is Status.CONVERGED and bool(finite)


@dataclass
class _Path:
    """One search: records and steps so far."""

    records: tuple[Experiment, ...]
    validation: tuple[Experiment, ...]
    reporter: _Reporter
    more: dict[str, Any]
    steps: list[Step] = field(default_factory=list)
    unseen: HeldOut | None = None
    first: Estimate | None = None

    def run(self, start: Structure) -> Improvement:
        """The whole path."""
        first = fit = self._fitted(start)
        self.first = first.estimate
        known: Predictions | None = None
        before: Predictions = ()
        ending = Ending.LIMIT
        for number in range(1, MAX_ROUNDS + 1):
            lack = fit.estimate.lack
            if self.reporter.stopped or lack.quiet or lack.reason:
                break
            if self.unseen is None:
                try:
                    self.unseen = held_out(start, self.records, self.validation)
                except InputError:  # what was identified is not lost
                    ending = Ending.TOO_SHORT
                    break
            if known is None:
                known = self.unseen.predictions(fit.structure, fit.estimate, self.reporter.next)
                before = known
            found = self._round(number, fit, known)
            if found is None:
                ending = Ending.UNSUPPORTED
                break
            fit, known = found
        if self.reporter.stopped:
            ending = Ending.REQUEST
        elif fit.estimate.lack.quiet:
            ending = Ending.QUIET
        elif fit.estimate.lack.reason:  # such as a law of the user's own
            ending = Ending.NOT_TESTED
        return Improvement(
            fit.estimate,
            fit.structure.model,
            fit.structure.method,
            tuple(self.steps),
            ending,
            "" if self.unseen is None else self.unseen.about,
            first.estimate,
            None if not self.unseen or not known else self.unseen.compared(before, known),
        )

    def _fitted(self, structure: Structure) -> _Fit:
        self.reporter.next()
        given = structure.model, self.records, structure.method, self.validation or None
        return _Fit(structure, identify(*given, self.reporter.tell, **self.more))

    def _round(self, number: int, fit: _Fit, known: Predictions) -> tuple[_Fit, Predictions] | None:
        """One suspect more; None where none is supported."""
        tries, seen = 0, {step.names for step in self.steps if not step.kept}
        for rows in suspects_in_order(fit.estimate.lack, seen):
            if tries == MAX_TRIES or self.reporter.stopped:
                break
            if rows[0].remedy in FOR_A_PERSON:
                self._passed_over(number, rows, Outcome.FOR_A_PERSON, FOR_A_PERSON[rows[0].remedy])
                continue
            try:
                larger = candidates(fit.structure, fit.estimate, rows, self.records)
            except InputError as problem:
                self._passed_over(number, rows, Outcome.NOT_APPLICABLE, str(problem).rstrip("."))
                continue
            tries += 1
            for candidate in larger:
                found = self._tried(number, rows, candidate, fit, known)
                if found is not None:
                    return found
        return None

    def _passed_over(
        self, number: int, rows: tuple[LackRow, ...], outcome: Outcome, why: str
    ) -> None:
        """Record a suspect that was not tried, once in a round for each reason."""
        known = [(step.round, step.suspects[0].name, step.why) for step in self.steps]
        if (number, rows[0].name, why) not in known:
            self.steps.append(Step(number, rows, outcome, why=why))

    def _tried(
        self,
        number: int,
        rows: tuple[LackRow, ...],
        candidate: Candidate,
        fit: _Fit,
        known: Predictions,
    ) -> tuple[_Fit, Predictions] | None:
        """A candidate with its predictions where it is better; the step is recorded."""

        def record(outcome: Outcome, why: str = "", errors: Errors | None = None) -> None:
            figures = errors or Errors(np.nan, np.nan, np.nan, np.nan)
            before, after, ratio = figures.before, figures.after, figures.ratio
            step = Step(number, rows, outcome, candidate.change, before, after, ratio, why)
            self.steps.append(step)

        try:
            larger = self._following(candidate)
        except (InputError, InfeasibleError) as problem:
            record(Outcome.FAILED, str(problem).rstrip("."))
            return None
        if self.reporter.stopped:
            return None
        if fit.is_identified and not larger.is_identified:
            record(Outcome.UNIDENTIFIABLE, larger.estimate.message.rstrip("."))
            return None
        assert self.first is not None
        if lost := lost_parameters(self.first, larger.estimate):
            record(Outcome.UNIDENTIFIABLE, f"nor {listed(lost)} beside it")
            return None
        if insignificant_effects(fit.estimate, larger.estimate):
            record(Outcome.INSIGNIFICANT)
            return None
        assert self.unseen is not None
        found = self.unseen.predictions(larger.structure, larger.estimate, self.reporter.next)
        errors = self.unseen.compared(known, found)
        record(Outcome.KEPT if errors.is_better else Outcome.NOT_BETTER, errors=errors)
        return (larger, found) if errors.is_better else None

    def _following(self, candidate: Candidate) -> _Fit:
        """The fit of a candidate; where the controller's own model is the identified one, repeated
        until it is.
        """
        fit = self._fitted(candidate.structure)
        for _ in range(MAX_REPETITIONS if candidate.follows else 0):
            loop, residual = fit.structure.loop, fit.estimate.residual
            assert loop is not None
            own = replace(loop, model=fit.estimate.model, parameters=fit.estimate.parameters)
            again = self._fitted(fit.structure.started_at(fit.estimate, own))
            if not again.estimate.residual < residual:
                break
            fit = again
            if residual - again.estimate.residual < SETTLED * residual:
                break
        return fit
