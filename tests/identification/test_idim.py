"""IDIM on virtual records: exact where it should be, wrong where the paper says that it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import didim
from didim.paper.experiments import PaperExperiments
from support.virtual import inertia_error, loop, model, paper, scara_record


@pytest.fixture(scope="module")
def runs() -> PaperExperiments:
    return paper()


def test_idim_is_least_squares_on_the_filtered_motion():
    """The whole chain by hand with SciPy, joint by joint.

    Tests (7), (10)-(12).
    """
    from scipy import signal

    experiment, _ = scara_record(noise=0.05, encoder=1e-5)
    q = signal.sosfiltfilt(
        signal.butter(4, 0.2, output="sos"), np.asarray(experiment.q), axis=0, padlen=12
    )
    dq = np.gradient(q, 1 / 200, axis=0)
    W = model().base.regressor(q, dq, np.gradient(dq, 1 / 200, axis=0))
    rows = np.vstack(
        [np.column_stack([signal.decimate(W[:, j, i], 20) for i in range(8)]) for j in range(2)]
    )
    y = np.concatenate([signal.decimate(np.asarray(experiment.tau)[:, j], 20) for j in range(2)])
    by_hand = np.linalg.lstsq(rows, y, rcond=None)[0]
    method = didim.IDIM(cutoff=20.0, weights="ols", trim=(0, 0))
    found = didim.identify(model(), experiment, method)
    assert np.allclose(found.values, by_hand, rtol=1e-7)
    assert found.residual == pytest.approx(
        np.linalg.norm(y - rows @ by_hand) / np.linalg.norm(y), rel=1e-7
    )
    assert found.condition == pytest.approx(np.linalg.cond(rows), rel=1e-7)


def test_good_filtering_gives_two_to_three_percent(runs):
    assert 0.02 < runs.idim.residual < 0.03
    assert inertia_error(runs.idim, runs.truth) < 0.02


@pytest.mark.slow
def test_without_filtering_idim_fails_and_didim_does_not(runs):
    """VI.D."""
    assert inertia_error(runs.raw_idim, runs.truth) > 0.2
    assert inertia_error(runs.didim(runs.usual, decimation=1), runs.truth) < 0.03


def test_the_reference_is_no_motion(runs):
    """VI.B."""
    assert inertia_error(runs.by_reference, runs.truth) > 0.05


@pytest.mark.parametrize("weights", ["ols", "wls", "irls"])
@pytest.mark.parametrize("decimate", ["matlab", "scipy", "fir"])
def test_every_way_finds_the_robot(weights, decimate):
    experiment, _ = scara_record(rate=1000.0, periods=2, noise=0.02)
    found = didim.identify(
        model(),
        experiment,
        didim.IDIM(cutoff=100.0, weights=weights, decimate=decimate, trim=(1000, 500)),
    )
    assert found.status == "converged"
    assert inertia_error(found, model().base.nominal) < 0.01


def test_outliers_spoil_wls_and_not_irls():
    experiment, _ = scara_record(rate=200.0, noise=0.02)
    tau = np.array(experiment.tau)
    bursts = np.random.default_rng(0).choice(len(tau) - 40, 12)
    for start in bursts:
        tau[start : start + 40] += [30.0, 2.0]
    spoiled = replace(experiment, tau=tau)
    errors = {
        w: inertia_error(
            didim.identify(model(), spoiled, didim.IDIM(weights=w)), model().base.nominal
        )
        for w in ("wls", "irls")
    }
    assert errors["irls"] < 0.5 * errors["wls"]


@pytest.mark.slow
def test_essential_parameters_are_few_and_cost_little():
    tx40 = model("tx40")
    trajectory = didim.Fourier.random(tx40.robot, 3, period=10.0)
    controller = didim.PD(natural_frequency=60.0)
    experiment, _ = didim.virtual_experiment(tx40, tx40.nominal, controller, trajectory, noise=0.2)
    full = didim.identify(tx40, experiment, didim.IDIM(cutoff=100.0))
    few = didim.identify(tx40, experiment, didim.IDIM(cutoff=100.0, essential=True))
    assert len(few.names) < 50
    assert set(few.names) | set(few.eliminated) == set(full.names)
    assert few.residual - full.residual < 0.003
    assert f"{len(few.eliminated)} of 61 parameters are not essential" in few.notes[0]
    assert few.parameters.shape == full.parameters.shape
    assert few.validate(experiment).residual == pytest.approx(few.residual, rel=0.05)


@pytest.mark.slow
def test_a_jittering_log_is_as_good_as_a_regular_one():
    experiment, truth = scara_record(rate=1000.0, periods=2)
    rng = np.random.default_rng(1)
    t = np.asarray(experiment.t)
    keep = np.sort(rng.choice(t.size, t.size // 3, replace=False))
    log = didim.Experiment(
        t[keep], truth.motion.tau[keep], experiment.q_ref, q=truth.motion.q[keep], name="log"
    )
    for method in (didim.IDIM(cutoff=40.0, trim=(50, 50)), didim.DIDIM(controller=loop())):
        found = didim.identify(model(), log, method)
        assert inertia_error(found, model().base.nominal) < 0.02
        assert any("jitter" in note for note in found.notes)


def test_a_record_that_begins_in_motion_loses_its_edges():
    """A central difference of a noisy end is no acceleration; with trim=(0, 0) one has it all the
    same.
    """
    experiment, _ = scara_record(rate=1000.0, periods=3)
    part = experiment.between(3.0, 17.0)
    noisy = replace(
        part,
        q=np.asarray(part.q) + 1e-5 * np.random.default_rng(0).standard_normal(np.shape(part.q)),
    )
    cut, kept = (didim.identify(model(), noisy, didim.IDIM(trim=trim)) for trim in (None, (0, 0)))
    assert cut.residual < 0.5 * kept.residual
    assert cut.rows < kept.rows
    assert cut.validate(noisy).residual == pytest.approx(cut.residual, rel=1e-9)


def test_linear_algebra_has_one_thread_during_an_identification():
    """With two, the last bits of a six-joint DIDIM differ, and it takes longer."""
    from threadpoolctl import threadpool_info, threadpool_limits

    class Counting:
        def run(self, _):
            return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]

        def ready(self, model, experiments):
            pass

    with threadpool_limits(2, "blas"):
        outside = {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}
        inside = didim.identify(model(), scara_record()[0], Counting())
    assert set(inside) == {1}
    assert 2 in outside
