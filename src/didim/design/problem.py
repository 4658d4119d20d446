"""What is to be designed: from settings to the objective of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.law import Controller
from didim.control.laws import OwnLaw
from didim.design.basis import FourierBasis, MotionBasis, SplineBasis
from didim.design.burst_search import burst_seconds
from didim.design.clearance import Clearances, clearances
from didim.design.criterion import Criterion, LogDet
from didim.design.known import Source, independent, known_information, rests_on_gains
from didim.design.loop_filters import LoopFilters
from didim.design.motions import Motions
from didim.design.nominal import torque_noise
from didim.design.objective import Objective
from didim.design.penalty import Penalty
from didim.design.predict import Prediction
from didim.design.rest import rest_pose
from didim.design.search import random_motions
from didim.design.settings import MIN_HARMONICS, Settings, criterion_of
from didim.design.unknowns import Unknowns
from didim.design.verify import Verification
from didim.dynamics.model import BaseModel

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

    def motions(self, bursts: int = 0) -> Motions:
        """Those that leave time for so many bursts, with as many coefficients."""
        chosen, response = self.settings, self.filters if self.settings.gains_unknown else None
        seconds = chosen.duration - bursts * self.burst_seconds
        count = chosen.harmonics(None if response is None else response.bandwidth)
        basis: MotionBasis = (
            FourierBasis(seconds, count)
            if chosen.basis == "fourier"
            else SplineBasis(seconds, 2 * count)
        )
        return Motions(basis, chosen.limits, chosen.start)

    @property
    def burst_seconds(self) -> float:
        """Of a burst that ends the plan, where gains are unknown; 0: there are none."""
        has_gains = self.filters is not None and bool(self.filters.names)
        return burst_seconds(self.settings) if has_gains else 0.0

    @cached_property
    def pose(self) -> Array:
        """(n,) at rest within the limits."""
        limits, start = self.settings.limits, self.settings.start
        parts = self.model, self.parameters, limits, self._saturation, self.clearances, start
        return rest_pose(*parts)

    @property
    def _saturation(self) -> Array:
        """(n,) torque at which the controller saturates, N.m or N."""
        n = self.model.robot.n
        if self.loop is None:
            return np.full(n, np.inf)
        limits = np.broadcast_to(np.asarray(self.loop.saturation, dtype=float), n)
        drive = np.abs(self.loop.drive(self.model))
        return np.where(drive > 0, drive * np.where(drive > 0, limits, 0.0), 0.0).sum(axis=1)

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
    def filters(self) -> LoopFilters | None:
        """Of the loop, without a grid: its names and gains."""
        return self._response(1)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """(b,) of the unknowns: parameters, shapes, gains."""
        filters = self.filters
        return (*self.unknowns.names, *(() if filters is None else filters.names))

    @cached_property
    def values(self) -> Array:
        """(b,) nominal."""
        filters = self.filters
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

    @property
    def noise(self) -> Array:
        """(n,) standard deviation of the torque of a sample, N.m or N."""
        return self.noise_and_notes[0]

    @cached_property
    def noise_and_notes(self) -> tuple[Array, tuple[str, ...]]:
        """The noise, and where it is from if it was not given."""
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
        loop = self.loop if self.settings.method == "didim" else None
        gains, rate = self.settings.gains_unknown, self.settings.rate
        return Prediction(self.unknowns, loop, gains, self.noise, rate)

    @cached_property
    def independent(self) -> tuple[list[Source], list[str]]:
        """The sources whose information is added up, and what to know of it."""
        kept, notes = independent(self.sources)
        return kept, notes + (rests_on_gains(kept) if self.settings.gains_unknown else [])

    @cached_property
    def known(self) -> Array:
        """(b, b) information that there is already."""
        return known_information(self.independent[0], self.names, self.prediction)

    @cached_property
    def criterion(self) -> Criterion:
        """What makes a plan good."""
        return criterion_of(self.settings, self.names, self.values)

    def objective(self, motions: Motions, criterion: Criterion) -> Objective:
        """What a search makes small."""
        free = self._within(motions)
        return replace(free, criterion=criterion, noise=self.noise, known=self.known)

    @cached_property
    def checks(self) -> Verification:
        """What a motion is checked with."""
        limits, clearances = self.settings.limits, self.clearances
        return Verification(self.model, self.parameters, self.loop, limits, clearances)
