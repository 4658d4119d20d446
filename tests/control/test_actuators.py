"""Actuators of an MJCF file as a loop: the torques are MuJoCo's own."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import didim
from didim.cli import main
from support.mjcf import PANDA, PENDULUM, QUADRUPED, TWO_ARMS


@pytest.fixture
def file(tmp_path):
    def written(text):
        path = tmp_path / "robot.xml"
        path.write_text(text)
        return path

    return written


def torque(loop, robot, q, dq, q_ref, dq_ref):
    """tau = g clip(kv (kp e + ff dq_r - dq))."""
    n = robot.n
    kp, kv, ff = (np.broadcast_to(x, n) for x in (loop.kp, loop.kv, loop.velocity_reference))
    v = kv * (kp * (q_ref - q) + ff * dq_ref - dq)
    limit = np.broadcast_to(loop.saturation, n)
    return np.diagonal(loop.drive(didim.DynamicModel(robot))) * np.clip(v, -limit, limit)


SERVOS = """
<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <body><joint name="a" axis="0 1 0"/><geom size="0.1" mass="2"/>
      <body pos="0.3 0 0"><joint name="b" type="slide"/><geom size="0.1" mass="1"/></body>
    </body>
  </worldbody>
  <actuator>{}</actuator>
</mujoco>
"""


@pytest.mark.parametrize(
    "actuators",
    [
        "<position joint='a' kp='50' kv='4'/><position joint='b' kp='30' dampratio='0.8'/>",
        "<position joint='a' kp='50' kv='4' gear='3' forcerange='-9 9'/>"
        "<position joint='b' kp='30' kv='1' gear='-2'/>",
        "<position joint='a' kp='50'/><velocity joint='b' kv='7' gear='5'/>",
        "<position joint='a' kp='50' kv='1'/><velocity joint='a' kv='7'/>"
        "<general joint='b' biastype='affine' gainprm='40' biasprm='0 -40 -6'/>",
    ],
)
def test_torques_are_those_of_mujoco(file, actuators):
    path = file(SERVOS.format(actuators))
    robot, loop = didim.load_robot(path), didim.load_controller(path)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    rng = np.random.default_rng(2)
    for q, dq, q_ref, dq_ref in rng.uniform(-1, 1, (10, 4, 2)):
        data.qpos[:], data.qvel[:] = q, dq
        for k in range(model.nu):
            joint, gear = model.actuator_trnid[k, 0], model.actuator_gear[k, 0]
            servo = model.actuator_biasprm[k, 1] != 0
            data.ctrl[k] = gear * (q_ref if servo else dq_ref)[joint]
        mujoco.mj_forward(model, data)
        expected = pytest.approx(data.qfrc_actuator, rel=1e-8, abs=1e-6)
        assert torque(loop, robot, q, dq, q_ref, dq_ref) == expected


def test_panda_and_quadruped(file):
    panda = didim.load_controller(file(PANDA))
    assert panda.kp == [10.0] * 7
    assert panda.kv == [450, 450, 350, 350, 200, 200, 200]
    assert panda.saturation == [87] * 4 + [12] * 3
    legs = didim.load_controller(file(QUADRUPED), lock={"base_joint": 0})
    assert legs.saturation == [24, 24, 45] * 4
    hip = didim.load_controller(
        file(QUADRUPED), ["FL_hip"], {f"{leg}_calf": -1.5 for leg in ("FL", "FR", "RL", "RR")}
    )
    assert np.size(hip.kv) == 1


@pytest.mark.parametrize(
    ("actuators", "message"),
    [
        ("", "there are no actuators"),
        ("<position joint='a'/>", "joint 'b' has no actuator"),
        (
            "<motor joint='a' gear='50' ctrlrange='-2 2'/><motor joint='b' ctrlrange='-3 3'/>",
            r"driven by motors.*drive_gain=\[50.0, 1.0\], saturation=\[2.0, 3.0\]",
        ),
        ("<motor joint='a'/><position joint='b'/>", "'a' is driven by the motor 'a_motor'"),
        ("<position joint='a' timeconst='0.1'/>", "'a_position': only motors"),
        ("<intvelocity joint='a' kp='3'/>", "'a_intvelocity': only motors"),
        ("<position joint='a' forcerange='-1 3'/>", "not the same in both directions"),
        ("<position joint='a'/><position joint='a'/><position joint='b'/>", "has 2 actuators"),
        ("<general joint='a' biastype='affine' biasprm='1 -1 0'/>", "only motors"),
    ],
)
def test_what_is_no_loop_is_refused(file, actuators, message):
    with pytest.raises(didim.InputError, match=message) as refused:
        didim.load_controller(file(SERVOS.format(actuators)))
    assert "\n" not in str(refused.value)


def test_a_tendon_of_two_joints_that_move_together(file):
    text = SERVOS.format("<position name='grip' tendon='pair' kp='9' kv='1'/>").replace(
        "<actuator>",
        "<tendon><fixed name='pair'><joint joint='a' coef='1'/><joint joint='b' coef='0.5'/>"
        "</fixed></tendon><actuator>",
    )
    with pytest.raises(didim.InputError, match=r"'grip': drives 2 joints \(a, b\)"):
        didim.load_controller(file(text))
    tied = text.replace(
        "<tendon>",
        "<equality><joint joint1='b' joint2='a' polycoef='0 3 0 0 0'/></equality><tendon>",
    )
    loop = didim.load_controller(file(tied))
    assert (loop.kp, loop.kv, loop.drive_gain) == ([9.0], [2.5], [2.5])


def test_init_writes_the_loop_of_the_file(file, tmp_path, capsys):
    path = file(PENDULUM)
    assert main(["init", str(tmp_path / "study.toml"), "--robot", str(path)]) == 0
    study = didim.load_study(tmp_path / "study.toml")
    assert study.controller.kv == [12.0]
    assert study.controller.saturation == [30.0]
    assert study.controller.drive_gain == [2.0]
    assert study.run().status == "converged"
    motors = file(TWO_ARMS)
    assert main(["init", str(tmp_path / "two.toml"), "--robot", str(motors)]) == 0
    assert "loop: robot.xml: joint 'body_joint' has no actuator" in capsys.readouterr().out
    assert didim.load_study(tmp_path / "two.toml").controller.natural_frequency == 50.0
