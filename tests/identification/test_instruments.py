"""Instrumental variables: closed forms, rows that agree, the truth without noise, less bias with
it, and refusals.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import didim
from didim.errors import InfeasibleError
from didim.regression.instruments import explained, instrument_fit
from didim.regression.statistics import statistics
from didim.regression.system import LinearSystem
from didim.results.filtering import Filtering
from didim.results.instruments import Instruments
from didim.structure import estimate_tests
from support.virtual import errors, loop, model, scara_record

NOISE = 1e-4


def random_system(seed: int = 0) -> tuple[LinearSystem, np.ndarray]:
    """Equations of two joints in two records, and instruments."""
    random, r = np.random.default_rng(seed), 120
    Z = random.standard_normal((r, 3)) * [1.0, 1e3, 1e-2]
    W = Z + 0.3 * random.standard_normal((r, 3)) * [1.0, 1e3, 1e-2]
    y = Z @ [2.0, -1e-3, 30.0] + 0.1 * random.standard_normal(r)
    joint, series = np.repeat([0, 1], 60), np.tile(np.repeat([0, 1], 30), 2)
    index = np.tile(np.arange(30), 4)
    return LinearSystem(W, y, joint, series, index, ("a", "b", "c"), 2, np.ones(1)), Z


@pytest.mark.parametrize("weights", ["ols", "wls"])
def test_the_solution_is_the_closed_form(weights):
    """chi = (Z' S W)^-1 Z' S Y, sigma^2 (Z' S W)^-1 Z' S Z (W' S Z)^-1, and rho = Y - W chi."""
    system, Z = random_system()
    equations, solution = instrument_fit(system, Z, weights)
    S = solution.weights[:, None] ** 2
    inverse = np.linalg.inv(Z.T @ (S * system.W))
    expected = inverse @ (Z.T @ (S[:, 0] * system.y))
    np.testing.assert_allclose(solution.values, expected, rtol=1e-9)
    rho = system.residual(expected)
    np.testing.assert_allclose(equations.residual(expected), rho, atol=1e-12)
    variance = np.sum(S[:, 0] * rho**2) / (rho.size - 3)
    covariance = variance * inverse @ (Z.T @ (S * Z)) @ inverse.T
    np.testing.assert_allclose(statistics(equations, solution).covariance, covariance, rtol=1e-9)
    if weights == "wls":
        sizes = [np.sqrt(np.mean(rho[system.joint == j] ** 2)) for j in (0, 1)]
        np.testing.assert_allclose(1 / solution.weights[[0, -1]], sizes, rtol=0.1)


def test_instruments_that_do_not_identify_a_parameter_say_so():
    system, Z = random_system()
    _, solution = instrument_fit(system, Z * [1.0, 1.0, 0.0], "ols")
    assert solution.rank == 2
    assert solution.confounded.any()
    np.testing.assert_allclose(explained(system, system.W, np.ones(120)), system.W, rtol=1e-9)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"cutoff": 30.0, "rest_velocity": 0.05},
        {"cutoff": None, "decimate": "matlab", "trim": (7, 3)},
    ],
)
def test_instruments_of_the_measured_motion_are_the_measured_regressor(settings):
    """Cut, filtered, decimated and weighted alike, record by record: sample for sample."""
    first, second = (scara_record(encoder=1e-5, seed=seed)[0] for seed in (0, 1))
    records = (first, second.between(0.0, 11.3))
    filtering = Filtering(**{"decimation": 10, "has_instruments": True, **settings})
    rows = Instruments(filtering.rows(model().base, records), records)
    system, _ = rows.first
    motions = [rows.fitted.preprocessing.motion(each) for each in records]
    np.testing.assert_allclose(rows.columns(motions), system.W, atol=1e-12)


@pytest.mark.parametrize("initial", ["unit", "identity"])
def test_without_noise_the_truth_is_found(initial):
    """From the regular initialisations, whose inertias are off by a factor of four."""
    record = scara_record(periods=4)[0]
    method = didim.IV(controller=loop(), decimation=10, initial=initial)
    found = didim.identify(model(), record, method)
    assert found.status == "converged"
    assert found.iterations <= 5
    assert max(errors(found, model().base.nominal).values()) < 2e-3
    assert found.residual < 5e-3


def test_noise_of_the_positions_biases_idim_and_not_iv():
    record = noisy(0)
    shared = {"cutoff": None, "decimation": 4, "controller": loop()}
    idim, iv = (didim.identify(model(), record, each(**shared)) for each in (didim.IDIM, didim.IV))
    of_idim, of_iv = (
        np.abs(each.values - model().base.nominal) / each.corrected_sigma for each in (idim, iv)
    )
    assert of_idim.max() > 10
    assert of_iv.max() < 4
    assert idim.tests["durbin_wu_hausman"].rejects
    assert iv.tests["durbin_wu_hausman"].rejects
    assert iv.condition < 1e3


def noisy(seed: int) -> didim.Experiment:
    record = scara_record(noise=0.01, rate=500.0, periods=2)[0]
    return replace(
        record, q=record.q + NOISE * np.random.default_rng(seed).standard_normal(record.q.shape)
    )


def test_several_records_are_one_system():
    """Two halves of a record give nearly what the whole gives, with rows of both."""
    record = scara_record(noise=0.02, encoder=1e-5)[0]
    method = didim.IV(controller=loop(), decimation=10, cutoff=30.0)
    whole = didim.identify(model(), record, method)
    other = scara_record(noise=0.02, encoder=1e-5, seed=1)[0]
    both = didim.identify(model(), [record, other], method)
    assert both.rows == 2 * whole.rows
    assert np.median(both.corrected_sigma / whole.corrected_sigma) == pytest.approx(0.71, abs=0.1)
    assert np.all(np.abs(both.values - model().base.nominal) < 4 * both.corrected_sigma)


def test_known_values_are_held():
    record = scara_record(noise=0.02, encoder=1e-5)[0]
    held = didim.DynamicModel(model().robot, fixed={"Fv1": float(model().base.nominal[1])})
    found = didim.identify(held, record, didim.IV(controller=loop(), decimation=10))
    assert found.status == "converged"
    assert found.fixed == ("Fv1",)
    assert found.sigma[1] == 0.0
    assert np.all(np.abs(found.values - model().base.nominal) <= 4 * found.corrected_sigma)


def test_a_loop_that_cannot_be_simulated_is_a_status():
    record = scara_record(noise=0.02, encoder=1e-5)[0]
    unstable = didim.PD(kp=[1e3, 1e3], kv=[1e5, 1e5], rate=50.0)
    found = didim.identify(model(), record, didim.IV(controller=unstable, decimation=10))
    assert found.status is didim.Status.DIVERGED
    assert "first simulation" in found.message
    assert found.tests == {}


def test_a_loop_of_another_bandwidth_biases_little():
    record = scara_record(noise=0.02, encoder=1e-5, periods=4)[0]
    slower = didim.PD(natural_frequency=[14.0, 35.0])
    iv, by_torque = (
        didim.identify(model(), record, each(controller=slower, decimation=10))
        for each in (didim.IV, didim.DIDIM)
    )
    assert iv.status == "converged"
    assert max(errors(iv, model().base.nominal).values()) < 0.1
    assert max(errors(by_torque, model().base.nominal).values()) > 0.2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"q": None}, "no measured positions, which IV needs"),
        ({"q_ref": None}, "no reference"),
    ],
)
def test_records_without_what_it_needs_are_refused(change, message):
    record = replace(scara_record(noise=0.02)[0], **change)
    with pytest.raises(didim.InputError, match=message):
        didim.identify(model(), record, didim.IV(controller=loop()))


def test_shapes_that_would_have_to_be_estimated_are_refused():
    richer = didim.DynamicModel(model().robot, ["rotor", "viscous", "coulomb", "stribeck"])
    with pytest.raises(didim.InputError, match="not linear in"):
        didim.identify(richer, scara_record(noise=0.02)[0], didim.IV(controller=loop()))


def test_tests_that_do_not_apply_say_why():
    record = scara_record(noise=0.02, encoder=1e-5)[0]
    alone = didim.identify(model(), record, didim.IDIM(decimation=10)).tests
    assert not alone["durbin_wu_hausman"].applies
    assert "control loop" in alone["durbin_wu_hausman"].meaning
    blind = didim.identify(
        model(), replace(record, q=None), didim.DIDIM(controller=loop(), decimation=10)
    ).tests
    assert "positions were not measured" in blind["instruments"].meaning
    assert set(alone) == set(blind) == {
        "durbin_wu_hausman", "instruments", "whiteness_1", "whiteness_2", "normality_1",
        "normality_2",
    }  # fmt: skip
    assert all(0 <= blind[f"whiteness_{j}"].p_value <= 1 for j in (1, 2))


def test_tests_are_told_and_kept(tmp_path):
    record = scara_record(noise=0.02, encoder=1e-5)[0]
    found = didim.identify(model(), record, didim.IV(controller=loop(), decimation=10))
    assert all(test.applies for test in found.tests.values())
    again = didim.load_estimate(found.save(tmp_path / "x.json"))
    assert again.tests == found.tests
    assert again.preprocessing.reversals == found.preprocessing.reversals
    for test in found.tests.values():
        assert test.meaning in found.summary()


def test_friction_that_grows_with_the_load_is_followed():
    """Its column is that of the loads which the last iterate means."""
    richer = didim.DynamicModel(model().robot, ["rotor", "viscous", "coulomb", "load_friction"])
    phi = np.where(np.isnan(richer.nominal), 0.05, richer.nominal)
    trajectory = didim.Fourier.random(richer.robot, 1, period=7.3, periods=2, share=1.0)
    settings = {"rate": 200, "noise": 0.005, "encoder": 1e-6}
    record, _ = didim.virtual_experiment(richer, phi, loop(), trajectory, **settings)
    truth = richer.base.matrix @ phi
    for method in (didim.IV, didim.IDIM, didim.DIDIM):
        found = didim.identify(richer, record, method(controller=loop(), decimation=10))
        assert found.status == "converged"
        assert found.tests["durbin_wu_hausman"].applies
        if method is didim.IV:
            assert np.all(np.abs(found.values - truth) < 5 * found.corrected_sigma)


def test_an_estimate_that_cannot_be_simulated_is_tested_with_another_motion(monkeypatch):
    """Any motion of the loop gives instruments: that of the regular initialisation."""
    real, tried = estimate_tests.simulated_motions, []

    def failing_first(*given):
        tried.append(given[1])
        if len(tried) == 1:
            raise InfeasibleError("the loop cannot be simulated with these parameters")
        return real(*given)

    monkeypatch.setattr(estimate_tests, "simulated_motions", failing_first)
    record = scara_record(noise=0.02, encoder=1e-5)[0]
    found = didim.identify(model(), record, didim.IDIM(controller=loop(), decimation=10))
    assert found.tests["durbin_wu_hausman"].applies
    assert len(tried) == 2
