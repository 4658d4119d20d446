"""From what is to be designed to the plan: search, bursts, and a motion that meets every limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

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
from didim.design.unchecked import stationary, unchecked
from didim.design.verify import Checked
from didim.errors import InputError
from didim.signals.trajectories import AnalyticTrajectory

Array = NDArray[np.float64]

LONG_TRANSIENT = 0.25
"""Of a plan that the loop needs to forget its start, beyond which the plan says so."""


class Feasible(NamedTuple):
    """A motion that meets every limit."""

    trajectory: AnalyticTrajectory
    checked: Checked
    notes: tuple[str, ...] = ()
    """What the reader should know of it."""


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
        trajectory, checked, notes = found or self._finished(motions, tried)
        own = self.problem.prediction.information(checked.motion, trajectory)
        information = self.problem.known + own
        before = sigma_of(self.problem.known) if self.problem.sources else None
        return Plan(
            model=self.problem.model,
            trajectory=trajectory,
            method=settings.method.upper(),
            names=self.problem.names,
            values=self.problem.values,
            sigma=sigma_of(information),
            information=information,
            own_information=own,
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
            after=tuple(self.problem.sources),
            stopped=self.watch.stopped,
            messages=(
                *self.problem.independent[1],
                *self.problem.noise_and_notes[1],
                *unchecked(settings.limits, self.problem.clearances),
                *notes,
                *self._transient_notes(trajectory, checked),
                *stationary(trajectory, checked.motion, self.problem.model.robot.joint_names),
            ),
        )

    def _refuse_loop_that_diverges(self, objective: Objective) -> None:
        """Before anything is searched: by its poles, and even along a small motion."""
        if self.problem.loop is not None:
            motions, pose = objective.motions, self.problem.pose
            self.problem.checks.refuse_unstable_loop(pose)
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

    def _finished(self, motions: Motions, tried: Sequence[Array]) -> Feasible:
        """A feasible motion, from what was tried first."""
        objective = self.problem.objective(motions, self.problem.criterion)
        best = finished(objective, tried[0], self.budget, self.watch, self._tightened)
        return self._first_feasible(motions, [best, *tried[1:]])

    def _with_bursts(self, count: int, tried: Sequence[Array]) -> Feasible | None:
        """The same with so many bursts at its end; None where the limits do not allow that, or
        where the search was told to stop.
        """
        assert self._bursts is not None
        try:
            main = self._finished(self.problem.motions(count), tried)
        except InputError:
            return None
        if self.watch.stopped:
            return None
        ending = Ending(main.trajectory, main.checked, self.problem.checks)
        bursts = self._bursts.chosen(self._information(*main[:2]), ending.pose, count)
        whole = ending.feasible(bursts) if bursts else None
        if whole is None:
            return None
        return Feasible(*whole, (message(count * self.problem.burst_seconds),))

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

    def _first_feasible(self, motions: Motions, tried: Sequence[Array]) -> Feasible:
        """The first of the motions that can be made to meet every limit."""
        back_off = BackOff(motions, self.problem.checks, self.problem.pose)
        refusal: InputError | None = None
        for x in tried:
            try:
                found, checked = back_off.feasible(x)
                return Feasible(motions.trajectory(found), checked)
            except InputError as problem:
                refusal = refusal or problem
        assert refusal is not None
        raise refusal

    def _transient_notes(self, trajectory: AnalyticTrajectory, checked: Checked) -> tuple[str, ...]:
        """That a loop is slow for so short a plan."""
        t = checked.motion.t
        needed, left_out = self.problem.prediction.transient(t, trajectory)
        seconds = float(t[-1] - t[0])
        if needed <= LONG_TRANSIENT * seconds:
            return ()
        return (
            f"The loop needs {needed:.3g} s to forget its initial state, and DIDIM leaves out the "
            f"first {left_out:.3g} s of {seconds:.3g} s, which then tell nothing: plan longer, or "
            "identify with transient=0 where the record begins at rest on its reference.",
        )

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
        return sigma_of(self._information(*self._first_feasible(motions, drawn)[:2]))

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
