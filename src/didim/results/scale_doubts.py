"""Doubts about scales that no residual can see: what the comparison with the description says, and
what the torques of the joints say about each other.

A common factor on all torques, a factor on one, a clock that runs wrong, a zero that is off, and a
rotor that the model lacks. Each is a value; its sentence is made from it where it is shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.model import BaseModel
from didim.dynamics.parameters import ParameterKind
from didim.regression.torque_factors import TorqueFactors
from didim.results.description import Comparison

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

MAX_FACTOR = 1.1
"""Identified over described gravity torque or inertia, or its inverse, beyond which it is
doubted.
"""

MAX_ZERO, LARGEST_ZERO = np.radians(6.0), np.radians(60.0)
"""rad by which a zero may seem to be off, and beyond which the comparison is not believed."""

MISSING_ROTOR = 2.0
"""Times the described inertia beyond which a model without rotors lacks one."""

MAX_FACTOR_SIGMA, MAX_ZERO_SIGMA, MAX_MISFIT = 0.1, np.radians(5.0), 0.3
"""Of a comparison that says anything: standard deviations over the value and in rad, and the
gravity torque that is not explained.
"""

MIN_SIGMAS = 3.0
"""Standard deviations that a difference must have."""

MAX_SPREAD = 0.1
"""Relative difference of the factors of joints that count as one common factor."""

ALIKE = 0.9
"""A joint's factor that explains so much of what the best one explains may be the cause too."""


MOST = 0.5
"""Fraction of the residual that a factor on one torque explains where it is clearly wrong."""


class DoubtKind(Enum):
    """What may be wrong."""

    TORQUES = "all torques"
    TORQUE = "some torques"
    INERTIA = "some inertias"
    CLOCK = "clock"
    TORQUES_OR_CLOCK = "all torques or the clock"
    ZERO = "zero"
    ROTOR = "missing rotor"
    DISAGREEMENT = "torques that disagree"


OF_ALL_JOINTS = (DoubtKind.TORQUES, DoubtKind.CLOCK, DoubtKind.TORQUES_OR_CLOCK)
"""Causes that explain nothing where the torques of the joints clearly disagree."""


@dataclass(frozen=True)
class Doubt:
    """One doubt about a scale."""

    kind: DoubtKind
    joints: tuple[int, ...]
    """That it is about; empty: all of them. Of torques that disagree, the first or one of the
    others.
    """
    values: tuple[float, ...]
    """The factor of each joint, or its zero in rad; one value for all joints."""
    sigmas: tuple[float, ...]
    """Standard deviations of these."""


def scale_doubts(
    model: BaseModel, found: Comparison | None, factors: TorqueFactors | None = None
) -> tuple[Doubt, ...]:
    """What the comparison with the description, and the torques beside each other, cast doubt on;
    empty where they fit, or where nothing is described and known.

    A rotor that is missing in one joint makes the torques disagree as well: it is named instead.
    """
    own, described = _disagreement(factors), _described_doubts(model, found)
    if own is None or factors is None or any(each.kind is DoubtKind.ROTOR for each in described):
        return described
    clear = factors.explained[own.joints[0]] > MOST
    return (own, *(each for each in described if not (clear and each.kind in OF_ALL_JOINTS)))


def _disagreement(factors: TorqueFactors | None) -> Doubt | None:
    """The joint whose torque disagrees most with those of the others, and the joints that would
    explain it nearly as well.
    """
    if factors is None:
        return None
    with np.errstate(invalid="ignore"):
        off = _are_off(factors.value, factors.sigma) & (factors.sigma < MAX_FACTOR_SIGMA)
    explained = np.where(off, factors.explained, 0.0)
    most = explained.max(initial=0.0)
    if most <= 0.0:
        return None
    order = np.argsort(-explained, kind="stable")
    joints = tuple(int(j) for j in order if explained[j] >= ALIKE * most)
    values, sigmas = (
        tuple(float(each[j]) for j in joints) for each in (factors.value, factors.sigma)
    )
    return Doubt(DoubtKind.DISAGREEMENT, joints, values, sigmas)


def _described_doubts(model: BaseModel, found: Comparison | None) -> tuple[Doubt, ...]:
    """What the comparison with the description casts doubt on."""
    if found is None:
        return ()
    heavy, known = compared(found)
    with np.errstate(invalid="ignore"):
        clear = np.abs(found.zero) > np.maximum(MAX_ZERO, MIN_SIGMAS * found.zero_sigma)
        off_zero = heavy & clear & (found.zero_sigma < MAX_ZERO_SIGMA)
        off_zero &= np.abs(found.zero) < LARGEST_ZERO
    without_rotor = _without_rotor(model, found)
    gravity = _common(found.factor, found.factor_sigma, heavy)
    inertia = _common(found.inertia, found.inertia_sigma, known)
    doubts: list[Doubt | None] = []
    if gravity is not None and _is_off(*gravity):
        doubts.append(_of_all(DoubtKind.TORQUES, gravity))
    else:
        off = heavy & _are_off(found.factor, found.factor_sigma)
        doubts.append(_of(DoubtKind.TORQUE, off, found.factor, found.factor_sigma))
        if inertia is not None and _is_off(*inertia):
            kind = DoubtKind.CLOCK if heavy.any() else DoubtKind.TORQUES_OR_CLOCK
            doubts.append(_of_all(kind, inertia))
        else:
            off = known & ~heavy & ~without_rotor & _are_off(found.inertia, found.inertia_sigma)
            doubts.append(_of(DoubtKind.INERTIA, off, found.inertia, found.inertia_sigma))
    doubts.append(_of(DoubtKind.ZERO, off_zero, found.zero, found.zero_sigma))
    with np.errstate(invalid="ignore"):
        rotors = without_rotor & (found.inertia - MIN_SIGMAS * found.inertia_sigma > MISSING_ROTOR)
    doubts.append(_of(DoubtKind.ROTOR, rotors, found.inertia, found.inertia_sigma))
    return tuple(each for each in doubts if each is not None)


def compared(found: Comparison) -> tuple[Flags, Flags]:
    """(n,) joints whose gravity torque, and whose inertia, the record tells well enough."""
    with np.errstate(invalid="ignore"):
        heavy = (found.factor_sigma < MAX_FACTOR_SIGMA * found.factor) & (found.misfit < MAX_MISFIT)
        return heavy, found.inertia_sigma < MAX_FACTOR_SIGMA * found.inertia


def _of(kind: DoubtKind, chosen: Flags, values: Array, sigmas: Array) -> Doubt | None:
    """A doubt about some joints; None where there is none."""
    joints = tuple(map(int, np.flatnonzero(chosen)))
    if not joints:
        return None
    return Doubt(kind, joints, tuple(values[chosen].tolist()), tuple(sigmas[chosen].tolist()))


def _of_all(kind: DoubtKind, factor: tuple[float, float]) -> Doubt:
    return Doubt(kind, (), factor[:1], factor[1:])


def _is_off(value: float, sigma: float) -> bool:
    far = abs(np.log(max(value, 1e-12))) > np.log(MAX_FACTOR)
    return bool(far and abs(value - 1) > MIN_SIGMAS * sigma)


def _are_off(values: Array, sigmas: Array) -> Flags:
    return np.array([_is_off(*each) for each in zip(values, sigmas, strict=True)])


def _common(value: Array, sigma: Array, judged: Flags) -> tuple[float, float] | None:
    """The factor that all judged joints have in common, with its sigma; None where they differ, or
    only one of several joints is judged.
    """
    if judged.sum() < min(2, value.size):
        return None
    own, spread = value[judged], sigma[judged]
    weight = 1.0 / np.maximum(spread, 1e-6 * own) ** 2
    mean = float(weight @ own / weight.sum())
    near = np.abs(own - mean) < np.maximum(MAX_SPREAD * mean, MIN_SIGMAS * spread)
    return (mean, float(weight.sum() ** -0.5)) if near.all() else None


def _without_rotor(model: BaseModel, found: Comparison) -> Flags:
    """(n,) joints whose inertia is larger than described in a model without any rotor: a URDF has
    none, and every geared drive does.
    """
    if any(each.kind is ParameterKind.ROTOR for each in model.full.parameters):
        return np.zeros(model.robot.n, dtype=bool)
    with np.errstate(invalid="ignore"):
        return np.asarray(found.inertia > 1.0)
