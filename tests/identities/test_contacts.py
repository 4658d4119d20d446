"""Coulomb contacts: what `slip` means, joint by joint and for the coupled wrist."""

from __future__ import annotations

import numpy as np
import pytest

import didim


@pytest.fixture
def tx40():
    return didim.DynamicModel(didim.load_robot("tx40"))


def column(model, W, name):
    return W[:, :, model.parameter_names.index(name)]


def test_contacts_are_joints_then_couplings(tx40):
    assert tx40.contacts == ("Fc1", "Fc2", "Fc3", "Fc4", "Fc5", "Fc6", "Fcm6")
    assert tx40.base.contacts == tx40.contacts
    assert didim.DynamicModel(tx40.robot, []).contacts == ()


def test_parameters_are_in_khalils_order(tx40):
    """Eq. 3, with the offset last; couplings follow all joints; asymmetric friction takes the place
    of the symmetric one.

    Tests (3).
    """
    first = [
        "XX1",
        "XY1",
        "XZ1",
        "YY1",
        "YZ1",
        "ZZ1",
        "MX1",
        "MY1",
        "MZ1",
        "M1",
        "Ia1",
        "Fv1",
        "Fc1",
        "off1",
    ]
    assert list(tx40.parameter_names[:14]) == first
    assert tx40.parameter_names[14] == "XX2"
    assert tx40.parameter_names[-4:] == ("off6", "Iam6", "Fvm6", "Fcm6")
    asymmetric = didim.DynamicModel(
        didim.load_robot("emps"), ["asymmetric_coulomb", "asymmetric_viscous", "rotor"]
    )
    assert asymmetric.parameter_names[10:] == ("Ia1", "Fvp1", "Fvn1", "Fcp1", "Fcn1")


def test_a_coupling_may_not_take_the_name_of_a_joint_contact():
    joints = tuple(
        didim.Joint(name, "revolute", j - 1, effects={"asymmetric_coulomb"})
        for j, name in enumerate("ab")
    )
    coupling = didim.Coupling("1", {0: 1.0, 1: 1.0}, frozenset({"coulomb"}))
    with pytest.raises(didim.InputError, match="Two contacts are called 'Fc1'"):
        didim.DynamicModel(didim.Robot("x", joints, couplings=(coupling,)))


def test_the_wrist_coupling_has_the_columns_of_the_record(tx40):
    """Joint 5 sees [ddq6, dq6, sign(dq5 + dq6)], joint 6 [ddq5, dq5, sign(dq5 + dq6)], the others
    nothing.
    """
    q, dq, ddq = np.random.default_rng(3).standard_normal((3, 30, 6))
    W = tx40.regressor(q, dq, ddq)
    turning = np.sign(dq[:, 4] + dq[:, 5])
    expected = {
        "Iam6": (ddq[:, 5], ddq[:, 4]),
        "Fvm6": (dq[:, 5], dq[:, 4]),
        "Fcm6": (turning, turning),
    }
    for name, (fifth, sixth) in expected.items():
        found = column(tx40, W, name)
        assert np.array_equal(found[:, 4], fifth)
        assert np.array_equal(found[:, 5], sixth)
        assert not found[:, :4].any()


def test_slip_replaces_the_sign_of_the_velocity(tx40):
    rng = np.random.default_rng(4)
    q, dq, ddq = rng.standard_normal((3, 10, 6))
    slip = rng.uniform(-1, 1, (10, 7))
    W = tx40.regressor(q, dq, ddq, slip)
    for j in range(6):
        assert np.array_equal(column(tx40, W, f"Fc{j + 1}")[:, j], slip[:, j])
    assert np.array_equal(column(tx40, W, "Fcm6")[:, 5], slip[:, 6])


def test_asymmetric_friction_by_hand():
    model = didim.DynamicModel(
        didim.load_robot("emps"), ["asymmetric_viscous", "asymmetric_coulomb"]
    )
    dq, slip = np.array([0.2, -0.3, 0.0, 0.0]), np.array([1.0, -1.0, 0.4, -0.4])
    zero = np.zeros(4)
    phi = np.zeros(len(model.parameter_names))
    value = {"M1": 5.0, "Fvp1": 10.0, "Fvn1": 20.0, "Fcp1": 3.0, "Fcn1": 4.0}
    for name, number in value.items():
        phi[model.parameter_names.index(name)] = number
    expected = [10 * 0.2 + 3, 20 * -0.3 - 4, 3 * 0.4, 4 * -0.4]
    assert np.allclose(model.inverse_dynamics(zero, dq, zero, phi, slip)[:, 0], expected)
    assert np.allclose(model.regressor(zero, dq, zero, slip)[:, 0] @ phi, expected)
    tau = np.array([1.0, 2.0, 3.0, 4.0])
    assert np.allclose(
        model.direct_dynamics(zero, dq, tau, phi, slip)[:, 0], (tau - expected) / 5.0
    )
