"""Drive gains: closed forms, the truth without noise, intervals with it, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import didim
from support.loads import BODY, carrying, exact, motion_record, pendulum

GAINS = np.array([12.0, 3.0])
MASS = float(BODY[9])


def pair(noise=0.0, seed=0, gains=GAINS):
    chosen = pendulum()
    plain = np.nan_to_num(chosen.nominal)
    empty = motion_record(chosen, plain, seed, noise=noise, gains=gains)
    heavy = motion_record(chosen, carrying(chosen, BODY), seed + 100, noise=noise, gains=gains)
    return empty, heavy


@pytest.mark.parametrize("method", ["consistent", "wls", "tls"])
def test_without_noise_all_methods_find_the_gains(method):
    found = didim.identify_drive_gains(pendulum(), *pair(), mass=MASS, method=method, rows=exact())
    np.testing.assert_allclose(found.values, GAINS, rtol=1e-4)
    truth = pendulum().base.nominal
    np.testing.assert_allclose(found.estimate.values, truth, atol=2e-3 * np.abs(truth).max())


def test_least_squares_draws_gains_to_zero_and_the_likelihood_does_not():
    found = didim.identify_drive_gains(pendulum(), *pair(0.1), mass=MASS, rows=exact())
    assert np.all(np.abs(found.values - GAINS) < 4 * found.sigma)
    weighted = found.others["wls"]
    assert np.any(weighted.values < GAINS - 4 * weighted.sigma)


@pytest.mark.slow
def test_intervals_hold():
    scores = []
    for seed in range(10):
        found = didim.identify_drive_gains(pendulum(), *pair(0.05, seed), mass=MASS, rows=exact())
        scores.append((found.values - GAINS) / found.sigma)
    assert np.mean(np.abs(scores) < 3) >= 0.9
    assert 0.4 < np.sqrt(np.mean(np.square(scores))) < 1.7


def test_one_axis_with_a_known_mass_by_hand():
    """v = (M ddq + Fv dq) / g: the gain is the known mass over that of least squares in volts."""
    axis = didim.DynamicModel(
        didim.Robot("axis", (didim.Joint("slide", "prismatic"),), gravity=np.zeros(3)),
        ["viscous"],
    )
    t = np.arange(0, 10, 0.01)
    trajectory = didim.Fourier.random(axis.robot, 2, period=5.0, periods=2)
    q, dq, ddq = trajectory.sample(t)
    volts = (8.0 * ddq + 3.0 * dq) / 35.0
    noise = 0.01 * np.random.default_rng(0).standard_normal(volts.shape)
    record = didim.Experiment(t, volts + noise, trajectory, q)
    found = didim.identify_drive_gains(axis, record, fixed={"M1": 8.0}, rows=exact())
    again = didim.DynamicModel(axis.robot, ["viscous"], fixed={"M1": 8.0})
    same = didim.identify_drive_gains(again, record, rows=exact())
    assert same.values == pytest.approx(found.values, rel=1e-9)
    W = np.column_stack([ddq, dq])[20:-20]
    in_volts = np.linalg.lstsq(W, (volts + noise)[20:-20, 0], rcond=None)[0]
    assert found.values[0] == pytest.approx(8.0 / in_volts[0], rel=1e-4)
    assert found.estimate.values[1] == pytest.approx(8.0 * in_volts[1] / in_volts[0], rel=1e-3)


def test_a_known_first_moment_is_as_good_as_a_mass():
    found = didim.identify_drive_gains(
        pendulum(), *pair(), known={"MX": float(BODY[6])}, rows=exact()
    )
    np.testing.assert_allclose(found.values, GAINS, rtol=1e-4)


def test_records_become_torques():
    empty, heavy = pair(0.01)
    found = didim.identify_drive_gains(pendulum(), empty, heavy, mass=MASS, rows=exact())
    np.testing.assert_allclose(found.torque(empty).tau, np.asarray(empty.tau) * found.values)
    payload = didim.identify_payload(found.estimate, found.torque(heavy), method=exact())
    assert payload.mass == pytest.approx(MASS, rel=0.02)
    assert "wls" in found.summary()
    assert found.estimate.consistency.physical


def test_refusals_are_one_line():
    empty, heavy = pair(0.02)
    find = didim.identify_drive_gains
    with pytest.raises(didim.InputError, match="No number is known"):
        find(pendulum(), empty, heavy)
    with pytest.raises(didim.InputError, match="there is no record with the load"):
        find(pendulum(), empty, mass=MASS)
    with pytest.raises(didim.InputError, match="mass"):
        find(pendulum(), empty, heavy, mass=-1.0)
    with pytest.raises(didim.InputError, match="a load has no 'weight'"):
        find(pendulum(), empty, heavy, known={"weight": 1.0})
    milli = replace(heavy, tau=1000.0 * np.asarray(heavy.tau))
    with pytest.raises(didim.InputError, match="other units"):
        find(pendulum(), empty, milli, mass=MASS, rows=exact())
    with pytest.raises(didim.InputError, match="too short"):
        find(pendulum(), empty, heavy.between(0.0, 0.45), mass=MASS, rows=exact())
    other = didim.Experiment(heavy.t, heavy.tau[:, :1], None, heavy.q[:, :1])
    with pytest.raises(didim.InputError, match="has 1 joints"):
        find(pendulum(), empty, other, mass=MASS)


def test_a_load_that_hardly_acts_is_refused_by_name():
    empty, _ = pair(0.05)
    light = motion_record(
        pendulum(), carrying(pendulum(), 0.005 * BODY), 9, noise=0.05, gains=GAINS
    )
    with pytest.raises(didim.InputError, match=r"drive gain of joint 1 \(shoulder\)"):
        didim.identify_drive_gains(pendulum(), empty, light, mass=0.005 * MASS, rows=exact())


def test_without_a_load_a_known_first_moment_sets_the_scale():
    empty, _ = pair(0.02)
    moment = dict(zip(pendulum().base.parameter_names, pendulum().base.nominal, strict=True))["MX2"]
    found = didim.identify_drive_gains(pendulum(), empty, fixed={"MX2": moment}, rows=exact())
    assert np.all(np.abs(found.values - GAINS) < 4 * found.sigma)
    assert found.load is None
    assert found.known == {"MX2": moment}
