"""Which bursts end a plan for unknown gains, and how many: judged by the exact sensitivities.

Joints hardly act on each other's gains, unless a contact couples them. So bursts are drawn for all
joints at once, and each joint is given its motion of one of the few after which its own gains are
known best. Of what this makes, the best is taken. The next burst is chosen beside the ones before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.design.bursts import Burst, BurstFamily, freeing, joined
from didim.design.criterion import Criterion, LogDet
from didim.design.loop_filters import LoopFilters
from didim.design.predict import Prediction, sigma_of
from didim.design.settings import GAIN_BANDWIDTH, Settings
from didim.design.verify import Verification
from didim.errors import InputError
from didim.threads import on_threads, one_blas_thread

Array = NDArray[np.float64]

SHARE = 0.15
"""Of the duration that a burst takes."""

MOST = 2
"""Bursts at the end of a plan."""

LONGEST = 6.0
"""s, of a burst in a long plan."""

FEWER = 0.375
"""Of the bursts that are drawn at the end of a motion: as many are drawn at first, to see how many
are worth their time, and as many are made of those that are drawn.
"""

PARENTS = 3
"""Bursts that a joint's motion may be taken from."""

LEAST_DRAWN = 4

MANY_JOINTS = 7
"""A burst of more takes so long to simulate that fewer are drawn: by the square of the joints."""


class _StoppedError(Exception):
    """The search was told to stop."""


def balance(information: Array, gains: int) -> float:
    """Mean of log sigma of the parameters plus that of the gains, which come last."""
    sigma = np.log(sigma_of(information))
    return float(sigma[:-gains].mean() + sigma[-gains:].mean())


@dataclass(frozen=True, eq=False)
class BurstSearch:
    """Bursts for a loop whose gains are unknown."""

    settings: Settings
    filters: LoopFilters
    prediction: Prediction
    verification: Verification
    criterion: Criterion
    asked: int
    """Bursts that are drawn."""
    asked_to_stop: Callable[[], bool]
    """Whether the search was told to stop: it then ends without bursts."""

    @property
    def duration(self) -> float:
        """Of a burst, s."""
        return burst_seconds(self.settings)

    @property
    def _most(self) -> int:
        """Bursts that are drawn at the end of a motion."""
        return burst_count(self.asked, self.settings.limits.velocity.size)

    @property
    def _few(self) -> int:
        """Bursts that are drawn at first, or made of others."""
        return max(LEAST_DRAWN, round(FEWER * self._most))

    def count(self, known: Array, of_motion: Array, pose: Array) -> int:
        """How many bursts are worth their time, from the information (b, b) that there is and that
        of a motion of the whole duration after the first iterations; 0 where the search was told
        to stop.
        """
        with suppress(_StoppedError):
            return self._count(known, of_motion, pose)
        return 0

    def _count(self, known: Array, of_motion: Array, pose: Array) -> int:
        whole, least = self.settings.duration, self.settings.least_duration
        drawn, bursts = self._drawn(pose, self._few), np.zeros_like(of_motion)
        values = [self._judged(known + of_motion)]
        for k in range(1, MOST + 1):
            rest = whole - k * self.duration
            if rest >= least:
                beside = known + rest / whole * of_motion
                bursts += self._best(beside + bursts, pose, *drawn)[1]
                values.append(self._judged(beside + bursts))
        return int(np.argmin(values))

    def chosen(self, of_motion: Array, pose: Array, count: int) -> list[Burst]:
        """So many bursts about a pose (n,), beside a motion with the information (b, b); none
        where the search was told to stop.
        """
        with suppress(_StoppedError):
            return self._chosen(of_motion, pose, count)
        return []

    def _chosen(self, of_motion: Array, pose: Array, count: int) -> list[Burst]:
        found, information, drawn = [], of_motion, self._drawn(pose, self._most)
        for _ in range(count):
            burst, added = self._best(information, pose, *drawn)
            found.append(burst)
            information = information + added
        return found

    @property
    def _gains(self) -> int:
        return len(self.filters.names)

    def _drawn(self, pose: Array, count: int) -> tuple[list[Burst], list[Array]]:
        """Bursts and their information."""
        model, parameters = self.verification.model, self.verification.parameters
        free = freeing(model, parameters, pose, self.filters.stiffness)
        bandwidth = min(self.filters.bandwidth, GAIN_BANDWIDTH[1])
        family = BurstFamily(self.duration, self.settings.limits, bandwidth, free, pose)
        random = np.random.default_rng(self.settings.seed)
        bursts = [family.drawn(random) for _ in range(count)]
        return bursts, self._informations(bursts, pose)

    def _informations(self, bursts: Sequence[Burst], pose: Array) -> list[Array]:
        """(b, b) of each, about a pose (n,), where the motion before it ends."""

        def information(burst: Burst) -> Array:
            self._go_on()
            trajectory = burst.trajectory(pose)
            try:
                motion = self.verification.along(trajectory)
            except InputError:  # the robot does not follow
                return nothing
            self._go_on()
            return self.prediction.information(motion, trajectory, cut=False)

        size = len(self.prediction.unknowns.names) + self._gains
        nothing = np.zeros((size, size))
        with one_blas_thread():
            found = on_threads(information, bursts)
        self._go_on()
        return found

    def _go_on(self) -> None:
        """Raise `_StoppedError` where the search was told to stop."""
        if self.asked_to_stop():
            raise _StoppedError

    def _judged(self, information: Array) -> float:
        """How good a plan of this information is: by the user's criterion, or else `balance`."""
        if isinstance(self.criterion, LogDet):
            return balance(information, self._gains)
        return self.criterion.value(information)[0]

    def _best(
        self, known: Array, pose: Array, bursts: list[Burst], informations: list[Array]
    ) -> tuple[Burst, Array]:
        """The burst that tells most beside what is known, and its information."""
        self._go_on()
        scores = np.array([self._by_joint(known + each) for each in informations])
        order = scores.argsort(axis=0)[:PARENTS]
        random = np.random.default_rng(self.settings.seed)
        choices = random.integers(order.shape[0], size=(self._few, order.shape[1]))
        choices[0] = 0  # every joint as is best for it
        made = [joined(bursts, np.take_along_axis(order, each[None], 0)[0]) for each in choices]
        found = [*self._informations(made, pose), *informations]
        best = int(np.argmin([self._judged(known + each) for each in found]))
        return [*made, *bursts][best], found[best]

    def _by_joint(self, information: Array) -> Array:
        """(n,) sum of log sigma of the gains of each joint."""
        sigma = np.log(sigma_of(information)[-self._gains :])
        n = self.settings.limits.velocity.size
        return np.asarray(np.bincount(self.filters.joints, sigma, n), dtype=float)


def burst_count(asked: int, joints: int) -> int:
    """How many bursts are drawn at the end of a motion."""
    return max(LEAST_DRAWN, round(asked * min(1.0, MANY_JOINTS / joints) ** 2))


def burst_seconds(settings: Settings) -> float:
    """How long a burst takes, s."""
    return min(SHARE * settings.duration, LONGEST)


def message(seconds: float) -> str:
    """That the end of a plan is unlike the rest, which is no mistake."""
    return (
        f"The last {seconds:.3g} s are bursts about one pose, in which joints are fast or so slow "
        "that they stick and slip: they tell of the gains."
    )
