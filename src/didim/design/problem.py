"""A design as a whole: from settings to the plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.law import Controller
from didim.control.laws import OwnLaw
from didim.design.basis import FourierBasis, MotionBasis, SplineBasis
from didim.design.clearance import Clearances, clearances
from didim.design.criterion import LogDet, WeightedSigma
from didim.design.feasible import BackOff
from didim.design.known import Source, known_information
from didim.design.loop_filters import LoopFilters
from didim.design.motions import Motions
from didim.design.nominal import torque_noise
from didim.design.objective import Objective
from didim.design.penalty import Penalty
from didim.design.plan import Plan
from didim.design.predict import Prediction, sigma_of
from didim.design.rest import rest_pose
from didim.design.search import Budget, Watch, random_motions, search
from didim.design.settings import MIN_HARMONICS, Settings, criterion_of
from didim.design.stick_slip import SHARE, StickSlip, amplitudes, is_worth_it, stick_slip
from didim.design.unknowns import Unknowns
from didim.design.verify import Checked, Verification
from didim.dynamics.model import BaseModel
from didim.errors import InputError
from didim.results.formatting import listed

Array = NDArray[np.float64]

NOISE_MOTIONS = 8
"""Random motions of few harmonics whose torque the default noise is a fraction of."""

COMPARED_MOTIONS = 2
"""Random motions that small motions are compared with."""


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

    def _motions(self, small: StickSlip | None) -> Motions:
        """Those that leave time for a small one."""
        chosen = self.settings
        seconds = chosen.duration - (0.0 if small is None else small.duration)
        response = self._response(1) if chosen.gains_unknown else None
        count = chosen.harmonics(seconds, None if response is None else response.bandwidth)
        basis: MotionBasis = (
            FourierBasis(seconds, count)
            if chosen.basis == "fourier"
            else SplineBasis(seconds, 2 * count)
        )
        return Motions(basis, chosen.limits, chosen.start, small)

    @cached_property
    def small(self) -> StickSlip | None:
        """The part of the record in which contacts stick and slip, where gains are unknown and it
        tells enough of them: judged with the exact sensitivities, beside random motions.
        """
        filters, settings = self._response(1), self.settings
        if filters is None or not settings.gains_unknown:
            return None
        amplitude = amplitudes(self.model, self.parameters, self.pose, filters.stiffness)
        if not np.any(amplitude > 0):
            return None
        seconds, limits = SHARE * settings.duration, settings.limits
        small = stick_slip(seconds, amplitude, limits, settings.seed)
        motions = self._motions(None)
        drawn = random_motions(self._within(motions), self.pose, settings.seed, COMPARED_MOTIONS)
        tried = [small.trajectory(self.pose), *map(motions.trajectory, drawn)]
        of_small, *of_motions = (
            self.prediction.information(self._checks.along(each), each) for each in tried
        )
        of_motion = np.mean(of_motions, axis=0)
        return small if is_worth_it(of_motion, of_small, len(filters.names)) else None

    @cached_property
    def motions(self) -> Motions:
        """The motions that are searched."""
        return self._motions(self.small)

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
    def objective(self) -> Objective:
        """What the search makes small."""
        criterion = criterion_of(self.settings, self.names, self.values)
        free = self._within(self.motions)
        return replace(free, criterion=criterion, noise=self._noise[0], known=self.known)

    @cached_property
    def _checks(self) -> Verification:
        limits, clearances = self.settings.limits, self.clearances
        return Verification(self.model, self.parameters, self.loop, limits, clearances)

    @cached_property
    def back_off(self) -> BackOff:
        """To motions that meet every limit."""
        return BackOff(self.motions, self._checks, self.pose)

    def designed(self, watch: Watch, budget: Budget) -> Plan:
        """The plan."""
        settings, pose = self.settings, self.pose
        tried = search(self.objective, pose, settings.seed, budget, watch)
        x, checked = self._first_feasible(tried)
        information = self._information(x, checked)
        before = sigma_of(self.known) if self.sources else None
        small = () if self.small is None else (self.small.message,)
        return Plan(
            model=self.model,
            trajectory=self.motions.trajectory(x),
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
            messages=(*self._noise[1], *self._default_limits, *small),
        )

    @property
    def _default_limits(self) -> tuple[str, ...]:
        """Which limits the description does not have."""
        names = list(self.settings.limits.defaults)
        return (f"Limits by default: {listed(names)}; give them in Limits.",) if names else ()

    def _first_feasible(self, tried: Sequence[Array]) -> tuple[Array, Checked]:
        """The first of the motions that can be made to meet every limit."""
        refusal: InputError | None = None
        for x in tried:
            try:
                return self.back_off.feasible(x)
            except InputError as problem:
                refusal = refusal or problem
        assert refusal is not None
        raise refusal

    def _information(self, x: Array, checked: Checked) -> Array:
        trajectory = self.motions.trajectory(x)
        return self.known + self.prediction.information(checked.motion, trajectory)

    def _best_random(self, watch: Watch) -> Array | None:
        """(b,) sigma of the random plan with the least geometric mean of sigma."""
        count = self.settings.random_plans
        if not count or watch.stopped:
            return None
        seed = self.settings.seed + 1
        drawn = random_motions(self._within(self.motions), self.pose, seed, count)
        mean = replace(self.objective, criterion=WeightedSigma(np.ones(len(self.names))))
        drawn.sort(key=mean.criterion_value)
        x, checked = self._first_feasible(drawn)
        return sigma_of(self._information(x, checked))
