"""Curves of friction and of effects of the position: against inverse dynamics, and how often their
bands hold the truth.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import didim
from support.reported import found
from support.virtual import inverse_record, model

FRICTION = ("viscous", "coulomb", "offset", "stribeck", "viscous_power")
TRUTH = {
    "Fv1": 0.3, "Fc1": 0.8, "off1": 0.1, "dFs1": 0.5, "Fvq1": 0.05, "Fvr1": 0.02,
    "Fv2": 0.02, "Fc2": 0.1, "off2": -0.05, "dFs2": 0.1, "Fvq2": 0.01, "Fvr2": 0.01,
    "mu1": 0.1, "mu2": 0.2, "FvT1": -0.002, "FcT1": -0.01, "ks1": 3.0, "ks2": 0.5,
    "Fcp1": 0.9, "Fcn1": 0.6, "Fcp2": 0.1, "Fcn2": 0.2, "Fvp1": 0.3, "Fvn1": 0.2,
    "Rs1": 0.4, "k_cable": 0.7,
}  # fmt: skip
DIFFERENTIATED = 0.02
"""N m that differentiating positions of 100 Hz leaves of rows without noise."""

CABLE = didim.Effect(
    "cable",
    "k * (q - q0) ^ 3",
    {"k": {"unit": "N.m/rad^3"}},
    fixed={"q0": 0.2},
    joint=1,
    conservative=True,
)


def true_parameters(chosen: didim.DynamicModel) -> np.ndarray:
    phi = np.nan_to_num(chosen.nominal)
    for k, name in enumerate(chosen.parameter_names):
        phi[k] = TRUTH.get(name, phi[k])
    return phi


def exact(*effects: str | didim.Effect, noise: float = 0.0) -> didim.Estimate:
    """An estimate whose values are the truth, with the sigma of a fit."""
    chosen = didim.DynamicModel(didim.load_robot("scara"), ["rotor", *effects])
    phi = true_parameters(chosen)
    record = inverse_record(chosen, phi, noise)
    b = len(chosen.base.parameter_names)
    found = didim.identify(model(), record, didim.IDIM(cutoff=None, decimation=1))
    return replace(
        found,
        model=chosen.base,
        names=chosen.base.parameter_names,
        values=chosen.base.matrix @ phi,
        covariance=1e-4 * np.eye(b),
        corrected_covariance=1e-4 * np.eye(b),
        experiments=(record,),
    )


def friction_torque(estimate, joint, speed, direction, signals=None):
    """Torque at this speed, less the inertia, gravity and springs of a model without friction."""
    chosen = estimate.model
    n, free = chosen.robot.n, didim.DynamicModel(chosen.robot, ["rotor"])
    q = np.median(estimate._rows[0].motion.q, axis=0)[None]
    dq = np.zeros((1, n))
    dq[0, joint] = speed
    slip = np.zeros((1, n))
    slip[0, joint] = direction
    tau = chosen.inverse_dynamics(q, dq, 0 * q, estimate.parameters, slip, signals)
    bare = free.inverse_dynamics(q, dq, 0 * q, np.nan_to_num(free.nominal))
    return float((tau - bare)[0, joint])


@pytest.mark.parametrize(
    "effects",
    [FRICTION, ("asymmetric_viscous", "asymmetric_coulomb"), ("coulomb", "temperature")],
    ids=lambda effects: effects[-1],
)
def test_the_curve_is_the_torque_at_a_velocity_without_that_of_the_links(effects):
    estimate = exact(*effects)
    for joint in (0, 1):
        curve = estimate.friction(joint)
        signals = {name: [value] for name, value in curve.channels.items()}
        zero = int(np.flatnonzero(curve.velocity == 0)[0])
        for k in (0, zero, zero + 1, zero + 40, len(curve.velocity) - 1):
            direction = -1.0 if k <= zero else 1.0
            torque = friction_torque(estimate, joint, curve.velocity[k], direction, signals)
            assert curve.torque[k] == pytest.approx(torque, abs=1e-12)
        assert np.all(np.diff(curve.velocity) >= 0)
        assert curve.velocity[zero] == curve.velocity[zero + 1] == 0.0


def test_points_are_the_measured_torque_without_that_of_the_links():
    estimate = exact(*FRICTION, noise=0.1)
    rows, curve = estimate._rows[0], estimate.friction(0)
    motion, free = rows.motion, didim.DynamicModel(estimate.model.robot, ["rotor"])
    bare = free.inverse_dynamics(motion.q, motion.dq, motion.ddq, np.nan_to_num(free.nominal))
    moves = rows.moves[:, 0]
    np.testing.assert_allclose(curve.points, (rows.y - bare)[moves, 0], atol=1e-10)
    np.testing.assert_array_equal(curve.points_x, motion.dq[moves, 0])
    assert curve.scatter == pytest.approx(0.1, rel=0.2)


def test_friction_grows_by_mu_times_the_load_and_points_are_at_the_typical_one():
    estimate = exact("viscous", "coulomb", "load_friction")
    free, loaded = estimate.friction(0, load=0.0), estimate.friction(0, load=5.0)
    way = np.where(np.arange(free.x.size) < free.x.size // 2, -1.0, 1.0)
    np.testing.assert_allclose(loaded.torque - free.torque, 0.1 * 5.0 * way, atol=1e-12)
    typical = estimate.friction(0)
    at = estimate._rows[0].motion
    load = estimate.model.loads(at.q, at.dq, at.ddq, estimate.parameters)[:, 0]
    assert typical.load == pytest.approx(np.sqrt(np.mean(load**2)))
    assert typical.scatter < DIFFERENTIATED  # rows of other loads lie on the curve too


def test_effects_of_the_position_are_a_curve_of_their_own():
    estimate = exact("viscous", "coulomb", "spring", CABLE)
    curve = estimate.position_torque("joint_1")
    expected = 3.0 * curve.position + 0.7 * (curve.position - 0.2) ** 3
    np.testing.assert_allclose(curve.torque, expected, atol=1e-12)
    assert curve.scatter < DIFFERENTIATED
    other = estimate.position_torque(1)
    np.testing.assert_allclose(other.torque, 0.5 * other.position)
    plain = exact("viscous", "coulomb").friction(0)
    np.testing.assert_allclose(estimate.friction(0).torque, plain.torque, atol=1e-12)


def test_the_band_is_that_of_the_parameters_and_shapes():
    estimate = exact("viscous", "coulomb", "stribeck")
    curve, factor = estimate.friction(0), estimate.quantile()
    v = np.abs(curve.velocity)
    falls = np.exp(-((v / 0.1) ** 2))
    plain = 0.01 * np.sqrt(v**2 + 1 + falls**2)
    np.testing.assert_allclose(curve.high - curve.torque, factor * plain, atol=1e-12)
    shaped = replace(estimate, shapes={"vs1": (0.1, 0.02), "vs2": (0.1, 0.0)}).friction(0)
    by_shape = 0.5 * falls * 2 * v**2 / 0.1**3
    np.testing.assert_allclose(
        shaped.torque - shaped.low, factor * (plain + 0.02 * by_shape), atol=1e-12
    )
    covariance = estimate.corrected_covariance.copy()
    fv = estimate.names.index("Fv1")
    covariance[fv, fv] = np.inf
    unknown = replace(estimate, corrected_covariance=covariance).friction(0)
    assert np.array_equal(np.isinf(unknown.high), curve.velocity != 0)


@pytest.mark.slow
@pytest.mark.parametrize(("effects", "seeds"), [(("offset",), 30), (("stribeck",), 4)])
def test_the_band_holds_the_true_curve(effects, seeds):
    chosen = model("scara", ("rotor", "viscous", "coulomb", *effects))
    phi = true_parameters(chosen)
    clean = inverse_record(chosen, phi)
    held = []
    for seed in range(seeds):
        noise = 0.2 * np.random.default_rng(seed).standard_normal(clean.tau.shape)
        record = replace(clean, tau=clean.tau + noise)
        estimate = didim.identify(chosen, record, didim.IDIM(cutoff=None, decimation=1))
        truth = replace(estimate, model=chosen.base, values=chosen.base.matrix @ phi)
        for joint in (0, 1):
            curve, true = estimate.friction(joint), truth.friction(joint).torque
            held.append(np.mean((curve.low <= true) & (true <= curve.high)))
    assert 0.88 < np.mean(held) <= 1.0


@pytest.mark.slow
def test_rows_follow_the_measured_motion_or_the_simulated_one():
    estimate = found("DIDIM")
    record = estimate.experiments[0]
    curve = estimate.friction(1)
    blind = replace(estimate, experiments=(replace(record, q=None),)).friction(1)
    assert curve.points.size
    assert blind.points.size
    assert not np.array_equal(curve.points_x, blind.points_x)
    assert blind.scatter == pytest.approx(curve.scatter, rel=0.3)
    short = replace(estimate, experiments=(record.between(0.0, 0.1),)).friction(1)
    assert short.points.size == 0


def test_without_records_a_curve_has_no_points(tmp_path):
    estimate = exact("viscous", "coulomb", "temperature")
    loaded = didim.load_estimate(estimate.save(tmp_path / "x.json"))
    with pytest.raises(didim.InputError, match="channel 'temperature'"):
        loaded.friction(0)
    curve = loaded.friction(0, channels={"temperature": 30.0})
    assert curve.points.size == 0
    assert curve.scatter == 0.0
    assert (curve.velocity[0], curve.velocity[-1]) == (-1.0, 1.0)
    at_rest = curve.torque[curve.velocity == 0]
    np.testing.assert_allclose(at_rest, [-0.7, 0.7])  # Fc + FcT (30 - 20)


def test_what_has_no_curve_is_refused():
    estimate = exact("viscous", "coulomb")
    for wrong, message in ((2, "joints 0 to 1"), ("joint_3", "joint_3"), (-1, "at least 0")):
        with pytest.raises(didim.InputError, match=message):
            estimate.friction(wrong)
    with pytest.raises(didim.InputError, match="no spring"):
        estimate.position_torque(0)
    with pytest.raises(didim.InputError, match="has no friction"):
        exact("offset").friction(0)


def test_couplings_are_no_friction_of_one_joint():
    arm = model("tx40")
    from didim.results.effect_columns import effect_columns

    names = np.array(arm.base.parameter_names)
    shown = set(names[effect_columns(arm.base, 5).friction])
    assert shown == {"Fv6", "Fc6", "off6"} & set(names)
    assert any(each.coupling for each in arm.parameters)
