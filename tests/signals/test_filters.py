"""Zero-phase Butterworth and central differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal

import didim
from didim.signals.filters import central_difference, estimated_motion, lowpass


def test_cutoff_is_in_hertz_three_decibels_each_way():
    rate, cutoff = 1000.0, 25.0
    t = np.arange(8000) / rate
    out = lowpass(np.sin(2 * np.pi * cutoff * t)[:, None], rate, cutoff)[2000:-2000, 0]
    assert out.max() == pytest.approx(0.5, rel=1e-3)


def test_no_phase_shift():
    rate = 500.0
    t = np.arange(4000) / rate
    slow = np.sin(2 * np.pi * 1.0 * t)[:, None]
    assert np.abs(lowpass(slow, rate, 20.0) - slow)[200:-200].max() < 1e-4


def test_it_is_filtfilt_of_the_same_sections():
    x = np.random.default_rng(0).standard_normal((700, 3)).cumsum(axis=0)
    expected = signal.sosfiltfilt(signal.butter(4, 0.2, output="sos"), x, axis=0, padlen=12)
    assert np.allclose(lowpass(x, 1000.0, 100.0), expected, atol=1e-10)


def test_central_differences_are_exact_for_parabolas_inside():
    t = np.linspace(0, 1, 101)
    x = np.column_stack([3 * t**2 - t, t])
    assert np.allclose(
        central_difference(x, 0.01)[1:-1], np.column_stack([6 * t - 1, 0 * t + 1])[1:-1]
    )


def test_every_joint_is_differentiated_also_the_last():
    rate = 1000.0
    t = np.arange(3000) / rate
    q = np.column_stack([np.sin((j + 1) * t) for j in range(7)])
    _, dq, ddq = estimated_motion(q, rate, 30.0)
    for j in range(7):
        assert np.allclose(dq[300:-300, j], (j + 1) * np.cos((j + 1) * t)[300:-300], atol=1e-3)
        assert np.allclose(
            ddq[300:-300, j], -((j + 1) ** 2) * np.sin((j + 1) * t)[300:-300], atol=1e-2
        )


def test_no_cutoff_no_filter():
    x = np.random.default_rng(1).standard_normal((20, 2))
    assert lowpass(x, 100.0, None) is x


@pytest.mark.parametrize(
    ("cutoff", "rows", "message"),
    [(60.0, 100, "between 0 and 50 Hz"), (10.0, 9, "too short: 9 samples")],
)
def test_what_cannot_be_filtered_is_named(cutoff, rows, message):
    with pytest.raises(didim.InputError, match=message):
        lowpass(np.zeros((rows, 1)), 100.0, cutoff)
