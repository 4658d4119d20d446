"""Kind, joint, unit and sign of every parameter, against what the model computes and what the
robot's description says. Names are only compared as wholes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import didim
from didim.dynamics.consistent import positive_parameters
from didim.dynamics.parameters import ParameterInfo, ParameterKind, Sign
from didim.results.identified import robot_with

ROBOTS = ("double_pendulum", "emps", "panda", "scara", "tx40")

LINK = {
    "XX": (ParameterKind.INERTIA, Sign.POSITIVE),
    "XY": (ParameterKind.INERTIA, Sign.ANY),
    "XZ": (ParameterKind.INERTIA, Sign.ANY),
    "YY": (ParameterKind.INERTIA, Sign.POSITIVE),
    "YZ": (ParameterKind.INERTIA, Sign.ANY),
    "ZZ": (ParameterKind.INERTIA, Sign.POSITIVE),
    "MX": (ParameterKind.FIRST_MOMENT, Sign.ANY),
    "MY": (ParameterKind.FIRST_MOMENT, Sign.ANY),
    "MZ": (ParameterKind.FIRST_MOMENT, Sign.ANY),
    "M": (ParameterKind.MASS, Sign.POSITIVE),
}
LINK_UNITS = {
    ParameterKind.INERTIA: "kg m²",
    ParameterKind.FIRST_MOMENT: "kg m",
    ParameterKind.MASS: "kg",
}
SYMMETRIC = {
    "rotor": (("Ia", ParameterKind.ROTOR, 0),),
    "viscous": (("Fv", ParameterKind.VISCOUS, 0),),
    "coulomb": (("Fc", ParameterKind.COULOMB, 0),),
    "offset": (("off", ParameterKind.OFFSET, 0),),
}
ASYMMETRIC = {
    "rotor": (("Ia", ParameterKind.ROTOR, 0),),
    "asymmetric_viscous": (("Fvp", ParameterKind.VISCOUS, 1), ("Fvn", ParameterKind.VISCOUS, -1)),
    "asymmetric_coulomb": (("Fcp", ParameterKind.COULOMB, 1), ("Fcn", ParameterKind.COULOMB, -1)),
}
EFFECT_UNITS = {
    "revolute": {
        ParameterKind.ROTOR: "kg m²",
        ParameterKind.VISCOUS: "N m s/rad",
        ParameterKind.COULOMB: "N m",
        ParameterKind.OFFSET: "N m",
    },
    "prismatic": {
        ParameterKind.ROTOR: "kg",
        ParameterKind.VISCOUS: "N s/m",
        ParameterKind.COULOMB: "N",
        ParameterKind.OFFSET: "N",
    },
}


def expected(robot, effects):
    """What the description says, joint by joint; `effects` as in SYMMETRIC, given to each joint
    that has them."""
    found = []
    for j, joint in enumerate(robot.joints):
        found += [
            ParameterInfo(f"{symbol}{j + 1}", symbol, kind, j, LINK_UNITS[kind], sign)
            for symbol, (kind, sign) in LINK.items()
        ]
        found += [
            ParameterInfo(
                f"{symbol}{j + 1}",
                symbol,
                kind,
                j,
                EFFECT_UNITS[joint.kind][kind],
                Sign.ANY if kind is ParameterKind.OFFSET else Sign.POSITIVE,
                direction,
            )
            for effect, parameters in effects.items()
            if effect in joint.effects or effects is ASYMMETRIC
            for symbol, kind, direction in parameters
        ]
    return found


@pytest.mark.parametrize("name", ROBOTS)
def test_every_parameter_of_every_shipped_robot(name):
    robot = didim.load_robot(name)
    model = didim.DynamicModel(robot)
    joints = [each for each in model.parameters if each.coupling is None]
    assert joints == expected(robot, SYMMETRIC)
    assert tuple(each.name for each in model.parameters) == model.parameter_names


def test_parameters_of_a_coupling():
    """Inertia and viscous friction of the TX40's wrist stand off the diagonal; Fcm6 is a limit."""
    model = didim.DynamicModel(didim.load_robot("tx40"))
    coupled = [each for each in model.parameters if each.coupling is not None]
    kinds = ParameterKind
    assert coupled == [
        ParameterInfo("Iam6", "Ia", kinds.ROTOR, 4, "kg m²", Sign.ANY, 0, "m6"),
        ParameterInfo("Fvm6", "Fv", kinds.VISCOUS, 4, "N m s/rad", Sign.ANY, 0, "m6"),
        ParameterInfo("Fcm6", "Fc", kinds.COULOMB, 4, "N m", Sign.POSITIVE, 0, "m6"),
    ]
    assert [each for each in model.base.parameters if each.coupling is not None] == coupled


@pytest.mark.parametrize("name", ["emps", "scara", "tx40"])
def test_asymmetric_friction_has_a_direction(name):
    robot = replace(didim.load_robot(name), couplings=())
    joints = tuple(replace(joint, effects=frozenset(), nominal={}) for joint in robot.joints)
    model = didim.DynamicModel(replace(robot, joints=joints), list(ASYMMETRIC))
    assert list(model.parameters) == expected(robot, ASYMMETRIC)
    directed = [each for each in model.base.parameters if each.direction]
    assert len(directed) == 4 * robot.n
    assert all(each.kind.is_friction and each.sign is Sign.POSITIVE for each in directed)


@pytest.mark.parametrize("name", ROBOTS)
def test_a_base_parameter_is_its_leading_standard_one(name):
    """Name and sign are its own; the rest is that of the standard parameter it is lifted to."""
    model = didim.DynamicModel(didim.load_robot(name))
    base = model.base
    leading = [model.parameters[int(column.argmax())] for column in base.lift.T]
    assert tuple(each.name for each in base.parameters) == base.parameter_names
    for each, standard in zip(base.parameters, leading, strict=True):
        assert replace(each, name=standard.name, sign=standard.sign) == standard


@pytest.mark.parametrize("name", ROBOTS)
def test_signs_hold_for_every_physically_consistent_robot(name):
    """Standard and base parameters that are POSITIVE are positive for random bodies, rotors and
    friction; each of the others that is a difference takes both signs.
    """
    model = didim.DynamicModel(didim.load_robot(name))
    rng = np.random.default_rng(5)
    draws = []
    for _ in range(60):
        phi = rng.standard_normal(len(model.parameters))
        for columns in model.layout.link:
            points = rng.standard_normal((4, 3))
            mass = rng.uniform(0.1, 1.0, 4)
            inertia = sum(
                m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(mass, points, strict=True)
            )
            phi[columns] = [*inertia[np.triu_indices(3)], *(mass @ points), mass.sum()]
        positive = positive_parameters(model)
        phi[positive] = np.abs(phi[positive])
        draws.append(phi)
    standard = np.array(draws)
    for parameters, values in (
        (model.parameters, standard),
        (model.base.parameters, standard @ model.base.matrix.T),
    ):
        for k, each in enumerate(parameters):
            if each.sign is Sign.POSITIVE:
                assert values[:, k].min() > 0
    free = [k for k, each in enumerate(model.parameters) if each.sign is Sign.ANY]
    assert np.all(standard[:, free].min(axis=0) < 0)
    assert np.all(standard[:, free].max(axis=0) > 0)


def test_a_difference_of_positive_parameters_may_have_any_sign():
    """XX2R of the TX40 regroups XX2 - YY2; ZZ1R of the SCARA is a sum of positive parameters."""
    tx40 = {
        each.name: each for each in didim.DynamicModel(didim.load_robot("tx40")).base.parameters
    }
    assert tx40["XX2R"].sign is Sign.ANY
    scara = didim.DynamicModel(didim.load_robot("scara")).base.parameters
    assert {each.name: each for each in scara}["ZZ1R"].sign is Sign.POSITIVE


@pytest.mark.parametrize("name", ROBOTS)
def test_friction_acts_on_its_own_joint_and_direction(name):
    """The regressor agrees: the columns of a joint's effects are zero in all other rows, and those
    of asymmetric friction while the joint moves the other way.
    """
    robot = replace(didim.load_robot(name), couplings=())
    model = didim.DynamicModel(robot, list(ASYMMETRIC))
    rng = np.random.default_rng(1)
    q, ddq = rng.standard_normal((2, 20, robot.n))
    speed = rng.uniform(0.5, 1.0, (20, robot.n))
    for moves in (1, -1):
        W = model.regressor(q, moves * speed, ddq)
        for k, each in enumerate(model.parameters):
            if each.kind.is_inertial:
                continue
            assert not np.delete(W[:, :, k], each.joint, axis=1).any()
            assert np.all(W[:, each.joint, k] != 0) == (each.direction in (0, moves))


@pytest.mark.parametrize("name", ROBOTS)
def test_the_inertia_of_a_joint_is_that_of_its_own_axis(name):
    """`axis_inertia` is the column that ddq_j alone multiplies by 1 on joint j."""
    model = didim.DynamicModel(didim.load_robot(name))
    n = model.robot.n
    for j, column in enumerate(model.layout.axis_inertia):
        ddq = np.eye(n)[j]
        W = model.regressor(np.zeros(n), np.zeros(n), ddq)[0]
        gravity = model.regressor(np.zeros(n), np.zeros(n), np.zeros(n))[0]
        assert (W - gravity)[j, column] == pytest.approx(1.0, abs=1e-12)
        kind = model.parameters[column].kind
        slides = model.robot.joints[j].kind == "prismatic"
        assert kind is (ParameterKind.MASS if slides else ParameterKind.INERTIA)
        assert model.parameters[column].joint == j


@pytest.mark.parametrize("name", ROBOTS)
def test_a_robot_with_other_values_has_the_same_parameters(name):
    """Values go to joints and couplings by what they are, and come back in the same places."""
    model = didim.DynamicModel(didim.load_robot(name))
    phi = 1.0 + np.arange(len(model.parameters), dtype=float)
    again = didim.DynamicModel(robot_with(model, phi))
    assert again.parameters == model.parameters
    np.testing.assert_array_equal(again.nominal, phi)
