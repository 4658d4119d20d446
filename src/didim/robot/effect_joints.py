"""The joints that an effect acts on, and their weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from didim.errors import InputError, shortened
from didim.robot.effect import Effect


def joint_weights(effect: Effect, names: Sequence[str], where: str) -> dict[int, float]:
    """Weight of each joint, by index into `names`, that an effect acts on."""
    given = dict(effect.weights) if effect.weights else {effect.joint: 1.0}
    numbers: dict[object, int] = {number + 1: number for number in range(len(names))}
    numbers |= {str(number + 1): number for number in range(len(names))}
    numbers |= {name: number for number, name in enumerate(names)}
    weights: dict[int, float] = {}
    for joint, weight in given.items():
        if isinstance(joint, bool) or joint not in numbers:
            raise InputError(
                f"{where}: joint must be a number from 1 to {len(names)} or one of "
                f"{', '.join(names)}; found {shortened(joint)}."
            )
        index = numbers[joint]
        if not np.isfinite(weight) or weight == 0 or index in weights:
            raise InputError(
                f"{where}: each joint needs one weight, finite and not zero; found "
                f"{shortened(given)}."
            )
        weights[index] = float(weight)
    return weights
