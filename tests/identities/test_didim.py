"""Noise-free DIDIM returns the truth; what each step does is what section IV says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import didim
from didim.control.transient import transient_of
from didim.results.start import start_of
from support.virtual import loop, model, scara_record


@pytest.mark.slow
@pytest.mark.parametrize("initial", ["identity", "unit"])
@pytest.mark.parametrize(
    ("share", "period", "sticks"),
    [(1.0, 7.3, 0.01), (0.6, 13.7, 0.02)],
    ids=["sliding", "sticking"],
)
def test_noise_free_didim_returns_the_truth(initial, share, period, sticks):
    """Tests (35), (42)."""
    experiment, truth = scara_record((20.0, 100.0), share=share, period=period)
    assert (truth.motion.stuck.mean() > 0.01) == (sticks > 0.01)
    found = didim.identify(
        model(),
        replace(experiment, q=None),
        didim.DIDIM(controller=loop((20.0, 100.0)), initial=initial),
    )
    assert found.status == "converged"
    assert np.abs(found.values / model().base.nominal - 1).max() < 1e-6
    assert found.residual < 1e-8


@pytest.mark.slow
def test_sampled_laws_too():
    experiment, _ = scara_record((20.0, 50.0), law_rate=200.0)
    found = didim.identify(
        model(), replace(experiment, q=None), didim.DIDIM(controller=loop(rate=200.0))
    )
    assert np.abs(found.values / model().base.nominal - 1).max() < 1e-6


def test_the_start_of_identity_has_the_identity_as_inertia_matrix():
    """(61), (62): through rotors that the SCARA's second joint does not have.

    Tests (61), (62).
    """
    start = start_of(model().base, "identity")
    q = np.random.default_rng(0).uniform(-3, 3, (5, 2))
    assert np.allclose(start.model.inertia_matrix(q, start.parameters), np.eye(2))


def test_the_start_of_unit_is_that_of_section_vi_b():
    """(63) on the SCARA: chi^0 = [1 0 0 1 0 0 0 0].

    Tests (63).
    """
    assert start_of(model().base, "unit").base.tolist() == [1, 0, 0, 1, 0, 0, 0, 0]


def test_a_prismatic_joint_starts_with_a_mass():
    assert start_of(model("emps").base, "unit").base[0] == 1.0


def test_the_first_step_is_least_squares_on_the_first_simulation():
    """One step by hand: simulate with chi^0 and gains retuned for it, build W, solve; no guard acts
    here.

    Tests (37), (41), (44)-(48).
    """
    experiment, _ = scara_record(noise=0.05)
    scara, controller = model(), loop()
    chi0 = start_of(scara.base, "unit").base
    retuned = controller.retuned(didim.largest_inertias(scara.base, chi0))
    motion = didim.simulate(scara.base, chi0, retuned, t=experiment.t, q_ref=experiment.q_ref)
    W = scara.base.regressor(motion.q, motion.dq, motion.ddq, motion.slip)
    cut = np.asarray(experiment.t) >= 2.0
    stacked, y = W[cut].transpose(1, 0, 2).reshape(-1, 8), np.asarray(experiment.tau)[cut].T.ravel()
    by_hand = np.linalg.lstsq(stacked, y, rcond=None)[0]
    settings = didim.DIDIM(
        controller=controller, decimation=1, weights="ols", transient=2.0, max_iterations=1
    )
    found = didim.identify(scara, experiment, settings)
    assert np.allclose(found.history[1].parameters, by_hand, rtol=1e-9)
    assert found.history[0].residual == pytest.approx(
        np.linalg.norm(y - stacked @ chi0) / np.linalg.norm(y)
    )


@pytest.mark.slow
def test_gains_follow_the_parameters():
    """(59): kp never changes, kv is 2 zeta omega J(chi^k).

    Tests (59).
    """
    experiment, _ = scara_record(noise=0.05)
    found = didim.identify(model(), experiment, didim.DIDIM(controller=loop()))
    for step in found.history:
        J = didim.largest_inertias(model().base, step.parameters)
        assert np.allclose(step.gains["kp"], [10.0, 25.0])
        assert np.allclose(step.gains["kv"], 2 * np.array([20.0, 50.0]) * J)
    assert np.allclose(found.controller.inertia, J)


@pytest.mark.long
def test_gains_that_are_given_stay():
    experiment, truth = scara_record()
    fixed = truth.controller.gains(2, np.ones(2), np.asarray(truth.controller.inertia))
    controller = didim.PD(kp=fixed.kp, kv=fixed.kv)
    found = didim.identify(
        model(), experiment, didim.DIDIM(controller=controller, initial="nominal")
    )
    assert np.array_equal(found.history[0].gains["kv"], found.history[-1].gains["kv"])
    assert np.abs(found.values / model().base.nominal - 1).max() < 1e-6


def test_the_transient_is_ten_over_the_slowest_pole():
    """Two joints, far apart: for the PD with little friction the slowest pole is that of the slow
    joint.
    """
    scara = model()
    controller = didim.PD(
        natural_frequency=[5.0, 100.0], inertia=didim.largest_inertias(scara, scara.nominal)
    )
    cut = transient_of(scara, scara.nominal, controller, np.zeros((10, 2)))
    poles = didim.linearise(scara, scara.nominal, controller, np.zeros(2)).eigenvalues
    assert cut == pytest.approx(10 / np.abs(poles.real).min())
    assert cut > 5 / 5.0


@pytest.mark.slow
def test_both_stopping_tests_count():
    """On a noisy record, a tighter tolerance on the error or on the parameters takes more steps;
    each ends converged.

    Tests (34).
    """
    experiment, _ = scara_record((10.0, 25.0), noise=0.05)
    steps = {}
    for residual, parameters in ((0.5, 0.5), (1e-9, 0.5), (0.5, 1e-7)):
        tolerances = {"tol_residual": residual, "tol_parameters": parameters}
        method = didim.DIDIM(
            controller=loop((10.0, 25.0)),
            accelerate=False,
            exact_interval=False,
            max_iterations=50,
            **tolerances,
        )
        found = didim.identify(model(), experiment, method)
        assert found.status == "converged"
        steps[residual, parameters] = found.iterations
    assert steps[0.5, 0.5] < min(steps[1e-9, 0.5], steps[0.5, 1e-7])


@pytest.mark.slow
def test_acceleration_changes_the_way_not_the_end():
    experiment, _ = scara_record((6.28, 62.8))
    ends = [
        didim.identify(
            model(), experiment, didim.DIDIM(controller=loop((6.28, 62.8)), accelerate=accelerate)
        )
        for accelerate in (True, False)
    ]
    assert ends[0].iterations < ends[1].iterations
    assert np.allclose(ends[0].values, ends[1].values, rtol=1e-5)


@pytest.mark.slow
def test_several_experiments_are_one_estimate():
    one, _ = scara_record(noise=0.1, seed=1)
    two, _ = scara_record(noise=0.1, seed=2, period=9.1)
    controller = didim.DIDIM(controller=loop())
    alone, both = (didim.identify(model(), records, controller) for records in (one, [one, two]))
    assert both.rows > 1.8 * alone.rows
    assert np.all(both.sigma[:5] < alone.sigma[:5])
    assert np.abs((both.values - model().base.nominal) / both.corrected_sigma).max() < 4
