"""The equations of drive gains: control signals of an empty and of a loaded robot.

Joint j of the robot with its load phi has the torque g_j v_j = W_j (chi + B phi), W_j chi without
it. In the unknowns x, which are the base parameters chi, the friction of the loaded record and the
ten parameters of the load,

    g_j v = A_j x    in the rows of joint j,    x_k known for some k.

One number other than zero must be known, or all of x and g could be multiplied by any factor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.model import BaseModel
from didim.identification.methods.idim import IDIM
from didim.payload.comparable import refuse_short
from didim.payload.difference import Gaussian
from didim.regression.least_squares import fit
from didim.regression.statistics import statistics
from didim.regression.system import LinearSystem
from didim.results.load_seen import warms
from didim.results.prediction import Preprocessing
from didim.robot.effects import LINK
from didim.signals.experiment import Experiment
from didim.simulation.records import regular_records

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GainEquations:
    """The rows of both records, in units of the control signal."""

    model: BaseModel
    link: int
    """The joint whose link carries the load."""
    system: LinearSystem
    """W of chi and y = v, of all records; weights are not applied."""
    is_loaded: NDArray[np.bool_]
    """(r,) rows of records with the load."""
    weights: Array
    """(r,) one over the standard deviation of v, joint by joint, of the empty and of the loaded
    records.
    """
    apart: tuple[Gaussian, ...]
    """chi of the empty and of the loaded records, each in units of the control signal."""
    preprocessing: Preprocessing
    known: Mapping[str, float]
    """Known parameters of the load, by name."""

    @property
    def b(self) -> int:
        """Number of base parameters."""
        return len(self.system.names)

    @cached_property
    def varies(self) -> NDArray[np.int64]:
        """Base parameters that the loaded records have of their own: friction and offsets; none
        without them.
        """
        return np.flatnonzero(warms(self.model) & bool(self.is_loaded.any()))

    @property
    def load(self) -> slice:
        """Of x: the ten parameters of the load."""
        first = self.b + self.varies.size
        return slice(first, first + 10 * bool(self.is_loaded.any()))

    @cached_property
    def A(self) -> Array:
        """(r, k) of x."""
        W, loaded = self.system.W, self.is_loaded[:, None]
        own = W[:, self.varies] * loaded
        links = W.copy()
        links[:, self.varies] -= own
        B = self.model.matrix[:, self.model.layout.link[self.link]]
        parts = [links, own, (W @ B) * loaded] if loaded.any() else [W]
        return np.hstack(parts)

    @cached_property
    def offset(self) -> Array:
        """(k,) x where all that is free is zero: x = offset + basis z."""
        found = np.zeros(self.A.shape[1])
        if self.model.affine is not None:
            found[: self.b] = self.model.affine.offset
        if self.is_loaded.any():
            for name, value in self.known.items():
                found[self.load.start + LINK.index(name)] = value
        return found

    @cached_property
    def basis(self) -> Array:
        """(k, m) the unknowns that known values leave."""
        k, affine = self.A.shape[1], self.model.affine
        known = [self.load.start + LINK.index(name) for name in self.known]
        free = [i for i in range(k) if i not in known]
        if affine is None:
            return np.eye(k)[:, free]
        chi = np.vstack([affine.basis, np.zeros((k - self.b, affine.kept.size))])
        return np.hstack([chi, np.eye(k)[:, [i for i in free if i >= self.b]]])

    @property
    def free_load(self) -> NDArray[np.int64]:
        """The parameters of the load that are not known."""
        return np.array([i for i, name in enumerate(LINK) if name not in self.known])

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.system.n

    def by_joint(self, rows: Array) -> Array:
        """(r, n) the rows (r,) in the columns of their joints."""
        found = np.zeros((rows.size, self.n))
        found[np.arange(rows.size), self.system.joint] = rows
        return found


def gain_equations(
    model: BaseModel,
    empty: Sequence[Experiment],
    loaded: Sequence[Experiment],
    link: int,
    known: Mapping[str, float],
    method: IDIM,
) -> GainEquations:
    """The equations of records on which the method's filters and rows are used."""
    records = regular_records(model, [*empty, *loaded])
    rows = method.filtering.rows(model, records)
    system = replace(rows.observe(records)[0], affine=None)
    is_loaded = system.series >= len(empty)
    weights, apart = np.zeros(system.y.size), []
    groups = {"of the empty robot": ~is_loaded, "with the load": is_loaded}
    for what, chosen in list(groups.items())[: 2 if loaded else 1]:
        part = rows_of(system, chosen)
        refuse_short(part.y.size, len(part.names), what)
        solution = fit(part, "wls")
        figures = statistics(part, solution)
        weights[chosen] = solution.weights
        apart.append(Gaussian(solution.values, figures.covariance, figures.corrected))
    return GainEquations(
        model, link, system, is_loaded, weights, tuple(apart), rows.preprocessing, known
    )


def rows_of(system: LinearSystem, chosen: NDArray[np.bool_]) -> LinearSystem:
    """Some of the rows of a system."""
    parts = {name: getattr(system, name)[chosen] for name in ("W", "y", "joint", "series", "index")}
    return replace(system, **parts)
