"""`Iteration`: what an iterative method did in one step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.results.status import Guard
from didim.simulation.distance import Distance

Array = NDArray[np.float64]

DIDIM, EXACT = "DIDIM", "exact"
"""Stages of an iteration."""


@dataclass(frozen=True, eq=False)
class Iteration:
    """The state after one step; the first of a history is the start."""

    parameters: Array
    """(b,) chi^k."""
    residual: float
    """||Y - Y_s|| / ||Y|| of chi^k on its own simulation."""
    residual_by_joint: Array
    """(n,)."""
    gains: dict[str, Array]
    """Gains of the simulated loop: kp, kv, ki, kiv, each (n,)."""
    fraction: float = 1.0
    """Of the full step that was taken."""
    guards: tuple[Guard, ...] = ()
    """What changed the step to keep it feasible."""
    to_reference: Distance | None = None
    """Of the simulated motion to the reference (Fig. 11)."""
    to_measured: Distance | None = None
    """To the measured motion, where there is one."""
    seconds: float = 0.0
    stage: str = DIDIM
    """Which part of the method took the step: "DIDIM" or "exact"."""
    convergence_rate: float | None = None
    """Spectral radius of I - W+ J here: the factor by which a step of DIDIM multiplies an error.
    None: not computed.
    """
    friction_ratio: float | None = None
    """Largest Fv / (kv g) of a joint: friction against loop gain."""


def steps_by_stage(history: Sequence[Iteration]) -> dict[str, int]:
    """How many steps each stage took, in their order; the first entry of a stage is its start."""
    names = dict.fromkeys(step.stage for step in history)
    return {name: sum(step.stage == name for step in history) - 1 for name in names}


def described_steps(history: Sequence[Iteration]) -> str:
    """The steps in words: "3 iterations", or "4 DIDIM and 2 exact steps"."""
    steps = steps_by_stage(history)
    if list(steps) == [DIDIM]:
        return f"{steps[DIDIM]} iteration{'s'[: steps[DIDIM] != 1]}"
    last = list(steps.values())[-1]
    return (
        f"{' and '.join(f'{count} {name}' for name, count in steps.items())} step{'s'[: last != 1]}"
    )
