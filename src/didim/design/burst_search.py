"""Which bursts end a plan for unknown gains, and how many: judged by the exact sensitivities.

Joints hardly act on each other's gains, unless a contact couples them. So bursts are drawn for all
joints at once, and each joint is given its motion of one of the few after which its own gains are
known best. Of what this makes, the best is taken. The next burst is chosen beside the ones before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.design.bursts import Burst, BurstFamily, freeing, joined
from didim.design.loop_filters import LoopFilters
from didim.design.predict import Prediction, sigma_of
from didim.design.settings import GAIN_BANDWIDTH, Settings
from didim.design.verify import Verification
from didim.threads import on_threads

Array = NDArray[np.float64]

SHARE = 0.15
"""Of the duration that a burst takes."""

MOST = 2
"""Bursts at the end of a plan."""

DRAWN, FIRST_DRAWN = 32, 12
"""Bursts that are drawn, at the end of a motion; at first, to see how many are worth their time."""

RECOMBINED, PARENTS = 12, 3
"""Bursts that are made of those, and how many of these a joint's motion may be taken from."""


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

    @property
    def duration(self) -> float:
        """Of a burst, s."""
        return SHARE * self.settings.duration

    def count(self, known: Array, of_motion: Array, pose: Array) -> int:
        """How many bursts are worth their time, from the information (b, b) that there is and that
        of a motion of the whole duration after the first iterations.
        """
        values = [balance(known + of_motion, self._gains)]
        drawn, bursts = self._drawn(pose, FIRST_DRAWN), np.zeros_like(of_motion)
        for k in range(1, MOST + 1):
            beside = known + (1.0 - k * SHARE) * of_motion
            bursts += self._best(beside + bursts, pose, *drawn)[1]
            values.append(balance(beside + bursts, self._gains))
        return int(np.argmin(values))

    def chosen(self, of_motion: Array, pose: Array, count: int) -> list[Burst]:
        """So many bursts about a pose (n,), beside a motion with the information (b, b)."""
        found, information, drawn = [], of_motion, self._drawn(pose, DRAWN)
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
        family = BurstFamily(self.duration, self.settings.limits, bandwidth, free)
        random = np.random.default_rng(self.settings.seed)
        bursts = [family.drawn(random) for _ in range(count)]
        return bursts, self._informations(bursts, pose)

    def _informations(self, bursts: Sequence[Burst], pose: Array) -> list[Array]:
        """(b, b) of each, about a pose (n,)."""

        def information(burst: Burst) -> Array:
            trajectory = burst.trajectory(pose)
            return self.prediction.information(self.verification.along(trajectory), trajectory)

        return on_threads(information, bursts)

    def _best(
        self, known: Array, pose: Array, bursts: list[Burst], informations: list[Array]
    ) -> tuple[Burst, Array]:
        """The burst that tells most beside what is known, and its information."""
        scores = np.array([self._by_joint(known + each) for each in informations])
        order = scores.argsort(axis=0)[:PARENTS]
        random = np.random.default_rng(self.settings.seed)
        choices = random.integers(order.shape[0], size=(RECOMBINED, order.shape[1]))
        choices[0] = 0  # every joint as is best for it
        made = [joined(bursts, np.take_along_axis(order, each[None], 0)[0]) for each in choices]
        found = [*self._informations(made, pose), *informations]
        best = int(np.argmin([balance(known + each, self._gains) for each in found]))
        return [*made, *bursts][best], found[best]

    def _by_joint(self, information: Array) -> Array:
        """(n,) sum of log sigma of the gains of each joint."""
        sigma = np.log(sigma_of(information)[-self._gains :])
        n = self.settings.limits.velocity.size
        return np.asarray(np.bincount(self.filters.joints, sigma, n), dtype=float)


def message(bursts: Sequence[Burst]) -> str:
    """That the end of a plan is unlike the rest, which is no mistake."""
    seconds = sum(each.duration for each in bursts)
    return (
        f"The last {seconds:.3g} s are bursts about one pose, in which joints are fast or so slow "
        "that they stick and slip: they tell of the gains."
    )
