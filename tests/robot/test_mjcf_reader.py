"""MJCF: torque and inertia matrix are MuJoCo's own, and what cannot be said is refused by name."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import didim
from support.mjcf import PANDA, PENDULUM, QUADRUPED, TWO_ARMS

PASSIVE = mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_ACTUATION


def loaded(tmp_path, text, **more):
    path = tmp_path / "robot.xml"
    path.write_text(text)
    return didim.load_robot(path, **more)


def without_meshes(text):
    """The same model for MuJoCo alone, which insists on the files of its meshes."""
    spec = mujoco.MjSpec.from_string(text)
    for geom in [each for each in spec.geoms if each.meshname]:
        spec.delete(geom)
    for mesh in list(spec.meshes):
        spec.delete(mesh)
    return spec.compile()


def compare(model, robot, coordinates):
    """Torque and M(q) of didim and of MuJoCo at random states of the dofs `coordinates`."""
    own = didim.DynamicModel(robot)
    data = mujoco.MjData(model)
    model.opt.disableflags |= PASSIVE
    rng = np.random.default_rng(1)
    for q, dq, ddq in rng.uniform(-1.5, 1.5, (12, 3, robot.n)):
        mujoco.mj_resetData(model, data)
        data.qpos[model.nq - model.nv + coordinates] = q
        data.qvel[coordinates], data.qacc[coordinates] = dq, ddq
        mujoco.mj_inverse(model, data)
        friction = model.dof_frictionloss * np.sign(data.qvel)
        expected = (data.qfrc_inverse + friction)[coordinates]
        found = own.inverse_dynamics(q, dq, ddq, own.nominal)
        assert np.abs(found - expected).max() < 1e-9 * max(1.0, np.abs(expected).max())
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, M)
        difference = own.inertia_matrix(q, own.nominal) - M[np.ix_(coordinates, coordinates)]
        assert np.abs(difference).max() < 1e-9


def test_panda_without_its_meshes(tmp_path):
    robot = loaded(tmp_path, PANDA)
    assert robot.name == "panda"
    assert robot.joint_names == tuple(f"joint{j}" for j in range(1, 8))
    assert robot.position_limits[3].tolist() == [-3.0718, -0.0698]
    assert robot.torque_limits.tolist() == [87] * 4 + [12] * 3
    assert robot.coordinates[2].nominal == {"Ia": 0.1, "Fv": 1.0, "Fc": 0.3}
    compare(without_meshes(PANDA), robot, np.arange(7))


def test_tree_of_two_arms(tmp_path):
    robot = loaded(tmp_path, TWO_ARMS)
    names = ("lift", "left_shoulder", "left_roll", "body_joint", "right_shoulder", "right_slide")
    assert robot.joint_names == names
    assert robot.gravity.tolist() == [0, 0.5, -9.80665]
    elbow = robot.coordinates[3]
    assert "spring" in elbow.effects
    assert elbow.nominal["qs"] == pytest.approx(np.deg2rad(-40))
    assert robot.position_limits[1] == pytest.approx(np.deg2rad([-170, 170]))
    assert [shape.kind for shape in robot.joints[3].shapes] == ["capsule", "sphere"]
    compare(without_meshes(TWO_ARMS), robot, np.arange(6))


def test_quadruped_on_a_stand(tmp_path):
    with pytest.raises(didim.InputError, match=r"base_joint.*floating.*lock = \{ base_joint = 0"):
        loaded(tmp_path, QUADRUPED)
    robot = loaded(tmp_path, QUADRUPED, lock={"base_joint": 0.0})
    assert robot.n == 12
    compare(without_meshes(QUADRUPED), robot, 6 + np.arange(12))
    knees = {f"{leg}_calf": -1.5 for leg in ("FL", "FR", "RL", "RR")}
    leg = loaded(tmp_path, QUADRUPED, joints=["RL_hip", "RL_thigh"], lock=knees)
    assert leg.joint_names == ("RL_hip", "RL_thigh")


def test_includes_of_the_same_folder(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "arm.xml").write_text(
        "<mujocoinclude><body name='rod'><joint name='pivot'/><geom size='0.1' mass='2'/></body>"
        "</mujocoinclude>"
    )
    text = "<mujoco><worldbody><include file='parts/arm.xml'/></worldbody></mujoco>"
    assert loaded(tmp_path, text).joint_names == ("pivot",)
    (tmp_path / "parts" / "arm.xml").write_text("<a><include file='parts/arm.xml'/></a>")
    with pytest.raises(didim.InputError, match="is included twice"):
        loaded(tmp_path, text)


def test_a_joint_that_follows_another(tmp_path):
    text = """<mujoco><worldbody>
      <body name="a"><joint name="left" type="slide" axis="1 0 0" ref="0.1"/>
        <geom size="0.1" mass="1"/></body>
      <body name="b"><joint name="right" type="slide" axis="1 0 0"/>
        <geom size="0.1" mass="3"/></body>
    </worldbody>
    <equality><joint joint1="right" joint2="left" polycoef="0.2 -0.5 0 0 0"/></equality>
    </mujoco>"""
    robot = loaded(tmp_path, text)
    assert robot.joint_names == ("left",)
    follower = robot.joints[1].mimic
    assert (follower.joint, follower.ratio) == ("left", -0.5)
    assert follower.offset == pytest.approx(0.25)
    own = didim.DynamicModel(robot)
    assert own.inertia_matrix([0.0], own.nominal) == pytest.approx(1 + 0.25 * 3)


def test_armature_and_damping_of_actuators_belong_to_the_joint(tmp_path):
    text = PENDULUM.replace('gear="2"', 'gear="2" armature="0.01" damping="0.3"')
    robot = loaded(tmp_path, text)
    assert robot.joints[0].nominal["Ia"] == pytest.approx(0.02 + 4 * 0.01)
    compare(without_meshes(text), robot, np.arange(1))


BODY = "<body name='b'><joint name='j'/><geom size='0.1' mass='1'/>{}</body>"


def wrapped(body="", more=""):
    return f"<mujoco>{more}<worldbody>{BODY.format(body)}</worldbody></mujoco>"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not well-formed XML"),
        ("\0\x01\x02binary", "not well-formed XML"),
        ("<mujoco><worldbody>", "not well-formed XML"),
        ("<sdf/>", r"must be <mujoco> \(MJCF\) or <robot> \(URDF\), found <sdf>"),
        ("<!DOCTYPE a><mujoco/>", "DTD"),
        ("<mujoco/>", "no body has a joint"),
        ("<mujoco><worldbody><body foo='1'/></worldbody></mujoco>", "MuJoCo cannot compile.*foo"),
        (
            "<mujoco><worldbody><body name='b'><joint/></body></worldbody></mujoco>",
            "MuJoCo cannot compile it: .*mass and inertia",
        ),
        (wrapped(more="<include file='../other.xml'/>"), "other.xml.*outside the folder"),
        (wrapped(more="<include file='/etc/passwd'/>"), "outside the folder"),
        (wrapped(more="<include file='none.xml'/>"), "no such file"),
        (
            wrapped(more="<extension><plugin plugin='mujoco.pid'/></extension>"),
            "plugin 'mujoco.pid' is refused",
        ),
        (
            wrapped("<body name='c'><joint name='ball' type='ball'/><geom size='1'/></body>"),
            "joint 'ball': ball joints are not supported",
        ),
        (
            wrapped(more="<equality><weld name='grip' body1='b'/></equality>"),
            "equality 'grip': of kind 'weld'",
        ),
        (
            wrapped(more="<equality><joint joint1='j'/></equality>"),
            "only a joint that follows another linearly",
        ),
        (
            wrapped(
                more="<tendon><fixed name='belt' stiffness='3'><joint joint='j' coef='1'/></fixed>"
                "</tendon>"
            ),
            "tendon 'belt': its stiffness couples joints",
        ),
        (wrapped(more="<option density='1.2'/>"), "drag of a fluid"),
        (wrapped(more="<option><flag frictionloss='disable'/></option>"), "frictionloss='disable'"),
        (wrapped().replace("name='b'", "name='b' gravcomp='1'"), "body 'b': gravcomp"),
        (wrapped().replace("name='j'", "name='j' damping='1 2'"), "joint 'j': only linear"),
        (
            wrapped().replace("name='j'", "name='j' stiffness='1' springyield='2'"),
            "spring that yields",
        ),
        (
            "<mujoco><asset><mesh name='m' file='part.stl'/></asset><worldbody><body name='b'>"
            "<joint/><geom type='mesh' mesh='m'/></body></worldbody></mujoco>",
            "body 'b': its inertia follows from the mesh 'part.stl', which is not there",
        ),
    ],
)
def test_wrong_files_are_refused_in_one_line(tmp_path, text, message):
    with pytest.raises(didim.InputError, match=message) as refused:
        loaded(tmp_path, text)
    assert "\n" not in str(refused.value)
    assert "robot.xml" in str(refused.value)


def test_a_urdf_that_ends_in_xml_is_still_one(tmp_path):
    from support.files import ARM_URDF

    assert loaded(tmp_path, ARM_URDF).n == 2


def test_without_mujoco_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mujoco", None)
    with pytest.raises(didim.InputError, match=r'pip install "didim\[mujoco\]"'):
        loaded(tmp_path, PENDULUM)
