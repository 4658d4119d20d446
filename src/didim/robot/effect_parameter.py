"""The parameters of effects: kind, unit, sign and value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from didim.errors import InputError, nearest, shortened
from didim.robot.effect_checks import is_number

_MAX_UNIT = 30
"""Letters of a unit."""


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
    """Fv, or Fvp and Fvn for each direction of motion; and powers of the velocity."""
    COULOMB = "Coulomb friction"
    """Fc, or Fcp and Fcn for each direction of motion; dFs, and mu of the load."""
    OFFSET = "offset"
    """off: a constant torque."""
    TORQUE = "torque"
    """The size of a torque of position or of a logged channel: springs, ripple, own effects."""
    SHAPE = "shape"
    """What the torque is not linear in: a velocity, an exponent, an angle."""

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
class EffectParameter:
    """One parameter of an effect."""

    kind: ParameterKind = ParameterKind.TORQUE
    unit: tuple[str, str] = ("N m", "N")
    """SI, on a revolute and on a prismatic joint."""
    sign: Sign = Sign.ANY
    value: float | None = None
    """Nominal value; of a shape where the search for it starts. None: unknown."""
    known: bool = False
    """A shape that is held at its value unless it is asked for."""
    direction: int = 0
    """Of asymmetric friction: +1 forward, -1 backward; else 0."""


PARAMETER_KEYS = ("unit", "value", "sign", "known", "kind", "direction")

_OWN_KINDS = {
    kind.value: kind
    for kind in (
        ParameterKind.ROTOR,
        ParameterKind.VISCOUS,
        ParameterKind.COULOMB,
        ParameterKind.OFFSET,
        ParameterKind.TORQUE,
        ParameterKind.SHAPE,
    )
}
"""What a parameter of a user's effect can describe."""


def own_parameter(given: Mapping[str, Any] | EffectParameter, where: str) -> EffectParameter:
    """A parameter of a user's effect: { unit = "N.m/rad", value = 1.0, sign = "positive" }."""
    if isinstance(given, EffectParameter):
        return given
    if not isinstance(given, Mapping):
        raise InputError(
            f'{where} must be a table such as {{ unit = "N.m/rad" }}, found {shortened(given)}.'
        )
    for key in given:
        if key not in PARAMETER_KEYS:
            raise InputError(f"{where}: unknown key {key!r}; {nearest(str(key), PARAMETER_KEYS)}")
    value, unit = given.get("value"), given.get("unit", "")
    if not isinstance(unit, str) or not unit.isprintable() or len(unit) > _MAX_UNIT:
        raise InputError(f"{where}: unit must be a short text, found {shortened(unit)}.")
    choices: dict[str, tuple[Any, list[Any]]] = {
        "sign": (Sign.ANY.value, [each.value for each in Sign]),
        "kind": (ParameterKind.TORQUE.value, list(_OWN_KINDS)),
        "direction": (0, [0, 1, -1]),
        "known": (False, [True, False]),
    }
    chosen = {key: given.get(key, usual) for key, (usual, _) in choices.items()}
    for key, (usual, allowed) in choices.items():
        if type(chosen[key]) is not type(usual) or chosen[key] not in allowed:
            raise InputError(
                f"{where}: {key} must be one of {', '.join(map(repr, allowed))}, found "
                f"{shortened(chosen[key])}."
            )
    if value is not None and not is_number(value):
        raise InputError(f"{where}: value must be a finite number, found {shortened(value)}.")
    return EffectParameter(
        _OWN_KINDS[chosen["kind"]],
        (unit, unit),
        Sign(chosen["sign"]),
        None if value is None else float(value),
        chosen["known"],
        chosen["direction"],
    )
