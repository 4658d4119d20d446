"""Regressor and dynamics of the shipped arms, beside Pinocchio called in a Python loop as a user would."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import numpy as np

import didim
from benchmarks.timing import Row, best

SAMPLES = 10_000


def rows() -> list[Row]:
    """All rows of this file; none where Pinocchio is not installed, which is said."""
    if importlib.util.find_spec("pinocchio") is None:
        print("Pinocchio (pip install pin) is not installed: no rows of dynamics")
        return []
    return [row for name in ("tx40", "panda") for row in _robot(name)]


def pinocchio_model(model: didim.DynamicModel):
    """The same robot as a Pinocchio model, joint frames included, so that the parameters need no change of axes."""
    import pinocchio as pin

    peer = pin.Model()
    peer.gravity.linear = np.array(model.robot.gravity)
    for j, joint in enumerate(model.robot.joints):
        kind = pin.JointModelRZ() if joint.kind == "revolute" else pin.JointModelPZ()
        added = peer.addJoint(joint.parent + 1, kind, pin.SE3(joint.rotation, joint.translation), joint.name)
        XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M = model.nominal[model.layout.link[j]]
        body = pin.Inertia.FromDynamicParameters(np.array([M, MX, MY, MZ, XX, XY, YY, XZ, YZ, ZZ]))
        peer.appendBodyToJoint(added, body, pin.SE3.Identity())
    return peer


def _robot(name: str) -> list[Row]:
    import pinocchio as pin

    model = didim.DynamicModel(didim.load_robot(name), [])
    peer = pinocchio_model(model)
    data, n = peer.createData(), model.robot.n
    rng = np.random.default_rng(0)
    q, dq, ddq = rng.uniform(-2, 2, (3, SAMPLES, n))
    phi = model.nominal
    tau = model.inverse_dynamics(q, dq, ddq, phi)

    def loop(function: Callable[..., np.ndarray], *signals: np.ndarray) -> np.ndarray:
        return np.array([function(peer, data, *sample) for sample in zip(*signals, strict=True)])

    order = [4, 5, 7, 6, 8, 9, 1, 2, 3, 0]
    columns = np.concatenate([10 * j + np.array(order) for j in range(n)])
    pairs = {
        "regressor": (
            lambda: model.regressor(q, dq, ddq),
            lambda: loop(pin.computeJointTorqueRegressor, q, dq, ddq),
            lambda W: W[:, :, columns],
        ),
        "inverse dynamics": (
            lambda: model.inverse_dynamics(q, dq, ddq, phi),
            lambda: loop(pin.rnea, q, dq, ddq),
            lambda x: x,
        ),
        "direct dynamics": (
            lambda: model.direct_dynamics(q, dq, tau, phi),
            lambda: loop(pin.aba, q, dq, tau),
            lambda x: x,
        ),
    }
    found = []
    for task, (own, other, arrange) in pairs.items():
        difference = np.abs(own() - arrange(other())).max() / np.abs(own()).max()
        times = best({"didim": own, "peer": other})
        label = f"{task}, {name}, {SAMPLES} samples"
        found.append(Row(label, times["didim"], "Pinocchio in a Python loop", times["peer"], float(difference)))
    return found
