"""Rotor inertias in words, for the formats that have no place for them."""

from __future__ import annotations

from didim.robot.labels import joint_label
from didim.robot.robot import Robot


def armature_note(robot: Robot) -> str:
    """What other programs do not read from a URDF of this robot; empty where it has no rotor."""
    rotors = [
        f"{joint_label(robot, j)} {joint.nominal['Ia']:.6g}"
        f" {'kg' if joint.kind == 'prismatic' else 'kg m²'}"
        for j, joint in enumerate(robot.numbered)
        if joint.nominal.get("Ia")
    ]
    coupled = [
        f"coupling {each.name} {each.nominal['Ia']:.6g} kg m²"
        for each in robot.couplings
        if each.nominal.get("Ia")
    ]
    if not rotors and not coupled:
        return ""
    return (
        "Armature (rotor inertia), for which URDF has no element that other programs read: "
        f"{', '.join(rotors + coupled)}. Set it there by hand (armature of a joint in MuJoCo, "
        "model.armature in Pinocchio): without it M(q) is positive definite, but too small on its "
        "diagonal by these values."
    )
