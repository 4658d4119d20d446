"""Plans where friction is large, where a drive is weak or missing, and with limits of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import didim
from didim.design.predict import sigma_of

PENDULUM = didim.load_robot("double_pendulum")
LOOP = didim.PD(natural_frequency=20.0, rate=1000)


def turntable(folder: Path, friction: float, speed: float = 1.0) -> didim.DynamicModel:
    """A link of 1 kg at 0.2 m from a vertical axis, with a motor of 10 N.m."""
    file = folder / "turntable.urdf"
    file.write_text(
        f"""<robot name="turntable"><link name="base"/><link name="arm"><inertial>
        <origin xyz="0.2 0 0"/><mass value="1"/>
        <inertia ixx="0.05" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="j1" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
        <limit lower="-2" upper="2" velocity="{speed}" effort="10"/>
        <dynamics damping="0.1" friction="{friction}"/></joint></robot>"""
    )
    return didim.DynamicModel(didim.load_robot(file))


@pytest.mark.parametrize("friction", [3.0, 6.0, 8.0])
def test_friction_that_jumps_counts_once_along_the_reference(tmp_path, friction):
    """The largest torque in closed form: inertia, damping, and Coulomb friction as it is."""
    model = turntable(tmp_path, friction)
    plan = didim.excite(model, 4.0, effort=0.1, noise=0.05)
    t = np.linspace(0.0, 4.0, 40_001)
    _, dq, ddq = plan.trajectory.sample(t)
    peak = np.abs(0.09 * ddq + 0.1 * dq + friction * np.sign(dq)).max()
    margin = plan.margins["torque of j1"]
    assert 0 <= margin <= 1 - peak / 9.0 + 1e-12
    assert margin == pytest.approx(1 - peak / 9.0, abs=0.01)


@pytest.mark.parametrize("width", [0.05, 0.01])
def test_friction_with_a_narrow_peak_is_seen_between_the_samples(tmp_path, width):
    """Stribeck friction: its whole peak counts, of which 20 samples in a millisecond see a part."""
    file = tmp_path / "peaked.toml"
    file.write_text(
        f"""name = "peaked"
        gravity = [0.0, 0.0, -9.81]
        effects = ["viscous", "coulomb", "stribeck"]
        [[joint]]
        name = "j1"
        position = [-2.0, 2.0]
        velocity = 3.0
        torque = 30.0
        [joint.nominal]
        XX = 0.0
        XY = 0.0
        XZ = 0.0
        YY = 0.0
        YZ = 0.0
        ZZ = 0.5
        MX = 0.0
        MY = 0.0
        MZ = 0.0
        M = 1.0
        Fv = 0.1
        Fc = 10.0
        dFs = 10.0
        vs = {width}
        """
    )
    robot = didim.load_robot(file)
    model = didim.DynamicModel(robot)
    assert "dFs1" in model.base.parameter_names
    limits = didim.Limits(robot, acceleration=40.0, jerk=4000.0)
    plan = didim.excite(model, 4.0, limits=limits, effort=0.05, noise=0.1, method="idim")
    t = np.linspace(0.0, 4.0, 80_001)
    _, dq, ddq = plan.trajectory.sample(t)
    friction = np.sign(dq) * (10.0 + 10.0 * np.exp(-((dq / width) ** 2)))
    seen = 1 - np.abs(0.5 * ddq + 0.1 * dq + friction).max() / 27.0
    turning = np.abs(dq[:, 0]) < 2e-3
    whole = 1 - (0.5 * np.abs(ddq[turning]).max() + 20.0) / 27.0
    assert 0 <= plan.margins["torque of j1"] <= min(seen, whole + 0.01)


def test_a_robot_that_sticks_all_the_time_is_not_determined(tmp_path):
    model = turntable(tmp_path, 3.0)
    loop = didim.PD(natural_frequency=5.0, rate=1000)
    plan = didim.excite(model, 4.0, effort=0.1, noise=0.05, loop=loop)
    assert np.abs(plan.motion.dq).max() < 1e-9
    assert np.isinf(plan.sigma).all()
    (message,) = (each for each in plan.messages if "does not follow" in each)
    assert message.startswith("j1 ")
    moving = didim.excite(model, 4.0, effort=0.1, noise=0.05, loop=LOOP)
    assert np.isfinite(moving.sigma).all()
    assert not any("does not follow" in each for each in moving.messages)


def test_what_is_known_no_better_than_by_rounding_is_not_known():
    assert np.isinf(sigma_of(np.diag([1e-60, 4.0])))[0]
    assert sigma_of(np.diag([1e-60, 4.0]))[1] == pytest.approx(0.5)


@pytest.mark.parametrize("loop", [None, LOOP])
def test_a_joint_without_a_motor_is_refused(loop: Any):
    model = didim.DynamicModel(didim.load_robot("double_pendulum", passive=["elbow"]))
    with pytest.raises(didim.InputError, match=r"elbow of .* no motor") as refusal:
        didim.excite(model, 6.0, loop, noise=0.1)
    assert "hold such joints" in str(refusal.value)


def test_a_controller_that_cannot_hold_the_robot_is_refused():
    model = didim.DynamicModel(PENDULUM)
    loop = didim.PD(natural_frequency=20.0, rate=1000, saturation=0.1)
    with pytest.raises(didim.InputError, match=r"0\.1 are usable .its controller saturates"):
        didim.excite(model, 6.0, loop, noise=0.1)
    halved = didim.PD(natural_frequency=20.0, rate=1000, saturation=0.2, drive_gain=0.5)
    with pytest.raises(didim.InputError, match=r"0\.1 are usable"):
        didim.excite(model, 6.0, halved, noise=0.1)


def test_limits_of_another_robot_are_refused_without_a_floor_too():
    limits = didim.Limits(PENDULUM)
    with pytest.raises(didim.InputError, match="make Limits of this robot"):
        didim.excite(didim.DynamicModel(didim.load_robot("scara")), 4.0, limits=limits)


def test_a_plan_says_what_it_was_made_with(tmp_path):
    model = didim.DynamicModel(didim.load_robot("scara"))
    given = {"criterion": "worst", "basis": "spline", "harmonics": 4, "start": [0.1, 0.2]}
    plan = didim.excite(model, 4.0, effort=0.05, noise=0.1, **given)
    assert given.items() <= plan.settings.items()
    assert plan.settings["effort"] == 0.05
    page = plan.report(tmp_path / "plan.html").read_text()
    for word in ("criterion", "worst", "harmonics", "[0.1, 0.2]"):
        assert word in page
