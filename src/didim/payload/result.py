"""`Payload`: what a robot carries, how surely it is known, and the robot with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError, nearest
from didim.payload.body import centre_slopes, deviations, inertia_slopes
from didim.results.estimate import Estimate
from didim.results.formatting import joint_label, number
from didim.robot.effects import LINK
from didim.robot.inertia import about_centre, symmetric

Array = NDArray[np.float64]

_PARTS = ("mass", "centre", "inertia")


@dataclass(frozen=True, eq=False)
class PayloadSigma:
    """Standard deviations, by attribute or by name; infinite where the motion identifies
    nothing.
    """

    mass: float
    """kg."""
    centre: Array
    """(3,) m."""
    inertia: Array
    """(3, 3) kg m^2."""

    def __getitem__(self, name: str) -> float | Array:
        if name not in _PARTS:
            raise KeyError(name)
        found: float | Array = getattr(self, name)
        return found

    def keys(self) -> tuple[str, ...]:
        """The names."""
        return _PARTS

    def __iter__(self) -> Iterator[str]:
        return iter(_PARTS)


@dataclass(frozen=True, eq=False)
class Payload:
    """A rigid body that the robot carries at one of its links, in the frame of that link's joint.
    The uncertainty is that of both records: of the empty robot and of the loaded one.
    """

    estimate: Estimate
    """The robot with its load: summary, report and export as of any estimate."""
    empty: Estimate
    """The robot without it."""
    link: int
    """The joint, from 0, whose link carries the load."""
    parameters: Array
    """(10,) XX XY XZ YY YZ ZZ MX MY MZ M of a physical body, inertia about the origin of the
    joint's frame, SI.
    """
    plain: Array
    """(10,) the same by least squares without that bound."""
    covariance: Array
    """(10, 10) of `plain`, for the colour of the residuals; infinite where not identified."""
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Payload({number(self.mass)} ± {number(self.sigma.mass)} kg at {self.label})"

    @property
    def label(self) -> str:
        """The link that carries it."""
        return f"the link of {joint_label(self.estimate.model, self.link)}"

    @property
    def mass(self) -> float:
        """kg."""
        return float(self.parameters[9])

    @cached_property
    def centre(self) -> Array:
        """(3,) m, centre of mass; zero where there is no mass."""
        return about_centre(self.parameters)[1] if self.mass > 0 else np.zeros(3)

    @cached_property
    def inertia(self) -> Array:
        """(3, 3) kg m^2, about the centre of mass, in the axes of the joint's frame."""
        return about_centre(self.parameters)[2] if self.mass > 0 else np.zeros((3, 3))

    @cached_property
    def sigma(self) -> PayloadSigma:
        """Standard deviations of mass, centre and inertia."""
        mass = float(np.sqrt(max(self.covariance[9, 9], 0.0)))
        centre = deviations(centre_slopes(self.parameters), self.covariance)
        inertia = deviations(inertia_slopes(self.parameters), self.covariance)
        return PayloadSigma(mass, centre, _symmetric(inertia))

    @property
    def identified(self) -> tuple[str, ...]:
        """The parameters, of `parameters`, that the motion identifies."""
        finite = np.isfinite(np.diag(self.covariance))
        return tuple(name for name, known in zip(LINK, finite, strict=True) if known)

    @property
    def at_border(self) -> bool:
        """Whether least squares alone gave no physical body."""
        return not np.array_equal(self.parameters, self.plain)

    def interval(self, part: str = "mass", level: float = 0.95) -> Array:
        """(..., 2) bounds of the mass, the centre or the inertia that hold the true value with this
        confidence. Those of the mass are those of least squares alone, cut at zero.
        """
        if part not in _PARTS:
            raise InputError(f"A payload has no {part!r}; {nearest(str(part), _PARTS)}")
        half = self.estimate.quantile(level) * np.asarray(self.sigma[part])
        if part == "mass":
            return np.maximum([self.plain[9] - half, self.plain[9] + half], 0.0)
        middle = np.asarray(getattr(self, part))
        return np.stack([middle - half, middle + half], axis=-1)

    @property
    def is_seen(self) -> bool:
        """Whether the 95 % interval of the mass excludes zero."""
        return bool(self.interval()[0] > 0)

    def summary(self) -> str:
        """The load as a table, with notes."""
        from didim.payload.table import summary

        return summary(self)

    def __str__(self) -> str:
        return self.summary()

    def report(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Write an HTML report of the robot with its load, which a section describes."""
        from didim.report.page import write_report

        return write_report(self.estimate, path, None, None, overwrite, payload=self)


def _symmetric(six: Array) -> Array:
    """(3, 3) from its upper triangle, which may be infinite."""
    finite = np.where(np.isfinite(six), six, 0.0)
    unknown = symmetric(np.where(np.isfinite(six), 0.0, 1.0)) > 0
    return np.where(unknown, np.inf, symmetric(finite))
