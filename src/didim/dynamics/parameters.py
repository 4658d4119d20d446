"""What each parameter is: its kind, joint, unit and sign, as values. No other code reads these from
a parameter's name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from didim.robot.effect_parameter import EffectParameter, ParameterKind, Sign

__all__ = [
    "ParameterInfo",
    "ParameterKind",
    "Sign",
    "base_parameters",
    "effect_parameter",
    "inertial_parameter",
]

Array = NDArray[np.float64]


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
    known: bool = False
    """A shape that is held at its value unless it is asked for."""
    effect: str | None = None
    """Name of the effect that names its joints itself, as a user's own does; else None."""


def inertial_parameter(symbol: str, joint: int) -> ParameterInfo:
    """One of the ten parameters of a link."""
    kind, unit, sign = _INERTIAL[symbol]
    return ParameterInfo(f"{symbol}{joint + 1}", symbol, kind, joint, unit, sign)


def effect_parameter(
    symbol: str,
    declared: EffectParameter,
    joint: int,
    prismatic: bool,
    suffix: str,
    coupling: str | None = None,
) -> ParameterInfo:
    """A parameter of an effect, of one joint or of a coupling.

    The inertia and the viscous friction of a coupling stand off the diagonal, where any sign is
    possible; its Coulomb friction is the limit of one contact.
    """
    off_diagonal = coupling is not None and declared.kind is not ParameterKind.COULOMB
    return ParameterInfo(
        f"{symbol}{suffix}",
        symbol,
        declared.kind,
        joint,
        declared.unit[prismatic],
        Sign.ANY if off_diagonal else declared.sign,
        declared.direction,
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
