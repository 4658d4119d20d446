"""Numbers of base parameters known from the literature, and the two methods against each other."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import didim
from didim.dynamics.base import regroup_by_qr, regroup_by_rules
from didim.dynamics.base.numerical import random_regressor
from didim.robot.dh import placement

MOTION = ["rotor", "viscous", "coulomb"]
COUNTS = [
    ("tx40", [], 36),
    ("tx40", ["rotor"], 40),
    ("tx40", MOTION, 52),
    ("tx40", [*MOTION, "offset"], 58),
    ("tx40", [*MOTION, "offset", "coupling"], 61),
    ("tx40", [*MOTION, "coupling"], 55),
    ("tx40", None, 61),
    ("panda", [], 43),
    ("panda", ["rotor"], 48),
    ("panda", MOTION, 62),
    ("panda", [*MOTION, "offset"], 69),
    ("scara", None, 8),
    ("double_pendulum", [], 6),
    ("emps", None, 4),
    ("emps", ["asymmetric_viscous", "asymmetric_coulomb"], 5),
]


def both(model: didim.DynamicModel):
    return regroup_by_rules(model.robot, model.layout), regroup_by_qr(model.tree, model.layout)


@pytest.mark.parametrize(("name", "effects", "count"), COUNTS)
def test_counts(name, effects, count):
    assert len(didim.DynamicModel(didim.load_robot(name), effects).base.parameter_names) == count


@pytest.mark.parametrize(("name", "effects", "count"), COUNTS)
def test_rules_and_qr_span_the_same_space(name, effects, count):
    """Tests (5), (6)."""
    model = didim.DynamicModel(didim.load_robot(name), effects)
    rules, qr = both(model)
    assert rules.method == "rules"
    assert qr.method == "qr"
    assert len(rules.kept) == len(qr.kept) == count
    rows = np.linalg.matrix_rank(np.vstack([rules.matrix, qr.matrix]), tol=1e-8)
    assert rows == count, "beta of one method must be a function of beta of the other"
    W = random_regressor(model.tree, model.layout)
    assert rules.defect(W) < 1e-12
    assert qr.defect(W) < 1e-12
    for each in (rules, qr):
        assert np.array_equal(each.matrix @ each.lift, np.eye(count))


@pytest.mark.parametrize("name", didim.shipped_robots())
def test_shipped_robots_take_the_closed_form(name):
    assert didim.DynamicModel(didim.load_robot(name)).base.regrouping.method == "rules"


def test_emps_names():
    emps = didim.load_robot("emps")
    assert didim.DynamicModel(emps).base.parameter_names == ("M1", "Fv1", "Fc1", "off1")
    asymmetric = didim.DynamicModel(emps, ["asymmetric_viscous", "asymmetric_coulomb"])
    assert asymmetric.base.parameter_names == ("M1", "Fvp1", "Fvn1", "Fcp1", "Fcn1")


def special_robot(seed: int) -> didim.Robot:
    """A chain or tree of up to five joints with right angles, coincident axes and sliding joints:
    where rules matter.
    """
    rng = np.random.default_rng(seed)
    joints = []
    for j in range(int(rng.integers(1, 6))):
        rotation, translation = placement(
            rng.choice([0.0, np.pi / 2]) * (rng.random() < 0.3),
            rng.choice([0.0, 0.2]),
            rng.choice([0.0, np.pi / 2, -np.pi / 2, np.pi, np.pi / 4]),
            rng.choice([0.0, 0.3]),
            rng.choice([0.0, np.pi / 2, 0.4]),
            rng.choice([0.0, 0.25]),
        )
        kind = str(rng.choice(["revolute", "prismatic"]))
        parent = j - 1 if rng.random() < 0.8 else int(rng.integers(-1, j))
        joints.append(didim.Joint(f"j{j}", kind, parent, rotation, translation))
    gravity = rng.choice([[0.0, 0.0, -9.81], [9.81, 0.0, 0.0], [0.0, 5.0, -7.0]])
    return didim.Robot(f"special{seed}", tuple(joints), gravity)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_rules_are_complete_in_gravity_and_never_lose_a_parameter(block):
    """Without rotors and with gravity the rules find all there is to regroup, on 400 special chains
    and trees.
    """
    for seed in range(100 * block, 100 * block + 100):
        rules, qr = both(didim.DynamicModel(special_robot(seed)))
        assert rules.kept == qr.kept, seed
        assert np.allclose(rules.matrix, qr.matrix, rtol=1e-8, atol=1e-9), seed


def test_qr_decides_where_the_rules_do_not_know():
    """Two axes through one point, weightless: the second link's moments have no effect, which no
    published rule says.
    """
    turned = placement(0.0, 0.0, np.pi / 2, 0.0, 0.0, 0.0)
    joints = (didim.Joint("a", "revolute"), didim.Joint("b", "revolute", 0, *turned))
    base = didim.DynamicModel(didim.Robot("gimbal", joints, np.zeros(3))).base
    assert base.regrouping.method == "qr"
    assert not {"MX2", "MY2"} & set(base.parameter_names)
    q, dq, ddq = np.random.default_rng(0).standard_normal((3, 20, 2))
    phi = np.random.default_rng(1).standard_normal(20)
    assert np.allclose(
        base.inverse_dynamics(q, dq, ddq, base.matrix @ phi),
        base.full.inverse_dynamics(q, dq, ddq, phi),
    )


@pytest.mark.parametrize("error", [0.0, 4e-12, 3.7e-6])
def test_angles_printed_with_few_digits_do_not_add_parameters(error):
    """pi/2 as 1.5708 tells no more apart than pi/2 does; the base still reproduces the torque to
    that rounding.
    """
    robot = didim.load_robot("tx40")
    joints = list(robot.joints)
    for j in range(1, 6):
        tilt, _ = placement(0.0, 0.0, error, 0.0, 0.0, 0.0)
        joints[j] = dataclasses.replace(joints[j], rotation=tilt @ joints[j].rotation)
    model = didim.DynamicModel(dataclasses.replace(robot, joints=tuple(joints)), [])
    assert len(model.base.parameter_names) == 36
    assert model.base.regrouping.method == "rules"
    assert 0.1 * error <= model.base.defect < 1e-13 + 5 * error


def test_a_rounded_angle_beside_another_one():
    """Also where the joint is turned about z as well, no entry of its rotation is far from what was
    meant.
    """
    counts = []
    for alpha in (np.pi / 2, 1.5708):
        joints = tuple(
            didim.Joint(
                f"j{k}",
                "revolute",
                k - 1,
                *placement(0.0, 0.0, alpha, 0.1, 0.3, 0.2),
                effects={"rotor"},
            )
            for k in range(4)
        )
        counts.append(len(didim.DynamicModel(didim.Robot("x", joints)).base.parameter_names))
    assert counts[0] == counts[1]


def test_coordinates_below_a_micrometre_do_not_add_parameters():
    counts = []
    for offset in (0.0, 3e-8, 1e-3):
        joints = (
            didim.Joint("a", "revolute"),
            didim.Joint("b", "revolute", 0, *placement(0.0, 0.0, 0.0, offset, 0.0, 0.0)),
        )
        counts.append(len(didim.DynamicModel(didim.Robot("x", joints)).base.parameter_names))
    assert counts[0] == counts[1] < counts[2]


def test_small_real_offsets_are_kept():
    """An elbow offset of a millimetre is geometry, not rounding: its square stands in the
    formula.
    """
    joints = (
        didim.Joint("a", "revolute"),
        didim.Joint("b", "revolute", 0, translation=np.array([1e-3, 0.0, 0.0])),
    )
    base = didim.DynamicModel(didim.Robot("crank", joints)).base
    assert base.formulas["ZZ1R"] == "ZZ1 + 1e-06*M2"
