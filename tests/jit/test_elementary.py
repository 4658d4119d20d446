"""Sines and tanh of many numbers at once against the library's, number by number."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

from didim.dynamics.kernels.elementary import LANES, LARGEST_SERIES_ANGLE, padded, sines, tanhs
from didim.jit.compiler import intrinsics
from didim.jit.multiply_add import multiply_add

_sines = numba.njit(lambda x, cos, sin: sines(x, x.size, cos, sin))
_tanhs = numba.njit(lambda x: tanhs(x))


def cos_and_sin(x):
    cos, sin = np.empty_like(x), np.empty_like(x)
    _sines(x, cos, sin)
    return cos, sin


@pytest.mark.slow
@pytest.mark.parametrize("reach", [1e-3, 1.0, 30.0, 1e4, LARGEST_SERIES_ANGLE, 1e9])
def test_sines_are_right_to_the_last_digit(reach):
    x = np.random.default_rng(0).uniform(-reach, reach, 20_000)
    cos, sin = cos_and_sin(x)
    assert np.abs(cos - [math.cos(each) for each in x]).max() <= 2.3e-16
    assert np.abs(sin - [math.sin(each) for each in x]).max() <= 2.3e-16


@pytest.mark.slow
def test_sines_around_the_multiples_of_a_quarter_turn():
    x = np.repeat(np.arange(-40_000, 40_000, 7) * (math.pi / 2), 8) + np.tile(
        [-1e-9, -1e-15, 0, 1e-15, 1e-9, 0.1, -0.1, 0.8], 11_429
    )
    cos, sin = cos_and_sin(x)
    assert np.abs(cos - np.cos(x)).max() <= 2.3e-16
    assert np.abs(sin - np.sin(x)).max() <= 2.3e-16
    assert np.abs(cos**2 + sin**2 - 1).max() < 1e-15


@pytest.mark.slow
def test_what_is_no_angle_stays_none():
    cos, sin = cos_and_sin(np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300, 5e-324, 1.0]))
    assert np.isnan(cos[:3]).all()
    assert np.isnan(sin[:3]).all()
    assert cos[3:5].tolist() == [1.0, 1.0]
    assert sin[3:5].tolist() == [0.0, 0.0]
    assert cos[5] == math.cos(1e300)
    assert sin[6] == 5e-324


@pytest.mark.slow
def test_tanh_to_three_units_of_the_last_digit():
    x = np.concatenate(
        [
            np.linspace(-40, 40, 80_000),
            np.geomspace(1e-300, 50, 20_000),
            -np.geomspace(1e-300, 50, 20_000),
        ]
    )
    found = x.copy()
    _tanhs(found)
    expected = np.tanh(x)
    assert np.max(np.abs(found - expected) / np.spacing(np.abs(expected))) <= 3
    assert np.abs(found).max() == 1.0


def test_tanh_at_the_edges():
    found = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300, -1e300, 5e-324])
    _tanhs(found)
    assert np.isnan(found[0])
    assert found[1:3].tolist() == [1.0, -1.0]
    assert math.copysign(1, found[4]) == -1
    assert found[5:].tolist() == [1.0, -1.0, 5e-324]


def test_arrays_are_padded_to_whole_lanes():
    assert [padded(count) for count in (0, 1, LANES, LANES + 1)] == [LANES, LANES, LANES, 2 * LANES]


@pytest.mark.parametrize("at_once", [True, False])
def test_a_product_is_rounded_with_its_sum_where_the_processor_can(at_once, monkeypatch):
    if at_once and not intrinsics.has_multiply_add():
        pytest.skip("this processor has no multiply-add")
    monkeypatch.setattr(intrinsics, "has_multiply_add", lambda: at_once)
    step = 2.0**-30
    found = numba.njit(lambda a, b, c: multiply_add(a, b, c))(1.0 + step, 1.0 - step, -1.0)
    assert found == (-(step**2) if at_once else 0.0)


def test_without_multiply_add_sines_and_tanh_are_as_right(monkeypatch):
    monkeypatch.setattr(intrinsics, "has_multiply_add", lambda: False)
    series = [numba.njit(error_model="numpy")(each.py_func) for each in (sines, tanhs)]
    x = np.linspace(-30.0, 30.0, 800)
    cos, sin, tanh = np.empty_like(x), np.empty_like(x), x.copy()
    series[0](x, x.size, cos, sin)
    series[1](tanh)
    for each in series:
        assert "llvm.fma" not in next(iter(each.inspect_llvm().values()))
    assert np.abs(cos - np.cos(x)).max() <= 2.3e-16
    assert np.abs(sin - np.sin(x)).max() <= 2.3e-16
    assert np.abs(tanh - np.tanh(x)).max() <= 3.4e-16
