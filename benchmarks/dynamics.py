"""Regressor and dynamics of the shipped arms, beside Pinocchio, figaroh and MuJoCo called in a
Python loop as a user would.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

import didim
from benchmarks.timing import Row, best, installed, missing
from support.pinocchio_model import pinocchio_model

SAMPLES = 10_000
ORDER = [4, 5, 7, 6, 8, 9, 1, 2, 3, 0]
"""Of Pinocchio's ten parameters of a link, in that of didim."""


def rows() -> list[Row]:
    """All rows of this file."""
    return [row for name in ("tx40", "panda") for row in _robot(name)]


@dataclass(frozen=True)
class Pair:
    """One task, done by didim and by a peer."""

    task: str
    peer: str
    target: str
    own: Callable[[], Any]
    other: Callable[[], Any] | None
    """None: the peer is not installed."""
    arrange: Callable[[Any], Any] = lambda found: found
    """The peer's result in the order of didim's; not timed."""

    @property
    def difference(self) -> float:
        """Largest difference of both results, relative."""
        one, two = self.own(), self.arrange(self.other())
        return float(np.abs(one - two).max() / np.abs(one).max())


def pairs(name: str, samples: int = SAMPLES) -> list[Pair]:
    """What is measured on one robot."""
    model = didim.DynamicModel(didim.load_robot(name), [])
    n, rng = model.robot.n, np.random.default_rng(0)
    q, dq, ddq = rng.uniform(-2, 2, (3, samples, n))
    phi = model.nominal
    tau = model.inverse_dynamics(q, dq, ddq, phi)
    own = {
        "regressor": lambda: model.regressor(q, dq, ddq),
        "inverse dynamics": lambda: model.inverse_dynamics(q, dq, ddq, phi),
        "direct dynamics": lambda: model.direct_dynamics(q, dq, tau, phi),
    }
    columns = np.concatenate([10 * j + np.array(ORDER) for j in range(n)])
    loops = _pinocchio(model, q, dq, ddq, tau) if installed("pin") else {}
    figaroh = _figaroh(model, q, dq, ddq) if installed("figaroh") and installed("pin") else None
    mujoco = _mujoco(model, q, dq, tau) if installed("mujoco") else None
    python = "in a Python loop"
    return [
        Pair(
            "regressor",
            f"Pinocchio {python}",
            ">= 6",
            own["regressor"],
            loops.get("regressor"),
            lambda W: W[:, :, columns],
        ),
        Pair(
            "regressor",
            "figaroh's build_basic_regressor",
            ">= 12",
            own["regressor"],
            figaroh,
            lambda W: W.reshape(n, samples, -1).transpose(1, 0, 2)[:, :, columns],
        ),
        Pair(
            "inverse dynamics",
            f"Pinocchio's rnea {python}",
            "",
            own["inverse dynamics"],
            loops.get("inverse dynamics"),
        ),
        Pair(
            "direct dynamics",
            f"Pinocchio's aba {python}",
            ">= 2.5",
            own["direct dynamics"],
            loops.get("direct dynamics"),
        ),
        Pair(
            "direct dynamics", f"MuJoCo's mj_forward {python}", "", own["direct dynamics"], mujoco
        ),
    ]


def _pinocchio(model, q, dq, ddq, tau) -> dict[str, Callable[[], Any]]:
    import pinocchio as pin

    peer = pinocchio_model(model)
    data = peer.createData()

    def loop(function: Callable[..., np.ndarray], *signals: np.ndarray) -> np.ndarray:
        return np.array([function(peer, data, *sample) for sample in zip(*signals, strict=True)])

    return {
        "regressor": lambda: loop(pin.computeJointTorqueRegressor, q, dq, ddq),
        "inverse dynamics": lambda: loop(pin.rnea, q, dq, ddq),
        "direct dynamics": lambda: loop(pin.aba, q, dq, tau),
    }


def _figaroh(model, q, dq, ddq) -> Callable[[], Any]:
    """W of figaroh (n N, 10 n), rows sorted by joint."""
    from figaroh.tools.regressor import RegressorBuilder

    peer = pinocchio_model(model)
    builder = RegressorBuilder(SimpleNamespace(model=peer, data=peer.createData()))
    return lambda: builder.build_basic_regressor(q, dq, ddq, {"act_idxv": range(model.robot.n)})


def mujoco_model(model: didim.DynamicModel, armature: np.ndarray | None = None) -> Any:
    """The same robot for MuJoCo, without contacts and constraints."""
    import mujoco

    spec = mujoco.MjSpec()
    spec.option.gravity = np.array(model.robot.gravity)
    spec.compiler.balanceinertia = spec.compiler.boundmass = spec.compiler.boundinertia = 0
    bodies = [spec.worldbody]
    for j, joint in enumerate(model.robot.joints):
        XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M = model.nominal[model.layout.link[j]]
        centre = np.array([MX, MY, MZ]) / M
        shift = M * (centre @ centre * np.eye(3) - np.outer(centre, centre))
        inertia = np.array([[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]]) - shift
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, np.ascontiguousarray(joint.rotation).ravel())
        body = bodies[joint.parent + 1].add_body(
            name=f"link{j}", pos=joint.translation, quat=quat, mass=M, ipos=centre
        )
        body.fullinertia = [
            inertia[0, 0],
            inertia[1, 1],
            inertia[2, 2],
            inertia[0, 1],
            inertia[0, 2],
            inertia[1, 2],
        ]
        body.explicitinertial = True
        kind = (
            mujoco.mjtJoint.mjJNT_HINGE if joint.kind == "revolute" else mujoco.mjtJoint.mjJNT_SLIDE
        )
        added = body.add_joint(name=f"joint{j}", type=kind, axis=[0.0, 0.0, 1.0])
        if armature is not None:
            added.armature = armature[j]
        bodies.append(body)
    return spec.compile()


def _mujoco(model, q, dq, tau) -> Callable[[], Any]:
    import mujoco

    peer = mujoco_model(model)
    data = mujoco.MjData(peer)

    def loop() -> np.ndarray:
        found = np.empty_like(q)
        for k in range(len(q)):
            data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q[k], dq[k], tau[k]
            mujoco.mj_forward(peer, data)
            found[k] = data.qacc
        return found

    return loop


def _robot(name: str) -> list[Row]:
    found = []
    for pair in pairs(name):
        label = f"{pair.task}, {name}, {SAMPLES} samples"
        if pair.other is None:
            found.append(missing(label, pair.peer, pair.target))
            continue
        times = best({"didim": pair.own, "peer": pair.other})
        found.append(
            Row(label, times["didim"], pair.peer, times["peer"], pair.difference, pair.target)
        )
    return found
