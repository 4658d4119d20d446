"""A design as a whole: from settings to the plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.law import Controller
from didim.control.laws import OwnLaw
from didim.design.basis import FourierBasis, MotionBasis, SplineBasis
from didim.design.burst_search import BurstSearch, message
from didim.design.clearance import Clearances, clearances
from didim.design.criterion import Criterion, LogDet, WeightedSigma
from didim.design.feasible import BackOff, Ending
from didim.design.known import Source, known_information
from didim.design.loop_filters import LoopFilters
from didim.design.motions import Motions
from didim.design.nominal import torque_noise
from didim.design.objective import Objective
from didim.design.penalty import Penalty
from didim.design.plan import Plan
from didim.design.predict import Prediction, sigma_of
from didim.design.rest import rest_pose
from didim.design.search import (
    Budget,
    Watch,
    finished,
    improved_starts,
    random_motions,
    stopped_by_keyboard,
)
from didim.design.settings import MIN_HARMONICS, Settings, criterion_of
from didim.design.unknowns import Unknowns
from didim.design.verify import Checked, Verification
from didim.dynamics.model import BaseModel
from didim.errors import InputError
from didim.results.formatting import listed
from didim.signals.trajectories import AnalyticTrajectory

Array = NDArray[np.float64]

NOISE_MOTIONS = 8
"""Random motions of few harmonics whose torque the default noise is a fraction of."""


@dataclass(frozen=True, eq=False)
class DesignProblem:
    """The robot, its loop and what is to be designed; what follows from them is computed once."""

    model: BaseModel
    parameters: Array
    """(b,) nominal base parameters."""
    loop: Controller | None
    settings: Settings
    sources: Sequence[Source]
    """Of information that there is already."""
    given_noise: ArrayLike | None

    @cached_property
    def clearances(self) -> Clearances | None:
        """The distances that are limited."""
        limits = self.settings.limits
        return clearances(self.model.robot, limits) if limits.is_cartesian else None

    def _motions(self, bursts: int = 0) -> Motions:
        """Those that leave time for so many bursts, with as many coefficients."""
        chosen, response = self.settings, self._filters if self.settings.gains_unknown else None
        seconds = chosen.duration - (bursts * self._burst_seconds if bursts else 0.0)
        count = chosen.harmonics(None if response is None else response.bandwidth)
        basis: MotionBasis = (
            FourierBasis(seconds, count)
            if chosen.basis == "fourier"
            else SplineBasis(seconds, 2 * count)
        )
        return Motions(basis, chosen.limits, chosen.start)

    @cached_property
    def bursts(self) -> BurstSearch | None:
        """What ends the plan, where gains are unknown."""
        if self._filters is None or not self._filters.names:
            return None
        parts = self.settings, self._filters, self.prediction, self._checks, self._criterion
        return BurstSearch(*parts)

    @property
    def _burst_seconds(self) -> float:
        return 0.0 if self.bursts is None else self.bursts.duration

    def _burst_count(self, trajectory: AnalyticTrajectory) -> int:
        """As many as are worth their time, beside a motion that the search has found so far."""
        if self.bursts is None:
            return 0
        try:
            motion = self._checks.along(trajectory)
        except InputError:  # the robot does not follow what is found so far
            return 0
        found = self.prediction.information(motion, trajectory)
        return self.bursts.count(self.known, found, self.pose)

    @cached_property
    def pose(self) -> Array:
        """(n,) at rest within the limits."""
        limits, start = self.settings.limits, self.settings.start
        return rest_pose(self.model, self.parameters, limits, self.clearances, start)

    @cached_property
    def unknowns(self) -> Unknowns:
        """What a record is to determine."""
        return Unknowns(self.model, self.parameters, self.settings.limits.velocity)

    def _response(self, samples: int, duration: float = 1.0) -> LoopFilters | None:
        if self.loop is None or self.settings.method == "idim" or isinstance(self.loop, OwnLaw):
            return None
        gains = self.settings.gains_unknown
        return LoopFilters(self.model, self.parameters, self.loop, duration, samples, gains)

    @cached_property
    def _filters(self) -> LoopFilters | None:
        """Of the loop, without a grid: its names and gains."""
        return self._response(1)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """(b,) of the unknowns: parameters, shapes, gains."""
        filters = self._filters
        return (*self.unknowns.names, *(() if filters is None else filters.names))

    @cached_property
    def values(self) -> Array:
        """(b,) nominal."""
        filters = self._filters
        further = np.zeros(0) if filters is None else filters.values
        return np.concatenate([self.unknowns.values, further])

    def _within(self, motions: Motions) -> Objective:
        """The objective before noise and information are known: for the limits alone."""
        n, settings, seconds = self.model.robot.n, self.settings, motions.basis.duration
        penalty = Penalty(settings.limits, self.clearances)
        samples, none = settings.rate * seconds, np.zeros((0, 0))
        filters = self._response(motions.t.size, seconds)
        parts = motions, self.unknowns, filters, LogDet(), penalty
        return Objective(*parts, np.ones(n), none, samples)

    @cached_property
    def _noise(self) -> tuple[Array, tuple[str, ...]]:
        chosen = self.settings
        slow = FourierBasis(chosen.duration, MIN_HARMONICS)
        plain = replace(self._within(Motions(slow, chosen.limits, chosen.start)), filters=None)
        drawn = random_motions(plain, self.pose, 0, NOISE_MOTIONS)
        torques = [plain.torque(plain.motions.at(x)) for x in drawn]
        rms = np.sqrt(np.mean(np.square(torques), axis=(0, 1)))
        return torque_noise(self.given_noise, self.sources, rms)

    @cached_property
    def prediction(self) -> Prediction:
        """Of the information of a record."""
        loop = None if self._filters is None else self.loop
        gains, rate = self.settings.gains_unknown, self.settings.rate
        return Prediction(self.unknowns, loop, gains, self._noise[0], rate)

    @cached_property
    def known(self) -> Array:
        """(b, b) information that there is already."""
        return known_information(self.sources, self.names, self.prediction)

    @cached_property
    def _criterion(self) -> Criterion:
        return criterion_of(self.settings, self.names, self.values)

    def _objective(self, motions: Motions, criterion: Criterion) -> Objective:
        """What the search makes small."""
        free = self._within(motions)
        return replace(free, criterion=criterion, noise=self._noise[0], known=self.known)

    @cached_property
    def _checks(self) -> Verification:
        limits, clearances = self.settings.limits, self.clearances
        return Verification(self.model, self.parameters, self.loop, limits, clearances)

    def designed(self, watch: Watch, budget: Budget) -> Plan:
        """The plan."""
        with stopped_by_keyboard(watch):
            return self._designed(watch, budget)

    def _designed(self, watch: Watch, budget: Budget) -> Plan:
        settings, motions = self.settings, self._motions()
        objective = self._objective(motions, self._criterion)
        tried = improved_starts(objective, self.pose, settings.seed, budget, watch)
        found, count = None, 0 if watch.stopped else self._burst_count(motions.trajectory(tried[0]))
        if count:
            found = self._with_bursts(count, tried, budget, watch)
        notes = () if found is None else (message(count * self._burst_seconds),)
        trajectory, checked = found or self._finished(motions, tried, budget, watch)
        information = self._information(trajectory, checked)
        before = sigma_of(self.known) if self.sources else None
        return Plan(
            model=self.model,
            trajectory=trajectory,
            method=settings.method.upper(),
            names=self.names,
            values=self.values,
            sigma=sigma_of(information),
            information=information,
            noise=self._noise[0],
            rate=settings.rate,
            limits=settings.limits,
            margins=checked.margins,
            motion=checked.motion,
            loop=self.loop,
            gains_unknown=settings.gains_unknown,
            seed=settings.seed,
            sigma_random=self._best_random(watch),
            sigma_before=before,
            stopped=watch.stopped,
            messages=(*self._noise[1], *self._default_limits, *notes),
        )

    def _finished(
        self, motions: Motions, tried: Sequence[Array], budget: Budget, watch: Watch
    ) -> tuple[AnalyticTrajectory, Checked]:
        """A feasible motion, from what was tried first."""
        objective = self._objective(motions, self._criterion)
        best = finished(objective, tried[0], budget, watch, self._tightened)
        return self._first_feasible(motions, [best, *tried[1:]])

    def _with_bursts(
        self, count: int, tried: Sequence[Array], budget: Budget, watch: Watch
    ) -> tuple[AnalyticTrajectory, Checked] | None:
        """The same with so many bursts at its end; None where the limits do not allow that."""
        assert self.bursts is not None
        try:
            main = self._finished(self._motions(count), tried, budget, watch)
        except InputError:
            return None
        ending, known = Ending(*main, self._checks), self._information(*main)
        return ending.feasible(self.bursts.chosen(known, ending.pose, count))

    def _tightened(self, objective: Objective, x: Array) -> Objective:
        """With limits tightened by what x exceeds between the samples of the grid, and where the
        robot sags in its loop: shrinking a motion afterwards, joint by joint, costs more. Slow
        motions, those for known gains, exceed them so little that nothing is gained.
        """
        if not self.settings.gains_unknown:
            return objective
        motions, checks = objective.motions, self._checks
        margins = checks.reference(partial(motions.sampled, x), motions.basis.duration)
        checked = checks.check(motions.trajectory(x), margins)
        parts = checks.excess(checked), checks.shortfall(checked)
        return replace(objective, penalty=objective.penalty.tightened(*parts))

    @property
    def _default_limits(self) -> tuple[str, ...]:
        """Which limits the description does not have."""
        names = list(self.settings.limits.defaults)
        return (f"Limits by default: {listed(names)}; give them in Limits.",) if names else ()

    def _first_feasible(
        self, motions: Motions, tried: Sequence[Array]
    ) -> tuple[AnalyticTrajectory, Checked]:
        """The first of the motions that can be made to meet every limit."""
        back_off = BackOff(motions, self._checks, self.pose)
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
        return self.known + self.prediction.information(checked.motion, trajectory)

    def _best_random(self, watch: Watch) -> Array | None:
        """(b,) sigma of the random plan with the least geometric mean of sigma."""
        count = self.settings.random_plans
        if not count or watch.stopped:
            return None
        seed, motions = self.settings.seed + 1, self._motions()
        mean = self._objective(motions, WeightedSigma(np.ones(len(self.names))))
        drawn = random_motions(mean, self.pose, seed, count)
        drawn.sort(key=mean.criterion_value)
        return sigma_of(self._information(*self._first_feasible(motions, drawn)))
