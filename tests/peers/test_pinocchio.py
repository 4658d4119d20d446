"""Random trees of 1 to 8 joints against Pinocchio, on standard parameters and on the lifted base
vector, to 1e-10.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import didim
from support.pinocchio_peer import Peer
from support.random_urdf import random_urdf

SAMPLES = 5
CASES = [(seed, 1 + seed % 8) for seed in range(40)]


def relative(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max() / np.abs(expected).max())


@pytest.fixture(params=CASES, ids=lambda case: f"seed{case[0]}-{case[1]}joints")
def case(request: pytest.FixtureRequest, tmp_path: Path):
    seed, n = request.param
    urdf = random_urdf(seed, n)
    path = tmp_path / "tree.urdf"
    path.write_text(urdf)
    robot = didim.load_robot(path)
    rng = np.random.default_rng(1000 + seed)
    q, dq, ddq = rng.uniform(-2, 2, (3, SAMPLES, n))
    return robot, Peer(urdf, robot), q, dq, ddq


def test_torque(case):
    """Tests (1)."""
    robot, peer, q, dq, ddq = case
    model = didim.DynamicModel(robot)
    friction = model.nominal[
        [
            model.parameter_names.index(f"{stem}{j + 1}")
            for stem in ("Fv", "Fc")
            for j in range(robot.n)
        ]
    ]
    Fv, Fc = friction.reshape(2, robot.n)
    expected = (
        np.array([peer.torque(*row) for row in zip(q, dq, ddq, strict=True)])
        + Fv * dq
        + Fc * np.sign(dq)
    )
    assert relative(model.inverse_dynamics(q, dq, ddq, model.nominal), expected) < 1e-10
    base = model.base
    assert (
        relative(base.inverse_dynamics(q, dq, ddq, base.matrix @ model.nominal), expected) < 1e-10
    )


def test_inertia_matrix(case):
    """Tests (1)."""
    robot, peer, q, _, _ = case
    model = didim.DynamicModel(robot, [])
    expected = np.array([peer.inertia(row) for row in q])
    assert relative(model.inertia_matrix(q, model.nominal), expected) < 1e-10
    assert relative(model.base.inertia_matrix(q, model.base.nominal), expected) < 1e-10


def test_derivatives(case):
    """Tests (39)."""
    robot, peer, q, dq, ddq = case
    model = didim.DynamicModel(robot, [])
    expected = [
        np.array(part)
        for part in zip(
            *(peer.derivatives(*row) for row in zip(q, dq, ddq, strict=True)), strict=True
        )
    ]
    for own in (model, model.base):
        for found, right in zip(own.derivatives(q, dq, ddq, own.nominal), expected, strict=True):
            assert np.abs(found - right).max() < 1e-10 * max(np.abs(right).max(), 1.0)


def test_acceleration(case):
    """Tests (21)."""
    robot, peer, q, dq, tau = case
    model = didim.DynamicModel(robot, [])
    expected = np.array([peer.acceleration(*row) for row in zip(q, dq, tau, strict=True)])
    assert relative(model.direct_dynamics(q, dq, tau, model.nominal), expected) < 1e-10
    assert relative(model.base.direct_dynamics(q, dq, tau, model.base.nominal), expected) < 1e-10


def test_regressor(case):
    """Tests (2)."""
    robot, peer, q, dq, ddq = case
    model = didim.DynamicModel(robot, [])
    expected = np.array([peer.regressor(*row) for row in zip(q, dq, ddq, strict=True)])
    assert relative(model.regressor(q, dq, ddq), expected) < 1e-10
    base = model.base
    assert relative(base.regressor(q, dq, ddq) @ base.matrix, expected) < 1e-10
