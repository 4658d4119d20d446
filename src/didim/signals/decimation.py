"""Parallel decimation (13): the same lowpass filter and resampling for Y and for every column of W.

Three conventions, all with the cut at 0.8 of the new Nyquist frequency:

- "matlab": MATLAB's `decimate`: Chebyshev I of order 8, 0.05 dB, forward and backward; the last
  sample is kept.
- "scipy": SciPy's `decimate`: the same filter with other edges; the first sample is kept.
- "fir": a linear-phase filter of 20 n_d + 1 taps; the samples at both ends that it cannot reach are
  cut. Nothing is assumed about what lies beyond the record, and memory does not grow with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dgemm

from didim.dynamics.kernels.elementary import LANES
from didim.errors import InputError, nearest
from didim.signals.filter_design import chebyshev, magnitude, windowed_sinc
from didim.signals.zero_phase import concatenate_into, zero_phase
from didim.validation import whole

Array = NDArray[np.float64]
Source = Callable[[int, int], Array]
"""Rows start to stop of the columns to decimate: (stop - start, m)."""

CONVENTIONS = ("matlab", "scipy", "fir")

_ORDER = 8
_RIPPLE_DB = 0.05
CUTOFF_FRACTION = 0.8
_PADS = {"matlab": 3 * _ORDER, "scipy": 3 * (_ORDER + 1)}
_HALF_LENGTH = 10
"""Of the linear-phase filter, in new samples."""
_BLOCK_OUTPUTS = 4
"""New samples that one block of old ones is worth. Every old sample is read once, and a sixth of
the products is with zeros.
"""
_READ_ROWS = 1 << 14
"""Samples that are read at once."""


@dataclass(frozen=True)
class Decimation:
    """Keep one sample in `factor`, after a lowpass filter; 1: all samples, no filter.

    Implements (13).
    """

    factor: int = 20
    """n_d."""
    convention: str = "scipy"

    def __post_init__(self) -> None:
        object.__setattr__(self, "factor", whole(self.factor, "decimation", least=1))
        if not isinstance(self.convention, str) or self.convention not in CONVENTIONS:
            raise InputError(
                f"Unknown decimate {self.convention!r}; "
                f"{nearest(str(self.convention), CONVENTIONS)}"
            )

    @property
    def shortest(self) -> int:
        """The fewest samples that can be decimated."""
        if self.factor == 1:
            return 1
        return (
            2 * _HALF_LENGTH * self.factor + 1
            if self.convention == "fir"
            else max(_PADS[self.convention] + 2, 2 * self.factor)
        )

    @property
    def streams(self) -> bool:
        """Whether columns are decimated as they come, in memory that does not grow with the
        record.
        """
        return self.factor > 1 and self.convention == "fir"

    def kept(self, N: int) -> NDArray[np.int64]:
        """Indices (K,) of the samples of a record of N that remain."""
        if self.factor == 1:
            return np.arange(N)
        if self.convention == "fir":
            return np.arange(
                _HALF_LENGTH * self.factor, N - _HALF_LENGTH * self.factor, self.factor
            )
        return np.arange(
            (N - 1) % self.factor if self.convention == "matlab" else 0, N, self.factor
        )

    def apply(self, N: int, source: Source) -> Array:
        """The columns of `source`, N samples long, decimated: (K, m)."""
        if self.factor == 1:
            return source(0, N)
        if self.shortest > N:
            raise InputError(
                f"The record is too short: {N} samples, but decimation by {self.factor} "
                f"({self.convention}) needs "
                f"{self.shortest}. Record longer, or decimate less."
            )
        stream = self.stream()
        for start in range(0, N, _READ_ROWS):
            stream.push(source(start, min(start + _READ_ROWS, N)))
        return stream.result()

    def stream(self) -> Stream:
        """For columns that come block by block."""
        return Stream(self)

    @cached_property
    def _taps(self) -> Array:
        return windowed_sinc(2 * _HALF_LENGTH * self.factor + 1, CUTOFF_FRACTION / self.factor)

    @cached_property
    def _bands(self) -> Array:
        """The filter as a matrix: what a block of old samples (rows) adds to each new one that it
        reaches (columns).
        """
        reach, taps = _BLOCK_OUTPUTS + 2 * _HALF_LENGTH, self._taps
        bands = np.zeros((_BLOCK_OUTPUTS * self.factor + 2 * taps.size, reach), order="F")
        for k in range(
            reach
        ):  # new sample k of the block begins with its row (k - 2 _HALF_LENGTH) factor
            begin = taps.size + (k - 2 * _HALF_LENGTH) * self.factor
            bands[begin : begin + taps.size, k] = taps
        return np.asfortranarray(bands[taps.size : taps.size + _BLOCK_OUTPUTS * self.factor])

    @cached_property
    def _sections(self) -> Array:
        return chebyshev(_ORDER, _RIPPLE_DB, CUTOFF_FRACTION / self.factor)

    @cached_property
    def correlation(self) -> Array:
        """Autocorrelation (L,) that white noise has after decimation, at lags 0, 1, ... of the new
        samples.
        """
        if self.factor == 1:
            return np.ones(1)
        lags = self._noise[: 2 * _HALF_LENGTH * self.factor : self.factor]
        return lags / lags[0]

    @property
    def cutoff(self) -> float:
        """Of the filter, over the sampling rate."""
        return 0.5 if self.factor == 1 else 0.5 * CUTOFF_FRACTION / self.factor

    @property
    def noise_gain(self) -> float:
        """Variance of white noise after the filter, over that before it."""
        return 1.0 if self.factor == 1 else float(self._noise[0])

    def noise_variance(self, variance: Array) -> Array:
        """(K, m) variance, after the filter, of white noise that had the variances (N, m), over
        `noise_gain`; beyond the record it goes on as at its ends.
        """
        if self.factor == 1:
            return variance
        half = _HALF_LENGTH * self.factor
        extended = np.pad(variance, ((half, half), (0, 0)), mode="edge")
        around = np.lib.stride_tricks.sliding_window_view(extended, 2 * half + 1, axis=0)
        kept = self.kept(variance.shape[0])
        rows = slice(kept[0], kept[-1] + 1, self.factor)
        return np.einsum("kmt,t->km", around[rows], self._power[::-1])

    @cached_property
    def _power(self) -> Array:
        """Squared impulse response over its sum, `_HALF_LENGTH` new samples to either side."""
        half = _HALF_LENGTH * self.factor
        if self.convention == "fir":
            response = self._taps
        else:
            impulse = np.zeros((2 * half + 1, 1))
            impulse[half] = 1.0
            response = zero_phase([impulse], self._sections, 0)[:, 0]
        return np.asarray(response**2 / np.sum(response**2))

    @cached_property
    def _noise(self) -> Array:
        """Autocovariance of filtered white noise of variance 1, at the lags of the old samples."""
        size = 64 * _HALF_LENGTH * self.factor
        if self.convention == "fir":
            power = np.abs(np.fft.rfft(self._taps, size)) ** 2
        else:
            power = magnitude(self._sections, np.linspace(0, np.pi, size // 2 + 1)) ** 4
        return np.fft.irfft(power, size)


class Stream:
    """Decimates columns as they come. A linear-phase filter keeps no more than its own length; the
    others keep everything.
    """

    def __init__(self, decimation: Decimation) -> None:
        self.decimation = decimation
        self.parts: list[Array] = []
        self.count = 0
        """Rows in blocks."""
        self.rest: Array | None = None
        """Rows that are not yet a block."""
        self.open: Array | None = None
        """(2 _HALF_LENGTH, m) sums of the new samples that the blocks to come belong to as well."""

    def push(self, rows: Array) -> None:
        """The next rows (k, m)."""
        if not self.decimation.streams:
            self.parts.append(rows)
            return
        size = _BLOCK_OUTPUTS * self.decimation.factor
        if self.rest is not None and len(self.rest):
            begun = np.concatenate([self.rest, rows[: size - len(self.rest)]])
            rows = rows[size - len(self.rest) :]
            if len(begun) < size:
                self.rest = begun
                return
            self._add(begun)
        whole = len(rows) // size * size
        self._add(np.ascontiguousarray(rows[:whole]))
        self.rest = rows[whole:].copy()

    def _add(self, rows: Array) -> None:
        """Blocks of rows: the contribution of each to the new samples that it reaches, 2
        _HALF_LENGTH of which blocks before have begun.
        """
        n_d, bands = self.decimation.factor, self.decimation._bands
        sums = np.zeros((2 * _HALF_LENGTH + len(rows) // n_d, rows.shape[1]))
        if self.open is not None:
            sums[: 2 * _HALF_LENGTH] = self.open
        for at in range(0, len(rows) // n_d if rows.shape[1] else 0, _BLOCK_OUTPUTS):
            block, reached = (
                rows[at * n_d : (at + _BLOCK_OUTPUTS) * n_d],
                sums[at : at + bands.shape[1]],
            )
            block.reshape(-1)[
                ::LANES
            ].max()  # reads it line by line into the cache: the product jumps between rows
            dgemm(
                1.0, block.T, bands, 1.0, reached.T, overwrite_c=True
            )  # in place: transposed, both have Fortran's order
        self.parts.append(sums[: -2 * _HALF_LENGTH])
        self.count += len(rows)
        self.open = sums[-2 * _HALF_LENGTH :]

    def result(self) -> Array:
        """The decimated columns (K, m) of all rows; to be called once, since it consumes the
        rows.
        """
        if self.decimation.streams and self.rest is not None and self.open is not None:
            with np.errstate(
                invalid="ignore", over="ignore"
            ):  # a simulation that diverged is reported by its caller
                self.parts.append(
                    self.open
                    + self.decimation._bands[: len(self.rest), : 2 * _HALF_LENGTH].T @ self.rest
                )
            new = self.decimation.kept(self.count + len(self.rest)).size
            sums = np.empty((2 * _HALF_LENGTH + new, self.rest.shape[1]))
            concatenate_into(self.parts, sums)
            return sums[2 * _HALF_LENGTH :]
        if self.decimation.factor == 1:
            return np.ascontiguousarray(np.concatenate(self.parts))
        kept = self.decimation.kept(sum(map(len, self.parts)))
        pad = _PADS[self.decimation.convention]
        return zero_phase(
            self.parts, self.decimation._sections, pad, kept[0], self.decimation.factor
        )
