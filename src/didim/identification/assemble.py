"""From a linear system and its solution to an `Estimate` with residuals and statistics."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.model import BaseModel
from didim.identification.least_squares import Solution
from didim.identification.statistics import statistics
from didim.identification.system import LinearSystem
from didim.results.estimate import Estimate
from didim.results.formatting import joint_label

Array = NDArray[np.float64]

ROUNDING = 1e-9
"""Residual below which errors are those of the computer."""


def assembled(
    model: BaseModel,
    method: str,
    system: LinearSystem,
    solution: Solution,
    values: Array,
    size: Array | None = None,
    jacobian: Array | None = None,
    **more: object,
) -> Estimate:
    """An estimate with its residuals and statistics, for parameters `values` on a system.

    `size` (n,) is ||Y^j||, where the system is one of steps and its y an error; `jacobian` (r, b)
    the exact one, if W is not.
    """
    figures = statistics(system, solution, values, jacobian)
    rho = system.residual(values)
    n = model.robot.n
    left = np.array([np.linalg.norm(rho[system.joint == j]) for j in range(n)])
    if size is None:
        size = np.array([np.linalg.norm(system.y[system.joint == j]) for j in range(n)])
    told = list(dict.fromkeys(joint_label(model, j % n) for j in figures.coloured))
    if told and np.linalg.norm(left) > ROUNDING * np.linalg.norm(size[:n]):
        lasting = (
            f"What is left of {', '.join(told)} lasts longer than filtered noise would: errors of "
            "the model, not only noise."
        )
        more["notes"] = (*more.get("notes", ()), lasting)  # type: ignore[misc]
    return Estimate(
        model=model,
        method=method,
        names=system.names,
        values=values,
        covariance=figures.covariance,
        corrected_covariance=figures.corrected,
        residual=float(np.linalg.norm(left) / np.linalg.norm(size[:n])),
        residual_by_joint=left / np.where(size[:n] > 0, size[:n], 1.0),
        rows=figures.rows,
        freedom=figures.freedom,
        condition=figures.condition,
        scaled_condition=figures.scaled_condition,
        **more,  # type: ignore[arg-type]
    )


def unsolved(model: BaseModel, method: str, values: Array, **more: object) -> Estimate:
    """An estimate that never was: parameters of which nothing is known, with the reason in its
    status and message.
    """
    b = values.size
    return Estimate(
        model=model,
        method=method,
        names=model.parameter_names,
        values=values,
        covariance=np.diag(np.full(b, np.inf)),
        corrected_covariance=np.diag(np.full(b, np.inf)),
        residual=np.inf,
        residual_by_joint=np.full(model.robot.n, np.inf),
        **more,  # type: ignore[arg-type]
    )
