"""`Estimate.to_robot`: the way back to a robot file, which predicts the identified torque wherever
it is read.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import null_space

import didim
from didim.dynamics.consistent import BASIS, Consistent
from didim.results.standard import closest_standard
from didim.robot.inertia import is_consistent, pseudo_inertia
from support.estimates import estimate_of
from support.pinocchio_peer import Peer
from support.random_urdf import random_urdf

ASYMMETRIC = ["rotor", "asymmetric_viscous", "asymmetric_coulomb"]


def torque(model, parameters, seed=1):
    rng = np.random.default_rng(seed)
    return model.inverse_dynamics(*rng.uniform(-2, 2, (3, 20, model.robot.n)), parameters)


def assert_same_torque(estimate, path):
    again = didim.DynamicModel(didim.load_robot(path))
    expected = torque(estimate.model, estimate.parameters)
    assert np.abs(torque(again, again.nominal) - expected).max() < 1e-9 * np.abs(expected).max()
    assert (
        np.abs(torque(again.base, again.base.nominal) - expected).max()
        < 1e-9 * np.abs(expected).max()
    )


CASES = [
    ("scara", None),
    ("scara", ASYMMETRIC),
    ("emps", None),
    ("double_pendulum", ["viscous", "coulomb", "offset"]),
    ("tx40", None),
    ("tx40", ["viscous"]),
    ("panda", None),
]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["toml", "urdf"])
@pytest.mark.parametrize(("name", "effects"), CASES)
def test_shipped_robots_come_back(tmp_path, name, effects, ending):
    estimate = estimate_of(didim.DynamicModel(didim.load_robot(name), effects))
    robot = estimate.to_robot(tmp_path / f"identified.{ending}")
    assert_same_torque(estimate, tmp_path / f"identified.{ending}")
    again = didim.load_robot(tmp_path / f"identified.{ending}")
    assert again.joint_names == robot.joint_names
    np.testing.assert_array_equal(again.gravity, robot.gravity)
    np.testing.assert_array_equal(again.position_limits, robot.position_limits)
    np.testing.assert_array_equal(again.velocity_limits, robot.velocity_limits)
    if robot.drive is not None:
        np.testing.assert_array_equal(again.drive.gear, robot.drive.gear)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_random_urdf_comes_back_in_both_formats_and_in_pinocchio(tmp_path, seed):
    (tmp_path / "own.urdf").write_text(random_urdf(seed, 1 + seed % 7))
    model = didim.DynamicModel(didim.load_robot(tmp_path / "own.urdf"))
    estimate = estimate_of(model, 0.02, seed)
    for ending in ("toml", "urdf"):
        estimate.to_robot(tmp_path / f"identified.{ending}")
        assert_same_torque(estimate, tmp_path / f"identified.{ending}")
    text = (tmp_path / "identified.urdf").read_text()
    again = didim.load_robot(tmp_path / "identified.urdf")
    np.testing.assert_allclose(again.link_frames, model.robot.link_frames, atol=1e-12)
    peer, rigid = Peer(text, again), didim.DynamicModel(again, [])
    rng = np.random.default_rng(2)
    q, dq, ddq = rng.uniform(-2, 2, (3, 5, again.n))
    expected = np.array([peer.torque(*row) for row in zip(q, dq, ddq, strict=True)])
    assert (
        np.abs(rigid.inverse_dynamics(q, dq, ddq, rigid.nominal) - expected).max()
        < 1e-9 * np.abs(expected).max()
    )


def test_rigid_torque_in_pinocchio_with_rotors_and_offsets(tmp_path):
    """Elements of our own do not disturb another reader; what it misses is rotor, friction and
    offset.
    """
    model = didim.DynamicModel(didim.load_robot("panda"), ["rotor", "viscous", "coulomb", "offset"])
    estimate = estimate_of(model)
    robot = estimate.to_robot(tmp_path / "identified.urdf")
    peer = Peer((tmp_path / "identified.urdf").read_text(), robot)
    q, dq, ddq = np.random.default_rng(3).uniform(-1, 1, (3, 7))
    Ia, Fv, Fc, off = (
        np.array([joint.nominal[stem] for joint in robot.joints])
        for stem in ("Ia", "Fv", "Fc", "off")
    )
    expected = peer.torque(q, dq, ddq) + Ia * ddq + Fv * dq + Fc * np.sign(dq) + off
    found = estimate.model.inverse_dynamics(q, dq, ddq, estimate.parameters)[0]
    assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()


@pytest.mark.parametrize("name", didim.shipped_robots())
def test_the_nominal_robot_is_closest_to_itself(name):
    model = didim.DynamicModel(didim.load_robot(name))
    found = closest_standard(model.base, model.base.nominal)
    np.testing.assert_allclose(found, model.nominal, rtol=1e-9, atol=1e-9)


def test_closest_is_closer_than_other_consistent_vectors():
    """Moves within the set that keep the torque only raise the divergence from the nominal
    robot.
    """
    model = didim.DynamicModel(didim.load_robot("scara"))
    beta = model.base.nominal * [1.05, 1, 1, 0.97, 1.02, 1, 1, 1]
    found = closest_standard(model.base, beta)
    around = Consistent(model, model.nominal, np.ones(model.nominal.size))
    least = around.value(found)
    for direction in null_space(model.base.matrix).T:
        for step in (-1e-3, 1e-3):
            assert around.value(found + step * direction) > least - 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [pytest.param(k, marks=pytest.mark.long if k > 1 else ()) for k in range(6)]
)
def test_whatever_a_machine_can_have_is_found(seed):
    """Links whose pseudo-inertias were changed by up to half: a consistent vector exists, so one
    must come back.
    """
    model = didim.DynamicModel(didim.load_robot("tx40"), ["viscous"] if seed % 2 else None)
    rng, phi = np.random.default_rng(seed), model.nominal
    for columns in model.layout.link:
        A = np.eye(4) + 0.5 * rng.standard_normal((4, 4))
        changed = A @ pseudo_inertia(phi[columns]) @ A.T
        phi[columns] = np.linalg.lstsq(BASIS.reshape(10, 16).T, changed.ravel(), rcond=None)[0]
    found = closest_standard(model.base, model.base.matrix @ phi)
    np.testing.assert_allclose(model.base.matrix @ found, model.base.matrix @ phi, atol=1e-12)


def test_a_robot_without_described_values(tmp_path):
    robot = didim.load_robot("scara")
    bare = replace(
        robot, joints=tuple(replace(j, link=np.full(10, np.nan), nominal={}) for j in robot.joints)
    )
    estimate = replace(estimate_of(didim.DynamicModel(robot)), model=didim.DynamicModel(bare).base)
    found = estimate.to_robot(tmp_path / "identified.toml")
    assert_same_torque(estimate, tmp_path / "identified.toml")
    assert all(is_consistent(joint.link) for joint in found.joints)


def test_nothing_is_lost_or_written_over(tmp_path):
    estimate = estimate_of(didim.DynamicModel(didim.load_robot("scara")))
    file = tmp_path / "a.urdf"
    file.write_text("mine")
    with pytest.raises(didim.InputError, match=r"a\.urdf exists already"):
        estimate.to_robot(file)
    assert file.read_text() == "mine"
    estimate.to_robot(file, overwrite=True, name='new <name> & "so"')
    assert didim.load_robot(file).name == 'new <name> & "so"'
    for path, message in (
        ("a.sdf", "as .urdf, .xml"),
        ("none/a.urdf", "there is no folder"),
        (5, "must be a text or a path"),
    ):
        with pytest.raises(didim.InputError, match=message):
            estimate.to_robot(path)
    with pytest.raises(didim.InputError, match="no finite parameters"):
        replace(estimate, values=estimate.values * np.inf).to_robot()


def test_names_that_need_care(tmp_path):
    robot = didim.load_robot("scara")
    odd = replace(
        robot,
        joints=(replace(robot.joints[0], name='a "b" \\ c'), replace(robot.joints[1], name="Ü=1")),
    )
    estimate = estimate_of(didim.DynamicModel(odd))
    for ending in ("toml", "urdf"):
        estimate.to_robot(tmp_path / f"r.{ending}")
        assert didim.load_robot(tmp_path / f"r.{ending}").joint_names == odd.joint_names
    named = replace(robot, joints=(replace(robot.joints[0], name="base"), robot.joints[1]))
    with pytest.raises(didim.InputError, match=r"write a \.urdf file"):
        estimate_of(didim.DynamicModel(named)).to_robot(tmp_path / "base.toml")
    estimate_of(didim.DynamicModel(named)).to_robot(tmp_path / "base.urdf")


def test_pitch_at_a_right_angle(tmp_path):
    """Where roll and yaw turn about the same axis, the written angles still give the rotation."""
    from didim.robot.urdf.numbers import _rotation
    from didim.robot.urdf.write import roll_pitch_yaw

    rng = np.random.default_rng(0)
    for pitch in (np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, np.pi / 2 + 1e-13, 0.3):
        R = _rotation(*rng.uniform(-3, 3, 1), pitch, *rng.uniform(-3, 3, 1))
        np.testing.assert_allclose(_rotation(*roll_pitch_yaw(R)), R, atol=1e-15)


def test_limits_on_one_side(tmp_path):
    robot = didim.load_robot("emps")
    robot = replace(robot, joints=(replace(robot.joints[0], position_limits=(0.0, np.inf)),))
    estimate = estimate_of(didim.DynamicModel(robot))
    for ending in ("toml", "urdf"):
        estimate.to_robot(tmp_path / f"r.{ending}")
        assert didim.load_robot(tmp_path / f"r.{ending}").joints[0].position_limits == (0.0, np.inf)


@pytest.mark.parametrize(
    "change", [{"name": " "}, {"reference": "a\x01b"}, {"reference": "a\ud800b"}]
)
def test_what_no_file_can_hold_is_no_robot(change):
    with pytest.raises(didim.InputError, match="cannot be printed"):
        replace(didim.load_robot("scara"), **change)
