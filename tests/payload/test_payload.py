"""A payload: the truth without noise, intervals with it, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import didim
from didim.payload.identify import difference_of
from didim.robot.inertia import about_centre, is_consistent, pseudo_inertia
from support.loads import BODY, carrying, empty_estimate, exact, motion_record, pendulum
from support.virtual import model

NONE = np.zeros(10)


def loaded(seed=1, noise=0.0, body=BODY, **more):
    return motion_record(pendulum(), carrying(pendulum(), body), seed, noise=noise, **more)


def test_without_noise_the_load_is_found():
    found = didim.identify_payload(empty_estimate(pendulum()), loaded())
    mass, centre, _inertia = about_centre(BODY)
    assert found.mass == pytest.approx(mass, rel=1e-6)
    np.testing.assert_allclose(found.centre[:2], centre[:2], atol=1e-6)
    assert np.isinf(found.sigma.centre[2])  # along the axes, no torque depends on it
    assert found.parameters[5] == pytest.approx(BODY[5], rel=1e-5)  # ZZ about the joint
    assert {"M", "MX", "MY", "ZZ"} <= set(found.identified)
    assert "XX" not in found.identified
    assert np.linalg.eigvalsh(pseudo_inertia(found.parameters))[0] > -1e-9


def test_one_link_in_gravity_by_hand():
    """tau = ZZ ddq + g (MX sin q + MY cos q): the load adds its own, and no motion shows M."""
    robot = didim.Robot(
        "one", (didim.Joint("hinge", "revolute"),), gravity=np.array([9.81, 0.0, 0.0])
    )
    one = didim.DynamicModel(robot, ())
    t = np.arange(0, 10, 0.01)
    trajectory = didim.Fourier.random(robot, 2, period=5.0, periods=2)
    q, _, ddq = trajectory.sample(t)
    values = {"ZZ1": 0.5, "MX1": 1.2, "MY1": -0.3}
    added = {"ZZ1": 0.2, "MX1": 0.4, "MY1": 0.1}
    basis = [ddq, 9.81 * np.sin(q), 9.81 * np.cos(q)]

    def record(numbers):
        tau = sum(value * each for value, each in zip(numbers, basis, strict=True))
        return didim.Experiment(t, tau, trajectory, q)

    both = [value + added[name] for name, value in values.items()]
    empty = didim.identify(one, record(values.values()), exact())
    found = didim.identify_payload(empty, record(both))
    np.testing.assert_allclose(found.parameters[[5, 6, 7]], [0.2, 0.4, 0.1], atol=1e-6)
    assert np.isinf(found.sigma.mass)
    assert "does not identify the mass" in found.summary()
    assert is_consistent(found.parameters)


def test_the_difference_is_generalised_least_squares():
    empty = empty_estimate(pendulum(), noise=0.02)
    other = didim.identify(pendulum(), loaded(noise=0.02), exact())
    found = difference_of(empty, other, 1, held=False)
    used, seen = found.used, ~found.hidden
    V = empty.covariance[np.ix_(used, used)] + other.covariance[np.ix_(used, used)]
    B = found.B[np.ix_(used, np.flatnonzero(seen))]
    inverse = np.linalg.inv(V)
    phi = np.linalg.solve(B.T @ inverse @ B, B.T @ inverse @ (other.values - empty.values)[used])
    np.testing.assert_allclose(found.plain[seen], phi, rtol=1e-6)


@pytest.mark.slow
def test_intervals_hold_and_no_load_is_none():
    scores, zeros = [], []
    for seed in range(12):
        empty = empty_estimate(pendulum(), seed, 0.05)
        carried = didim.identify_payload(empty, loaded(seed + 50, 0.05))
        scores.append((carried.mass - BODY[9]) / carried.sigma.mass)
        nothing = didim.identify_payload(empty, loaded(seed + 90, 0.05, NONE))
        zeros.append(nothing.interval()[0] <= 0 and not nothing.is_seen)
    assert np.mean(np.abs(scores) < 3) >= 0.9
    assert 0.5 < np.sqrt(np.mean(np.square(scores))) < 1.6
    assert np.mean(zeros) >= 0.8


def test_the_uncertainty_of_the_empty_robot_counts():
    record = loaded(noise=0.01)
    sure = didim.identify_payload(empty_estimate(pendulum(), noise=0.01), record)
    vague = didim.identify_payload(empty_estimate(pendulum(), noise=0.1), record)
    assert vague.sigma.mass > 3 * sure.sigma.mass


def test_friction_that_is_held_makes_intervals_narrower_and_a_warm_robot_biased():
    empty = empty_estimate(pendulum(), noise=0.02)
    phi = carrying(pendulum(), BODY)
    for name in ("Fv1", "Fc1", "Fv2", "Fc2"):
        phi[pendulum().parameter_names.index(name)] *= 0.6
    warm = motion_record(pendulum(), phi, 3, noise=0.02)
    free = didim.identify_payload(empty, warm)
    held = didim.identify_payload(empty, warm, friction="held")
    assert abs(free.mass - BODY[9]) < 3 * free.sigma.mass
    assert held.sigma.mass < free.sigma.mass
    names = list(free.estimate.names)
    values = dict(zip(names, free.estimate.values, strict=True))
    assert values["Fv1"] == pytest.approx(0.6 * 0.085, rel=0.2)


def test_the_robot_with_its_load_is_exported(tmp_path):
    found = didim.identify_payload(empty_estimate(pendulum()), loaded())
    phi = carrying(pendulum(), BODY)
    np.testing.assert_allclose(found.estimate.values, pendulum().base.matrix @ phi, atol=1e-6)
    robot = found.estimate.to_robot(tmp_path / "loaded.urdf")
    again = didim.DynamicModel(didim.load_robot(tmp_path / "loaded.urdf"))
    assert again.robot.n == robot.n
    np.testing.assert_allclose(again.base.nominal, pendulum().base.matrix @ phi, atol=1e-5)


def test_in_either_order_the_load_is_what_they_differ_by():
    heavy = didim.identify(pendulum(), loaded(noise=0.01), exact())
    light = motion_record(pendulum(), np.nan_to_num(pendulum().nominal), 7, noise=0.01)
    found = didim.identify_payload(heavy, light)
    assert abs(found.mass - BODY[9]) < 4 * found.sigma.mass
    assert "that of the loaded robot" in found.notes[0]


def test_an_estimate_inside_the_physical_set_is_compared_by_its_plain_values(tmp_path):
    chosen = pendulum()
    phi = np.nan_to_num(chosen.nominal)
    for name in ("Fv1", "Fc1", "Fv2", "Fc2"):
        phi[chosen.parameter_names.index(name)] = 0.0
    record = motion_record(chosen, phi, 5, noise=0.05)
    inside = didim.identify(chosen, record, exact(consistent=True))
    plain = didim.identify(chosen, record, exact())
    assert inside.plain is not None
    np.testing.assert_allclose(inside.plain, plain.values)
    again = didim.load_estimate(inside.save(tmp_path / "empty.json"))
    np.testing.assert_array_equal(again.plain, inside.plain)
    masses = [didim.identify_payload(each, loaded(noise=0.05)).plain[9] for each in (again, plain)]
    assert masses[0] == pytest.approx(masses[1], rel=1e-9)


def test_the_load_at_another_link():
    phi = carrying(pendulum(), BODY, 0)
    found = didim.identify_payload(
        empty_estimate(pendulum()), motion_record(pendulum(), phi, 1), "shoulder"
    )
    assert found.parameters[6] == pytest.approx(BODY[6], rel=1e-5)  # MX
    assert np.isinf(found.sigma.mass)


def test_the_report_has_a_section_and_a_picture(tmp_path):
    found = didim.identify_payload(empty_estimate(pendulum(), noise=0.02), loaded(noise=0.02))
    page = found.report(tmp_path / "page.html").read_text()
    assert "What does the robot carry?" in page
    assert "Does the load explain what the empty robot leaves?" in page


def test_refusals_are_one_line():
    empty = empty_estimate(pendulum(), noise=0.01)
    scara = model("scara")
    three = motion_record(model("tx40"), np.nan_to_num(model("tx40").nominal), 1, seconds=3.0)
    with pytest.raises(didim.InputError, match="6 joints, robot 'double_pendulum' has 2"):
        didim.identify_payload(empty, three)
    with pytest.raises(didim.InputError, match="too short"):
        didim.identify_payload(empty, loaded().between(0.0, 0.45))
    amperes = replace(loaded(noise=0.01), tau=loaded(noise=0.01).tau / 12.0)
    with pytest.raises(didim.InputError, match="other units"):
        didim.identify_payload(empty, amperes)
    with pytest.raises(didim.InputError, match="estimate of the empty robot"):
        didim.identify_payload(scara, loaded())
    essential = empty_estimate(pendulum(), noise=0.01, essential=True)
    if essential.eliminated:
        with pytest.raises(didim.InputError, match="essential"):
            didim.identify_payload(essential, loaded())
    with pytest.raises(didim.InputError, match="friction"):
        didim.identify_payload(empty, loaded(), friction="warm")


@pytest.mark.long
def test_uncertain_torques_widen_the_interval_by_what_they_do():
    """Factors on both records, against the slopes that the covariance is made of."""
    rng = np.random.default_rng(0)
    empty, heavy = (
        motion_record(pendulum(), phi, 4, noise=0.001)
        for phi in (np.nan_to_num(pendulum().nominal), carrying(pendulum(), BODY))
    )
    plain = didim.identify_payload(didim.identify(pendulum(), empty, exact()), heavy)
    wide = didim.identify_payload(plain.empty, heavy, torque_sigma=0.05)
    masses = []
    for _ in range(40):
        factors = 1 + 0.05 * rng.standard_normal(2)
        scaled = [replace(each, tau=np.asarray(each.tau) * factors) for each in (empty, heavy)]
        first = didim.identify(pendulum(), scaled[0], exact())
        masses.append(didim.identify_payload(first, scaled[1]).plain[9])
    assert wide.sigma.mass == pytest.approx(np.std(masses), rel=0.35)
    assert plain.sigma.mass < 0.1 * wide.sigma.mass
    with pytest.raises(didim.InputError, match="torque_sigma"):
        didim.identify_payload(plain.empty, heavy, torque_sigma=-0.1)
