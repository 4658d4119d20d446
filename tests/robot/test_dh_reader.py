"""Robots in TOML: what the file says is what the robot is."""

from __future__ import annotations

import numpy as np
import pytest

import didim
from didim.robot.dh import placement
from support.files import ARM_TOML


@pytest.fixture
def arm(tmp_path) -> didim.Robot:
    path = tmp_path / "arm.toml"
    path.write_text(ARM_TOML)
    return didim.load_robot(path)


def test_placement_is_the_product_of_the_six_elementary_transforms():
    gamma, b, alpha, d, theta, r = 0.3, 0.1, -1.1, 0.4, 2.2, -0.7

    def rotate(axis, angle):
        T, (i, j) = np.eye(4), {"x": (1, 2), "z": (0, 1)}[axis]
        T[[i, i, j, j], [i, j, i, j]] = np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)
        return T

    def shift(axis, length):
        T = np.eye(4)
        T["xyz".index(axis), 3] = length
        return T

    expected = (
        rotate("z", gamma)
        @ shift("z", b)
        @ rotate("x", alpha)
        @ shift("x", d)
        @ rotate("z", theta)
        @ shift("z", r)
    )
    rotation, translation = placement(gamma, b, alpha, d, theta, r)
    assert np.allclose(rotation, expected[:3, :3])
    assert np.allclose(translation, expected[:3, 3])


def test_right_angles_are_exact():
    rotation, _ = placement(0.0, 0.0, -np.pi / 2, 0.0, np.pi, 0.0)
    assert np.array_equal(rotation, np.round(rotation))


def test_a_byte_order_mark_is_no_obstacle(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_bytes(b"\xef\xbb\xbf" + ARM_TOML.encode())
    assert didim.load_robot(path).n == 2


def test_values_and_units(arm):
    shoulder, slide = arm.joints
    assert arm.joint_names == ("shoulder", "slide")
    assert shoulder.position_limits == pytest.approx((-np.pi / 2, 3 * np.pi / 4))
    assert arm.torque_limits.tolist() == [50.0, np.inf]
    assert slide.kind == "prismatic"
    assert slide.effects == {"rotor", "offset"}
    assert shoulder.effects == {"viscous", "coulomb"}


def test_a_fixed_body_is_merged_into_its_carrier(arm):
    """2 kg at 0.1 m and 1 kg at 0.4 m on x: moments by hand."""
    names = ["XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M"]
    link = dict(zip(names, arm.joints[0].link, strict=True))
    assert link["M"] == pytest.approx(3.0)
    assert link["MX"] == pytest.approx(2.0 * 0.1 + 1.0 * 0.4)
    assert link["ZZ"] == pytest.approx(0.03 + 2.0 * 0.01 + 0.001 + 0.16)
    assert link["XX"] == pytest.approx(0.011)
    assert arm.joints[1].parent == 0
    assert np.allclose(arm.joints[1].translation, [0.4, 0.0, 0.0])


def test_what_the_file_does_not_give_is_nan(arm):
    model = didim.DynamicModel(arm)
    nominal = dict(zip(model.parameter_names, model.nominal, strict=True))
    assert nominal["M2"] == 3.0
    assert np.isnan(nominal["XX2"])
    assert np.isnan(nominal["off2"])
    base = dict(zip(model.base.parameter_names, model.base.nominal, strict=True))
    assert np.isnan(base["ZZ1R"]), "it regroups the inertia of link 2, which is not given"
    assert base["Fc1"] == 1.5


def test_one_missing_value_does_not_take_the_others_along(tmp_path):
    path = tmp_path / "one.toml"
    path.write_text('[[joint]]\nname = "a"\nnominal = { XX = 1.0, ZZ = 2.0, MX = 0.5, M = 3.0 }')
    model = didim.DynamicModel(didim.load_robot(path))
    nominal = dict(zip(model.parameter_names, model.nominal, strict=True))
    assert (nominal["XX1"], nominal["ZZ1"], nominal["MX1"], nominal["M1"]) == (1.0, 2.0, 0.5, 3.0)
    assert np.isnan(nominal["MY1"])


def test_coupled_gears_and_gains_are_equation_9_with_the_transposed_gear():
    """Two joints on one differential: power at the motors equals power at the joints.

    Tests (9).
    """
    gear, kc, kt = np.array([[10.0, 0.0], [4.0, 20.0]]), np.array([2.0, 3.0]), np.array([0.1, 0.2])
    drive = didim.Drive(gear, kc, kt)
    v, dq = np.array([1.5, -0.5]), np.array([0.3, 0.7])
    motor_power = (kc * kt * v) @ (gear @ dq)
    assert (drive.gain @ v) @ dq == pytest.approx(motor_power)


def test_motor_records_are_checked():
    drive = didim.load_robot("tx40").drive
    with pytest.raises(didim.InputError, match="motor_torque must have shape"):
        drive.joint_torque(np.zeros((5, 3)))
    with pytest.raises(didim.InputError, match="motor_position must be finite"):
        drive.joint_position(np.full((5, 6), np.nan))
    assert didim.load_robot("emps").drive.joint_torque(np.ones(5)).shape == (5, 1)


def test_drive_gain_is_the_product_of_equation_9(arm):
    """Tests (9)."""
    assert np.allclose(arm.drive_gain, np.diag([100 * 2 * 0.1, 50 * 2 * 0.05]))


def test_effects_can_be_chosen(arm):
    names = didim.DynamicModel(arm, ["rotor"]).parameter_names
    assert "Ia2" in names
    assert "Ia1" not in names, "the rotor goes where it is declared"
    names = didim.DynamicModel(arm, ["asymmetric_coulomb"]).parameter_names
    assert {"Fcp1", "Fcn1"} <= set(names)
    assert "Fcp2" not in names, "joint 2 declares no Coulomb friction of either kind"
    names = didim.DynamicModel(didim.load_robot("scara"), ["offset"]).parameter_names
    assert {"off1", "off2"} <= set(names), "declared nowhere: on every joint"


def test_coupled_gears_bring_motor_records_to_the_joints():
    """The TX40's published matrices: q = R^-1 position with R[5, 4] = 32, tau = Rt torque with
    Rt[4, 5] = 32.
    """
    drive = didim.load_robot("tx40").drive
    N = [32.0, 32.0, 45.0, -48.0, 45.0, 32.0]
    R, Rt = np.diag(N), np.diag(N)
    R[5, 4] = Rt[4, 5] = 32.0
    x = np.random.default_rng(0).standard_normal((4, 6))
    assert np.allclose(drive.joint_position(x), x @ np.linalg.inv(R).T)
    assert np.allclose(drive.joint_torque(x), x @ Rt.T)
    assert np.array_equal(didim.load_robot("tx40").drive_gain, np.eye(6)), (
        "no gain without amplifiers"
    )
    power = np.sum(drive.joint_torque(x) * drive.joint_position(x))
    assert power == pytest.approx(np.sum(x * x)), "power is the same on both sides of the gears"


@pytest.mark.parametrize("name", didim.shipped_robots())
def test_shipped_robots_are_complete_cited_and_consistent(name):
    from didim.robot.inertia import is_consistent

    robot = didim.load_robot(name)
    model = didim.DynamicModel(robot)
    assert robot.reference
    assert np.all(np.isfinite(model.nominal))
    assert all(is_consistent(joint.link) for joint in robot.joints)
    M = model.inertia_matrix(np.zeros((1, robot.n)), model.nominal)[0]
    assert np.linalg.eigvalsh(M)[0] > 0
