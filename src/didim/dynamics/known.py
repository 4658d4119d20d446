"""Known parameters: what given values of standard and base parameters leave to be identified.

Known values are linear equations A theta = c in the standard parameters theta: one of them, or a
base parameter, a row of beta = B theta. What they leave is theta = theta0 + T u, and

    beta = offset + basis z,

where z are as many base parameters as the range of B T has dimensions (by QR).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from didim.dynamics.base.regrouping import Regrouping
from didim.errors import InputError

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

TOLERANCE = 1e-9
"""Relative size below which a coefficient, or the difference of two known values, is rounding."""


@dataclass(frozen=True, eq=False)
class Affine:
    """beta = offset + basis z, where z are the base parameters `kept` themselves."""

    kept: Integers
    """(k,)."""
    offset: Array
    """(b,) zero at `kept`."""
    basis: Array
    """(b, k) the identity at `kept`."""

    @property
    def known(self) -> NDArray[np.bool_]:
        """(b,) base parameters whose values do not depend on z."""
        return ~np.any(self.basis != 0, axis=1)

    @property
    def is_selection(self) -> bool:
        """Whether every base parameter is either known or one of z."""
        return int(self.known.sum()) + self.kept.size == self.offset.size

    def at(self, z: Array) -> Array:
        """(b,) beta."""
        return np.asarray(self.offset + self.basis @ z)

    def nearest(self, beta: Array) -> Array:
        """(b,) the point of the set with the same z."""
        return self.at(beta[self.kept])

    def contains(self, directions: Array) -> NDArray[np.bool_]:
        """(n,) which directions (n, b) stay in the set."""
        left = directions - directions[:, self.kept] @ self.basis.T
        return np.asarray(
            np.abs(left).max(axis=1) <= TOLERANCE * np.abs(directions).max(axis=1, initial=1.0)
        )

    def steps(self, further: int = 0) -> Affine:
        """The differences of two points, with unknowns that follow the base parameters."""
        return self.with_further(further, np.zeros(self.offset.size))

    def with_further(self, count: int, offset: Array | None = None) -> Affine:
        """The set with `count` unknowns more, which are free."""
        b = self.offset.size
        return Affine(
            np.concatenate([self.kept, b + np.arange(count)]),
            np.concatenate([self.offset if offset is None else offset, np.zeros(count)]),
            linalg.block_diag(self.basis, np.eye(count)) if count else self.basis,
        )

    def only(self, columns: Integers) -> Affine:
        """Of some of the base parameters, the others zero; for sets that are selections."""
        kept = np.flatnonzero(np.isin(columns, self.kept))
        some = np.isin(self.kept, columns)
        return Affine(kept, self.offset[columns], self.basis[np.ix_(columns, np.flatnonzero(some))])


@dataclass(frozen=True, eq=False)
class Known:
    """Known values of a model's standard and base parameters."""

    values: Mapping[str, float]
    """By name."""
    standard: tuple[str, ...]
    """(p,) names of the standard parameters."""
    regrouping: Regrouping
    order: tuple[int, ...]
    """(b,) base parameters, those first that are preferred for z."""

    @cached_property
    def rows(self) -> Array:
        """(m, p) A."""
        p, base = len(self.standard), self.regrouping
        rows = np.zeros((len(self.values), p))
        for row, name in zip(rows, self.values, strict=True):
            if name in self.standard:
                row[self.standard.index(name)] = 1.0
            else:
                row[:] = base.matrix[base.names.index(name)]
        return rows

    @property
    def targets(self) -> Array:
        """(m,) c."""
        return np.array(list(self.values.values()))

    @cached_property
    def columns(self) -> Integers:
        """Standard parameters that are known by name."""
        return np.array(
            [k for k, name in enumerate(self.standard) if name in self.values], dtype=np.int64
        )

    @cached_property
    def _solved(self) -> tuple[Array, Array]:
        """theta0 (p,) and T (p, m), zero at `columns`."""
        p = len(self.standard)
        origin, free = np.zeros(p), np.ones(p, dtype=bool)
        origin[self.columns] = [self.values[self.standard[k]] for k in self.columns]
        free[self.columns] = False
        composed = [k for k, name in enumerate(self.values) if name not in self.standard]
        directions = np.eye(p)[:, free]
        if not composed:
            return origin, directions
        G, rest = self.rows[composed][:, free], self.targets[composed]
        size = np.abs(rest) + np.abs(self.rows[composed]) @ np.abs(origin)
        rest = rest - self.rows[composed] @ origin
        inverse = np.linalg.pinv(G, rcond=TOLERANCE) if G.size else G.T
        origin[free] = inverse @ rest
        off = np.abs(G @ origin[free] - rest) > TOLERANCE * size
        if np.any(off):
            self._refuse(composed[int(np.argmax(off))])
        null = linalg.null_space(G, rcond=TOLERANCE) if G.size else np.eye(int(free.sum()))
        directions = np.zeros((p, null.shape[1]))
        directions[free] = np.where(np.abs(null) < 1e-14, 0.0, null)
        return origin, directions

    def _refuse(self, at: int) -> None:
        name = list(self.values)[at]
        others = {each: value for each, value in self.values.items() if each != name}
        least = Known(others, self.standard, self.regrouping, self.order)
        follows = float(self.rows[at] @ least.origin)
        raise InputError(
            f"fixed: {name} = {self.values[name]:g} contradicts the others, from which "
            f"{self.regrouping.formulas[name]} = {follows:g} follows. Leave one of them out."
        )

    @property
    def origin(self) -> Array:
        """(p,) theta0, one of the vectors with the known values."""
        return self._solved[0]

    @property
    def directions(self) -> Array:
        """(p, m) T: the changes of theta that keep the known values."""
        return self._solved[1]

    @cached_property
    def affine(self) -> Affine:
        """The base parameters that are left."""
        B = self.regrouping.matrix
        moved, start = B @ self.directions, B @ self.origin
        sizes = np.linalg.norm(B, axis=1)
        kept = _independent(moved, sizes, self.order)
        basis = moved @ np.linalg.pinv(moved[kept])
        basis = np.where(np.abs(basis) < TOLERANCE, 0.0, basis)
        basis[kept] = np.eye(kept.size)
        offset = start - basis @ start[kept]
        offset[kept] = 0.0
        for j, name in enumerate(self.regrouping.names):
            if name in self.values and not basis[j].any():
                offset[j] = self.values[name]
        return Affine(kept, offset, basis)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """The known values without which as many base parameters would be left, and why."""
        return tuple(note for name in self.values if (note := self._note(name)))

    def _note(self, name: str) -> str:
        others = {each: value for each, value in self.values.items() if each != name}
        without = Known(others, self.standard, self.regrouping, self.order)
        if without.affine.kept.size > self.affine.kept.size:
            return ""
        if without.directions.shape[1] == self.directions.shape[1]:
            return f"Fixed {name} follows from the other fixed values."
        column = self.regrouping.matrix[:, self.standard.index(name)]
        if not column.any():
            return f"Fixed {name} determines nothing: no torque depends on it."
        groups = [self.regrouping.names[j] for j in np.flatnonzero(column)]
        return (
            f"Fixed {name} determines no base parameter: it stays regrouped with unknown ones in "
            f"{', '.join(groups)}."
        )


def _independent(rows: Array, sizes: Array, order: Sequence[int]) -> Integers:
    """Indices, ascending, of the first rows (b, m) in `order` that those before do not span: QR by
    Gram-Schmidt.
    """
    Q = np.zeros((0, rows.shape[1]))
    kept: list[int] = []
    for j in order:
        rest = rows[j] - Q.T @ (Q @ rows[j])
        rest = rest - Q.T @ (Q @ rest)
        length = float(np.linalg.norm(rest))
        if length > TOLERANCE * sizes[j]:
            Q = np.vstack([Q, rest / length])
            kept.append(j)
    return np.array(sorted(kept), dtype=np.int64)
