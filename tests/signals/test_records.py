"""Jittering clocks, repeated samples, and the time offset of a reference."""

from __future__ import annotations

import numpy as np
import pytest

import didim
from didim.signals.resample import is_regular, period_of, regular


def jittery(seed: int = 0, n: int = 2000) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.cumsum(0.01 * (1 + 0.3 * rng.uniform(-1, 1, n)))


def test_a_regular_record_is_left_alone():
    t = 5.0 + np.arange(1000) / 300.0
    experiment = didim.Experiment(t, np.sin(t), None)
    assert regular(experiment) is experiment
    assert period_of(t) == pytest.approx(1 / 300)


def test_a_jittering_record_is_resampled_on_its_logged_time():
    t = jittery()
    experiment = didim.Experiment(t, np.sin(t), np.cos(t), q=np.cos(t))
    even = regular(experiment)
    assert is_regular(np.asarray(even.t))
    assert np.abs(np.asarray(even.tau)[:, 0] - np.sin(even.t)).max() < 1e-4
    assert np.abs(np.asarray(even.q)[:, 0] - np.cos(even.t)).max() < 1e-7
    assert np.array_equal(even.q_ref.t, t)
    assert "The times jitter" in even.notes[0]


def test_gaps_are_told():
    t = np.arange(1000) / 100.0
    t[500:] += 0.5
    even = regular(didim.Experiment(t, np.sin(t), None))
    assert "1 gaps; the longest, 0.51 s at t = 4.99 s" in even.notes[1]


def test_torques_that_repeat_are_told():
    t = np.arange(1000) / 1000.0
    tau = np.repeat(np.random.default_rng(0).standard_normal(250), 4)
    assert "75 % of the torque samples repeat" in regular(didim.Experiment(t, tau, None)).notes[0]


@pytest.mark.parametrize("offset", [-0.4, -0.0123, 0.0, 0.0037, 0.25])
def test_time_offset_is_found(offset):
    trajectory = didim.Fourier.random(didim.load_robot("scara"), 3, period=8.0, periods=3)
    t = np.arange(0, 24, 0.005)
    table = didim.Reference(t, trajectory.sample(t)[0])
    q = trajectory.sample(t - offset)[0] + 1e-4 * np.random.default_rng(0).standard_normal(
        (t.size, 2)
    )
    found = didim.time_offset(didim.Experiment(t, q, table, q=q))
    assert found.seconds == pytest.approx(offset, abs=2e-5)
    assert found.misfit < 1e-3
    assert found.misfit_before >= found.misfit
    assert ("lags" if offset >= 0 else "leads") in str(found) or abs(offset) < 1e-3


def test_the_lag_of_the_loop_is_no_offset():
    """A PD loop without velocity reference lags by 1/kp; only what is beyond it is an offset of the
    clocks.
    """
    model = didim.DynamicModel(didim.load_robot("scara"))
    loop = didim.PD(natural_frequency=60.0)
    trajectory = didim.Fourier.random(model.robot, 1, period=12.0)
    experiment, _ = didim.virtual_experiment(model, model.nominal, loop, trajectory, rate=500)
    assert didim.time_offset(experiment).seconds == pytest.approx(2 / 60, abs=2e-3)
    assert didim.time_offset(experiment, lag=2 / 60).seconds == pytest.approx(0.0, abs=2e-3)


def test_aligned_shifts_the_reference_and_keeps_what_both_cover():
    t = np.linspace(0, 10, 1001)
    experiment = didim.Experiment(t, t, didim.Reference(t, np.sin(t)), q=np.sin(t - 0.5))
    moved = experiment.aligned(0.5)
    at = np.asarray(moved.t)
    assert at[0] == pytest.approx(0.5)
    assert np.allclose(moved.reference().sample(at)[0][:, 0], np.sin(at - 0.5), atol=1e-6)
    assert "shifted by 500 ms" in moved.notes[-1]


def test_offsets_that_cannot_be_seen_are_refused():
    t = np.linspace(0, 1, 100)
    with pytest.raises(didim.InputError, match="no measured positions"):
        didim.time_offset(didim.Experiment(t, t, t))
    with pytest.raises(didim.InputError, match="No joint moves"):
        didim.time_offset(didim.Experiment(t, t, t, q=0 * t))
