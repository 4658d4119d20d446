"""MuJoCo steps an MJCF in the loop of a robot: the same reference, gains and clock.

A continuous PD is a position servo of MuJoCo, kp (u - q) - kv dq, with the control
u = q_r + ff (kv / kp) dq_r at the middle of each step; a sampled one holds its torque. MuJoCo
integrates by RK4; its actuators are replaced, and contacts are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.control.laws import PD
from didim.errors import InputError
from didim.robot.mjcf.compile import compiled_text, mujoco_for
from didim.robot.robot import Robot
from didim.robot.simulator_values import ServoGains
from didim.signals.trajectory import Trajectory

Array = NDArray[np.float64]
Addresses = tuple[NDArray[np.int32], NDArray[np.int32]]

LONGEST_STEP = 1e-3
"""s."""

STEP_OF_POLE = 0.5
"""A step times the largest pole, at most: RK4 is stable up to 2.8."""

MOST_SUBSTEPS = 100
"""Of a millisecond."""


def unsupported(loop: Controller | None) -> str:
    """Why MuJoCo cannot be stepped in a loop, in a line; empty where it can."""
    if loop is None:
        return "no loop is known."
    if type(loop) is not PD or loop.model_term != "none":
        return f"the loop is a {type(loop).__name__} with more than a PD; only that is compared."
    if loop.velocity != "true" or np.any(np.asarray(loop.encoder) != 0):
        return "the loop differentiates positions or has an encoder, which is not compared."
    return ""


def mujoco_positions(
    text: str,
    path: Path,
    robot: Robot,
    loop: PD,
    gains: Mapping[str, ServoGains],
    reference: Trajectory,
    t: Array,
    start: tuple[Array, Array],
    fastest: float,
) -> Array:
    """(N, n) positions at the times t (N,) of the MJCF `text`, as if it lay at `path`, from the
    state `start` at t[0]; `fastest`, rad/s, is the largest pole of the loop.
    """
    mujoco = mujoco_for("Stepping MJCF needs")
    own = [gains[name] for name in robot.joint_names]
    model, addresses = _model(mujoco, text, path, robot, own if loop.rate is None else None)
    period = LONGEST_STEP if loop.rate is None else 1.0 / loop.rate
    if fastest * LONGEST_STEP > MOST_SUBSTEPS:
        raise InputError(f"MuJoCo is not stepped: the loop has a pole of {fastest:.3g} rad/s.")
    longest = min(LONGEST_STEP, STEP_OF_POLE / max(fastest, 1e-9))
    substeps = max(1, int(np.ceil(period / longest - 1e-9)))
    model.opt.timestep = step = period / substeps
    data = mujoco.MjData(model)
    at, dof = addresses
    data.qpos[at], data.qvel[dof] = start
    for joint in robot.joints:
        if joint.mimic is not None:
            leader = robot.joint_names.index(joint.mimic.joint)
            own_q = joint.mimic.ratio * start[0][leader] + joint.mimic.offset
            data.joint(joint.name).qpos[0] = own_q
            data.joint(joint.name).qvel[0] = joint.mimic.ratio * start[1][leader]
    count = int(np.ceil((t[-1] - t[0]) / step - 1e-9))
    grid = t[0] + step * np.arange(count + 1)
    q, dq = np.empty((2, count + 1, robot.n))
    kp, kv, ff, limit = (
        np.array([getattr(each, name) for each in own]) for name in ("kp", "kv", "ff", "limit")
    )
    middle = grid + (0.5 * step if loop.rate is None else 0.0)
    q_ref, dq_ref = reference.sample(np.minimum(middle, t[-1]))[:2]
    bad = [
        int(getattr(mujoco.mjtWarning, f"mjWARN_{name}"))
        for name in ("BADQPOS", "BADQVEL", "BADQACC")
    ]
    waiting: list[Array] = []
    said = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda _: None)  # or MuJoCo writes a file into the folder
    try:
        for k in range(count + 1):
            q[k], dq[k] = data.qpos[at], data.qvel[dof]
            if loop.rate is None:
                data.ctrl[:] = q_ref[k] + ff * kv / kp * dq_ref[k]
            elif k % substeps == 0:
                torque = kp * (q_ref[k] - q[k]) + kv * (ff * dq_ref[k] - dq[k])
                waiting.append(np.clip(torque, -limit, limit))
                data.qfrc_applied[dof] = waiting[max(len(waiting) - 1 - loop.delay, 0)]
            mujoco.mj_step(model, data)
            if any(data.warning[kind].number for kind in bad):
                raise InputError(f"MuJoCo diverged {grid[k] - t[0]:.3g} s after the start.")
    finally:
        mujoco.set_mju_user_warning(said)
    return _between(grid, q, dq, t)


def _model(
    mujoco: Any, text: str, path: Path, robot: Robot, servos: Sequence[ServoGains] | None
) -> tuple[Any, Addresses]:
    """The model with a servo for each coordinate, or without actuators, and the addresses of the
    coordinates in qpos and qvel.
    """

    def edit(spec: Any) -> None:
        for actuator in list(spec.actuators):
            spec.delete(actuator)
        for joint in [each for each in spec.joints if each.name in robot.locked]:
            turns = joint.type == mujoco.mjtJoint.mjJNT_HINGE and spec.compiler.degree
            place = np.deg2rad(joint.ref) if turns else joint.ref
            if not np.isclose(robot.locked[joint.name], place):
                raise InputError(
                    f"{path.name}: the joint {joint.name!r} is held away from where the file has "
                    "it, which MuJoCo is not told; compare without a file."
                )
            spec.delete(joint)
        for name, gains in zip(robot.joint_names, servos or (), strict=False):
            actuator = spec.add_actuator(name=f"didim {name}", target=name)
            actuator.trntype = mujoco.mjtTrn.mjTRN_JOINT
            actuator.set_to_position(kp=gains.kp, kv=gains.kv)
            actuator.forcelimited = bool(np.isfinite(gains.limit))
            if actuator.forcelimited:
                actuator.forcerange = [-gains.limit, gains.limit]
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
        spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        for key in list(spec.keys):
            spec.delete(key)

    model = compiled_text(text, path, edit)
    joints = [model.joint(name).id for name in robot.joint_names]
    return model, (model.jnt_qposadr[joints], model.jnt_dofadr[joints])


def _between(grid: Array, q: Array, dq: Array, t: Array) -> Array:
    """(N, n) positions at t from those, and velocities, on a regular grid: cubic."""
    step = grid[1] - grid[0]
    k = np.clip(((t - grid[0]) / step).astype(int), 0, grid.size - 2)
    s = ((t - grid[k]) / step)[:, None]
    rise = q[k + 1] - q[k]
    a, b = step * dq[k] - rise, rise - step * dq[k + 1]
    return (1 - s) * q[k] + s * q[k + 1] + s * (1 - s) * ((1 - s) * a + s * b)
