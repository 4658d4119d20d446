"""What each parameter is: its kind, joint, unit and sign, as values. No other code reads these from
a parameter's name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class ParameterKind(Enum):
    """What a parameter describes."""

    INERTIA = "inertia"
    """XX XY XZ YY YZ ZZ: inertia of a link about the origin of its joint's frame."""
    FIRST_MOMENT = "first moment"
    """MX MY MZ: mass of a link times its centre of mass."""
    MASS = "mass"
    """M: mass of a link."""
    ROTOR = "rotor"
    """Ia: inertia of a motor and its transmission, seen from the joint."""
    VISCOUS = "viscous friction"
    """Fv, or Fvp and Fvn for each direction of motion."""
    COULOMB = "Coulomb friction"
    """Fc, or Fcp and Fcn for each direction of motion."""
    OFFSET = "offset"
    """off: a constant torque."""

    @property
    def is_inertial(self) -> bool:
        """Whether it is one of the ten parameters of a link."""
        return self in (ParameterKind.INERTIA, ParameterKind.FIRST_MOMENT, ParameterKind.MASS)

    @property
    def is_friction(self) -> bool:
        """Whether it is viscous or Coulomb friction."""
        return self in (ParameterKind.VISCOUS, ParameterKind.COULOMB)


class Sign(Enum):
    """Which signs physics allows a parameter."""

    POSITIVE = "positive"
    ANY = "any"


@dataclass(frozen=True)
class ParameterInfo:
    """What one parameter of a model is."""

    name: str
    """The model's name for it, such as "ZZ1", "Fcp2", "Iam6" or "ZZ1R"."""
    symbol: str
    """The name without joint, coupling and R, as robot files spell it: "ZZ", "Fcp", "Ia"."""
    kind: ParameterKind
    joint: int
    """Index, from 0, of the joint that it belongs to; of a coupling, its first joint."""
    unit: str
    """SI: that of a revolute or of a prismatic joint."""
    sign: Sign
    """POSITIVE where a negative value is physically impossible. A base parameter that regroups
    others is POSITIVE only where it is a sum of positive parameters.
    """
    direction: int = 0
    """Asymmetric friction: +1 acts while the joint moves forward, -1 backward; else 0."""
    coupling: str | None = None
    """Name of the coupling that it belongs to; None: it belongs to one joint alone."""


def inertial_parameter(symbol: str, joint: int) -> ParameterInfo:
    """One of the ten parameters of a link."""
    kind, unit, sign = _INERTIAL[symbol]
    return ParameterInfo(f"{symbol}{joint + 1}", symbol, kind, joint, unit, sign)


def effect_parameter(
    symbol: str, joint: int, prismatic: bool, coupling: str | None = None
) -> ParameterInfo:
    """A parameter of a rotor, friction or offset, of one joint or of a coupling.

    The inertia and the viscous friction of a coupling stand off the diagonal, where any sign is
    possible; its Coulomb friction is the limit of one contact.
    """
    kind, direction = _EFFECTS[symbol]
    off_diagonal = coupling is not None and kind is not ParameterKind.COULOMB
    free = kind is ParameterKind.OFFSET or off_diagonal
    return ParameterInfo(
        f"{symbol}{joint + 1 if coupling is None else coupling}",
        symbol,
        kind,
        joint,
        _UNITS[kind][prismatic],
        Sign.ANY if free else Sign.POSITIVE,
        direction,
        coupling,
    )


def base_parameters(
    standard: Sequence[ParameterInfo], kept: Sequence[int], matrix: Array, names: Sequence[str]
) -> tuple[ParameterInfo, ...]:
    """Base parameters as their leading standard ones, with the `names` (b,) of their own.

    `kept` (b,) are the leading standard parameters, `matrix` (b, p) says what else they regroup.
    """
    positive = np.array([each.sign is Sign.POSITIVE for each in standard])
    surely_positive = np.all((matrix == 0) | ((matrix > 0) & positive), axis=1)
    return tuple(
        replace(standard[k], name=name, sign=Sign.POSITIVE if is_positive else Sign.ANY)
        for k, name, is_positive in zip(kept, names, surely_positive, strict=True)
    )


_INERTIAL = {
    "XX": (ParameterKind.INERTIA, "kg m²", Sign.POSITIVE),
    "XY": (ParameterKind.INERTIA, "kg m²", Sign.ANY),
    "XZ": (ParameterKind.INERTIA, "kg m²", Sign.ANY),
    "YY": (ParameterKind.INERTIA, "kg m²", Sign.POSITIVE),
    "YZ": (ParameterKind.INERTIA, "kg m²", Sign.ANY),
    "ZZ": (ParameterKind.INERTIA, "kg m²", Sign.POSITIVE),
    "MX": (ParameterKind.FIRST_MOMENT, "kg m", Sign.ANY),
    "MY": (ParameterKind.FIRST_MOMENT, "kg m", Sign.ANY),
    "MZ": (ParameterKind.FIRST_MOMENT, "kg m", Sign.ANY),
    "M": (ParameterKind.MASS, "kg", Sign.POSITIVE),
}

_EFFECTS = {
    "Ia": (ParameterKind.ROTOR, 0),
    "Fv": (ParameterKind.VISCOUS, 0),
    "Fvp": (ParameterKind.VISCOUS, 1),
    "Fvn": (ParameterKind.VISCOUS, -1),
    "Fc": (ParameterKind.COULOMB, 0),
    "Fcp": (ParameterKind.COULOMB, 1),
    "Fcn": (ParameterKind.COULOMB, -1),
    "off": (ParameterKind.OFFSET, 0),
}
"""Kind and direction of the parameters of effects, by symbol."""

_UNITS = {
    ParameterKind.ROTOR: ("kg m²", "kg"),
    ParameterKind.VISCOUS: ("N m s/rad", "N s/m"),
    ParameterKind.COULOMB: ("N m", "N"),
    ParameterKind.OFFSET: ("N m", "N"),
}
"""Units on a revolute and on a prismatic joint."""
