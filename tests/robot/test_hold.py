"""Joints that are held: a part of a robot moves like the whole robot with the others at rest."""

from __future__ import annotations

import re

import numpy as np
import pinocchio as pin
import pytest

import didim
from didim.checks import diagnose
from support.estimates import estimate_of
from support.files import ARM_TOML, ARM_URDF
from support.pinocchio_peer import Peer
from support.random_urdf import random_urdf

MIMIC = '<mimic joint="shoulder" multiplier="-2" offset="0.3"/>'
GRIPPER = ARM_URDF.replace('<axis xyz="0 0 -1"/>', f'<axis xyz="0 0 -1"/>{MIMIC}')


def written(tmp_path, text, name="robot.urdf"):
    path = tmp_path / name
    path.write_text(text)
    return path


def without_friction(robot):
    model = didim.DynamicModel(robot, [])
    return model, model.nominal


@pytest.mark.parametrize("seed", range(6))
def test_dynamics_are_those_of_the_reduced_model_of_pinocchio(seed, tmp_path):
    """Inverse dynamics at random states against `buildReducedModel`, trees of 3 to 8 joints."""
    n = 3 + seed
    urdf, rng = random_urdf(seed, n), np.random.default_rng(seed)
    names = didim.load_robot(written(tmp_path, urdf)).joint_names
    held = dict(zip(rng.permutation(names)[: n // 2], rng.uniform(-2, 2, n // 2), strict=True))
    robot = didim.load_robot(tmp_path / "robot.urdf", lock=held)
    assert robot.joint_names == tuple(name for name in names if name not in held)
    assert robot.locked == held

    peer = Peer(urdf, didim.load_robot(tmp_path / "robot.urdf"))
    at = peer._q(np.array([held.get(name, 0.0) for name in names]))
    ids = [peer.model.getJointId(name) for name in held]
    peer.model = pin.buildReducedModel(peer.model, ids, at)
    peer.data = peer.model.createData()
    peer.ids = [peer.model.getJointId(name) for name in robot.joint_names]
    peer.v = [peer.model.idx_vs[i] for i in peer.ids]
    q, dq, ddq = rng.uniform(-2, 2, (3, 5, robot.n))
    expected = np.array([peer.torque(*row) for row in zip(q, dq, ddq, strict=True)])
    model, phi = without_friction(robot)
    found = model.inverse_dynamics(q, dq, ddq, phi)
    assert np.abs(found - expected).max() < 1e-10 * np.abs(expected).max()


def test_couplings_and_friction_are_those_of_the_whole_robot():
    """The TX40's last two motors are coupled: with joint 6 held, the coupling is friction of
    joint 5.
    """
    whole = didim.DynamicModel(didim.load_robot("tx40"))
    names = whole.robot.joint_names
    assert whole.robot.couplings
    part = didim.DynamicModel(didim.load_robot("tx40", joints=list(names[:5])))
    assert part.robot.locked == {names[5]: 0.0}
    assert not part.robot.couplings
    rng = np.random.default_rng(0)
    q, dq, ddq = rng.uniform(-1, 1, (3, 20, 6))
    for signal in (q, dq, ddq):
        signal[:, 5] = 0.0
    expected = whole.inverse_dynamics(q, dq, ddq, whole.nominal)[:, :5]
    found = part.inverse_dynamics(q[:, :5], dq[:, :5], ddq[:, :5], part.nominal)
    assert np.abs(found - expected).max() < 1e-10 * np.abs(expected).max()


def test_drives_and_unknown_links_of_a_toml_robot(tmp_path):
    path = written(tmp_path, ARM_TOML, "arm.toml")
    robot = didim.load_robot(path, joints=["shoulder"], lock={"slide": 0.1})
    assert robot.drive.gear.tolist() == [[100.0]]
    assert np.isnan(robot.joints[0].link[0]), "the slide's inertia is not known"
    coupled = ARM_TOML + "gear_coupling = [{ motor = 2, joint = 1, ratio = 3.0 }]\n"
    with pytest.raises(didim.InputError, match="a gear couples"):
        didim.load_robot(written(tmp_path, coupled, "b.toml"), joints=["shoulder"])


def test_mimic_joints_are_held(tmp_path):
    path = written(tmp_path, GRIPPER)
    assert didim.load_robot(path, joints=["shoulder"]).locked == {}
    assert didim.load_robot(path, lock={"elbow": 0.2}).locked == {"elbow": 0.2}
    third = GRIPPER.replace("</robot>", "") + (
        '<joint name="wrist" type="continuous"><parent link="lower"/><child link="hand"/></joint>'
        '<link name="hand"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/>'
        "</inertial></link></robot>"
    )
    robot = didim.load_robot(written(tmp_path, third), joints=["wrist"], lock={"shoulder": 0.5})
    assert robot.locked == pytest.approx({"shoulder": 0.5, "elbow": -2 * 0.5 + 0.3})


def test_links_without_inertia_may_be_held(tmp_path):
    bare = re.sub(r'(<link name="lower">).*?(</link>)', r"\1\2", ARM_URDF, flags=re.S)
    path = written(tmp_path, bare)
    with pytest.raises(didim.InputError, match="no <inertial>"):
        didim.load_robot(path)
    assert didim.load_robot(path, joints=["shoulder"]).n == 1


REFUSED = {
    "a name that is not there": ({"lock": {"elbo": 0.0}}, "no moving joint is called 'elbo'"),
    "moving and held": ({"joints": ["elbow"], "lock": {"elbow": 0.0}}, "moves or is held"),
    "beyond the limits": ({"lock": {"shoulder": 2.0}}, "its limits are -1.5 and 1.5"),
    "all": ({"lock": {"shoulder": 0.0, "elbow": 0.0}}, "no joint that moves"),
    "no number": ({"lock": {"elbow": "half"}}, "must be a finite number"),
    "infinite": ({"lock": {"elbow": float("inf")}}, "must be a finite number"),
    "a text": ({"joints": "elbow"}, "must be a list of joint names"),
    "none": ({"joints": []}, "names no joint"),
    "a list": ({"lock": ["elbow"]}, "must give joint names and positions"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name, tmp_path):
    arguments, message = REFUSED[name]
    with pytest.raises(didim.InputError, match=message):
        didim.load_robot(written(tmp_path, ARM_URDF), **arguments)


def test_a_floating_base_may_be_held(tmp_path):
    free = ARM_URDF.replace('name="shoulder" type="revolute"', 'name="shoulder" type="floating"')
    path = written(tmp_path, free)
    with pytest.raises(didim.InputError, match=r"lock = \{ shoulder = 0.0 \}"):
        didim.load_robot(path)
    assert didim.load_robot(path, joints=["elbow"]).joint_names == ("elbow",)


XACRO = {
    "element": ('<link name="base"/>', '<xacro:include filename="x"/><link name="base"/>'),
    "expression": ('value="2.0"', 'value="${mass}"'),
    "another prefix": (
        '<link name="base"/>',
        '<x:if xmlns:x="http://ros.org/xacro"/><link name="base"/>',
    ),
}


@pytest.mark.parametrize("name", XACRO)
@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("arm.urdf.xacro", "xacro arm.urdf.xacro > arm.urdf"),
        ("arm.xacro", "xacro arm.xacro > arm.urdf"),
        ("arm.urdf", "xacro arm.urdf > arm-expanded.urdf"),
    ],
)
def test_xacro_is_recognised(name, file, command, tmp_path):
    path = written(tmp_path, ARM_URDF.replace(*XACRO[name]), file)
    with pytest.raises(didim.InputError, match="this is a xacro file") as caught:
        didim.load_robot(path)
    assert command in str(caught.value)


def test_an_expanded_file_may_keep_the_namespace(tmp_path):
    kept = ARM_URDF.replace("<robot ", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ')
    assert didim.load_robot(written(tmp_path, kept)).n == 2


@pytest.mark.filterwarnings("ignore::didim.InconsistentRobotWarning")
def test_results_and_robot_files_of_a_part(tmp_path):
    """An estimate of a part of a robot is saved, loaded, and written as URDF: in the image of the
    whole file, held joints become fixed ones.
    """
    urdf = random_urdf(3, 5)
    path = written(tmp_path, urdf)
    held = {"joint2": 0.4, "joint5": -0.7}
    model = didim.DynamicModel(didim.load_robot(path, lock=held))
    estimate = estimate_of(model, 0.01)
    assert any("joint2 at 0.4" in note for note in estimate.notes)
    told = {each.check: each for each in diagnose(model, estimate.experiments)}["robot"]
    assert "joint2 at 0.4" in told.found
    estimate.save(tmp_path / "result.json")
    again = didim.load_estimate(tmp_path / "result.json")
    assert again.model.robot.locked == held
    rng = np.random.default_rng(0)
    q, dq, ddq = rng.uniform(-2, 2, (3, 10, 3))
    expected = estimate.model.inverse_dynamics(q, dq, ddq, estimate.parameters)
    assert np.allclose(again.model.inverse_dynamics(q, dq, ddq, again.parameters), expected)
    record = estimate.experiments[0]
    assert np.allclose(again.predict(record), estimate.predict(record))
    for like in (None, path):
        file = tmp_path / f"new{like is None}.urdf"
        again.to_robot(file, like=like)
        robot = didim.load_robot(file)
        assert robot.joint_names == model.robot.joint_names
        assert not robot.locked
        new = didim.DynamicModel(robot)
        found = new.inverse_dynamics(q, dq, ddq, new.nominal)
        assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()
        rigid, phi = without_friction(robot)
        peer = Peer(file.read_text(), robot)
        torque = np.array([peer.torque(*row) for row in zip(q, dq, ddq, strict=True)])
        own = rigid.inverse_dynamics(q, dq, ddq, phi)
        assert np.abs(own - torque).max() < 1e-9 * np.abs(torque).max()
