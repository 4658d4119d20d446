"""DIDIM on virtual robots with noise: where it must succeed, and where it must say that it did
not.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import didim
from didim.results.status import GuardKind
from support.virtual import inertia_error, loop, model, scara_record

CASE = Path(__file__).parents[2] / "cases" / "tx40.toml"
RIGID = ("rotor", "viscous", "coulomb")


def normalised_error(estimate, truth: np.ndarray) -> float:
    """delta' C^-1 delta over the 99.9 % quantile of chi-square: below 1 is what noise explains."""
    delta = estimate.values - truth
    square = delta @ np.linalg.solve(estimate.corrected_covariance, delta)
    return float(square / stats.chi2.ppf(0.999, delta.size))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("robot", "effects", "hertz"),
    [("double_pendulum", None, 10.0), pytest.param("panda", RIGID, 10.0, marks=pytest.mark.long)],
)
@pytest.mark.parametrize("seed", [200, pytest.param(201, marks=pytest.mark.long)])
def test_robots_converge_from_identity(robot, effects, hertz, seed):
    m = model(robot, effects)
    trajectory = didim.Fourier.random(m.robot, seed, period=10.0)
    controller = didim.PD(natural_frequency=2 * np.pi * hertz)
    experiment, _ = didim.virtual_experiment(
        m, m.nominal, controller, trajectory, noise=0.02, seed=seed
    )
    found = didim.identify(
        m, replace(experiment, q=None), didim.DIDIM(controller=controller, initial="identity")
    )
    assert found.status == "converged"
    assert found.iterations <= 7
    assert normalised_error(found, m.base.nominal) < 1


def tx40(hertz: float, seed: int = 2010):
    case = didim.load_case(CASE)
    controller = didim.PD(natural_frequency=2 * np.pi * hertz)
    experiment, _ = replace(case, controller=controller).experiment(seed)
    return case.model, experiment, controller


@pytest.mark.long
@pytest.mark.parametrize("seed", [101, 2010])
def test_tx40_with_stiff_loops_converges_from_identity(seed):
    m, experiment, controller = tx40(40.0, seed)
    found = didim.identify(
        m, replace(experiment, q=None), didim.DIDIM(controller=controller, initial="identity")
    )
    assert found.status == "converged"
    assert found.iterations <= 7
    assert normalised_error(found, m.base.nominal) < 1
    assert any(guard.kind is GuardKind.INERTIA for step in found.history for guard in step.guards)


@pytest.mark.long
def test_tx40_with_ordinary_loops_ends_in_a_status_that_says_so():
    m, experiment, controller = tx40(5.0)
    found = didim.identify(
        m, experiment, didim.DIDIM(controller=controller, initial="identity", max_iterations=8)
    )
    assert found.status in ("stopped", "diverged")
    assert "stiffer loops" in found.message
    assert "Do not use these numbers" in found.summary()
    assert np.isfinite(found.values).all()
    assert any(
        guard.kind in (GuardKind.HALVED, GuardKind.INERTIA)
        for step in found.history
        for guard in step.guards
    )


@pytest.mark.slow
def test_iterates_are_feasible():
    m, experiment, controller = tx40(10.0)
    found = didim.identify(
        m, experiment, didim.DIDIM(controller=controller, initial="identity", max_iterations=3)
    )
    q = experiment.q_ref.sample(np.linspace(0, 10, 50))[0]
    for step in found.history:
        assert np.linalg.eigvalsh(m.base.inertia_matrix(q, step.parameters)).min() > 0
        friction = [
            value
            for name, value in zip(found.names, step.parameters, strict=True)
            if name[:2] in ("Fv", "Fc")
        ]
        assert min(friction) >= 0


@pytest.mark.slow
@pytest.mark.parametrize("initial", ["identity", "unit"])
@pytest.mark.parametrize("seed", range(3))
def test_scara_with_noise_needs_few_iterations(initial, seed):
    experiment, _ = scara_record(noise=0.1, encoder=1e-4, seed=seed)
    found = didim.identify(
        model(), replace(experiment, q=None), didim.DIDIM(controller=loop(), initial=initial)
    )
    assert found.status == "converged"
    assert found.iterations <= 4
    assert normalised_error(found, model().base.nominal) < 1


@pytest.mark.slow
@pytest.mark.parametrize("mistuned", [0.8, 1.2, 1 / 1.2, 1 / 0.8])
def test_a_loop_tuned_with_a_wrong_inertia_or_drive_gain_does_little_harm(mistuned):
    """(58), (60): the true kv is off by the error of J, or by its inverse for g; the simulated loop
    knows neither.

    Tests (60).
    """
    experiment, _ = scara_record(noise=0.05, mistuned=mistuned, period=10.3)
    found = didim.identify(model(), experiment, didim.DIDIM(controller=loop()))
    assert found.status == "converged"
    assert inertia_error(found, model().base.nominal) < 0.025


@pytest.mark.slow
@pytest.mark.parametrize("factor", [0.1, 0.5, 2.0, 10.0])
@pytest.mark.parametrize(
    "bandwidth", [(20.0, 50.0), pytest.param((6.28, 62.8), marks=pytest.mark.long)]
)
def test_a_wrong_bandwidth_is_named(factor, bandwidth):
    experiment, _ = scara_record(bandwidth, noise=0.05)
    assumed = loop(tuple(factor * np.array(bandwidth)))
    found = didim.identify(model(), replace(experiment, q=None), didim.DIDIM(controller=assumed))
    assert found.status in ("diverged", "stopped")
    assert "bandwidth" in found.message


@pytest.mark.slow
def test_the_right_bandwidth_is_not_doubted():
    for noise in (0.0, 0.01, 0.3):
        experiment, _ = scara_record(noise=noise)
        assert (
            didim.identify(model(), experiment, didim.DIDIM(controller=loop())).status
            == "converged"
        )


@pytest.mark.slow
def test_history_tells_how_far_the_motion_is():
    """Tests (40)."""
    experiment, _ = scara_record(noise=0.05)
    with_q = didim.identify(model(), experiment, didim.DIDIM(controller=loop()))
    without = didim.identify(model(), replace(experiment, q=None), didim.DIDIM(controller=loop()))
    last = with_q.history[-1]
    assert np.all(last.to_measured.dq < 0.02)
    assert np.all(last.to_reference.dq > 0.05)
    assert without.history[-1].to_measured is None
    assert np.array_equal(with_q.values, without.values)
    assert all(step.seconds > 0 for step in with_q.history)


@pytest.mark.slow
def test_progress_may_stop_the_run():
    experiment, _ = scara_record(noise=0.05)
    told = []
    full = didim.identify(
        model(),
        experiment,
        didim.DIDIM(controller=loop()),
        progress=lambda share: told.append(share),
    )
    stopped = didim.identify(
        model(), experiment, didim.DIDIM(controller=loop()), progress=lambda _: False
    )
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert full.status == "converged"
    assert stopped.status == "stopped"
    assert "on request" in stopped.message


@pytest.mark.slow
def test_friction_at_its_bound_is_held_and_told():
    m = didim.DynamicModel(didim.load_robot("scara"))
    phi = m.nominal
    phi[m.parameter_names.index("Fv1")] = 0.0
    trajectory = didim.Fourier.random(m.robot, 1, period=7.3, periods=4, share=1.0)
    held = 0
    for seed in range(4):
        experiment, _ = didim.virtual_experiment(
            m, phi, loop(), trajectory, rate=200, noise=0.1, seed=seed
        )
        found = didim.identify(m, experiment, didim.DIDIM(controller=loop()))
        assert found.values[found.names.index("Fv1")] >= 0
        held += any("Fv1" in guard.names for step in found.history for guard in step.guards)
    assert 0 < held < 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "log"), [(700.0, 500.0), (300.0, 1000.0), (1000.0, 100.0), (200.0, 1000.0)]
)
def test_a_log_on_another_clock_than_the_loop(law, log):
    """The reference as an array: held where the clocks meet, else cubic, and told."""
    scara, controller = model(), loop(rate=law)
    trajectory = didim.Fourier.random(scara.robot, 3, period=6.1, periods=3)
    experiment, _ = didim.virtual_experiment(
        scara, scara.nominal, controller, trajectory, rate=log, noise=0.02, seed=1
    )
    array = replace(experiment, q_ref=trajectory.sample(experiment.t)[0])
    found = didim.identify(
        scara, array, didim.DIDIM(controller=controller, decimation=int(log / 50))
    )
    assert normalised_error(found, scara.base.nominal) < 1
    assert any("interpolated by cubics" in note for note in found.notes) == (
        log / law != round(log / law)
    )


@pytest.mark.slow
def test_a_start_that_cannot_be_simulated_is_replaced_and_told():
    controller = didim.PD(
        natural_frequency=[20.0, 50.0], rate=300, delay=1, velocity="backward_difference"
    )
    scara = model()
    trajectory = didim.Fourier.random(scara.robot, 3, period=6.1, periods=3)
    experiment, _ = didim.virtual_experiment(
        scara, scara.nominal, controller, trajectory, rate=500, noise=0.02
    )
    found = didim.identify(scara, experiment, didim.DIDIM(controller=controller, decimation=10))
    assert found.status == "converged"
    assert any('started from "identity"' in note for note in found.notes)


@pytest.mark.slow
def test_encoder_steps_in_the_loop_do_not_pass_for_a_wrong_loop():
    pendulum = model("double_pendulum")
    controller = didim.Cascade(
        natural_frequency=[30.0, 40.0], rate=1000, delay=2, velocity="mean_difference", encoder=2e-5
    )
    trajectory = didim.Fourier.random(pendulum.robot, 3, period=6.1, periods=3)
    experiment, _ = didim.virtual_experiment(
        pendulum, pendulum.nominal, controller, trajectory, rate=500, noise=0.02, seed=1
    )
    found = didim.identify(pendulum, experiment, didim.DIDIM(controller=controller, decimation=10))
    assert found.status == "converged"
    assert normalised_error(found, pendulum.base.nominal) < 1
