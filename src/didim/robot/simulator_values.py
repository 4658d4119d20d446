"""What simulators know of a joint beside its link: armature, damping, friction loss and a spring,
and the gains of its servo; and what they do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from didim.robot.catalogue import CATALOGUE
from didim.robot.effect_parameter import ParameterKind
from didim.robot.labels import joint_label
from didim.robot.robot import Joint, Robot

MEAN = {"asymmetric_viscous": ("Fvp", "Fvn"), "asymmetric_coulomb": ("Fcp", "Fcn")}
"""Friction of two directions: simulators have its mean."""

_SAID = ("rotor", "viscous", "coulomb", *MEAN)


@dataclass(frozen=True)
class SimulatorValues:
    """The values of one joint, SI, none of them negative but the position of the spring."""

    armature: float
    damping: float
    frictionloss: float
    stiffness: float
    springref: float


@dataclass(frozen=True)
class ServoGains:
    """Gains of a joint's servo at the joint: torque = kp (q_ref - q) + kv (ff dq_ref - dq)."""

    kp: float
    """N m/rad or N/m."""
    kv: float
    """N m s/rad or N s/m."""
    ff: float = 0.0
    limit: float = float("inf")
    """On |torque|."""


def simulator_values(joint: Joint) -> SimulatorValues:
    """The values of a joint as simulators have them: the mean of both directions where friction has
    two, zero where a value is negative.
    """
    values = joint.nominal
    damping = values.get("Fv", 0.5 * (values.get("Fvp", 0.0) + values.get("Fvn", 0.0)))
    friction = values.get("Fc", 0.5 * (values.get("Fcp", 0.0) + values.get("Fcn", 0.0)))
    return SimulatorValues(
        armature=max(values.get("Ia", 0.0), 0.0),
        damping=max(damping, 0.0),
        frictionloss=max(friction, 0.0),
        stiffness=max(values.get("ks", 0.0), 0.0),
        springref=values.get("qs", 0.0),
    )


def left_out(robot: Robot, springs: bool) -> tuple[str, ...]:
    """What of a robot a simulator cannot express, one line each; `springs`: whether it has springs
    at joints.
    """
    lines = []
    for j, joint in enumerate(robot.numbered):
        label = joint_label(robot, j)
        for effect, stems in MEAN.items():
            if effect in joint.effects and _size({s: joint.nominal.get(s, 0.0) for s in stems}):
                one, other = (joint.nominal.get(stem, 0.0) for stem in stems)
                lines.append(
                    f"{label}: {effect} {one:.4g} and {other:.4g} are written as their mean"
                )
        for effect in sorted(joint.effects - {*_SAID, *(["spring"] if springs else [])}):
            unknown = CATALOGUE[effect].unknown.items()
            linear = [s for s, each in unknown if each.kind is not ParameterKind.SHAPE]
            values = {s: joint.nominal.get(s, 0.0) for s in linear}
            if _size(values):
                lines.append(f"{label}: {effect} ({_listed(values)}) is left out")
        single = {s: joint.nominal.get(s, 0.0) for s in ("Ia", "Fv", "Fc", "ks")}
        if below := {s: value for s, value in single.items() if value < 0}:
            lines.append(f"{label}: {_listed(below)} is negative and written as 0")
    lines += [
        f"coupling {each.name} ({_listed(each.nominal)}) is left out"
        for each in robot.couplings
        if _size(each.nominal)
    ]
    return (*lines, *(f"effect {each.name} is left out" for each in robot.effects))


def _size(values: Mapping[str, float]) -> float:
    return max((abs(value) for value in values.values()), default=0.0)


def _listed(values: Mapping[str, float]) -> str:
    return ", ".join(f"{stem} = {value:.4g}" for stem, value in values.items())
