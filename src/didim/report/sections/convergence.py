"""Convergence: torque error by joint (Figures 12, 15) and parameters (Fig. 13)."""

from __future__ import annotations

from typing import Any

import numpy as np

from didim.dynamics.parameters import ParameterKind
from didim.report.curves import settled
from didim.report.data import ReportData
from didim.report.figures import Figure, Series
from didim.report.sections.section import Section, color
from didim.results.estimate import Estimate
from didim.results.formatting import fraction
from didim.results.history import described_steps

_GROUPS = {
    "inertial": (ParameterKind.INERTIA, ParameterKind.FIRST_MOMENT, ParameterKind.MASS),
    "rotors": (ParameterKind.ROTOR,),
    "friction": (ParameterKind.VISCOUS, ParameterKind.COULOMB),
    "offsets": (ParameterKind.OFFSET,),
    "torques": (ParameterKind.TORQUE,),
}
"""Kinds of parameters that share a colour."""


class Convergence(Section):
    """The iterations of a method."""

    anchor, title = "convergence", "How did it converge?"

    def absent(self, data: ReportData) -> str:
        """Least squares does not iterate."""
        if data.estimate.history:
            return ""
        return f"{data.estimate.method} does not iterate: it is one linear least squares solution."

    def content(self, data: ReportData) -> dict[str, Any]:
        """Two pictures, and the guards that limited the steps."""
        history = data.estimate.history
        guards = [
            (k, guard)
            for k, step in enumerate(history)
            for guard in dict.fromkeys(map(str, step.guards))
        ]
        return {
            "figures": [_errors(data), _parameters(data.estimate)],
            "guards": guards,
            "stages": described_steps(history),
        }


def _errors(data: ReportData) -> Figure:
    history = data.estimate.history
    residuals, steps = (
        np.array([step.residual_by_joint for step in history]),
        np.arange(len(history)),
    )
    what = "position" if data.estimate.output == "position" else "torque"
    return Figure(
        f"How fast does the {what} error fall?",
        f"From {fraction(history[0].residual)} at the start to {fraction(history[-1].residual)}.",
        "iteration",
        "||Y - W chi|| / ||Y||, %",
        tuple(
            Series(name, color(j), steps, 100 * residuals[:, j], "marks")
            for j, name in enumerate(data.joints[: residuals.shape[1]])
        ),
        scale="log",
        whole=True,
    )


def _last_step(estimate: Estimate) -> str:
    """Which parameter moved most at the end, in units of its uncertainty."""
    sigma = np.where(np.isin(estimate.names, estimate.fixed), np.inf, estimate.sigma)
    free = np.isfinite(sigma)
    known = free.sum() == len(estimate.names) - len(estimate.fixed) and np.all(sigma[free] > 0)
    if len(estimate.history) < 2 or not known:
        return ""
    moved = np.abs(estimate.history[-1].parameters - estimate.history[-2].parameters) / sigma
    return (
        f"{estimate.names[int(moved.argmax())]} moved most in the last step, by {moved.max():.2g} "
        "sigma."
    )


def _parameters(estimate: Estimate) -> Figure:
    found, steps = settled(estimate.history), np.arange(len(estimate.history))
    names = estimate.names
    place = {kind: k for k, kinds in enumerate(_GROUPS.values()) for kind in kinds}
    group_of = {each.name: place[each.kind] for each in estimate.model.parameters}
    groups = [group_of[name] for name in names]
    return Figure(
        "How fast do the parameters settle?",
        _last_step(estimate),
        "iteration",
        "parameter over the size of its last value",
        tuple(
            Series(name, color(group), steps, found[:, i])
            for i, (name, group) in enumerate(zip(names, groups, strict=True))
        ),
        scale="symlog",
        whole=True,
        legend=tuple((group, color(k)) for k, group in enumerate(_GROUPS) if k in groups),
    )
