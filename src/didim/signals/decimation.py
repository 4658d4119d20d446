"""Parallel decimation (13): the same lowpass filter and resampling for Y and for every column of W.

Three conventions, all with the cut at 0.8 of the new Nyquist frequency:

- "matlab": MATLAB's `decimate`: Chebyshev I of order 8, 0.05 dB, forward and backward; the last sample is kept.
- "scipy": SciPy's `decimate`: the same filter with other edges; the first sample is kept.
- "fir": a linear-phase filter of 20 n_d + 1 taps; the samples at both ends that it cannot reach are cut. Nothing is assumed
  about what lies beyond the record, and memory does not grow with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from didim.door import whole
from didim.errors import InputError, nearest
from didim.signals.kernels.decimation import forward_backward

Array = NDArray[np.float64]
Source = Callable[[int, int], Array]
"""Rows start to stop of the columns to decimate: (stop - start, m)."""

CONVENTIONS = ("matlab", "scipy", "fir")

_ORDER = 8
_RIPPLE = 0.05
_CUT = 0.8
_PADS = {"matlab": 3 * _ORDER, "scipy": 3 * (_ORDER + 1)}
_HALF = 10
"""Half length of the linear-phase filter, in new samples."""
_AT_ONCE = 8
"""New samples that one product computes: a third of it is zeros, but matrix products are the fastest that there is."""
_BLOCK = 1 << 14
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
            raise InputError(f"Unknown decimate {self.convention!r}; {nearest(str(self.convention), CONVENTIONS)}")

    @property
    def shortest(self) -> int:
        """The fewest samples that can be decimated."""
        if self.factor == 1:
            return 1
        return 2 * _HALF * self.factor + 1 if self.convention == "fir" else max(_PADS[self.convention] + 2, 2 * self.factor)

    @property
    def streams(self) -> bool:
        """Whether columns are decimated as they come, in memory that does not grow with the record."""
        return self.factor > 1 and self.convention == "fir"

    def kept(self, N: int) -> NDArray[np.int64]:
        """Indices (K,) of the samples of a record of N that remain."""
        if self.factor == 1:
            return np.arange(N)
        if self.convention == "fir":
            return np.arange(_HALF * self.factor, N - _HALF * self.factor, self.factor)
        return np.arange((N - 1) % self.factor if self.convention == "matlab" else 0, N, self.factor)

    def apply(self, N: int, source: Source) -> Array:
        """The columns of `source`, N samples long, decimated: (K, m)."""
        if self.factor == 1:
            return source(0, N)
        if self.shortest > N:
            raise InputError(
                f"The record is too short: {N} samples, but decimation by {self.factor} ({self.convention}) needs "
                f"{self.shortest}. Record longer, or decimate less."
            )
        stream = self.stream()
        for start in range(0, N, _BLOCK):
            stream.push(source(start, min(start + _BLOCK, N)))
        return stream.result()

    def stream(self) -> Stream:
        """For columns that come block by block."""
        return Stream(self)

    @cached_property
    def _taps(self) -> Array:
        return np.asarray(signal.firwin(2 * _HALF * self.factor + 1, _CUT / self.factor, window="hamming"))

    @cached_property
    def _bands(self) -> Array:
        """The filter of some new samples in a row, as a matrix on the old ones that they reach."""
        taps = self._taps
        bands = np.zeros((_AT_ONCE, (_AT_ONCE - 1) * self.factor + taps.size))
        for k, row in enumerate(bands):
            row[k * self.factor : k * self.factor + taps.size] = taps
        return bands

    @cached_property
    def _sections(self) -> Array:
        return np.asarray(signal.cheby1(_ORDER, _RIPPLE, _CUT / self.factor, output="sos"))

    @cached_property
    def correlation(self) -> Array:
        """Autocorrelation (L,) that white noise has after decimation, at lags 0, 1, ... of the new samples."""
        if self.factor == 1:
            return np.ones(1)
        lags = self._noise[: 2 * _HALF * self.factor : self.factor]
        return np.asarray(lags / lags[0])

    @property
    def noise_gain(self) -> float:
        """Variance of white noise after the filter, over that before it."""
        return 1.0 if self.factor == 1 else float(self._noise[0])

    @cached_property
    def _noise(self) -> Array:
        """Autocovariance of filtered white noise of variance 1, at the lags of the old samples."""
        size = 64 * _HALF * self.factor
        if self.convention == "fir":
            power = np.abs(np.fft.rfft(self._taps, size)) ** 2
        else:
            power = np.abs(signal.freqz_sos(self._sections, np.linspace(0, np.pi, size // 2 + 1))[1]) ** 4
        return np.asarray(np.fft.irfft(power, size))


class Stream:
    """Decimates columns as they come. A linear-phase filter keeps no more than its own length; the others keep everything."""

    def __init__(self, decimation: Decimation) -> None:
        self.decimation = decimation
        self.rest: Array | None = None
        self.parts: list[Array] = []

    def push(self, rows: Array) -> None:
        """The next rows (k, m)."""
        if not self.decimation.streams:
            self.parts.append(rows)
            return
        taps, n_d = self.decimation._taps, self.decimation.factor
        X = np.ascontiguousarray(rows if self.rest is None else np.concatenate([self.rest, rows]))
        ready = max(0, (X.shape[0] - taps.size) // n_d + 1)
        if ready:
            self.parts.append(np.empty((ready, X.shape[1])))
            bands = self.decimation._bands
            with np.errstate(invalid="ignore", over="ignore"):  # a simulation that ran away is told by who asked for it
                for k in range(0, ready, _AT_ONCE):
                    some = min(_AT_ONCE, ready - k)
                    span = (some - 1) * n_d + taps.size
                    np.matmul(bands[:some, :span], X[k * n_d : k * n_d + span], out=self.parts[-1][k : k + some])
        self.rest = X[ready * n_d :]

    def result(self) -> Array:
        """The decimated columns (K, m) of all rows so far."""
        X = np.ascontiguousarray(np.concatenate(self.parts))
        if self.decimation.streams or self.decimation.factor == 1:
            return X
        filtered(X, self.decimation._sections, _PADS[self.decimation.convention])
        return X[self.decimation.kept(X.shape[0])]


def filtered(X: Array, sections: Array, pad: int) -> None:
    """Zero-phase filter of the columns of X (N, m), in place, by second-order sections (s, 6)."""
    if len(sections) % 2:  # the kernel takes them in pairs; this one passes everything
        sections = np.vstack([sections, [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]])
    steady = np.ascontiguousarray(signal.sosfilt_zi(sections))
    pad = min(pad, X.shape[0] - 2)
    sections = np.ascontiguousarray(sections)
    forward_backward(sections, steady, pad, X, np.empty((pad + 1, X.shape[1])), np.empty((len(sections), 2, X.shape[1])))
