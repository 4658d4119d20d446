"""The numbers behind the pictures, against closed forms."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from didim.report.curves import (
    autocorrelation,
    correlation,
    histogram,
    normalised_residuals,
    settled,
    strongest,
    torque_curves,
)
from didim.report.figures import packed, thinned
from didim.results.validation import ComparedRows
from didim.signals.states import States
from support.reported import found


def rows(left: np.ndarray, used: np.ndarray | None = None) -> ComparedRows:
    left = left.reshape(-1, 1)
    return ComparedRows(
        0.1,
        left,
        np.zeros_like(left),
        np.ones(left.shape, bool) if used is None else used.reshape(-1, 1),
        np.zeros(left.shape, bool),
        left,
        States(left, left, left),
    )


def test_autocorrelation_of_a_first_order_process():
    rng, rho = np.random.default_rng(0), 0.8
    left = np.zeros(100_000)
    for k, e in enumerate(rng.standard_normal(left.size)):
        left[k] = rho * left[k - 1] + e
    values, band = autocorrelation([rows(left)], 0, lags=10)
    np.testing.assert_allclose(values, rho ** np.arange(11), atol=0.03)
    assert band == pytest.approx(1.96 / np.sqrt(left.size))


def test_pairs_never_reach_across_a_seam_nor_over_rows_left_out():
    one, other = np.array([1.0, 1.0]), np.array([-1.0, -1.0])
    values, _ = autocorrelation([rows(one), rows(other)], 0, lags=1)
    assert values[1] == pytest.approx(1.0)  # within each record; across the seam it would be -1
    used = np.array([True, True, False, True, True])
    values, _ = autocorrelation([rows(np.array([1.0, 1.0, 50.0, -1.0, -1.0]), used)], 0, lags=1)
    assert values[1] == pytest.approx(1.0)
    assert autocorrelation([rows(np.zeros(5))], 0, lags=2)[0].tolist() == [1.0, 0.0, 0.0]


def test_histogram_is_a_density_and_keeps_what_lies_beyond():
    drawn = histogram(np.random.default_rng(0).standard_normal(200_000))
    assert np.sum(drawn.density) * drawn.width == pytest.approx(1.0)
    inner = np.abs(drawn.middles) < 4
    np.testing.assert_allclose(
        drawn.density[inner], np.interp(drawn.middles, drawn.fine, drawn.normal)[inner], atol=0.01
    )
    assert histogram(np.array([0.0, 99.0])).density[-1] > 0
    assert histogram(np.array([])).density.sum() == 0


def test_normalised_residuals_have_unit_size():
    left = normalised_residuals(
        [rows(np.array([3.0, -4.0])), rows(np.array([12.0]), np.array([False]))], 0
    )
    assert np.sqrt(np.mean(left**2)) == pytest.approx(1.0)
    assert left.size == 2


def test_correlation_of_two_parameters_that_trade():
    from dataclasses import replace

    estimate = found("IDIM")
    b = len(estimate.names)
    covariance = np.diag(np.arange(1.0, b + 1))
    covariance[0, 1] = covariance[1, 0] = -0.9 * np.sqrt(2.0)
    covariance[b - 1, b - 1] = np.inf
    changed = replace(estimate, corrected_covariance=covariance)
    values = correlation(changed)
    assert values[0, 1] == pytest.approx(-0.9)
    assert np.all(np.isfinite(values))
    assert np.all(np.diag(values) == 1)
    assert strongest(changed)[0] == (estimate.names[0], estimate.names[1], pytest.approx(-0.9))


def test_thinning_keeps_every_peak():
    t = np.linspace(0, 1, 10_007)
    curves = np.column_stack([np.sin(40 * t), np.zeros_like(t)])
    curves[7777, 1], curves[3, 1] = 5.0, -2.0
    few, kept = thinned(t, curves, 500)
    assert few.size <= 500
    assert np.all(np.diff(few) > 0)
    assert kept[:, 1].max() == 5.0
    assert kept[:, 1].min() == -2.0
    assert np.abs(kept[:, 0]).max() == np.abs(curves[:, 0]).max()
    assert few[int(kept[:, 1].argmax())] == pytest.approx(t[7777], abs=0.01)
    assert thinned(t, curves, 20_000)[0] is t


def test_packed_numbers_come_back():
    values = np.array([0.0, -1.5, np.pi, 1e30, np.nan, 1e300])
    again = np.frombuffer(base64.b64decode(packed(values)), "<f4")
    np.testing.assert_allclose(again[:4], values[:4], rtol=1e-7)
    assert np.isnan(again[4])
    assert np.isinf(again[5])


@pytest.mark.slow
def test_torques_leave_out_what_the_fit_leaves_out():
    idim, didim_ = found("IDIM"), found("DIDIM")
    record = idim.experiments[0]
    assert torque_curves(idim, record).t[0] > record.t[0]
    curves = torque_curves(didim_, record)
    assert curves.t[0] == pytest.approx(didim_.preprocessing.transient, abs=0.01)
    left = np.linalg.norm(curves.measured - curves.estimated) / np.linalg.norm(curves.measured)
    assert left == pytest.approx(0.05, rel=0.1)  # the noise


@pytest.mark.slow
def test_parameters_settle_at_one():
    np.testing.assert_allclose(settled(found("DIDIM").history)[-1], np.sign(found("DIDIM").values))
    with pytest.raises(ValueError, match="does not iterate"):
        settled(found("IDIM").history)
