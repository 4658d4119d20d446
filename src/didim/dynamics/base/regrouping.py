"""A set of base parameters: some standard parameters are kept, the others are regrouped
with them or have no effect.

The rules and the QR method both end here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


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

    def defect(self, W: Array) -> float:
        """The largest part of a column of W (rows, p) that the kept columns do not reproduce, over
        the largest column.
        """
        residual = W - W[:, list(self.kept)] @ self.matrix
        return float(np.linalg.norm(residual, axis=0).max() / np.linalg.norm(W, axis=0).max())

    @property
    def lift(self) -> Array:
        """(p, b): phi = lift @ beta sets the kept parameters and leaves all others at zero."""
        lift = np.zeros(self.matrix.shape[::-1])
        lift[list(self.kept), range(len(self.kept))] = 1.0
        return lift


def regrouping(
    kept: Sequence[int], matrix: Array, standard: Sequence[str], method: str
) -> Regrouping:
    """A regrouping with its names and formulas, from the kept columns and the (b, p) matrix."""
    names, formulas = [], {}
    for column, row in zip(kept, matrix, strict=True):
        terms = [column, *(int(k) for k in np.flatnonzero(row) if k != column)]
        name = standard[column] + ("R" if len(terms) > 1 else "")
        names.append(name)
        formulas[name] = " ".join(_term(row[k], standard[k], first=k == column) for k in terms)
    return Regrouping(tuple(int(k) for k in kept), matrix, tuple(names), formulas, method)


def _term(coefficient: float, name: str, first: bool) -> str:
    size = (
        "" if np.isclose(abs(coefficient), 1.0, rtol=1e-9, atol=0) else f"{abs(coefficient):.6g}*"
    )
    sign = "-" if coefficient < 0 else "+"
    return f"{size}{name}" if first else f"{sign} {size}{name}"
