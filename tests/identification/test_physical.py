"""`IDIM(consistent=True)`: least squares over the physically consistent set."""

from __future__ import annotations

import numpy as np
import pytest

import didim
from didim.dynamics.physical import lacks_of
from support.estimates import physical_parameters


def record(model, beta, noise, seed=0):
    """A record of inverse dynamics along a rich trajectory, with torque noise."""
    t = np.arange(0, 4, 0.01)
    q, dq, ddq = didim.Fourier.random(model.robot, seed, harmonics=6, period=4.0).sample(t)
    tau = model.base.inverse_dynamics(q, dq, ddq, beta)
    tau = tau + noise * np.random.default_rng(seed).standard_normal(tau.shape) * tau.std(axis=0)
    return didim.Experiment(t, tau, None, q)


def identified(model, beta, noise=0.02, **settings):
    method = didim.IDIM(cutoff=None, decimation=1, **settings)
    return didim.identify(model, record(model, beta, noise), method)


@pytest.fixture(scope="module")
def scara():
    return didim.DynamicModel(didim.load_robot("scara"))


@pytest.mark.parametrize("weights", ["ols", "wls", "irls"])
def test_inside_the_set_nothing_changes(scara, weights):
    beta = scara.base.matrix @ physical_parameters(scara)
    plain, inside = (
        identified(scara, beta, weights=weights, consistent=each) for each in (False, True)
    )
    np.testing.assert_array_equal(inside.values, plain.values)
    assert inside.notes == plain.notes
    assert inside.at_border == ()


def test_negative_friction_ends_at_zero(scara):
    """Without noise and far outside in one friction alone: the others follow as plain least squares
    with that friction left out.
    """
    names = np.array(scara.base.parameter_names)
    beta = np.where(names == "Fv2", -0.1, scara.base.nominal)
    plain = identified(scara, beta, 0.01)
    inside = identified(scara, beta, 0.01, consistent=True)
    assert not plain.consistency.physical
    assert set(plain.consistency.negative) == {"Fv2"}
    assert inside.consistency.physical
    assert inside.values[names == "Fv2"] == 0.0
    assert "Fv2" in inside.at_border
    assert inside.residual > plain.residual
    np.testing.assert_array_equal(inside.covariance, plain.covariance)
    line = next(each for each in inside.summary().splitlines() if each.startswith("Fv2"))
    assert "does not hold" in line
    at = np.flatnonzero(names == "Fv2")[0]
    P = inside.covariance
    expected = plain.values - P[:, at] / P[at, at] * plain.values[at]
    np.testing.assert_allclose(inside.values, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("weights", ["ols", "wls", "irls"])
def test_outside_the_set_it_is_physical_and_says_what_it_costs(weights):
    model = didim.DynamicModel(didim.load_robot("tx40"))
    beta = model.base.matrix @ physical_parameters(model)
    plain, inside = (
        identified(model, beta, 0.3, weights=weights, consistent=each) for each in (False, True)
    )
    assert not plain.consistency.physical
    assert inside.consistency.physical
    assert inside.residual < 1.1 * plain.residual
    assert len(inside.notes) == len(plain.notes) + 2
    assert np.linalg.norm(inside.values - beta) < np.linalg.norm(plain.values - beta)


def test_joints_that_stand_still_take_physical_values():
    """Where W does not see a parameter, the least squares solution of least length need not be
    physical.
    """
    model = didim.DynamicModel(didim.load_robot("scara"))
    t = np.arange(0, 4, 0.01)
    q, dq, ddq = didim.Fourier.random(model.robot, 0, harmonics=6, period=4.0).sample(t)
    q, dq, ddq = (each * [0.0, 1.0] for each in (q, dq, ddq))
    tau = model.inverse_dynamics(q, dq, ddq, model.nominal)
    plain, inside = (
        didim.identify(
            model,
            didim.Experiment(t, tau, None, q),
            didim.IDIM(cutoff=None, decimation=1, consistent=each),
        )
        for each in (False, True)
    )
    assert plain.status == inside.status == "unexcited"
    assert not plain.consistency.physical
    assert inside.consistency.physical
    assert inside.residual < 1.001 * plain.residual


@pytest.mark.parametrize("factor", [1e-4, 1e4])
def test_torques_in_other_units_end_in_a_robot_of_that_size(scara, factor):
    """A robot that is ten thousand times lighter or heavier than the described one."""
    names = np.array(scara.base.parameter_names)
    beta = factor * np.where(names == "ZZ2", -0.1, scara.base.nominal)
    plain, inside = (identified(scara, beta, 0.01, consistent=each) for each in (False, True))
    assert not plain.consistency.physical
    assert inside.consistency.physical
    assert inside.values[0] == pytest.approx(beta[0], rel=0.2)
    assert inside.residual < 0.2


def test_essential_and_consistent_exclude_each_other():
    with pytest.raises(didim.InputError, match="choose essential or consistent"):
        didim.IDIM(essential=True, consistent=True)
    with pytest.raises(didim.InputError, match="consistent"):
        didim.IDIM(consistent="yes")


@pytest.mark.parametrize("seed", range(4))
def test_what_is_physical_is_found_to_be(seed):
    """Base parameters of physical robots, described or not, and the same beyond the border."""
    model = didim.DynamicModel(didim.load_robot(["scara", "tx40", "panda", "emps"][seed]))
    phi = physical_parameters(model, 0.5, seed)
    theta = lacks_of(model.base, model.base.matrix @ phi).theta
    np.testing.assert_allclose(model.base.matrix @ theta, model.base.matrix @ phi, atol=1e-9)
    phi[model.layout.link] *= -1.0
    assert lacks_of(model.base, model.base.matrix @ phi).theta is None
