"""Physically consistent parameters: pseudo-inertias positive definite, rotors and friction
positive.

The barrier of this set around a prior theta0, whose links have the pseudo-inertias P0_i and whose
positive parameters are x0:

    sum over links of tr(P0_i^-1 P_i) - logdet P_i
    + sum over x of x/x0 - ln x
    + sum over the others of (y/s)^2 / 2,

smallest at theta0 and infinite at the boundary. The set is convex.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.known import Known
from didim.dynamics.model import DynamicModel
from didim.dynamics.parameters import Sign
from didim.robot.inertia import pseudo_inertia

Array = NDArray[np.float64]

BASIS: Array = np.array([pseudo_inertia(unit) for unit in np.eye(10)])
"""(10, 4, 4): P is linear in the ten parameters of a link."""


MIN_EIGENVALUE_RATIO = 1e-13
"""Smallest over largest eigenvalue of a pseudo-inertia, at and below which it counts as on the
boundary.
"""


def _is_inside(P: Array) -> bool:
    """Whether all pseudo-inertias (n, 4, 4) are positive definite, by a margin that survives
    rounding.
    """
    values = np.linalg.eigvalsh(P)
    return bool(np.all(values[:, 0] > MIN_EIGENVALUE_RATIO * values[:, -1]))


def positive_parameters(model: DynamicModel) -> NDArray[np.int64]:
    """Columns of rotor inertias, friction of one joint and Coulomb limits of couplings. The
    positive parameters of links are not among them: pseudo-inertias say more.
    """
    return np.array(
        [
            k
            for k, each in enumerate(model.parameters)
            if each.sign is Sign.POSITIVE and not each.kind.is_inertial
        ],
        dtype=np.int64,
    )


@dataclass(frozen=True, eq=False)
class Consistent:
    """The barrier of a model's physically consistent set around a prior."""

    model: DynamicModel
    prior: Array
    """(p,) theta0, inside the set."""
    scale: Array
    """(p,) s, size of the parameters that may have any sign; of the others it is not used."""
    known: Known | None = None
    """Values that theta keeps. What is wholly known need not lie inside: friction that is known to
    be zero, a link that is known to have no mass.
    """
    beside: int = 0
    """Bodies beside the robot, such as a load: ten columns each, after those of the model."""

    @property
    def directions(self) -> Array | None:
        """(p, m) the changes of theta that keep the known values; None: all."""
        return None if self.known is None else self.known.directions

    @cached_property
    def links(self) -> NDArray[np.int64]:
        """(n, 10) columns of the links that are not wholly known, and of the bodies beside."""
        link = self.model.layout.link
        if self.known is not None:
            link = link[~np.all(np.isin(link, self.known.columns), axis=1)]
        if not self.beside:
            return link
        first = len(self.model.parameter_names)
        further = first + np.arange(10 * self.beside).reshape(-1, 10)
        return np.vstack([link, further])

    @cached_property
    def positive(self) -> NDArray[np.int64]:
        """Rotor inertias, friction of one joint, Coulomb limits of couplings."""
        positive = positive_parameters(self.model)
        return positive if self.known is None else np.setdiff1d(positive, self.known.columns)

    @cached_property
    def free(self) -> NDArray[np.int64]:
        """Offsets, what couplings add off the diagonal, and what need not lie inside."""
        taken = {*self.positive.tolist(), *self.links.ravel().tolist()}
        return np.array([k for k in range(len(self.prior)) if k not in taken], dtype=np.int64)

    @cached_property
    def inverse(self) -> Array:
        """(n, 4, 4) P0_i^-1."""
        return np.asarray(np.linalg.inv(self.bodies(self.prior)), dtype=np.float64)

    def bodies(self, theta: Array) -> Array:
        """(n, 4, 4) pseudo-inertias P_i of `links`."""
        return np.tensordot(theta[self.links], BASIS, axes=1)

    def contains(self, theta: Array) -> bool:
        """Whether theta lies inside."""
        return bool(np.all(theta[self.positive] > 0) and _is_inside(self.bodies(theta)))

    def value(self, theta: Array) -> float:
        """The barrier, infinite outside."""
        P, x, y = self.bodies(theta), theta[self.positive], theta[self.free]
        if np.any(x <= 0) or not np.all(np.isfinite(theta)) or not _is_inside(P):
            return np.inf
        logdet = np.linalg.slogdet(P)[1]
        links = np.einsum("iab,iba->", self.inverse, P) - logdet.sum()
        single = np.sum(x / self.prior[self.positive] - np.log(x)) + 0.5 * np.sum(
            (y / self.scale[self.free]) ** 2
        )
        return float(links + single)

    def reach(self, theta: Array, step: Array) -> float:
        """The fraction of a step at which it meets the boundary of the set; infinite where it never
        does.
        """
        x, dx = theta[self.positive], step[self.positive]
        with np.errstate(divide="ignore", invalid="ignore"):
            fractions = np.where(dx < 0, -x / dx, np.inf)
        values, vectors = np.linalg.eigh(self.bodies(theta))
        root = vectors / np.sqrt(values)[:, None, :]
        scaled = np.swapaxes(root, 1, 2) @ self.bodies(step) @ root
        least = np.linalg.eigvalsh(scaled).min(initial=0.0)
        return float(min(fractions.min(initial=np.inf), 1.0 / -least if least < 0 else np.inf))

    def slopes(self, theta: Array) -> tuple[Array, Array]:
        """Gradient (p,) and Hessian (p, p) of the barrier inside the set."""
        p = theta.size
        gradient, hessian = np.zeros(p), np.zeros((p, p))
        inverse = np.linalg.inv(self.bodies(theta))
        products = np.einsum("iab,kbc->ikac", inverse, BASIS)
        curvature = np.einsum("ikab,ilba->ikl", products, products)
        for i, columns in enumerate(self.links):
            gradient[columns] = np.einsum("ab,kba->k", self.inverse[i] - inverse[i], BASIS)
            hessian[np.ix_(columns, columns)] = curvature[i]
        x, at, free = theta[self.positive], self.positive, self.free
        gradient[at], hessian[at, at] = 1.0 / self.prior[at] - 1.0 / x, 1.0 / x**2
        gradient[free], hessian[free, free] = (
            theta[free] / self.scale[free] ** 2,
            1.0 / self.scale[free] ** 2,
        )
        return gradient, hessian
