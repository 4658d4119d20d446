"""What an MJCF file can say and a `Robot` cannot: refused by name, in one line each."""

from __future__ import annotations

import numpy as np

from didim.errors import InputError
from didim.robot.mjcf.compile import Model, mujoco_for


def name_of(model: Model, kind: str, index: int) -> str:
    """The name of the element `index` of a kind: "body", "joint", "actuator", "tendon", ..."""
    mujoco = mujoco_for("MJCF files need")
    of_type = getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
    return mujoco.mj_id2name(model, of_type, index) or f"{kind}{index}"


def check_expressible(model: Model, where: str) -> None:
    """Refuse forces that a robot of didim does not have: fluids, flexes, tendons with forces of
    their own, gravity compensation, polynomial springs and dampers.
    """
    mujoco = mujoco_for("MJCF files need")
    if model.nplugin:
        raise InputError(f"{where}: plugins are refused; remove them.")
    if model.nflex:
        raise InputError(
            f"{where}: the flex {name_of(model, 'flex', 0)!r} cannot be said with rigid links; "
            "remove it."
        )
    if model.opt.density or model.opt.viscosity:
        raise InputError(
            f"{where}: <option density viscosity> is the drag of a fluid, which cannot be said; "
            "set both to 0."
        )
    for flag in ("SPRING", "DAMPER", "FRICTIONLOSS"):
        if model.opt.disableflags & getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}"):
            raise InputError(
                f"{where}: <flag {flag.lower()}='disable'> switches off what is to be identified; "
                "remove it."
            )
    for k in range(model.ntendon):
        own = ("stiffness", "stiffnesspoly", "damping", "dampingpoly", "frictionloss", "armature")
        forces = [name for name in own if np.any(getattr(model, f"tendon_{name}")[k])]
        forces += ["range"] if model.tendon_limited[k] else []
        if forces:
            raise InputError(
                f"{where}, tendon {name_of(model, 'tendon', k)!r}: its {forces[0]} couples joints "
                "in a way that cannot be said; remove it."
            )
    for body in map(int, np.flatnonzero(model.body_gravcomp)):
        raise InputError(
            f"{where}, body {name_of(model, 'body', body)!r}: gravcomp cannot be said; remove it, "
            "and describe what the controller compensates: model_term = 'gravity'."
        )
    for joint in range(model.njnt):
        _check_joint(model, joint, where)


def _check_joint(model: Model, joint: int, where: str) -> None:
    place = f"{where}, joint {name_of(model, 'joint', joint)!r}"
    dof = model.jnt_dofadr[joint]
    if np.any(model.jnt_stiffnesspoly[joint]) or np.any(model.dof_dampingpoly[dof]):
        raise InputError(
            f"{place}: only linear stiffness and damping can be read; leave out their second and "
            "third numbers, and identify the effect viscous_power instead."
        )
    if model.jnt_springyield[joint]:
        raise InputError(f"{place}: a spring that yields cannot be said; remove springyield.")
