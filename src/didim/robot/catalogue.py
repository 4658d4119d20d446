"""The shipped effects, each declared as a user would declare one."""

from __future__ import annotations

from didim.robot.effect import Effect
from didim.robot.effect_parameter import EffectParameter, ParameterKind, Sign

_TORQUE = ("N m", "N")
_STIFFNESS = ("N m/rad", "N/m")
_DAMPING = ("N m s/rad", "N s/m")
_POSITION = ("rad", "m")
_VELOCITY = ("rad/s", "m/s")


def _rotor() -> EffectParameter:
    return EffectParameter(ParameterKind.ROTOR, ("kg m²", "kg"), Sign.POSITIVE)


def _viscous(
    sign: Sign = Sign.POSITIVE, unit: tuple[str, str] = _DAMPING, direction: int = 0
) -> EffectParameter:
    return EffectParameter(ParameterKind.VISCOUS, unit, sign, direction=direction)


def _coulomb(
    sign: Sign = Sign.POSITIVE, unit: tuple[str, str] = _TORQUE, direction: int = 0
) -> EffectParameter:
    return EffectParameter(ParameterKind.COULOMB, unit, sign, direction=direction)


def _torque(unit: tuple[str, str] = _TORQUE) -> EffectParameter:
    return EffectParameter(ParameterKind.TORQUE, unit)


def _shape(
    unit: tuple[str, str], value: float, known: bool = False, sign: Sign = Sign.ANY
) -> EffectParameter:
    return EffectParameter(ParameterKind.SHAPE, unit, sign, value, known)


_SHIPPED = (
    Effect(
        "rotor",
        "Ia * ddq",
        {"Ia": _rotor()},
        conservative=True,
        about="inertia of motor and transmission, seen from the joint",
    ),
    Effect("viscous", "Fv * dq", {"Fv": _viscous()}, about="viscous friction"),
    Effect(
        "asymmetric_viscous",
        "Fvp * max(dq, 0) + Fvn * min(dq, 0)",
        {"Fvp": _viscous(direction=1), "Fvn": _viscous(direction=-1)},
        about="viscous friction, another one for each direction",
    ),
    Effect("coulomb", "Fc * slip", {"Fc": _coulomb()}, about="Coulomb friction, which sticks"),
    Effect(
        "asymmetric_coulomb",
        "Fcp * max(slip, 0) + Fcn * min(slip, 0)",
        {"Fcp": _coulomb(direction=1), "Fcn": _coulomb(direction=-1)},
        about="Coulomb friction, another one for each direction",
    ),
    Effect(
        "offset",
        "off",
        {"off": EffectParameter(ParameterKind.OFFSET, _TORQUE)},
        about="a constant torque",
    ),
    Effect(
        "stribeck",
        "dFs * slip * exp(-abs(dq / vs) ^ ds)",
        {
            "dFs": _coulomb(),
            "vs": _shape(_VELOCITY, 0.1, sign=Sign.POSITIVE),
            "ds": _shape(("", ""), 2.0, True, Sign.POSITIVE),
        },
        about="the limit of Coulomb friction falls from Fc + dFs at rest to Fc",
    ),
    Effect(
        "load_friction",
        "mu * slip * abs(load)",
        {"mu": _coulomb(unit=("", ""))},
        about="the limit of Coulomb friction grows with the load of the joint",
    ),
    Effect(
        "asymmetric_load_friction",
        "mup * max(slip, 0) * abs(load) + mun * min(slip, 0) * abs(load)",
        {
            "mup": _coulomb(unit=("", ""), direction=1),
            "mun": _coulomb(unit=("", ""), direction=-1),
        },
        about="friction that grows with the load, another one for each direction",
    ),
    Effect(
        "viscous_power",
        "Fvq * dq * abs(dq) + Fvr * dq / sqrt(abs(dq) + v0)",
        {
            "Fvq": _viscous(Sign.ANY, ("N m s²/rad²", "N s²/m²")),
            "Fvr": _viscous(Sign.ANY, ("N m (s/rad)^0.5", "N (s/m)^0.5")),
        },
        fixed={"v0": 1e-3},
        about="viscous friction beyond linear: with the square and the root of the velocity",
    ),
    Effect(
        "ripple",
        "Rs * sin(order * q) + Rc * cos(order * q)",
        {
            "Rs": _torque(),
            "Rc": _torque(),
            "order": _shape(("1/rad", "1/m"), 1.0, True, Sign.POSITIVE),
        },
        conservative=True,
        about="a sine of the position, as gears and motors leave it: order periods in a turn",
    ),
    Effect(
        "spring",
        "ks * (q - qs)",
        {"ks": _torque(_STIFFNESS), "qs": _shape(_POSITION, 0.0, known=True)},
        conservative=True,
        about="a spring, relaxed at qs",
    ),
    Effect(
        "gas_spring",
        "-Fg * (lg / (lg - l0 + l)) ^ ng * ag * bg * sin(q - qg) / l",
        {
            "Fg": _torque(("N", "N")),
            "ag": _shape(("m", "m"), 0.3, True, Sign.POSITIVE),
            "bg": _shape(("m", "m"), 0.1, True, Sign.POSITIVE),
            "qg": _shape(("rad", "rad"), 0.0, known=True),
            "l0": _shape(("m", "m"), 0.4, True, Sign.POSITIVE),
            "lg": _shape(("m", "m"), 0.3, True, Sign.POSITIVE),
            "ng": _shape(("", ""), 1.2, True, Sign.POSITIVE),
        },
        let={"l": "sqrt(ag^2 + bg^2 - 2 * ag * bg * cos(q - qg))"},
        conservative=True,
        about="a gas spring between two points, ag and bg from the axis: force Fg at length l0",
    ),
    Effect(
        "counterweight",
        "mg * cos(q - qw)",
        {"mg": _torque(), "qw": _shape(_POSITION, 0.0, known=True)},
        conservative=True,
        about="a weight that turns with the joint, level at qw",
    ),
    Effect(
        "temperature",
        "FvT * dq * (temperature - T0) + FcT * slip * (temperature - T0)",
        {
            "FvT": _viscous(Sign.ANY, ("N m s/(rad K)", "N s/(m K)")),
            "FcT": _coulomb(Sign.ANY, ("N m/K", "N/K")),
            "T0": _shape(("°C", "°C"), 20.0, known=True),
        },
        channels=("temperature",),
        about="viscous and Coulomb friction change with a logged temperature, from T0",
    ),
    Effect(
        "back_emf",
        "Kb * dq * enabled",
        {"Kb": _viscous()},
        channels=("enabled",),
        about="the voltage that a motor induces brakes it while its drive is enabled",
    ),
)

CATALOGUE: dict[str, Effect] = {effect.name: effect for effect in _SHIPPED}


def effects() -> dict[str, Effect]:
    """The catalogue: effects by name, with torque, parameters (kind, unit, sign) and meaning."""
    return dict(CATALOGUE)
