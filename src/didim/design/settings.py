"""`Settings`: the arguments of `excite`, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.law import Controller
from didim.control.laws import OwnLaw
from didim.design.criterion import Condition, Criterion, LogDet, WeightedSigma, WorstRelative
from didim.design.files import MAX_SAMPLES
from didim.design.limits import Limits
from didim.design.predict import ROW_RATE
from didim.errors import InputError, nearest, shortened
from didim.robot.robot import Robot
from didim.validation import callback, flag, one_of, per_joint, real, whole

Array = NDArray[np.float64]

METHODS = ("idim", "didim")
CRITERIA = ("logdet", "sigma", "worst", "condition")
BASES = ("fourier", "spline")

BANDWIDTH = 2.0
"""Highest frequency of a motion, Hz, unless gains are unknown."""

GAIN_BANDWIDTH = (2.0, 10.0)
"""Where gains are unknown a motion reaches the bandwidth of the loop, if it lies between these, Hz.
"""

MIN_HARMONICS, MAX_HARMONICS, MAX_GAIN_HARMONICS = 5, 100, 200

MAX_GIVEN_HARMONICS = 500
"""Memory grows with their square: 1.4 GB at 500."""

MIN_DURATION, MAX_DURATION = 1.0, 1000.0
"""s. Memory and time grow with it, since a plan is checked at 1 kHz."""

MIN_RATE = 10.0
"""Samples per second of a record that shows a motion of 2 Hz."""

ACCELERATIONS = 5.0
"""Least duration over the time in which a joint reaches its full velocity."""


@dataclass(frozen=True, eq=False)
class Settings:
    """What is designed, and how."""

    duration: float
    limits: Limits
    gains_unknown: bool
    seed: int
    method: str
    criterion: str
    weights: Mapping[str, float] | None
    rate: float
    start: Array | None
    basis: str
    given_harmonics: int | None
    random_plans: int

    @property
    def least_duration(self) -> float:
        """Of a motion in which every joint reaches its velocity, s."""
        rise = ACCELERATIONS * self.limits.velocity / self.limits.acceleration
        return max(MIN_DURATION, float(rise.max()))

    def harmonics(self, loop_hertz: float | None) -> int:
        """As given; else up to 2 Hz, or with unknown gains to the bandwidth of the loop."""
        if self.given_harmonics is not None:
            return self.given_harmonics
        fastest, most = BANDWIDTH, MAX_HARMONICS
        if loop_hertz is not None:
            fastest, most = float(np.clip(loop_hertz, *GAIN_BANDWIDTH)), MAX_GAIN_HARMONICS
        return min(max(round(fastest * self.duration), MIN_HARMONICS), most)


def checked_settings(
    robot: Robot,
    *,
    duration: float,
    loop: Controller | None,
    gains_unknown: bool,
    limits: Limits | None,
    seed: int,
    progress: object,
    method: str | None,
    criterion: str,
    weights: Mapping[str, float] | None,
    rate: float,
    start: ArrayLike | None,
    basis: str,
    harmonics: int | None,
    random_plans: int,
) -> Settings:
    """The settings, or what is wrong with them."""
    flag(gains_unknown, "gains_unknown")
    chosen = ("idim" if loop is None else "didim") if method is None else method
    one_of(chosen, "method", METHODS)
    one_of(criterion, "criterion", CRITERIA)
    one_of(basis, "basis", BASES)
    callback(progress)
    if chosen == "didim" and loop is None:
        raise InputError("A plan for DIDIM needs the loop that it simulates: give loop=.")
    if gains_unknown and (chosen != "didim" or isinstance(loop, OwnLaw)):
        raise InputError(
            "gains_unknown needs DIDIM and a loop with gains of its own, such as didim.PD."
        )
    if limits is not None and not isinstance(limits, Limits):
        raise InputError(f"limits must be didim.Limits, found {shortened(limits)}.")
    complete = Limits(robot) if limits is None else limits
    complete.check_robot(robot)
    seconds = _duration(duration, complete, robot)
    frequency = _rate(rate, seconds)
    return Settings(
        duration=seconds,
        limits=complete,
        gains_unknown=gains_unknown,
        seed=whole(seed, "seed", least=0),
        method=chosen,
        criterion=criterion,
        weights=_weights(weights, criterion),
        rate=frequency,
        start=None if start is None else per_joint(start, "start, in rad or m,", robot.n),
        basis=basis,
        given_harmonics=_harmonics(harmonics, seconds, frequency, loop),
        random_plans=whole(random_plans, "random_plans", least=0),
    )


def _duration(duration: float, limits: Limits, robot: Robot) -> float:
    seconds = real(duration, "duration, in s,", above=0.0)
    rise = ACCELERATIONS * limits.velocity / limits.acceleration
    slowest = int(rise.argmax())
    if seconds < MIN_DURATION:
        raise InputError(
            f"duration must be at least {MIN_DURATION:g} s for a motion that tells anything, found "
            f"{seconds:g} s."
        )
    if seconds > MAX_DURATION:
        raise InputError(
            f"duration must be at most {MAX_DURATION:g} s, found {seconds:g} s; plan several "
            "motions, each after the others (after=)."
        )
    if seconds < rise[slowest]:
        raise InputError(
            f"A duration of {seconds:g} s is too short: {robot.joint_names[slowest]} needs "
            f"{rise[slowest] / ACCELERATIONS:.3g} s to reach its velocity; give at least "
            f"{rise[slowest]:.3g} s, or a lower velocity limit."
        )
    return seconds


def _rate(rate: float, seconds: float) -> float:
    """Within what a file of the plan can hold."""
    frequency, most = real(rate, "rate, in samples per second,", above=0.0), MAX_SAMPLES / seconds
    if not MIN_RATE <= frequency <= most:
        raise InputError(
            f"rate must be from {MIN_RATE:g} to {most:.4g} samples per second in a plan of "
            f"{seconds:g} s, found {frequency:g}."
        )
    return frequency


def _harmonics(
    harmonics: int | None, seconds: float, rate: float, loop: Controller | None
) -> int | None:
    """No faster than what the loop, the record and the rows of methods can show."""
    if harmonics is None:
        return None
    given, of_loop = whole(harmonics, "harmonics", least=2), getattr(loop, "rate", None)
    slowest = min(rate, ROW_RATE, rate if of_loop is None else of_loop)
    most = min(MAX_GIVEN_HARMONICS, int(0.5 * slowest * seconds))
    if given > most:
        raise InputError(
            f"harmonics must be at most {most} in {seconds:g} s, found {given}: motion above "
            f"{0.5 * slowest:g} Hz, half of {slowest:g} rows per second, tells nothing, and more "
            f"than {MAX_GIVEN_HARMONICS} take too much memory."
        )
    return given


def _weights(weights: Mapping[str, float] | None, criterion: str) -> Mapping[str, float] | None:
    if weights is None:
        return None
    if criterion != "sigma":
        raise InputError('weights belong to criterion="sigma".')
    if not isinstance(weights, Mapping) or not weights:
        raise InputError(
            f'weights must be a table of names and numbers, such as {{"Fc": 1.0}}, found '
            f"{shortened(weights)}."
        )
    return {
        str(name): real(value, f"weights: {name}", least=0.0) for name, value in weights.items()
    }


def criterion_of(settings: Settings, names: tuple[str, ...], values: Array) -> Criterion:
    """The criterion for these unknowns."""
    if settings.criterion == "logdet":
        return LogDet()
    if settings.criterion == "condition":
        return Condition()
    if settings.criterion == "worst":
        return WorstRelative(np.where(np.isfinite(values), values, 0.0))
    weights = np.ones(len(names))
    if settings.weights is not None:
        weights = np.zeros(len(names))
        for key, value in settings.weights.items():
            chosen = [name == key or name.rstrip("0123456789R") == key for name in names]
            if not any(chosen):
                raise InputError(f"weights: no unknown is called {key!r}; {nearest(key, names)}")
            weights[chosen] = value
        if not weights.any():
            raise InputError("weights must not all be zero.")
    return WeightedSigma(weights)
