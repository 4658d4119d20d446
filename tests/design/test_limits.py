"""Limits: of followers, of another robot, and what a plan says that it does not check."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import didim
from didim.design.capsules import link_capsules
from didim.robot.mimic import Mimic
from didim.robot.robot import Joint, Robot
from didim.robot.shape import Shape, capsule
from didim.study.planned import DEFAULT_CLEARANCE, limits_with_defaults

LINK = np.array([0.1, 0, 0, 0.1, 0, 0.1, 0, 0, 0.3, 2.0])
"""2 kg at z = 0.15 m."""

SIDEWAYS = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
"""The z axis of the joint is the y axis of its parent."""


def joint(name: str, parent: int, **given: object) -> Joint:
    settings = {
        "translation": np.array([0, 0, 0.3]),
        "position_limits": (-2.0, 2.0),
        "velocity_limit": 2.0,
        "torque_limit": 60.0,
        "link": LINK,
        **given,
    }
    return Joint(name, "revolute", parent, **settings)  # type: ignore[arg-type]


def gripper(ratio: float, offset: float = 0.0, **given: object) -> Robot:
    """Joint c, with limits of its own, follows b."""
    own = {"position_limits": (-1.0, 1.0), "velocity_limit": 0.5, **given}
    follower = joint("c", 1, mimic=Mimic("b", ratio, offset), **own)
    return Robot("gripper", (joint("a", -1), joint("b", 0, rotation=SIDEWAYS), follower))


def arm(*shapes: tuple[Shape, ...], base: tuple[Shape, ...] = (), **given: object) -> Robot:
    """Three joints in a row, the first about z; `given` belongs to the second."""
    links = shapes or ((), (), ())
    joints = (
        joint("j1", -1, shapes=links[0]),
        joint("j2", 0, shapes=links[1], rotation=SIDEWAYS, **given),
        joint("j3", 1, shapes=links[2]),
    )
    return Robot("arm", joints, shapes=base)


@pytest.mark.parametrize(
    ("ratio", "offset", "expected"),
    [(3.0, 0.0, [-1 / 3, 1 / 3]), (-3.0, 0.4, [-0.2, 1.4 / 3]), (0.1, 0.0, [-2.0, 2.0])],
)
def test_a_followed_joint_stays_where_its_followers_may_be(ratio, offset, expected):
    limits = didim.Limits(gripper(ratio, offset))
    np.testing.assert_allclose(limits.position, [[-2.0, 2.0], expected])
    assert limits.velocity[1] == pytest.approx(min(2.0, 0.5 / abs(ratio)))
    assert limits.acceleration[1] == pytest.approx(limits.velocity[1] / 0.2)
    assert not any(name.startswith(("position", "velocity")) for name in limits.defaults)


def test_limits_that_are_given_do_not_replace_those_of_followers():
    robot = gripper(3.0)
    limits = didim.Limits(robot, position=[[-1, 1], [-0.1, 2]], velocity=[3.0, 3.0])
    np.testing.assert_allclose(limits.position, [[-1, 1], [-0.1, 1 / 3]])
    np.testing.assert_allclose(limits.velocity, [3.0, 0.5 / 3])


def test_limits_of_a_follower_are_no_defaults_of_the_joint_it_follows():
    robot = gripper(2.0, velocity_limit=np.inf)
    free = replace(robot.joints[1], position_limits=(-np.inf, np.inf), velocity_limit=np.inf)
    limits = didim.Limits(replace(robot, joints=(robot.joints[0], free, robot.joints[2])))
    np.testing.assert_allclose(limits.position[1], [-0.5, 0.5])
    assert "position of b" not in limits.defaults
    assert limits.position_by_default.tolist() == [False, False]
    assert "velocity of b" in limits.defaults


@pytest.mark.parametrize("given", [{}, {"position": [[-1, 1], [1.0, 2.0]]}])
def test_a_follower_that_leaves_no_position_is_refused(given):
    robot = gripper(1.0, 5.0 if not given else 0.0)
    with pytest.raises(didim.InputError, match="c follows b") as refusal:
        didim.Limits(robot, **given)
    assert "\n" not in str(refusal.value)


def test_a_plan_moves_a_follower_within_its_own_limits():
    robot = gripper(-3.0, 0.2)
    plan = didim.excite(didim.DynamicModel(robot), duration=3.0, noise=0.1, effort=0.05)
    q, dq, _ = plan.trajectory.sample(np.linspace(0, 3, 3001))
    assert np.abs(-3.0 * q[:, 1] + 0.2).max() <= 1.0
    assert 0.1 < np.abs(3.0 * dq[:, 1]).max() <= 0.5


def test_the_same_joints_with_other_inertias_are_the_same_robot():
    robot = arm()
    other = replace(robot, joints=tuple(replace(each, link=2 * LINK) for each in robot.joints))
    didim.Limits(robot).check_robot(other)
    didim.Limits(didim.load_robot("panda")).check_robot(didim.load_robot("panda"))


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (didim.load_robot("scara"), "2 joints"),
        (arm(torque_limit=50.0), "joint j2"),
        (arm(position_limits=(-2.0, 1.9)), "joint j2"),
        (replace(arm(), joints=(*arm().joints[:2], joint("tool", 1))), "j1, j2, j3"),
        (replace(arm(), joints=(*arm().joints, joint("c", 1, mimic=Mimic("j2")))), "joint c"),
    ],
)
def test_limits_of_another_robot_are_refused(other, words):
    limits = didim.Limits(arm())
    with pytest.raises(didim.InputError, match=words):
        limits.check_robot(other)


def messages(robot: Robot, **given: object) -> str:
    """Of a plan that nothing is searched for."""
    limits = didim.Limits(robot, **given)  # type: ignore[arg-type]
    model = didim.DynamicModel(robot)
    plan = didim.excite(model, duration=3.0, noise=0.1, effort=0.02, limits=limits)
    return "\n".join(plan.messages)


def test_joints_without_a_torque_limit_are_named():
    robot = arm(torque_limit=np.inf)
    assert didim.Limits(robot).without_torque == ("j2",)
    assert "Torque is not checked for j2:" in messages(robot)
    assert "Torque" not in messages(robot, torque=60.0)


def test_a_joint_without_a_motor_needs_no_torque_limit():
    assert didim.Limits(arm(torque_limit=np.inf, passive=True)).without_torque == ()


LOST = Shape("unreadable", file="x.stl is not found")
ROUND = capsule(np.zeros(3), np.array([0, 0, 0.2]), 0.03)


def test_shapes_that_cannot_be_read_are_named_and_not_watched_unasked():
    limits, notes = limits_with_defaults(arm((ROUND,), (LOST,), (ROUND, LOST)), floor=-1.0)
    assert limits.self_collision is None
    (note,) = notes
    assert "link 2, link 3 (x.stl is not found)" in note
    whole, notes = limits_with_defaults(arm((ROUND,), (ROUND,), (ROUND,)), floor=-1.0)
    assert whole.self_collision == DEFAULT_CLEARANCE
    assert notes == []


def test_a_plan_names_the_links_whose_shapes_are_guesses():
    robot = arm((ROUND,), (LOST,), (ROUND,))
    assert "link 2 (x.stl is not found) are guesses" in messages(robot, floor=-1.0)
    assert "guess" not in messages(robot)
    assert "guess" not in messages(arm((ROUND,), (ROUND,), (ROUND,)), floor=-1.0)


def test_a_base_whose_mesh_is_lost_is_fitted():
    """Unlike one without shapes, it is there."""
    found = link_capsules(arm((ROUND,), (ROUND,), (ROUND,), base=(LOST,)))
    assert [(each.label, each.fitted) for each in found if each.fitted] == [("base", True)]
    assert found[0].problem == "x.stl is not found"


def test_a_plan_that_watches_no_pair_says_so():
    robot = replace(arm(), joints=arm().joints[:2])
    said = messages(robot, self_collision=0.01)
    assert "no pair of links can be watched" in said
    assert "link 1 - link 2 (they share a joint)" in said
    beside = capsule(np.array([0.2, 0, 0]), np.array([0.2, 0, 0.2]), 0.03)
    assert "watched" not in messages(arm((ROUND,), (ROUND,), (beside,)), self_collision=0.0)


@pytest.mark.parametrize("start", [1.0, 1.5])
def test_a_start_on_a_limit_is_told_to_lie_inside(start):
    robot = arm(position_limits=(1.0, 1.5))
    with pytest.raises(didim.InputError, match=r"inside \[1, 1\.5\] with room to move"):
        didim.excite(didim.DynamicModel(robot), duration=3.0, start=[0.0, start, 0.0])


def small(scale: float) -> Robot:
    """The arm made smaller; torques are not limited."""
    sizes = LINK * np.array([scale**5] * 6 + [scale**4] * 3 + [scale**3])
    return Robot(
        "small",
        tuple(
            replace(each, translation=scale * each.translation, link=sizes, torque_limit=np.inf)
            for each in arm().joints
        ),
    )


@pytest.mark.parametrize("scale", [1.0, 0.1, 0.01])
def test_fitted_links_are_as_thick_as_the_robot_is_long(scale):
    radii = [each.radius for link in link_capsules(small(scale)) for each in link.capsules]
    np.testing.assert_allclose(radii, 0.06 * 1.2 * scale)


def test_a_robot_without_any_length_has_capsules():
    point = replace(joint("a", -1), translation=np.zeros(3), link=np.full(10, np.nan))
    (found,) = link_capsules(Robot("point", (point,)))
    assert found.capsules[0].radius == 0.01


def test_a_small_robot_has_plans_above_a_floor_and_refusals_that_name_the_guess(tmp_path: Path):
    model = didim.DynamicModel(small(0.01))
    plan = didim.excite(
        model,
        duration=3.0,
        noise=1e-6,
        effort=0.05,
        limits=didim.Limits(model.robot, floor=0.0),
    )
    assert min(plan.margins.values()) >= 0
    assert np.ptp(plan.trajectory.sample(np.linspace(0, 3, 500))[0], axis=0).min() > 0.3
    with pytest.raises(didim.InputError, match=r"the radius of link 2, .* is a guess; give"):
        didim.excite(model, duration=3.0, limits=didim.Limits(model.robot, floor=0.0061))
    thick = small(0.01)
    shapes = (capsule(np.zeros(3), np.array([0, 0, 3e-3]), 1e-3),)
    described = replace(thick, joints=tuple(replace(e, shapes=shapes) for e in thick.joints))
    limits = didim.Limits(described, floor=0.0061)
    with pytest.raises(didim.InputError, match="closer than allowed by") as refusal:
        didim.excite(didim.DynamicModel(described), duration=3.0, limits=limits)
    assert "guess" not in str(refusal.value)
