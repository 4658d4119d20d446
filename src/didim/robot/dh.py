"""Reader of robots written in TOML by modified Denavit-Hartenberg parameters (Khalil and
Kleinfinger); docs/robot-files.md.

Frame j in its parent's is  Rot(z, gamma) Trans(z, b) Rot(x, alpha) Trans(x, d) Rot(z, theta)
Trans(z, r), with q added to theta (revolute) or to r (prismatic); gamma and b are zero except where
a tree branches. A frame that follows no convention is given by its rotation (3, 3) and translation
(3,) in the parent's.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError, nearest
from didim.reading import read_bytes
from didim.robot.assemble import Body, assemble, base_shapes
from didim.robot.drive import Drive
from didim.robot.effect_tables import effects_of
from didim.robot.effects import COUPLING_STEMS, EFFECT_STEMS, LINK, check_effects
from didim.robot.fields import Fields
from didim.robot.hold import (
    ALL_JOINTS,
    JointChoice,
    held_positions,
    with_held,
    with_held_drives,
    with_held_effects,
)
from didim.robot.inertia import about_origin, symmetric
from didim.robot.mimic import Mimic
from didim.robot.robot import Coupling, Robot, unknown_link
from didim.robot.shape import Shape, capsule

Array = NDArray[np.float64]

BASE_NAME = "base"


def read_dh(path: Path, choice: JointChoice = ALL_JOINTS) -> Robot:
    """The robot that a TOML file describes, with the joints of `choice` moving."""
    try:
        text = read_bytes(path).decode("utf-8-sig")
        fields = Fields(tomllib.loads(text), path.name)
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{path.name}: not a TOML file: {str(problem).splitlines()[0]}.") from None
    name = fields.text("name", path.stem)
    reference = fields.text("reference", "")
    gravity = fields.numbers("gravity", 3, [0.0, 0.0, -9.81])
    effects = check_effects(fields.texts("effects", []), path.name)
    bodies: list[Body] = []
    for table in fields.tables("joint"):
        bodies.append(_body(table, bodies[-1].name if bodies else BASE_NAME, effects))
    if not bodies:
        raise InputError(f"{path.name}: no joint; describe each in a table [[joint]].")
    names = [body.name for body in bodies if body.kind != "fixed"]
    couplings = [_coupling(table, names) for table in fields.tables("coupling")]
    driven = [body.name for body in bodies if body.kind != "fixed" and body.mimic is None]
    drive = _drive(fields.table("drive"), len(driven))
    own = effects_of(fields.list("effect"), path.name)
    shapes = _shapes(fields)
    fields.finish()
    held = held_positions(bodies, choice, path.name)
    fixed = with_held(bodies, held, unknown_link())
    joints = assemble(fixed, path.name)
    moving = with_held_drives(names, driven, joints, couplings, drive, path.name)
    moving["effects"] = with_held_effects(own, names, held, path.name)
    return Robot(
        name,
        gravity=gravity,
        reference=reference,
        locked=held,
        shapes=base_shapes(shapes, fixed),
        **moving,
    )


def placement(
    gamma: float, b: float, alpha: float, d: float, theta: float, r: float
) -> tuple[Array, Array]:
    """Rotation (3, 3) and translation (3,) of modified Denavit-Hartenberg parameters; angles in
    rad, lengths in m.
    """
    before = _about_z(gamma) @ _about_x(alpha)
    translation = (
        np.array([0.0, 0.0, b])
        + _about_z(gamma) @ np.array([d, 0.0, 0.0])
        + before @ np.array([0.0, 0.0, r])
    )
    return before @ _about_z(theta), translation


def _body(fields: Fields, before: str, default_effects: frozenset[str]) -> Body:
    name = fields.text("name")
    fields.where = f"{fields.where} ({name!r})"
    kind = fields.text("type", "revolute")
    if kind not in ("revolute", "prismatic", "fixed"):
        raise InputError(
            f"{fields.where}: unknown type {kind!r}; "
            f"{nearest(kind, ('revolute', 'prismatic', 'fixed'))}"
        )
    if name == BASE_NAME:
        raise InputError(
            f"{fields.where}: {BASE_NAME!r} is the name of the base; call the joint otherwise."
        )
    parent = fields.text("parent", before)
    rotation, translation = _place(fields)
    link, nominal = _nominal(fields, LINK if kind == "fixed" else (*LINK, *EFFECT_STEMS))
    shapes = _shapes(fields)
    if kind == "fixed":
        fields.finish()
        above = None if parent == BASE_NAME else parent
        return Body(name, kind, above, rotation, translation, link, shapes=shapes)
    effects = check_effects(fields.texts("effects", sorted(default_effects)), fields.where)
    body = Body(
        name=name,
        kind=kind,
        parent=None if parent == BASE_NAME else parent,
        rotation=rotation,
        translation=translation,
        link=link,
        position_limits=fields.limits("position", angles=kind == "revolute"),
        velocity_limit=fields.number("velocity", np.inf),
        torque_limit=fields.number("torque", np.inf),
        effects=effects,
        nominal=nominal,
        mimic=_mimic(fields.table("mimic")),
        passive=fields.switch("passive", False),
        shapes=shapes,
    )
    fields.finish()
    return body


def _mimic(fields: Fields | None) -> Mimic | None:
    """mimic = { joint = "a", ratio = -1.0, offset = 0.0 }, in rad or m."""
    if fields is None:
        return None
    found = Mimic(fields.text("joint"), fields.number("ratio", 1.0), fields.number("offset", 0.0))
    fields.finish()
    return found


def _shapes(fields: Fields) -> tuple[Shape, ...]:
    """capsules = [{ from = [0, 0, 0], to = [0, 0, 0.2], radius = 0.05 }, ...], m."""
    found = []
    for table in fields.tables("capsules"):
        start, end = table.numbers("from", 3), table.numbers("to", 3)
        radius = table.number("radius")
        table.finish()
        if not radius > 0:
            raise InputError(f"{table.where}: the radius must be positive, found {radius:g}.")
        found.append(capsule(start, end, radius))
    return tuple(found)


def _place(fields: Fields) -> tuple[Array, Array]:
    """Rotation and translation by Denavit-Hartenberg parameters, or as they are written."""
    rows = fields.rows("rotation", 3, 3) if fields.has("rotation") else None
    lengths = fields.numbers("translation", 3) if fields.has("translation") else None
    given = placement(
        fields.angle("gamma", 0.0),
        fields.number("b", 0.0),
        fields.angle("alpha", 0.0),
        fields.number("d", 0.0),
        fields.angle("theta", 0.0),
        fields.number("r", 0.0),
    )
    if rows is None and lengths is None:
        return given
    if (
        key := next(filter(fields.has, ("gamma", "b", "alpha", "d", "theta", "r")), None)
    ) is not None:
        raise InputError(
            f"{fields.where}: give either {key} (Denavit-Hartenberg) or rotation and translation, "
            "not both."
        )
    return np.eye(3) if rows is None else rows, np.zeros(3) if lengths is None else lengths


def _nominal(fields: Fields, known: tuple[str, ...]) -> tuple[Array | None, dict[str, float]]:
    """Link parameters (10,), nan where not given, and the values of the effects by stem."""
    values = {} if (table := fields.table("nominal")) is None else table.values(known)
    given = [stem for stem in LINK if stem in values]
    if (inertial := fields.table("inertial")) is not None:
        if given:
            raise InputError(
                f"{fields.where}: give either 'inertial' or nominal {given[0]}, not both."
            )
        mass = inertial.number("mass")
        if mass < 0:
            raise InputError(f"{inertial.where}: the mass must not be negative, found {mass}.")
        link = about_origin(
            mass, inertial.numbers("centre", 3), symmetric(inertial.numbers("inertia", 6))
        )
        inertial.finish()
        return link, values
    link = np.array([values.pop(stem, np.nan) for stem in LINK])
    return (link if given else None), values


def _coupling(fields: Fields, names: list[str]) -> Coupling:
    name = fields.text("name")
    table = fields.table("weights")
    if table is None:
        raise InputError(
            f"{fields.where}: the key 'weights' is missing: weights = {{ {names[0]} = 1.0, ... }}."
        )
    weights = {}
    for joint, weight in table.values(names).items():
        weights[names.index(joint)] = weight
    effects = check_effects(
        fields.texts("effects", list(COUPLING_STEMS)), fields.where, tuple(COUPLING_STEMS)
    )
    nominal = (
        {}
        if (values := fields.table("nominal")) is None
        else values.values(COUPLING_STEMS.values())
    )
    fields.finish()
    return Coupling(name, weights, effects, nominal)


def _drive(fields: Fields | None, n: int) -> Drive | None:
    if fields is None:
        return None
    gear = np.diag(fields.numbers("gear", n, [1.0] * n))
    for table in fields.tables("gear_coupling"):
        motor, joint = (_index(table, key, n) for key in ("motor", "joint"))
        if gear[motor, joint] != 0:
            raise InputError(
                f"{table.where}: motor {motor + 1} and joint {joint + 1} already have the ratio "
                f"{gear[motor, joint]:g}."
            )
        gear[motor, joint] = table.number("ratio")
        table.finish()
    current_gain = fields.numbers("current_gain", n) if fields.has("current_gain") else None
    torque_constant = (
        fields.numbers("torque_constant", n) if fields.has("torque_constant") else None
    )
    fields.finish()
    return Drive(gear, current_gain, torque_constant)


def _index(fields: Fields, key: str, n: int) -> int:
    value = fields.number(key)
    if value not in range(1, n + 1):
        raise InputError(
            f"{fields.where}: {key} must be a whole number from 1 to {n}, found {value:g}."
        )
    return int(value) - 1


def _about_x(angle: float) -> Array:
    cos, sin = _cos_sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, cos, -sin], [0.0, sin, cos]])


def _about_z(angle: float) -> Array:
    cos, sin = _cos_sin(angle)
    return np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])


def _cos_sin(angle: float) -> tuple[float, float]:
    """Cosine and sine, exact for the multiples of pi/2 that a float can only come near to."""
    quarters = round(angle / (np.pi / 2))
    if abs(angle - quarters * np.pi / 2) <= 4e-16 * max(1, abs(quarters)):
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[quarters % 4]
    return float(np.cos(angle)), float(np.sin(angle))
