"""Reader of MJCF, MuJoCo's format: MuJoCo compiles the file, and its model becomes a `Robot`.

A link has the axes of its MuJoCo body and the origin of its joint; frame j has z_j turned onto the
joint's axis by the smallest rotation. The coordinate q_j is MuJoCo's qpos, also where a joint has a
`ref`. `armature`, `damping`, `frictionloss` and `stiffness` become Ia, Fv, Fc and ks; an equality
of two joints is a joint that follows the other.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError
from didim.robot.assemble import Body, assemble, base_shapes
from didim.robot.hold import (
    ALL_JOINTS,
    WITHOUT_COORDINATE,
    JointChoice,
    held_placement,
    held_positions,
    with_held,
    with_held_drives,
)
from didim.robot.inertia import about_origin, transformed
from didim.robot.mimic import Mimic
from didim.robot.mjcf.actuators import added_by_actuators, torque_limits
from didim.robot.mjcf.compile import Model, compiled, mujoco_for, rotation_of
from didim.robot.mjcf.refusals import check_expressible, name_of
from didim.robot.mjcf.shapes import shapes_of_body
from didim.robot.mjcf.tree import read_tree
from didim.robot.robot import Robot
from didim.robot.shape import smallest_rotation

Array = NDArray[np.float64]

_KINDS = ("floating", "ball", "prismatic", "revolute")
"""Of mjtJoint: free, ball, slide, hinge."""

UNNAMED = "MuJoCo Model"
"""What MuJoCo calls a model without a name."""

EFFECTS = frozenset({"rotor", "viscous", "coulomb"})
"""Of every joint of MuJoCo."""


def read_mjcf(path: Path, choice: JointChoice = ALL_JOINTS) -> Robot:
    """The robot that an MJCF file describes, with the joints of `choice` moving."""
    return robot_of(compiled(read_tree(path)), path, choice)


def robot_of(model: Model, path: Path, choice: JointChoice = ALL_JOINTS) -> Robot:
    """The robot of a model that MuJoCo compiled from the file `path`."""
    where = path.name
    mujoco = mujoco_for(f"{where}: MJCF files need")
    check_expressible(model, where)
    bodies = bodies_of(model, where)
    names = [body.name for body in bodies if body.kind != "fixed"]
    if not names:
        raise InputError(f"{where}: no body has a joint; a robot needs one that moves.")
    driven = [body.name for body in bodies if body.kind != "fixed" and body.mimic is None]
    held = held_positions(bodies, choice, where)
    fixed = with_held(bodies, held)
    moving = with_held_drives(names, driven, assemble(fixed, where), (), None, where)
    weightless = model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
    given = model.names.partition(b"\0")[0].decode()
    return Robot(
        path.stem if given in ("", UNNAMED) else given,
        gravity=np.zeros(3) if weightless else model.opt.gravity.copy(),
        locked=held,
        shapes=base_shapes(shapes_of_body(model, 0, np.zeros(3)), fixed),
        **moving,
    )


def bodies_of(model: Model, where: str) -> list[Body]:
    """Each joint with the link that it moves, and each body without a joint, parents first."""
    found: list[Body] = []
    carrier: dict[int, str | None] = {0: None}
    origin: dict[int, Array] = {0: np.zeros(3)}
    names = {name_of(model, "joint", k) for k in range(model.njnt)}
    followed = _mimics(model, where)
    limits, added = torque_limits(model), added_by_actuators(model)
    for b in range(1, model.nbody):
        parent = int(model.body_parentid[b])
        rotation, centre = rotation_of(model.body_quat[b]), model.body_pos[b] - origin[parent]
        before, last = carrier[parent], np.zeros(3)
        first = int(model.body_jntadr[b])
        joints = range(first, first + int(model.body_jntnum[b])) if first >= 0 else range(0)
        for j in joints:
            name = name_of(model, "joint", j)
            anchor = model.jnt_pos[j] if _KINDS[model.jnt_type[j]] != "floating" else np.zeros(3)
            body = Body(
                name=name,
                kind=_KINDS[model.jnt_type[j]],
                parent=before,
                rotation=rotation,
                translation=centre + rotation @ (anchor - last),
                link=link_of_body(model, b, anchor) if j == joints[-1] else np.zeros(10),
                mimic=followed.get(j),
                torque_limit=limits.get(j, np.inf),
                shapes=shapes_of_body(model, b, anchor) if j == joints[-1] else (),
                **_joint(model, j, added.get(j, (0.0, 0.0))),
            )
            if body.kind not in WITHOUT_COORDINATE:
                rotation, centre = held_placement(body, -float(model.qpos0[model.jnt_qposadr[j]]))
                body = replace(body, rotation=rotation, translation=centre)
            found.append(body)
            rotation, centre, before, last = np.eye(3), np.zeros(3), name, anchor
        if not joints:
            label = name_of(model, "body", b)
            while label in names:
                label = f"body {label}"
            names.add(label)
            link, shapes = link_of_body(model, b, last), shapes_of_body(model, b, last)
            found.append(Body(label, "fixed", before, rotation, centre, link, shapes=shapes))
            before = label
        carrier[b], origin[b] = before, last
    return found


def _joint(model: Model, j: int, added: tuple[float, float]) -> dict[str, Any]:
    """Axis, limits, effects and values of a joint; `added` by its actuators: armature, damping."""
    kind, dof = _KINDS[model.jnt_type[j]], model.jnt_dofadr[j]
    if kind in WITHOUT_COORDINATE:
        return {}
    effects, values = (
        EFFECTS,
        {
            "Ia": float(model.dof_armature[dof]) + added[0],
            "Fv": float(model.dof_damping[dof]) + added[1],
            "Fc": float(model.dof_frictionloss[dof]),
        },
    )
    if model.jnt_stiffness[j]:
        effects |= {"spring"}
        values["ks"] = float(model.jnt_stiffness[j])
        values["qs"] = float(model.qpos_spring[model.jnt_qposadr[j]])
    lower, upper = model.jnt_range[j] if model.jnt_limited[j] else (-np.inf, np.inf)
    return {
        "axes": smallest_rotation(model.jnt_axis[j]),
        "position_limits": (float(lower), float(upper)),
        "effects": effects,
        "nominal": values,
    }


def link_of_body(model: Model, body: int, origin: Array) -> Array | None:
    """(10,) the inertia of a body about `origin`, in its axes; None where it has no mass."""
    if not model.body_mass[body]:
        return None
    axes = rotation_of(model.body_iquat[body])
    inertia = axes @ np.diag(model.body_inertia[body]) @ axes.T
    own = about_origin(float(model.body_mass[body]), model.body_ipos[body], inertia)
    return transformed(own, np.eye(3), -origin)


def _mimics(model: Model, where: str) -> dict[int, Mimic]:
    """Joints that an active equality makes followers: q1 - q1_0 = a + b (q2 - q2_0)."""
    mujoco = mujoco_for(f"{where}: MJCF files need")
    found: dict[int, Mimic] = {}
    for k in map(int, np.flatnonzero(model.eq_active0)):
        place = f"{where}, equality {name_of(model, 'equality', k)!r}"
        kind = mujoco.mjtEq(int(model.eq_type[k])).name.removeprefix("mjEQ_").lower()
        follower, leader = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
        if kind != "joint" or leader < 0 or np.any(model.eq_data[k][2:5]):
            raise InputError(
                f"{place}: of kind {kind!r}; only a joint that follows another linearly can be "
                "said (<joint joint1 joint2 polycoef='a b 0 0 0'>); remove it, set "
                "active='false', or hold its joints (lock)."
            )
        if follower in found:
            raise InputError(
                f"{place}: joint {name_of(model, 'joint', follower)!r} follows two others; remove "
                "one equality."
            )
        offset, ratio = (float(value) for value in model.eq_data[k][:2])
        start = model.qpos0[model.jnt_qposadr]
        offset += float(start[follower] - ratio * start[leader])
        found[follower] = Mimic(name_of(model, "joint", leader), ratio, offset)
    return found
