"""Energy of a robot, the potential part placed by hand."""

from __future__ import annotations

import numpy as np

import didim


def energy(model: didim.DynamicModel, q: np.ndarray, dq: np.ndarray, phi: np.ndarray) -> float:
    """Kinetic energy from M(q), and potential energy from the position of every centre of mass,
    placed here by hand.
    """
    kinetic = 0.5 * dq @ model.inertia_matrix(q[None], phi)[0] @ dq
    potential = 0.0
    poses: list[tuple[np.ndarray, np.ndarray]] = []
    for j, joint in enumerate(model.robot.joints):
        R, p = poses[joint.parent] if joint.parent >= 0 else (np.eye(3), np.zeros(3))
        p = p + R @ joint.translation
        R = R @ joint.rotation
        if joint.kind == "prismatic":
            p = p + R[:, 2] * q[j]
        else:
            c, s = np.cos(q[j]), np.sin(q[j])
            R = R @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        poses.append((R, p))
        link = phi[model.layout.link[j]]
        potential -= model.robot.gravity @ (R @ link[6:9] + link[9] * p)
    return kinetic + potential
