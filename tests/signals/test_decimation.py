"""Parallel decimation against SciPy, a direct MATLAB recipe, and what a lowpass filter must do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal

import didim
from didim.signals import decimation as module
from didim.signals import decimation_stream
from didim.signals.decimation import Decimation
from didim.signals.zero_phase import zero_phase


def columns(N: int, m: int = 5, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((N, m)).cumsum(axis=0)


def apply(kind: str, factor: int, X: np.ndarray) -> np.ndarray:
    return Decimation(factor, kind).apply(len(X), lambda start, stop: X[start:stop])


@pytest.mark.parametrize("factor", [2, 5, 13, 20, 100])
@pytest.mark.parametrize("N", [601, 1000])
def test_scipy_convention_is_scipys(factor, N):
    """Tests (13)."""
    X = columns(N)
    assert np.allclose(
        apply("scipy", factor, X),
        signal.decimate(X, factor, axis=0),
        rtol=0,
        atol=1e-9 * np.abs(X).max(),
    )


@pytest.mark.parametrize(("N", "factor"), [(997, 10), (1000, 10), (24_792, 10), (600, 7)])
def test_matlab_convention_is_filtfilt_with_short_edges_and_keeps_the_last_sample(N, factor):
    """Tests (13)."""
    X = columns(N)
    sections = signal.cheby1(8, 0.05, 0.8 / factor, output="sos")
    filtered = signal.sosfiltfilt(sections, X, axis=0, padlen=24)
    kept = Decimation(factor, "matlab").kept(N)
    assert kept[-1] == N - 1
    assert len(kept) == -(-N // factor)
    assert np.allclose(
        apply("matlab", factor, X), filtered[kept], rtol=0, atol=1e-10 * np.abs(X).max()
    )


@pytest.mark.parametrize("m", [1, 7, 8, 19])
@pytest.mark.parametrize("block", [500, 1 << 14])
def test_columns_of_any_number_and_records_in_parts(m, block, monkeypatch):
    monkeypatch.setattr(module, "_READ_ROWS", block)
    X = columns(1703, m)
    found = apply("scipy", 20, X)
    assert np.allclose(found, signal.decimate(X, 20, axis=0), rtol=0, atol=1e-9 * np.abs(X).max())
    taps = Decimation(20, "fir")._taps
    direct = signal.upfirdn(taps, X, down=1, axis=0)[taps.size - 1 : len(X)][::20]
    assert np.allclose(apply("fir", 20, X), direct, rtol=0, atol=1e-12 * np.abs(X).max())


@pytest.mark.parametrize("kind", module.CONVENTIONS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_what_is_given_stays_as_it_is(kind, order):
    X = np.array(columns(1000, 9), order=order)
    before = X.copy()
    X.setflags(write=False)
    assert np.allclose(apply(kind, 10, X), apply(kind, 10, before), rtol=0, atol=1e-12)
    assert np.array_equal(X, before)


def test_a_single_row_passes_through_a_filter():
    sections = signal.butter(2, 0.1, output="sos")
    for m in (1, 2, 8, 40):
        assert np.allclose(zero_phase([np.full((1, m), 3.0)], sections, 12), 3.0)


@pytest.mark.parametrize("piece", [None, 1, 500])
@pytest.mark.parametrize("factor", [2, 3, 20])
def test_fir_takes_rows_as_they_come(factor, piece, monkeypatch):
    """Whether or not decimated rows are put together on the way."""
    if piece is not None:
        monkeypatch.setattr(decimation_stream, "PIECE_BYTES", piece)
    X = columns(1999, 3)
    stream, at = Decimation(factor, "fir").stream(), 0
    for size in [0, 1, 79, 0, 80, 81, 3, 240, *[7] * 100, 10_000]:
        stream.push(X[at : at + size])
        at += size
    assert np.allclose(
        stream.result(), apply("fir", factor, X), rtol=0, atol=1e-12 * np.abs(X).max()
    )


@pytest.mark.parametrize("kind", module.CONVENTIONS)
def test_slow_signals_pass_and_fast_ones_do_not(kind):
    n, factor = 4000, 20
    k = np.arange(n)[:, None]
    slow, fast = (
        np.sin(2 * np.pi * k * 0.2 / (2 * factor)),
        np.sin(2 * np.pi * k * 1.4 / (2 * factor)),
    )
    kept = Decimation(factor, kind).kept(n)
    inside = slice(15, -15)
    assert np.allclose(apply(kind, factor, slow)[inside], slow[kept][inside], atol=0.015)
    assert np.abs(apply(kind, factor, fast)[inside]).max() < 0.003


def test_fir_is_the_same_in_any_block_size(monkeypatch):
    X = columns(3000)
    whole = apply("fir", 7, X)
    monkeypatch.setattr(module, "_READ_ROWS", 100)
    assert np.array_equal(apply("fir", 7, X), whole), (
        "products of the same blocks in the same order: bit for bit"
    )


def test_fir_cuts_what_it_cannot_reach_and_never_looks_beyond():
    X = columns(1000)
    kept = Decimation(10, "fir").kept(1000)
    assert kept[0] == 100
    assert kept[-1] <= 899
    touched = X.copy()
    touched[0] += 1e6
    assert np.allclose(apply("fir", 10, touched)[1:], apply("fir", 10, X)[1:])


@pytest.mark.parametrize("kind", module.CONVENTIONS)
def test_factor_one_changes_nothing(kind):
    X = columns(50)
    assert np.array_equal(apply(kind, 1, X), X)
    assert Decimation(1, kind).correlation.tolist() == [1.0]


@pytest.mark.parametrize("kind", module.CONVENTIONS)
def test_predicted_noise_is_that_of_filtered_white_noise(kind):
    X = np.random.default_rng(3).standard_normal((200_000, 4))
    decimator = Decimation(10, kind)
    Y = apply(kind, 10, X)[20:-20]
    assert np.mean(Y**2) == pytest.approx(decimator.noise_gain, rel=0.02)
    for lag in (1, 2, 3):
        found = np.mean(Y[:-lag] * Y[lag:]) / np.mean(Y**2)
        assert found == pytest.approx(decimator.correlation[lag], abs=0.02)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"factor": 0}, "decimation must be a whole number of at least 1"),
        ({"factor": 2.5}, "whole number"),
        ({"convention": "matalb"}, "did you mean 'matlab'"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(didim.InputError, match=message):
        Decimation(**settings)


def test_too_short_a_record_is_named():
    with pytest.raises(
        didim.InputError, match=r"too short: 300 samples, but decimation by 20 .fir. needs 401"
    ):
        apply("fir", 20, columns(300))
