"""Figures 10 to 15 on the virtual SCARA."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from didim.output import Overwrite
from didim.paper.experiments import PaperExperiments
from didim.report.files import check_free, write_picture
from didim.report.pictures import (
    motion_distance,
    new_axes,
    parameter_convergence,
    residual_convergence,
    torques,
)
from didim.results.estimate import Estimate

FIGURES = tuple(range(10, 16))


def figure_files(folder: Path, force: bool = False) -> dict[int, Path]:
    """Where each figure goes; refused beforehand if a file of another origin is in the way."""
    return {
        number: check_free(folder / f"figure-{number}.png", ".png", force) for number in FIGURES
    }


def draw(runs: PaperExperiments, number: int, file: Path, overwrite: Overwrite = True) -> Path:
    """Draw one figure of the paper."""
    makers: dict[int, Callable[[PaperExperiments], Any]] = {
        10: _validation,
        11: lambda runs: _distances(runs.regular.printed),
        12: lambda runs: residual_convergence(runs.regular.printed.history),
        13: lambda runs: parameter_convergence(
            runs.regular.printed.history, runs.regular.printed.names, runs.truth
        ),
        14: lambda runs: _distances(runs.half.printed),
        15: lambda runs: residual_convergence(runs.half.printed.history),
    }
    return write_picture(makers[number](runs), file, overwrite)


def _validation(runs: PaperExperiments) -> Any:
    axes = new_axes(2, 1)
    for j in range(2):
        torques(runs.from_idim.printed, runs.usual, j, axes[j, 0], between=(10.0, 40.0))
    return axes[0, 0]


def _distances(estimate: Estimate) -> Any:
    axes = new_axes(3, 2, size=(10.0, 2.6))
    for row, signal in enumerate(("q", "dq", "ddq")):
        for j in range(2):
            motion_distance(estimate.history, signal, j, axes[row, j])
    return axes[0, 0]
