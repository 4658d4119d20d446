"""What a set of base parameters is: some standard parameters are kept, the others are regrouped with them or have no effect.

The rules and the QR method both end here. Where they agree, which is nearly always, the exact coefficients of the rules are
taken; where special geometry lets QR regroup more than the published rules know of, QR decides.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.kernels.tree import Tree
from didim.dynamics.layout import Layout
from didim.robot.robot import Robot

Array = NDArray[np.float64]

log = logging.getLogger("didim")


@dataclass(frozen=True, eq=False)
class Regrouping:
    """b base parameters out of p standard ones."""

    kept: tuple[int, ...]
    """Standard column of each base parameter."""
    matrix: Array
    """(b, p): beta = matrix @ phi."""
    names: tuple[str, ...]
    """The kept parameter's name, with suffix R where it regroups others."""
    formulas: Mapping[str, str]
    method: str
    """"rules" or "qr"."""

    @property
    def lift(self) -> Array:
        """(p, b): phi = lift @ beta sets the kept parameters and leaves all others at zero."""
        lift = np.zeros(self.matrix.shape[::-1])
        lift[list(self.kept), range(len(self.kept))] = 1.0
        return lift


def regrouping(kept: Sequence[int], matrix: Array, standard: Sequence[str], method: str) -> Regrouping:
    """A regrouping with its names and formulas, from the kept columns and the (b, p) matrix."""
    names, formulas = [], {}
    for column, row in zip(kept, matrix, strict=True):
        terms = [column, *(k for k in np.flatnonzero(row) if k != column)]
        name = standard[column] + ("R" if len(terms) > 1 else "")
        names.append(name)
        formulas[name] = " ".join(_term(row[k], standard[k], first=k == column) for k in terms)
    return Regrouping(tuple(int(k) for k in kept), matrix, tuple(names), MappingProxyType(formulas), method)


def _term(coefficient: float, name: str, first: bool) -> str:
    size = "" if np.isclose(abs(coefficient), 1.0, rtol=1e-9, atol=0) else f"{abs(coefficient):.6g}*"
    sign = "-" if coefficient < 0 else "+"
    return f"{size}{name}" if first else f"{sign} {size}{name}"


def regroup(robot: Robot, tree: Tree, layout: Layout) -> Regrouping:
    """The base parameters of a model: QR always, the rules' exact coefficients where the two agree."""
    from didim.dynamics.base.numerical import regroup_by_qr
    from didim.dynamics.base.rules import regroup_by_rules

    numerical = regroup_by_qr(tree, layout)
    closed_form = regroup_by_rules(robot, layout)
    if agree(closed_form, numerical):
        return closed_form
    log.info("robot %s: QR regroups otherwise than the closed-form rules; QR is used", robot.name)
    return numerical


def agree(one: Regrouping, other: Regrouping) -> bool:
    """Whether two regroupings keep the same parameters with the same coefficients, so that their W span the same space."""
    return one.kept == other.kept and np.allclose(one.matrix, other.matrix, rtol=1e-6, atol=1e-8)
