"""A didim model as a Pinocchio model: the independent side of tests and the peer of benchmarks."""

from __future__ import annotations

from typing import Any

import numpy as np

import didim


def pinocchio_model(model: didim.DynamicModel) -> Any:
    """The same robot as a Pinocchio model, joint frames included, so that the parameters need no
    change of axes.
    """
    import pinocchio as pin

    peer = pin.Model()
    peer.gravity.linear = np.array(model.robot.gravity)
    for j, joint in enumerate(model.robot.joints):
        kind = pin.JointModelRZ() if joint.kind == "revolute" else pin.JointModelPZ()
        added = peer.addJoint(
            joint.parent + 1, kind, pin.SE3(joint.rotation, joint.translation), joint.name
        )
        XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M = model.nominal[model.layout.link[j]]
        body = pin.Inertia.FromDynamicParameters(np.array([M, MX, MY, MZ, XX, XY, YY, XZ, YZ, ZZ]))
        peer.appendBodyToJoint(added, body, pin.SE3.Identity())
    return peer
