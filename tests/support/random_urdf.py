"""Random trees written as URDF: every joint kind, any axis, fixed links in between, inertias with
axes of their own.
"""

from __future__ import annotations

import numpy as np

SPECIAL_AXES = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (0, -1, 0), (0, 0, -1)]


def random_urdf(seed: int, n: int) -> str:
    """A tree of n moving joints, with friction, and with fixed links hung between and behind
    them.
    """
    rng = np.random.default_rng(seed)
    parts = [_link("base", rng)]
    carriers = ["base"]
    for j in range(1, n + 1):
        parent = carriers[rng.integers(len(carriers))] if rng.random() < 0.4 else carriers[-1]
        if rng.random() < 0.3:
            parts += [
                _joint(f"flange{j}", "fixed", parent, f"plate{j}", rng),
                _link(f"plate{j}", rng),
            ]
            parent = f"plate{j}"
        kind = str(rng.choice(["revolute", "continuous", "prismatic"], p=[0.45, 0.2, 0.35]))
        parts += [_joint(f"joint{j}", kind, parent, f"link{j}", rng), _link(f"link{j}", rng)]
        carriers.append(f"link{j}")
    parts += [_joint("tool_mount", "fixed", carriers[-1], "tool", rng), '<link name="tool"/>']
    return (
        f'<?xml version="1.0"?>\n<robot name="random{seed}">\n' + "\n".join(parts) + "\n</robot>\n"
    )


def _joint(name: str, kind: str, parent: str, child: str, rng: np.random.Generator) -> str:
    axis = SPECIAL_AXES[rng.integers(6)] if rng.random() < 0.5 else rng.standard_normal(3)
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{_row(rng.uniform(-0.5, 0.5, 3))}" '
        f'rpy="{_row(rng.uniform(-np.pi, np.pi, 3))}"/>'
        f'<axis xyz="{_row(axis)}"/><limit lower="-3" upper="3" effort="100" velocity="10"/>'
        f'<dynamics damping="{float(rng.uniform(0.1, 2))!r}" '
        f'friction="{float(rng.uniform(0.1, 2))!r}"/></joint>'
    )


def _link(name: str, rng: np.random.Generator) -> str:
    """A body of six masses at random points, so that its inertia can exist."""
    masses, points = rng.uniform(0.1, 1.0, 6), rng.uniform(-0.3, 0.3, (6, 3))
    points -= masses @ points / masses.sum()
    J = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points, strict=True))
    keys = zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), J[np.triu_indices(3)], strict=True)
    inertia = " ".join(f'{key}="{float(value)!r}"' for key, value in keys)
    return (
        f'<link name="{name}"><visual><geometry><mesh '
        f'filename="package://nowhere/{name}.stl"/></geometry></visual>'
        f'<inertial><mass value="{float(masses.sum())!r}"/>'
        f'<origin xyz="{_row(rng.uniform(-0.2, 0.2, 3))}" rpy="{_row(rng.uniform(-3, 3, 3))}"/>'
        f"<inertia {inertia}/></inertial></link>"
    )


def _row(values: object) -> str:
    return " ".join(repr(float(value)) for value in np.asarray(values))
