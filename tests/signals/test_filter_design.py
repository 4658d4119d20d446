"""Filters, splines and integrals from closed forms, beside those of SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage, signal
from scipy.integrate import cumulative_trapezoid
from scipy.interpolate import CubicSpline

from didim.signals import reversals
from didim.signals.cubics import interpolated
from didim.signals.decimation import Decimation
from didim.signals.filter_design import (
    butterworth,
    chebyshev,
    magnitude,
    steady_state,
    windowed_sinc,
)
from didim.signals.filters import integral, lowpass

CUTOFFS = (1e-4, 1e-3, 0.01, 0.08, 0.3, 0.5, 0.8, 0.99)


@pytest.mark.parametrize("cutoff", CUTOFFS)
@pytest.mark.parametrize("order", [2, 4, 6, 8, 10])
def test_sections_and_their_steady_states_are_scipys(order, cutoff):
    for ours, peer in (
        (butterworth(order, cutoff), signal.butter(order, cutoff, output="sos")),
        (chebyshev(order, 0.05, cutoff), signal.cheby1(order, 0.05, cutoff, output="sos")),
    ):
        np.testing.assert_allclose(ours, peer, rtol=1e-14, atol=1e-15 * cutoff)
        np.testing.assert_allclose(steady_state(peer), signal.sosfilt_zi(peer), rtol=1e-14)


@pytest.mark.parametrize("cutoff", [0.05, 0.3, 0.8])
@pytest.mark.parametrize("order", [1, 3, 4, 5, 7, 8])
def test_gains_are_scipys_for_odd_orders_too(order, cutoff):
    at = np.linspace(0.0, 3.0, 200)
    for ours, peer in (
        (butterworth(order, cutoff), signal.butter(order, cutoff, output="sos")),
        (chebyshev(order, 0.5, cutoff), signal.cheby1(order, 0.5, cutoff, output="sos")),
    ):
        expected = np.abs(signal.freqz_sos(peer, at)[1])
        np.testing.assert_allclose(magnitude(ours, at), expected, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_a_filtered_record_is_that_of_sosfiltfilt(order):
    rng = np.random.default_rng(order)
    x = np.cumsum(rng.normal(size=(3000, 2)), axis=0)
    sections = signal.butter(order, 2 * 20.0 / 1000.0, output="sos")
    expected = signal.sosfiltfilt(sections, x, axis=0, padlen=max(3 * order, 50))
    found = lowpass(x, 1000.0, 20.0, order)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(x).max())


@pytest.mark.parametrize(("size", "cutoff"), [(21, 0.8), (101, 0.16), (401, 0.04)])
def test_taps_are_those_of_firwin(size, cutoff):
    expected = signal.firwin(size, cutoff, window="hamming")
    np.testing.assert_allclose(windowed_sinc(size, cutoff), expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("convention", ["matlab", "scipy", "fir"])
def test_variances_of_weighted_noise_are_a_convolution(convention):
    decimation, N = Decimation(5, convention), 1000
    variance = np.random.default_rng(0).random((N, 3))
    extended = np.pad(variance, ((50, 50), (0, 0)), mode="edge")
    power = decimation._power[:, None]
    expected = signal.oaconvolve(extended, power, mode="valid", axes=0)[decimation.kept(N)]
    np.testing.assert_allclose(decimation.noise_variance(variance), expected, rtol=1e-12)


def test_weights_at_reversals_are_those_of_scipys_filters():
    rng = np.random.default_rng(1)
    unclear = rng.random((900, 2)) < 0.01
    unclear[[0, -1], 1] = True
    rate, cutoff = 100.0, 11.0
    passage = int(np.ceil(reversals.PASSAGE * rate / cutoff))
    reach = int(np.ceil(reversals.HALF_WIDTH * rate / cutoff)) + passage
    near = ndimage.maximum_filter1d(unclear.astype(float), 2 * reach + 1, axis=0, mode="nearest")
    window = signal.windows.hann(2 * passage + 3)[1:-1]
    smooth = ndimage.convolve1d(near, window / window.sum(), axis=0, mode="nearest")
    found = reversals._weights(unclear, np.eye(2, dtype=bool), rate, cutoff)
    assert np.ptp(found, axis=0).min() > 0.9
    np.testing.assert_allclose(found, 1.0 - np.clip(smooth, 0.0, 1.0), rtol=0, atol=1e-14)


@pytest.mark.parametrize("count", [3, 4, 5, 50])
def test_splines_are_scipys(count):
    rng = np.random.default_rng(count)
    time, values = np.cumsum(0.5 + rng.random(count)), rng.normal(size=(count, 3))
    expected = np.moveaxis(CubicSpline(time, values).c[::-1], 0, 2)
    found = interpolated(time, values, "cubic")
    np.testing.assert_allclose(found[:-1], expected, rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(found[-1, :, 0], values[-1])
    np.testing.assert_array_equal(found[-1, :, 1:], 0.0)


def test_whole_numbers_have_a_spline_too():
    time, values = np.arange(5), np.array([[0], [1], [4], [9], [16]])
    curvature = interpolated(time, values, "cubic")[:-1, 0, 2]
    np.testing.assert_allclose(curvature, 1.0, rtol=1e-13)


def test_integrals_are_those_of_trapezia():
    rng = np.random.default_rng(2)
    t, x = np.cumsum(rng.random(40)), rng.normal(size=(40, 3))
    expected = cumulative_trapezoid(x, t, axis=0, initial=0.0)
    np.testing.assert_array_equal(integral(t, x), expected)
