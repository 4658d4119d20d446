"""Identities that hold for every robot and every parameter vector, on trees drawn by hypothesis."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import didim
from didim.robot.dh import placement
from didim.robot.effects import STEMS
from didim.robot.inertia import transformed
from support.energy import energy

# Angles and lengths are zero or clearly not: what lies between counts as rounding of a file, see
# tests/analytic.
ANGLES = st.sampled_from([0.0, np.pi / 2, -np.pi / 2, np.pi, *np.linspace(-1.5, 1.4, 30)])
LENGTHS = st.one_of(st.just(0.0), st.floats(1e-3, 0.5), st.floats(-0.5, -1e-3))
EFFECT_SETS = [
    set(),
    {"rotor", "viscous", "coulomb"},
    {"viscous", "coulomb", "offset"},
    {"rotor", "asymmetric_viscous", "asymmetric_coulomb"},
]


@st.composite
def robots(draw) -> didim.Robot:
    n = draw(st.integers(1, 6))
    joints = []
    for j in range(n):
        rotation, translation = placement(
            *(draw(s) for s in (ANGLES, LENGTHS, ANGLES, LENGTHS, ANGLES, LENGTHS))
        )
        joints.append(
            didim.Joint(
                f"joint{j}",
                draw(st.sampled_from(["revolute", "revolute", "prismatic"])),
                draw(st.integers(-1, j - 1)) if draw(st.booleans()) else j - 1,
                rotation,
                translation,
                effects=frozenset(draw(st.sampled_from(EFFECT_SETS))),
            )
        )
    couplings = ()
    if n > 1 and draw(st.booleans()):
        weights = {0: 1.0, n - 1: draw(st.sampled_from([1.0, -2.0]))}
        couplings = (didim.Coupling("m", weights),)
    return didim.Robot(
        "drawn",
        tuple(joints),
        np.array(draw(st.sampled_from([(0, 0, -9.81), (3, -4, 1)])), float),
        couplings,
    )


@st.composite
def models_in_motion(draw):
    model = didim.DynamicModel(draw(robots()))
    n, c, p = model.robot.n, len(model.contacts), len(model.parameter_names)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    q, dq, ddq = rng.uniform(-2, 2, (3, 7, n))
    slip = draw(st.sampled_from([None, rng.uniform(-1, 1, (7, c))]))
    return model, q, dq, ddq, slip, rng.standard_normal(p)


def same(a, b) -> bool:
    return np.allclose(a, b, rtol=1e-10, atol=1e-11 * (1 + np.abs(b).max(initial=0.0)))


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(models_in_motion())
def test_regressor_times_phi_is_inverse_dynamics(case):
    """Tests (2)."""
    model, q, dq, ddq, slip, phi = case
    assert same(
        model.regressor(q, dq, ddq, slip) @ phi, model.inverse_dynamics(q, dq, ddq, phi, slip)
    )


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(models_in_motion())
def test_base_reproduces_the_standard_model(case):
    """Tests (4), (6)."""
    model, q, dq, ddq, slip, phi = case
    base = model.base
    beta = base.matrix @ phi
    tau = model.inverse_dynamics(q, dq, ddq, phi, slip)
    assert np.allclose(base.matrix @ base.lift, np.eye(len(beta)), atol=1e-12)
    assert same(base.regressor(q, dq, ddq, slip) @ beta, tau)
    assert same(base.inverse_dynamics(q, dq, ddq, beta, slip), tau)
    assert same(base.inertia_matrix(q, beta), model.inertia_matrix(q, phi))


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(models_in_motion())
def test_inertia_matrix_is_the_part_of_the_torque_that_is_linear_in_ddq(case):
    model, q, dq, ddq, slip, phi = case
    still = model.inverse_dynamics(q, dq, 0 * ddq, phi, slip)
    M = model.inertia_matrix(q, phi)
    assert same(M, M.transpose(0, 2, 1))
    assert same(
        np.einsum("kij,kj->ki", M, ddq), model.inverse_dynamics(q, dq, ddq, phi, slip) - still
    )


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(models_in_motion())
def test_each_joint_is_a_double_integrator_with_a_perturbation(case):
    """tau_j = M_jj ddq_j - p_j, where -p_j is what the other joints' accelerations and N(q, dq)
    add.

    Tests (49), (50).
    """
    model, q, dq, ddq, slip, phi = case
    M, tau = model.inertia_matrix(q, phi), model.inverse_dynamics(q, dq, ddq, phi, slip)
    for j in range(model.robot.n):
        alone = np.zeros_like(ddq)
        alone[:, j] = ddq[:, j]
        p = (
            model.inverse_dynamics(q, dq, alone, phi, slip)[:, j]
            - tau[:, j]
            - model.inverse_dynamics(q, dq, 0 * ddq, phi, slip)[:, j]
        )
        assert same(tau[:, j], M[:, j, j] * ddq[:, j] - p)


def solid_parameters(model: didim.DynamicModel, rng: np.random.Generator) -> np.ndarray:
    """Parameters of bodies that can exist, with positive friction and rotors that need nothing of
    their coupling.
    """
    phi = rng.uniform(0.1, 1.0, len(model.parameter_names))
    for columns in model.layout.link:
        mass, size = rng.uniform(0.5, 3.0), rng.uniform(0.05, 0.2, 3)
        at_centre = [*np.diag(mass * (size @ size - size**2))[np.triu_indices(3)], 0, 0, 0, mass]
        phi[columns] = transformed(at_centre, np.eye(3), rng.uniform(-0.2, 0.2, 3))
    for k, name in enumerate(model.parameter_names):
        if name == "Iam":
            phi[k] = 0.0
    return phi


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(models_in_motion(), st.integers(0, 2**32 - 1))
def test_direct_dynamics_inverts_inverse_dynamics(case, seed):
    """Tests (21)."""
    model, q, dq, ddq, slip, _ = case
    phi = solid_parameters(model, np.random.default_rng(seed))
    tau = model.inverse_dynamics(q, dq, ddq, phi, slip)
    condition = np.linalg.cond(model.inertia_matrix(q, phi)).max()
    found = model.direct_dynamics(q, dq, tau, phi, slip)
    assert np.allclose(found, ddq, atol=1e-13 * condition * (1 + np.abs(tau).max()))
    assert np.allclose(
        model.base.direct_dynamics(q, dq, tau, model.base.matrix @ phi, slip),
        ddq,
        atol=1e-11 * condition * (1 + np.abs(tau).max()),
    )


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(robots(), st.integers(0, 2**32 - 1))
def test_energy_balance(robot, seed):
    """Along a smooth motion, the work of the joints less what friction takes is the gain of kinetic
    and potential energy.
    """
    model = didim.DynamicModel(robot)
    rng = np.random.default_rng(seed)
    phi = rng.standard_normal(len(model.parameter_names))
    amplitude, phase = rng.uniform(-1, 1, (2, robot.n))
    nodes, weights = np.polynomial.legendre.leggauss(24)
    t = (0.5 * (nodes + 1))[:, None]
    q, dq, ddq = (
        amplitude * np.sin(t + phase),
        amplitude * np.cos(t + phase),
        -amplitude * np.sin(t + phase),
    )
    tau = model.inverse_dynamics(q, dq, ddq, phi)
    lossless = phi.copy()
    friction = {stem for stems in STEMS.values() for stem in stems} - {"Ia"}
    for k, name in enumerate(model.parameter_names):
        if name.rstrip("0123456789") in friction | {"Fvm", "Fcm"}:
            lossless[k] = 0.0
    lost = model.inverse_dynamics(q, dq, ddq, phi - lossless)
    work = 0.5 * weights @ np.sum(dq * (tau - lost), axis=1)
    ends = [(amplitude * np.sin(s + phase), amplitude * np.cos(s + phase)) for s in (0.0, 1.0)]
    gain = energy(model, *ends[1], phi) - energy(model, *ends[0], phi)
    assert work == pytest.approx(gain, rel=1e-9, abs=1e-9 * (1 + np.abs(tau).max()))


@settings(max_examples=25, deadline=None)
@given(robots(), st.integers(0, 2**32 - 1))
def test_derivatives_are_those_of_the_torque(robot, seed):
    """By central differences, friction of every kind and prismatic joints included; Coulomb torques
    stay as they are.
    """
    model = didim.DynamicModel(robot)
    random = np.random.default_rng(seed)
    n, phi = robot.n, random.uniform(-1, 1, len(model.parameter_names))
    q, dq, ddq = random.uniform(-1, 1, (3, 2, n))
    dq += 0.1 * np.sign(dq)
    slip = np.sign(model.contact_velocities(dq))
    by_q, by_dq = model.derivatives(q, dq, ddq, phi)
    for k in range(n):
        step = 1e-6 * np.eye(n)[k]
        forward, backward = (
            model.inverse_dynamics(q + s * step, dq, ddq, phi, slip) for s in (1, -1)
        )
        np.testing.assert_allclose(by_q[:, :, k], (forward - backward) / 2e-6, atol=1e-6)
        forward, backward = (
            model.inverse_dynamics(q, dq + s * step, ddq, phi, slip) for s in (1, -1)
        )
        np.testing.assert_allclose(by_dq[:, :, k], (forward - backward) / 2e-6, atol=1e-6)
