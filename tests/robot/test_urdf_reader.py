"""URDF: frames, limits, friction, and what is ignored. The numbers are checked against Pinocchio in
tests/peers.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import didim
from didim.robot.shape import smallest_rotation
from support.files import ARM_URDF
from support.random_urdf import random_urdf


@pytest.fixture
def arm(tmp_path) -> didim.Robot:
    path = tmp_path / "arm.urdf"
    path.write_text(ARM_URDF)
    return didim.load_robot(path)


def test_joints_limits_and_friction(arm):
    assert arm.joint_names == ("shoulder", "elbow")
    assert [joint.kind for joint in arm.joints] == ["revolute", "revolute"]
    assert np.array_equal(arm.position_limits, [[-1.5, 1.5], [-np.inf, np.inf]])
    assert arm.velocity_limits.tolist() == [3.0, np.inf]
    assert arm.torque_limits.tolist() == [40.0, np.inf]
    model = didim.DynamicModel(arm)
    nominal = dict(zip(model.parameter_names, model.nominal, strict=True))
    assert (nominal["Fv1"], nominal["Fc1"], nominal["Fv2"], nominal["Fc2"]) == (0.7, 0.2, 0.0, 0.0)
    assert "Ia1" not in nominal, "no rotor unless it is asked for"
    assert np.isnan(didim.DynamicModel(arm, ["rotor"]).nominal).sum() == 2


def test_z_of_each_frame_is_the_axis(arm):
    assert np.allclose(arm.link_frames[:, :3, 2], [[0, 1, 0], [0, 0, -1]])
    assert np.allclose(arm.joints[0].translation, [0, 0, 0.3])


def test_a_hanging_weight_by_hand(arm):
    """Upper arm along x, turned down by q about y: torque -g (M l) cos q."""
    model = didim.DynamicModel(arm, [])
    zero = np.zeros((1, 2))
    moment = 2.0 * 0.2 + 1.0 * (0.4 + 0.1)
    assert np.allclose(
        model.inverse_dynamics(zero, zero, zero, model.nominal), [[-9.81 * moment, 0.0]]
    )


@given(st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda a: np.linalg.norm(a) > 1e-3))
def test_smallest_rotation(axis):
    axis = np.array(axis) / np.linalg.norm(axis)
    R = smallest_rotation(axis)
    assert np.allclose(R @ [0, 0, 1], axis, atol=1e-12)
    assert np.allclose(R @ R.T, np.eye(3), atol=1e-9)
    assert np.linalg.det(R) == pytest.approx(1.0)
    assert np.trace(R) == pytest.approx(1 + 2 * axis[2], abs=1e-9), (
        "the angle is that between z and the axis"
    )


@pytest.mark.parametrize("axis", [(0, 0, -1), (1e-9, 0, -1), (1e-5, -1e-6, -1)])
def test_smallest_rotation_near_half_a_turn(axis):
    axis = np.array(axis, float) / np.linalg.norm(axis)
    R = smallest_rotation(axis)
    assert np.allclose(R @ R.T, np.eye(3), atol=1e-9)
    assert np.allclose(R[:, 2], axis, atol=1e-12)


def test_joints_follow_the_file_branch_by_branch(tmp_path):
    path = tmp_path / "tree.urdf"
    path.write_text(random_urdf(7, 8))
    robot = didim.load_robot(path)
    assert sorted(robot.joint_names) == sorted(f"joint{j}" for j in range(1, 9))
    assert all(joint.parent < j for j, joint in enumerate(robot.joints))


def test_limits_of_zero_count_as_unlimited(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(
        ARM_URDF.replace(
            'lower="-1.5" upper="1.5" effort="40" velocity="3"', 'effort="0" velocity="0"'
        )
    )
    shoulder = didim.load_robot(path).joints[0]
    assert shoulder.position_limits == (-np.inf, np.inf)
    assert shoulder.torque_limit == shoulder.velocity_limit == np.inf
