"""What is chosen from a record: noise of positions, cutoff, decimation, samples near reversals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import didim
from didim.signals.bandwidth import choose_bandwidth, suited_bandwidth
from didim.signals.decimation import Decimation
from didim.signals.filters import central_difference, estimated_motion
from didim.signals.noise import position_noise, velocity_noise
from didim.signals.reversals import moving_weights, signed_weights
from didim.signals.rows import RowSelection
from support.virtual import model, scara_record

RATE = 500.0
T = np.arange(4000) / RATE
SINE = np.sin(2 * np.pi * T)[:, None]


@pytest.mark.parametrize("deviation", [1e-6, 1e-4])
def test_noise_of_positions_white_and_quantised(deviation):
    white = SINE + deviation * np.random.default_rng(0).standard_normal(SINE.shape)
    step = deviation * np.sqrt(12.0)
    assert position_noise(white) == pytest.approx(deviation, rel=0.1)
    assert position_noise(step * np.round(SINE / step)) == pytest.approx(deviation, rel=0.2)
    assert position_noise(SINE) < 1e-9


def test_differences_of_order_eight():
    """At a tenth of the sampling rate, where those of order 2 take 6 %."""
    x = np.sin(2 * np.pi * 50.0 * T)[:, None]
    exact = 2 * np.pi * 50.0 * np.cos(2 * np.pi * 50.0 * T)[:, None]
    inner = slice(10, -10)
    assert np.abs(central_difference(x, 1 / RATE, 8) / exact.max() - exact / exact.max())[
        inner
    ].max() == pytest.approx((2 * np.pi * 0.1) ** 8 / 630, rel=0.2)
    assert np.abs(central_difference(x, 1 / RATE)[inner] / exact.max()).max() < 0.94


def test_noisier_positions_lower_the_cutoff_and_the_band():
    exact, _ = scara_record(rate=1000.0, noise=0.02, periods=1)
    found = [
        choose_bandwidth([record], (), RowSelection(20), 8)
        for encoder in (1e-6, 1e-4, 1e-3)
        for record in [replace(exact, q=np.round(np.asarray(exact.q) / encoder) * encoder)]
    ]
    cutoffs, multiples = [each.cutoff for each in found], [each.multiple for each in found]
    assert cutoffs[0] == pytest.approx(200.0)
    assert cutoffs[0] > cutoffs[1] > cutoffs[2] > 5.0
    assert multiples[0] == 1 < multiples[1] < multiples[2]


def test_a_slower_record_that_is_predicted_limits_the_cutoff():
    fast, _ = scara_record(rate=1000.0, noise=0.02, periods=1)
    slow, _ = scara_record(rate=200.0, noise=0.02, periods=1)
    assert choose_bandwidth([fast], [slow], RowSelection(20), 8).cutoff <= 40.0
    estimate = didim.identify(model(), fast, didim.IDIM())
    assert estimate.preprocessing.cutoff > 100.0
    assert estimate.validate(slow).residual < 0.05


def test_weights_are_zero_at_reversals_and_while_a_joint_sticks():
    dq = np.maximum(np.abs(SINE) - 0.3, 0.0) * np.sign(SINE)
    ddq = central_difference(dq, 1 / RATE)
    rubs = np.array([[True], [False]])
    weights = moving_weights(dq, ddq, np.zeros(1), rubs, RATE, 50.0)
    assert np.all(weights[:, 1] == 1.0)
    assert np.all(weights[dq[:, 0] == 0.0, 0] == 0.0)
    assert np.all(weights[np.abs(dq[:, 0]) > 0.65, 0] == 1.0)
    assert np.abs(np.diff(weights[:, 0])).max() < 0.1


@pytest.mark.parametrize("cutoff", [20.0, 80.0])
def test_noise_of_velocities(cutoff):
    noise = 1e-4 * np.random.default_rng(0).standard_normal((20000, 1))
    _, dq, _ = estimated_motion(noise, RATE, cutoff, 4, 8)
    assert velocity_noise(noise, RATE, cutoff) == pytest.approx(dq[200:-200].std(), rel=0.15)
    _, dq, _ = estimated_motion(noise, RATE, None, 4, 8)
    assert dq.std() < velocity_noise(noise, RATE, None) < 2 * dq.std()


def test_only_velocities_within_their_noise_are_left_out():
    rubs = np.ones((1, 1), dtype=bool)
    weights = signed_weights(SINE, np.array([0.02]), rubs, RATE, 100.0)
    assert np.all(weights[np.abs(SINE) <= 0.04] == 0.0)
    assert np.all(weights[np.abs(SINE) > 0.3] == 1.0)
    assert np.all(signed_weights(SINE + 2.0, np.array([0.02]), rubs, RATE, 100.0) == 1.0)


def test_equations_stay_below_a_cutoff_that_is_set():
    """40 Hz of rows need 100 Hz; a record that is too short for more is decimated less."""
    record, _ = scara_record(rate=1000.0, noise=0.02, periods=1)
    multiples = [
        suited_bandwidth(cutoff, [record], RowSelection(10), 8).multiple
        for cutoff in (None, 100.0, 99.0, 20.0)
    ]
    assert multiples == [1, 1, 2, 5]
    assert suited_bandwidth(1.0, [record], RowSelection(10), 8).multiple < 100


def test_a_joint_that_hardly_moves_keeps_its_samples():
    rubs = np.ones((1, 1), dtype=bool)
    assert np.all(moving_weights(0 * SINE, 0 * SINE, np.zeros(1), rubs, RATE, 20.0) == 1.0)


@pytest.mark.parametrize("convention", ["scipy", "matlab", "fir"])
def test_noise_of_weighted_samples(convention):
    """White noise that stops in the middle, decimated: its spread over many columns."""
    decimation = Decimation(10, convention)
    variance = np.where(np.arange(1001) < 480, 1.0, 0.0)[:, None]
    noise = np.sqrt(variance) * np.random.default_rng(0).standard_normal((1001, 1500))
    seen = decimation.apply(1001, lambda start, stop: noise[start:stop]).var(axis=1)
    told = decimation.noise_variance(variance)[:, 0] * decimation.noise_gain
    inner = slice(5, -5)
    assert np.allclose(seen[inner], told[inner], atol=0.15 * decimation.noise_gain)


def test_cutoff_is_a_number_none_or_auto():
    with pytest.raises(didim.InputError, match="auto"):
        didim.IDIM(cutoff="automatic")


def test_the_estimate_says_what_was_chosen_and_is_saved_with_it(tmp_path):
    record, _ = scara_record(rate=1000.0, noise=0.02, encoder=1e-4, periods=1)
    estimate = didim.identify(model(), record, didim.IDIM())
    chosen = estimate.preprocessing
    assert chosen.accuracy == 8
    assert chosen.selection.decimation > 20
    assert f"{chosen.cutoff:.3g} Hz" in " ".join(estimate.notes)
    assert estimate.validate(record).residual == pytest.approx(estimate.residual)
    estimate.save(tmp_path / "x.json")
    again = didim.load_estimate(tmp_path / "x.json")
    assert again.preprocessing.accuracy == 8
    assert again.validate(record).residual == pytest.approx(estimate.residual)
