"""Doubts about scales in words, and the notes of an estimate that they become."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.model import BaseModel
from didim.regression.torque_factors import TorqueFactors
from didim.results.description import Comparison, compare, poses, same_for_all
from didim.results.formatting import joint_label, listed
from didim.results.scale_doubts import Doubt, DoubtKind, scale_doubts
from didim.signals.experiment import Experiment

Array = NDArray[np.float64]


def sentence(model: BaseModel, doubt: Doubt) -> tuple[str, str]:
    """What is seen, and what may be the cause."""
    turns = doubt.kind is DoubtKind.ZERO
    figures = [
        f"{np.degrees(value):+.3g} +- {np.degrees(sigma):.2g} degrees"
        if turns
        else f"{value:.3g} +- {sigma:.2g}"
        for value, sigma in zip(doubt.values, doubt.sigmas, strict=True)
    ]
    each = listed(
        [
            f"{figure} of {joint_label(model, j)}"
            for figure, j in zip(figures, doubt.joints, strict=False)
        ]
    )
    either = "; or ".join(
        f"that of {joint_label(model, j)} is {figure} times what it should be"
        for figure, j in zip(figures, doubt.joints, strict=False)
    )
    clock = f"the times of the record {np.sqrt(max(doubt.values[0], 0.0)):.3g} times too long"
    return {
        DoubtKind.TORQUES: (
            f"gravity torques are {figures[0]} times the described ones, in all joints",
            "are torque constants, gears and units right, and the described masses?",
        ),
        DoubtKind.TORQUE: (
            f"gravity torques over the described ones are {each}",
            "are torque constants and gears right there, or is a load not described?",
        ),
        DoubtKind.INERTIA: (
            f"inertias over the described ones are {each}",
            "are torque constants and gears right there, and the described rotors?",
        ),
        DoubtKind.CLOCK: (
            f"inertias are {figures[0]} times the described ones in all joints, gravity torques "
            "are not",
            f"is the clock right? It would be so with {clock}.",
        ),
        DoubtKind.TORQUES_OR_CLOCK: (
            f"inertias are {figures[0]} times the described ones, in all joints",
            f"are all torques too large by that factor, or {clock}?",
        ),
        DoubtKind.ZERO: (
            f"gravity acts as if positions were off: described minus recorded is {each}",
            "are these zeros those of the description (position_offset)?",
        ),
        DoubtKind.ROTOR: (
            f"inertias over the described ones are {each}",
            'is a rotor (effect "rotor") missing?',
        ),
        DoubtKind.DISAGREEMENT: (
            f"torques of the joints disagree: by the others, {either}",
            "are torque constants, gears and units right there, or is an effect missing?",
        ),
    }[doubt.kind]


def scale_notes(
    model: BaseModel, found: Comparison | None, factors: TorqueFactors | None = None
) -> list[str]:
    """The doubts as notes of an estimate, which no residual shows."""
    notes = []
    for doubt in scale_doubts(model, found, factors):
        seen, cause = sentence(model, doubt)
        if doubt.kind is not DoubtKind.DISAGREEMENT:
            seen = f"against the description, {seen}"
        notes.append(f"{seen[0].upper()}{seen[1:]}: {cause}")
    return notes


def estimate_scales(
    model: BaseModel,
    experiments: Sequence[Experiment],
    names: Sequence[str],
    values: Array,
    covariance: Array,
    factors: TorqueFactors | None = None,
) -> list[str]:
    """The notes on identified parameters (k,) with their covariance; the other base parameters are
    zero.
    """
    if not np.isfinite(values).all():
        return []
    kept, b = [model.parameter_names.index(name) for name in names], len(model.parameter_names)
    every, spread = np.zeros(b), np.zeros((b, b))
    every[kept], spread[np.ix_(kept, kept)] = values, covariance
    found = compare(model, poses(experiments), *same_for_all(model, every, spread))
    return scale_notes(model, found, factors)
