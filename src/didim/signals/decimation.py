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

from didim.errors import InputError, nearest
from didim.signals.decimation_stream import BLOCK_OUTPUTS, HALF_LENGTH, Stream
from didim.signals.filter_design import chebyshev, magnitude, windowed_sinc
from didim.signals.zero_phase import zero_phase
from didim.validation import whole

Array = NDArray[np.float64]
Source = Callable[[int, int], Array]
"""Rows start to stop of the columns to decimate: (stop - start, m)."""

CONVENTIONS = ("matlab", "scipy", "fir")

_ORDER = 8
_RIPPLE_DB = 0.05
CUTOFF_FRACTION = 0.8
_PADS = {"matlab": 3 * _ORDER, "scipy": 3 * (_ORDER + 1)}
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
            2 * HALF_LENGTH * self.factor + 1
            if self.convention == "fir"
            else max(self.pad + 2, 2 * self.factor)
        )

    @property
    def streams(self) -> bool:
        """Whether columns are decimated as they come, in memory that does not grow with the
        record.
        """
        return self.factor > 1 and self.convention == "fir"

    @property
    def block(self) -> int:
        """Samples that a stream must have a multiple of for another one to follow it."""
        return BLOCK_OUTPUTS * self.factor if self.streams else 1

    def kept(self, N: int) -> NDArray[np.int64]:
        """Indices (K,) of the samples of a record of N that remain."""
        if self.factor == 1:
            return np.arange(N)
        if self.convention == "fir":
            return np.arange(HALF_LENGTH * self.factor, N - HALF_LENGTH * self.factor, self.factor)
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

    @property
    def pad(self) -> int:
        """Samples by which a forward-backward filter continues both ends."""
        return _PADS[self.convention]

    def stream(self) -> Stream:
        """For columns that come block by block."""
        return Stream(self)

    @cached_property
    def _taps(self) -> Array:
        return windowed_sinc(2 * HALF_LENGTH * self.factor + 1, CUTOFF_FRACTION / self.factor)

    @cached_property
    def bands(self) -> Array:
        """The filter as a matrix: what a block of old samples (rows) adds to each new one that it
        reaches (columns).
        """
        reach, taps = BLOCK_OUTPUTS + 2 * HALF_LENGTH, self._taps
        bands = np.zeros((BLOCK_OUTPUTS * self.factor + 2 * taps.size, reach), order="F")
        for k in range(
            reach
        ):  # new sample k of the block begins with its row (k - 2 HALF_LENGTH) factor
            begin = taps.size + (k - 2 * HALF_LENGTH) * self.factor
            bands[begin : begin + taps.size, k] = taps
        return np.asfortranarray(bands[taps.size : taps.size + BLOCK_OUTPUTS * self.factor])

    @cached_property
    def sections(self) -> Array:
        """Of the forward-backward filters, (s, 6)."""
        return chebyshev(_ORDER, _RIPPLE_DB, CUTOFF_FRACTION / self.factor)

    @cached_property
    def correlation(self) -> Array:
        """Autocorrelation (L,) that white noise has after decimation, at lags 0, 1, ... of the new
        samples.
        """
        if self.factor == 1:
            return np.ones(1)
        lags = self._noise[: 2 * HALF_LENGTH * self.factor : self.factor]
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
        half = HALF_LENGTH * self.factor
        extended = np.pad(variance, ((half, half), (0, 0)), mode="edge")
        around = np.lib.stride_tricks.sliding_window_view(extended, 2 * half + 1, axis=0)
        kept = self.kept(variance.shape[0])
        rows = slice(kept[0], kept[-1] + 1, self.factor)
        return np.einsum("kmt,t->km", around[rows], self._power[::-1])

    @cached_property
    def _power(self) -> Array:
        """Squared impulse response over its sum, `HALF_LENGTH` new samples to either side."""
        half = HALF_LENGTH * self.factor
        if self.convention == "fir":
            response = self._taps
        else:
            impulse = np.zeros((2 * half + 1, 1))
            impulse[half] = 1.0
            response = zero_phase([impulse], self.sections, 0)[:, 0]
        return np.asarray(response**2 / np.sum(response**2))

    @cached_property
    def _noise(self) -> Array:
        """Autocovariance of filtered white noise of variance 1, at the lags of the old samples."""
        size = 64 * HALF_LENGTH * self.factor
        if self.convention == "fir":
            power = np.abs(np.fft.rfft(self._taps, size)) ** 2
        else:
            power = magnitude(self.sections, np.linspace(0, np.pi, size // 2 + 1)) ** 4
        return np.fft.irfft(power, size)
