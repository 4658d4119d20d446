"""Joints that follow others in robot files: what moves, what is held, what is written back."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import didim
from didim.robot.mimic import Mimic
from didim.robot.serialisation import plain_robot, robot_of
from didim.robot.urdf.write import robot_urdf
from didim.robot.write_toml import robot_toml
from support.estimates import estimate_of
from support.files import ARM_TOML
from support.random_urdf import random_urdf
from support.tied import HAND, PLANAR, loaded, random_tied_urdf, with_mimic, without_mimic

ARM = random_urdf(3, 5)
RATIOS = {"joint4": ("joint2", -0.5, 0.3), "joint5": ("joint4", 3.0, -0.2)}


def test_a_chain_is_one_ratio_and_one_offset(tmp_path):
    """q5 = 3 (-0.5 q2 + 0.3) - 0.2."""
    robot = loaded(tmp_path, with_mimic(ARM, RATIOS))
    assert robot.joint_names == ("joint1", "joint2", "joint3")
    assert robot.n == len(robot.coordinates) == robot.position_limits.shape[0] == 3
    order = [joint.name for joint in robot.joints]
    assert order == ["joint1", "joint5", "joint2", "joint3", "joint4"], "parents first"
    assert [joint.name for joint in robot.numbered[3:]] == ["joint5", "joint4"]
    follows = {joint.name: joint.mimic for joint in robot.joints if joint.mimic}
    assert follows["joint4"] == Mimic("joint2", -0.5, 0.3)
    assert dataclasses.astuple(follows["joint5"]) == pytest.approx(("joint2", -1.5, 0.7))
    names = didim.DynamicModel(robot).parameter_names
    assert {"ZZ4", "Fv4", "Fc5"} <= set(names)


def torques(robot, effects=None):
    model = didim.DynamicModel(robot, effects)
    signals = np.random.default_rng(0).uniform(-1, 1, (3, 6, robot.n))
    return model.inverse_dynamics(*signals, model.nominal)


def same_torques(one, other):
    assert one.joint_names == other.joint_names
    assert np.allclose(torques(one), torques(other), rtol=1e-10, atol=1e-10)


def test_what_is_held_holds_its_followers(tmp_path):
    """A joint with ratio 0 is held at the offset; one that follows a held or fixed joint is held
    too; a follower may be held by itself.
    """
    tied = with_mimic(ARM, RATIOS)
    robot = loaded(tmp_path, tied, lock={"joint2": 0.4})
    assert robot.locked == pytest.approx({"joint2": 0.4, "joint4": 0.1, "joint5": 0.1})
    same_torques(robot, loaded(tmp_path, ARM, lock=robot.locked))
    still = loaded(tmp_path, with_mimic(ARM, {"joint4": ("joint2", 0.0, 0.3)}))
    assert still.locked == {"joint4": 0.3}
    same_torques(still, loaded(tmp_path, ARM, lock={"joint4": 0.3}))
    own = loaded(tmp_path, tied, lock={"joint4": 0.2})
    assert own.locked == pytest.approx({"joint4": 0.2, "joint5": 0.4})
    fixed = loaded(tmp_path, with_mimic(ARM, {"joint4": ("tool_mount", 2.0, 0.3)}))
    assert fixed.locked == {"joint4": 0.3}


def test_joints_that_are_chosen_take_their_followers_along(tmp_path):
    tied = with_mimic(ARM, RATIOS)
    robot = loaded(tmp_path, tied, joints=["joint2"])
    assert robot.locked == {"joint1": 0.0, "joint3": 0.0}
    assert [joint.name for joint in robot.joints] == ["joint5", "joint2", "joint4"]
    alone = loaded(tmp_path, tied, joints=["joint4"])
    assert alone.joint_names == ("joint4",), "what it follows rests, so that it moves by itself"
    assert alone.joints[0].mimic == Mimic("joint4", 3.0, -0.2)


REFUSED = {
    "itself": ({"joint4": ("joint4", 1.0, 0.0)}, "in a circle: joint4 -> joint4"),
    "a circle": (
        {"joint4": ("joint5", 1.0, 0.0), "joint5": ("joint4", 2.0, 0.0)},
        r"circle: joint5 -> joint4 -> joint5; .*lock = \{ joint5 = 0.0 \}",
    ),
    "a joint that is not there": (
        {"joint4": ("joint22", 1.0, 0.0)},
        "joint 'joint4': follows 'joint22', but no joint is called so; did you mean",
    ),
    "not finite": ({"joint4": ("joint2", float("nan"), 0.0)}, "multiplier"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name, tmp_path):
    mimics, message = REFUSED[name]
    with pytest.raises(didim.InputError, match="(?i)" + message):
        loaded(tmp_path, with_mimic(ARM, mimics))
    if name == "a circle":
        robot = loaded(tmp_path, with_mimic(ARM, mimics), lock={"joint4": 0.1})
        assert robot.locked == {"joint4": 0.1, "joint5": 0.2}


def test_robots_in_memory_are_checked(tmp_path):
    robot = loaded(tmp_path, PLANAR)
    for wrong, message in (
        (Mimic("hand"), "must be a joint that moves and follows no other"),
        (Mimic("wrist"), "must be a joint that moves and follows no other"),
        (Mimic("elbow", 0.0), "the ratio not zero"),
        (Mimic("elbow", np.inf), "must be finite"),
    ):
        joints = (*robot.joints[:2], dataclasses.replace(robot.joints[2], mimic=wrong))
        with pytest.raises(didim.InputError, match=message):
            dataclasses.replace(robot, joints=joints)


COUPLED = '<didim><coupling name="c" effects="coulomb" Fc="1"><weight joint="elbow" value="1"/>'
COUPLED += '<weight joint="{}" value="1"/></coupling>'
DRIVE = '<drive gear="{}" current_gain="1 2" torque_constant="3 4"/></didim></robot>'


def test_couplings_and_drives(tmp_path):
    """Joints that follow have no drive, and no coupling acts on them."""
    driven = PLANAR.replace("</robot>", COUPLED + DRIVE.format("50 0 0 60"))
    robot = loaded(tmp_path, driven.format("shoulder"))
    assert robot.drive.gear.tolist() == [[50.0, 0.0], [0.0, 60.0]]
    assert robot.couplings[0].weights == {1: 1.0, 0: 1.0}
    with pytest.raises(didim.InputError, match="'wrist', which follows another one"):
        loaded(tmp_path, driven.format("wrist"))
    again = loaded(tmp_path, robot_urdf(robot))
    assert again.drive.gear.tolist() == robot.drive.gear.tolist()


SOURCES = {
    "hand": HAND,
    "planar": PLANAR,
    **{f"random {s}": random_tied_urdf(s, 6) for s in (2, 5)},
}


@pytest.mark.parametrize("name", SOURCES)
def test_files_keep_what_follows(name, tmp_path):
    """URDF, TOML and saved estimates bring the same robot back."""
    robot = loaded(tmp_path, SOURCES[name])
    files = {"again.urdf": robot_urdf(robot), "again.toml": robot_toml(robot)}
    found = [robot_of(plain_robot(robot))]
    for file, text in files.items():
        (tmp_path / file).write_text(text)
        found.append(didim.load_robot(tmp_path / file))
    for each in found:
        assert [joint.mimic for joint in each.joints] == [joint.mimic for joint in robot.joints]
        same_torques(each, robot)


def test_toml(tmp_path):
    """A follower in TOML, with the ratio in its own units, and refusals of the table."""
    path = tmp_path / "arm.toml"
    named = 'name = "slide"'
    follower = f'{named}\nmimic = {{ joint = "shoulder", ratio = 0.1 }}'
    path.write_text(ARM_TOML.replace(named, follower).partition("[drive]")[0])
    robot = didim.load_robot(path)
    assert robot.joint_names == ("shoulder",)
    assert robot.joints[1].mimic == Mimic("shoulder", 0.1)
    path.write_text(path.read_text().replace("ratio", "ration"))
    with pytest.raises(didim.InputError, match="ration"):
        didim.load_robot(path)


@pytest.mark.filterwarnings("ignore::didim.InconsistentRobotWarning")
def test_results_and_robot_files(tmp_path):
    """An estimate is saved, loaded and written, from scratch and in the image of its file."""
    urdf = with_mimic(ARM, RATIOS)
    model = didim.DynamicModel(loaded(tmp_path, urdf))
    estimate = estimate_of(model, 0.01)
    estimate.save(tmp_path / "result.json")
    again = didim.load_estimate(tmp_path / "result.json")
    q, dq, ddq = np.random.default_rng(0).uniform(-1, 1, (3, 10, 3))
    expected = estimate.model.inverse_dynamics(q, dq, ddq, estimate.parameters)
    assert np.allclose(again.model.inverse_dynamics(q, dq, ddq, again.parameters), expected)
    assert len(again.consistency.links) == 5
    for like in (None, tmp_path / "robot.urdf"):
        file = tmp_path / f"new{like is None}.urdf"
        again.to_robot(file, like=like)
        new = didim.DynamicModel(didim.load_robot(file))
        assert new.robot.joint_names == model.robot.joint_names
        found = new.inverse_dynamics(q, dq, ddq, new.nominal)
        assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()
    other = tmp_path / "free.urdf"
    other.write_text(without_mimic(urdf))
    with pytest.raises(didim.InputError, match="is not the URDF of the identified robot"):
        again.to_robot(tmp_path / "no.urdf", like=other)
