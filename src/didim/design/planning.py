"""From what is to be designed to the plan: search, bursts, and a motion that meets every limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from didim.design.burst_search import BurstSearch, message
from didim.design.criterion import WeightedSigma
from didim.design.feasible import LEAST, BackOff, Ending
from didim.design.motions import Motions
from didim.design.objective import Objective
from didim.design.plan import Plan
from didim.design.predict import sigma_of
from didim.design.problem import DesignProblem
from didim.design.search import (
    Budget,
    Watch,
    finished,
    improved_starts,
    random_motions,
    stopped_by_keyboard,
)
from didim.design.verify import Checked
from didim.errors import InputError
from didim.results.formatting import listed
from didim.signals.trajectories import AnalyticTrajectory

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Planning:
    """A problem, and how much is searched."""

    problem: DesignProblem
    budget: Budget
    watch: Watch

    def plan(self) -> Plan:
        """The plan."""
        with stopped_by_keyboard(self.watch):
            return self._planned()

    def _planned(self) -> Plan:
        settings, motions = self.problem.settings, self.problem.motions()
        objective = self.problem.objective(motions, self.problem.criterion)
        self._refuse_loop_that_diverges(objective)
        tried = improved_starts(
            objective, self.problem.pose, settings.seed, self.budget, self.watch
        )
        count = self._burst_count(motions.trajectory(tried[0]))
        found = self._with_bursts(count, tried) if count else None
        notes = () if found is None else (message(count * self.problem.burst_seconds),)
        trajectory, checked = found or self._finished(motions, tried)
        information = self._information(trajectory, checked)
        before = sigma_of(self.problem.known) if self.problem.sources else None
        return Plan(
            model=self.problem.model,
            trajectory=trajectory,
            method=settings.method.upper(),
            names=self.problem.names,
            values=self.problem.values,
            sigma=sigma_of(information),
            information=information,
            noise=self.problem.noise,
            rate=settings.rate,
            limits=settings.limits,
            margins=checked.margins,
            motion=checked.motion,
            loop=self.problem.loop,
            gains_unknown=settings.gains_unknown,
            seed=settings.seed,
            sigma_random=self._best_random(),
            sigma_before=before,
            stopped=self.watch.stopped,
            messages=(*self.problem.noise_and_notes[1], *self._default_limits, *notes),
        )

    def _refuse_loop_that_diverges(self, objective: Objective) -> None:
        """Before anything is searched: even along a small motion."""
        if self.problem.loop is not None:
            motions, pose = objective.motions, self.problem.pose
            (drawn,) = random_motions(objective, pose, self.problem.settings.seed, 1)
            small = motions.towards(drawn, pose, LEAST)
            self.problem.checks.along(motions.trajectory(small))

    @cached_property
    def _bursts(self) -> BurstSearch | None:
        """What ends the plan, where gains are unknown."""
        problem, filters = self.problem, self.problem.filters
        if filters is None or not filters.names:
            return None
        parts = problem.settings, filters, problem.prediction, problem.checks, problem.criterion
        return BurstSearch(*parts, self.budget.bursts, self.watch.asked_to_stop)

    def _finished(
        self, motions: Motions, tried: Sequence[Array]
    ) -> tuple[AnalyticTrajectory, Checked]:
        """A feasible motion, from what was tried first."""
        objective = self.problem.objective(motions, self.problem.criterion)
        best = finished(objective, tried[0], self.budget, self.watch, self._tightened)
        return self._first_feasible(motions, [best, *tried[1:]])

    def _with_bursts(
        self, count: int, tried: Sequence[Array]
    ) -> tuple[AnalyticTrajectory, Checked] | None:
        """The same with so many bursts at its end; None where the limits do not allow that."""
        assert self._bursts is not None
        try:
            main = self._finished(self.problem.motions(count), tried)
        except InputError:
            return None
        ending, known = Ending(*main, self.problem.checks), self._information(*main)
        return ending.feasible(self._bursts.chosen(known, ending.pose, count))

    def _tightened(self, objective: Objective, x: Array) -> Objective:
        """With limits tightened by what x exceeds between the samples of the grid, and where the
        robot sags in its loop: shrinking a motion afterwards, joint by joint, costs more. Slow
        motions, those for known gains, exceed them so little that nothing is gained.
        """
        if not self.problem.settings.gains_unknown:
            return objective
        motions, checks = objective.motions, self.problem.checks
        margins = checks.reference(partial(motions.sampled, x), motions.basis.duration)
        try:
            checked = checks.check(motions.trajectory(x), margins)
        except InputError:  # the robot does not follow: shrinking will tell
            return objective
        parts = checks.excess(checked), checks.shortfall(checked)
        return replace(objective, penalty=objective.penalty.tightened(*parts))

    @property
    def _default_limits(self) -> tuple[str, ...]:
        """Which limits the description does not have."""
        names = list(self.problem.settings.limits.defaults)
        return (f"Limits by default: {listed(names)}; give them in Limits.",) if names else ()

    def _first_feasible(
        self, motions: Motions, tried: Sequence[Array]
    ) -> tuple[AnalyticTrajectory, Checked]:
        """The first of the motions that can be made to meet every limit."""
        back_off = BackOff(motions, self.problem.checks, self.problem.pose)
        refusal: InputError | None = None
        for x in tried:
            try:
                found, checked = back_off.feasible(x)
                return motions.trajectory(found), checked
            except InputError as problem:
                refusal = refusal or problem
        assert refusal is not None
        raise refusal

    def _information(self, trajectory: AnalyticTrajectory, checked: Checked) -> Array:
        return self.problem.known + self.problem.prediction.information(checked.motion, trajectory)

    def _best_random(self) -> Array | None:
        """(b,) sigma of the random plan with the least geometric mean of sigma."""
        count = self.problem.settings.random_plans
        if not count or self.watch.stopped:
            return None
        seed, motions = self.problem.settings.seed + 1, self.problem.motions()
        mean = self.problem.objective(motions, WeightedSigma(np.ones(len(self.problem.names))))
        drawn = random_motions(mean, self.problem.pose, seed, count)
        drawn.sort(key=mean.criterion_value)
        return sigma_of(self._information(*self._first_feasible(motions, drawn)))

    def _burst_count(self, trajectory: AnalyticTrajectory) -> int:
        """As many as are worth their time, beside a motion that the search has found so far."""
        if self._bursts is None or self.watch.stopped:
            return 0
        try:
            motion = self.problem.checks.along(trajectory)
        except InputError:  # the robot does not follow what is found so far
            return 0
        found = self.problem.prediction.information(motion, trajectory)
        return self._bursts.count(self.problem.known, found, self.problem.pose)
