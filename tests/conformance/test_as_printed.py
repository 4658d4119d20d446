"""DIDIM as printed, Figure 5 and (34), against an independent one of a few lines; and VI.E."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal

import didim
from didim.paper.claims import inertia_error
from didim.paper.experiments import AS_PRINTED, LOW_RATE
from support.virtual import paper

CUT = 100
"""Samples left out at the start, 5 / omega_n (56) of the slower simulated loop."""


def decimated(x: np.ndarray) -> np.ndarray:
    """MATLAB's decimate by 20: Chebyshev I, order 8, 0.05 dB, 0.8 / 20, forward and backward, the
    phase of the last sample.
    """
    sections = signal.cheby1(8, 0.05, 0.8 / 20, output="sos")
    y = signal.sosfiltfilt(sections, x, axis=0, padtype="odd", padlen=3 * 8)
    return y[x.shape[0] - 20 * ((x.shape[0] + 19) // 20) + 19 :: 20][1:-1]


def plain_didim(model, experiment, poles) -> tuple[np.ndarray, np.ndarray]:
    """Figure 5 in NumPy: simulate (21)-(26), build W (47), weigh each joint (20), solve (48)."""
    base, n = model.base, 2
    chi = base.matrix @ np.array([name.startswith("ZZ") for name in model.parameter_names], float)
    y = decimated(experiment.tau[CUT:])
    history = []
    for _ in range(20):
        J = didim.largest_inertias(base, chi)
        law = didim.PD(natural_frequency=poles, rate=200, inertia=J)
        motion = didim.simulate(base, chi, law, t=experiment.t, q_ref=experiment.q_ref)
        W = base.regressor(motion.q, motion.dq, motion.ddq, motion.slip)[CUT:]
        W = np.stack([decimated(W[:, j]) for j in range(n)], axis=1)
        rho = y - W @ chi
        history.append((chi, np.linalg.norm(rho)))
        weights = np.zeros(n)
        for j in range(n):
            own, _, rank, _ = np.linalg.lstsq(W[:, j], y[:, j], rcond=1e-8)
            rest = np.linalg.norm(y[:, j] - W[:, j] @ own)
            weights[j] = np.sqrt(len(y) - rank) / rest
        if len(history) > 1:
            (old, before), (new, after) = history[-2:]
            small = np.abs(new - old) <= 1e-2 * np.abs(old)
            if abs(after - before) <= 1e-3 * before and small.all():
                break
        stacked, target = (W * weights[:, None]).reshape(-1, chi.size), (y * weights).ravel()
        chi = np.linalg.lstsq(stacked, target, rcond=None)[0]
    return chi, np.linalg.norm(rho, axis=0) / np.linalg.norm(y, axis=0)


@pytest.mark.slow
def test_half_bandwidth_as_printed_is_that_of_an_independent_didim():
    """Unguarded, friction turns negative: Fv1 -2.3, Fc1 1.1, 12 % of joint 1 unexplained.

    Tests (34), (48).
    """
    runs = paper()
    found = runs.half.printed
    values = dict(zip(found.names, found.values, strict=True))
    assert values["Fv1"] == pytest.approx(-2.34, abs=0.05)
    assert values["Fc1"] == pytest.approx(1.075, abs=0.05)
    assert found.residual_by_joint[0] == pytest.approx(0.123, abs=0.005)
    assert found.status is not didim.Status.CONVERGED
    assert found.iterations == 4
    assert all(step.fraction == 1.0 and not step.guards for step in found.history)
    chi, residual = plain_didim(runs.model, runs.usual, [10.0, 25.0])
    np.testing.assert_allclose(found.values, chi, rtol=5e-3, atol=2e-3)
    np.testing.assert_allclose(found.residual_by_joint, residual, rtol=5e-3)
    guarded = dict(zip(found.names, runs.half.guarded.values, strict=True))
    assert guarded["Fv1"] == guarded["Fc1"] == 0.0


@pytest.mark.slow
def test_the_printed_test_counts_steps_that_were_made():
    """(34) as printed needs 4 steps where the test in units of sigma needs 2.

    Tests (34).
    """
    runs = paper()
    assert runs.regular.printed.iterations == 4
    assert runs.regular.guarded.iterations == 2
    one, two = (step for step in runs.regular.printed.history[-2:])
    assert np.all(np.abs(two.parameters - one.parameters) <= 1e-2 * np.abs(one.parameters))
    assert abs(two.residual - one.residual) <= 1e-3 * one.residual


def test_without_guards_an_infeasible_iterate_ends_the_run():
    """The double pendulum from the regular start: least squares makes an inertia negative."""
    pendulum = didim.DynamicModel(didim.load_robot("double_pendulum"))
    law = didim.PD.parallel(Kp=20.0, Kd=0.6)
    motion = didim.Fourier.random(pendulum.robot, 1, period=5.3, periods=3, share=1.0)
    record, _ = didim.virtual_experiment(
        pendulum, pendulum.nominal, law, motion, rate=300, noise=0.03
    )
    soft = didim.PD.parallel(Kp=2.0, Kd=0.06)
    found = didim.identify(pendulum, record, didim.DIDIM(controller=soft, **AS_PRINTED))
    assert found.status is didim.Status.DIVERGED
    assert np.isfinite(found.values).all()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_half_the_bandwidth_with_kp_kept(seed):
    """VI.E as (59) prints it: with kp kept, half the bandwidth converges to the inertias within
    2.5 %, a third does not converge; with kp halved too, it does not hold.
    """
    runs = paper(seed).stiffer
    half, third = runs.half_kp_kept, runs.third_kp_kept
    accelerated = {"accelerate": False}
    for estimate in (half.printed, runs.didim(runs.usual, runs.loop(0.5, True), **accelerated)):
        assert estimate.status is didim.Status.CONVERGED
        assert inertia_error(runs, estimate) < 0.025
    assert third.printed.status is not didim.Status.CONVERGED
    assert third.guarded.status is not didim.Status.CONVERGED


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "periods"),
    [
        (4.0, 8),
        pytest.param(2.0, 12, marks=pytest.mark.long),
        pytest.param(1.0, 20, marks=pytest.mark.long),
        pytest.param(0.5, 26, marks=pytest.mark.long),
    ],
)
def test_an_undersampled_record_does_not_hide_a_wrong_loop(rate, periods):
    """With few samples in a period, second differences show the motion: the noise is unknown, and
    a loop of another bandwidth that explains the record better decides.
    """
    runs = paper(long_periods=periods)
    record = runs.sampled(rate)
    right = runs.slow_didim.guarded if rate == LOW_RATE else runs.didim(record, decimation=1)
    assert right.status is didim.Status.CONVERGED
    half = runs.didim(record, runs.loop(0.5), decimation=1)
    assert half.residual > 0.1
    assert half.status is not didim.Status.CONVERGED
