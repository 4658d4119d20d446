"""The SCARA against (64), (65) and M(q) written out by hand; the paper's LMX2 is 0.5*MX2."""

from __future__ import annotations

import numpy as np
import pytest

import didim

L = 0.5
CHI = {
    "ZZ1R": 3.44,
    "Fv1": 0.03,
    "Fc1": 0.82,
    "ZZ2": 0.062,
    "LMX2": 0.121,
    "LMY2": 0.007,
    "Fv2": 0.013,
    "Fc2": 0.137,
}


def equation_65(q, dq, ddq):
    """IDM (N, 2, 8), column by column as printed."""
    (_, q2), (d1, d2), (a1, a2) = q.T, dq.T, ddq.T
    c, s, zero = np.cos(q2), np.sin(q2), np.zeros(len(q))
    columns = [
        (a1, zero),
        (d1, zero),
        (np.sign(d1), zero),
        (a1 + a2, a1 + a2),
        ((2 * a1 + a2) * c - d2 * (2 * d1 + d2) * s, a1 * c + d1**2 * s),
        (-(2 * a1 + a2) * s - d2 * (2 * d1 + d2) * c, d1**2 * c - a1 * s),
        (zero, d2),
        (zero, np.sign(d2)),
    ]
    return np.stack([np.stack(rows, axis=1) for rows in columns], axis=2)


@pytest.fixture
def motion():
    return np.random.default_rng(5).uniform(-3, 3, (3, 50, 2))


def test_default_scara_has_the_eight_parameters_of_64():
    """Tests (64)."""
    base = didim.DynamicModel(didim.load_robot("scara")).base
    assert base.parameter_names == ("ZZ1R", "Fv1", "Fc1", "ZZ2", "MX2", "MY2", "Fv2", "Fc2")
    assert base.formulas["ZZ1R"] == "ZZ1 + Ia1 + 0.25*M2"


def test_regressor_is_equation_65(motion):
    """Tests (65)."""
    base = didim.DynamicModel(didim.load_robot("scara")).base
    scale = np.array([1, 1, 1, 1, 1 / L, 1 / L, 1, 1])
    assert np.allclose(base.regressor(*motion) * scale, equation_65(*motion), rtol=0, atol=1e-12)


def test_nominal_is_table_1(motion):
    base = didim.DynamicModel(didim.load_robot("scara")).base
    chi = np.array(list(CHI.values()))
    assert np.allclose(base.nominal * [1, 1, 1, 1, L, L, 1, 1], chi, rtol=1e-12)
    assert np.allclose(
        base.inverse_dynamics(*motion, base.nominal), equation_65(*motion) @ chi, rtol=0, atol=1e-12
    )


def test_inertia_matrix_by_hand():
    base = didim.DynamicModel(didim.load_robot("scara")).base
    q = np.array([[0.3, -1.1], [2.0, 0.4]])
    coupling = CHI["LMX2"] * np.cos(q[:, 1]) - CHI["LMY2"] * np.sin(q[:, 1])
    for M, k in zip(base.inertia_matrix(q, base.nominal), coupling, strict=True):
        expected = [
            [CHI["ZZ1R"] + CHI["ZZ2"] + 2 * k, CHI["ZZ2"] + k],
            [CHI["ZZ2"] + k, CHI["ZZ2"]],
        ]
        assert np.allclose(M, expected, rtol=1e-12)


def test_a_rotor_on_joint_2_would_not_regroup():
    """NOTES 2: with tau = Ia2*ddq2 the rank is 9, not 8."""
    from dataclasses import replace

    scara = didim.load_robot("scara")
    second = replace(scara.joints[1], effects=scara.joints[1].effects | {"rotor"})
    robot = replace(scara, joints=(scara.joints[0], second))
    assert len(didim.DynamicModel(robot).base.parameter_names) == 9


def test_double_pendulum_hangs_in_gravity():
    """At rest the torques are those of the two weights, M g l sin(q), by hand."""
    model = didim.DynamicModel(didim.load_robot("double_pendulum"), [])
    phi = dict(zip(model.base.parameter_names, model.base.nominal, strict=True))
    q = np.array([[0.7, -0.4]])
    elbow = 9.81 * phi["MX2"] * np.sin(q.sum())
    shoulder = 9.81 * phi["MX1R"] * np.sin(q[0, 0]) + elbow
    zero = np.zeros_like(q)
    assert np.allclose(
        model.inverse_dynamics(q, zero, zero, model.nominal), [[shoulder, elbow]], rtol=1e-12
    )
