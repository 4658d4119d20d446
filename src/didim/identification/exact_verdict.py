"""Whether a result of the exact method may be believed: the verdict on its residual, its gains and
its delay.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from didim.dynamics.model import BaseModel
from didim.identification.closed_loop import ClosedLoop
from didim.identification.gauss_newton import Exact, Place
from didim.identification.least_squares import Solution
from didim.identification.scan import consistent_didim, left
from didim.identification.task import Task
from didim.identification.verdict import judged

MANY = 2.0
"""Samples of the loop beyond which an estimated delay is pointed out."""

UNTOLD = 0.5
"""Standard deviation of a gain's logarithm beyond which the record does not tell it."""


def judged_exact(
    task: Task,
    model: BaseModel,
    fresh: Callable[[], ClosedLoop],
    run: Exact,
    place: Place,
    solution: Solution,
    status: str,
    message: str,
) -> tuple[str, str, list[str]]:
    """Status, message and doubts at the end of a run."""
    loop = run.unknowns.loop(place.z)

    def trial(factor: float) -> float:
        if task.estimate_gains or loop is None:
            return np.inf
        at = consistent_didim(model, fresh(), run.consistent, loop.faster(factor), place.theta, 2)
        return np.inf if at is None else left(at[1])

    at = (model, run.closed, place.simulated, place.system, solution)
    status, message, doubts = judged(*at, status, message, trial)
    if task.estimate_gains:
        message = message.replace("; estimate_gains=True looks for the gains", "")
    elif (
        status == "unexcited"
        and run.closed.outputs == ("q",)
        and loop is not None
        and loop.by_poles
    ):
        message = (
            "Positions alone leave open a common factor on the parameters and on gains that follow "
            "them: give the loop its "
            'own gains (kp, kv) or the inertia that it was tuned for, or use output="torque" or '
            f'"both". {message}'
        )
    untold = _untold(run, solution, model.matrix.shape[0])
    if untold and status == "converged":
        status = "unexcited"
        message = (
            f"The record does not tell the gains {', '.join(untold)} apart from the parameters: "
            "give them, or excite the "
            f"loop more (faster motion, larger tracking error). {message}"
        )
    return status, message, [*doubts, *_caveats(run, place)]


def _untold(run: Exact, solution: Solution, b: int) -> list[str]:
    """Gains of which the record says next to nothing."""
    names = [f"{kind}{j + 1}" for kind, j in run.unknowns.gains]
    spread = np.sqrt(np.diag(solution.inverse))[b : b + len(names)]
    return [name for name, sigma in zip(names, spread, strict=True) if sigma > UNTOLD]


def _caveats(run: Exact, place: Place) -> list[str]:
    """What the numbers leave out, or need to be checked for."""
    told = []
    if run.closed.starts:
        told.append(
            "In open loop the recorded torque drives the simulation: its noise and offset are not "
            "in sigma."
        )
    late, loop = run.unknowns.late(place.z), run.unknowns.loop(place.z)
    if late is not None and loop is not None and abs(late) > MANY / (loop.rate or 1e3):
        told.append(
            f"A delay of {1e3 * late:.3g} ms was needed, more than {MANY:g} samples of the loop: "
            "check the law's own delay and "
            "the time alignment of the reference. Gains suffer where one stands for the other."
        )
    return told
