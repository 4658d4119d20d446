"""Lowpass filters from their closed forms: second-order sections, windowed sinc, steady states.

SciPy's `signal` has all of it, to the same digits; importing it takes longer than a small
identification, since it imports `stats`. Cutoffs are fractions of the Nyquist frequency. Sections
are rows (b0, b1, b2, 1, a1, a2), as those of SciPy; a test compares them.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Poles = NDArray[np.complex128]


def butterworth(order: int, cutoff: float) -> Array:
    """Sections (s, 6) of a Butterworth filter, 3 dB down at the cutoff."""
    return _sections(-np.exp(0.5j * math.pi / order * _odd_numbers(order)), 1.0, cutoff)


def chebyshev(order: int, ripple_db: float, cutoff: float) -> Array:
    """Sections (s, 6) of a Chebyshev filter of type I, whose gain oscillates by `ripple_db` below
    the cutoff.
    """
    ripple = math.sqrt(10.0 ** (0.1 * ripple_db) - 1.0)
    angles = 0.5 * math.pi / order * _odd_numbers(order)
    poles = -np.sinh(math.asinh(1.0 / ripple) / order + 1j * angles)
    return _sections(poles, 1.0 / math.hypot(1.0, ripple) if order % 2 == 0 else 1.0, cutoff)


def windowed_sinc(size: int, cutoff: float) -> Array:
    """Taps (size,) of a linear-phase lowpass filter of gain 1, with the window of Hamming."""
    place = np.arange(size) - 0.5 * (size - 1)
    taps = cutoff * np.sinc(cutoff * place) * np.hamming(size)
    return np.asarray(taps / taps.sum())


def steady_state(sections: Array) -> Array:
    """State (s, 2) of every section, in transposed direct form II, once a filter has been fed the
    constant 1 for ever.
    """
    b, a = sections[:, :3], sections[:, 3:]
    kept = np.zeros((len(sections), 2, 2))
    kept[:, :, 0], kept[:, 0, 1] = -a[:, 1:], 1.0
    added = b[:, 1:] - a[:, 1:] * b[:, :1]
    state = np.linalg.solve(np.eye(2) - kept, added[:, :, None])[:, :, 0]
    gain = b.sum(axis=1) / a.sum(axis=1)
    return np.asarray(state * np.cumprod(np.append(1.0, gain[:-1]))[:, None])


def magnitude(sections: Array, frequencies: Array) -> Array:
    """Gain (m,) at frequencies of m radians per sample."""
    delay = np.exp(-1j * frequencies)
    response = np.ones(delay.size, dtype=complex)
    for b0, b1, b2, a0, a1, a2 in sections:
        response *= (b0 + (b1 + b2 * delay) * delay) / (a0 + (a1 + a2 * delay) * delay)
    return np.abs(response)


def _odd_numbers(order: int) -> Array:
    """From 1 - order to order - 1."""
    return np.arange(1.0 - order, order, 2.0)


def _sections(analog: Poles, gain: float, cutoff: float) -> Array:
    """Sections (s, 6) of the filter with these poles for a cutoff of 1 rad/s and this gain at rest,
    by the bilinear transformation: all zeros go to -1, and the poles nearest to the unit circle
    come last.
    """
    scaled = math.tan(0.5 * math.pi * cutoff) * analog
    gain *= float(np.prod(-scaled / (1.0 - scaled)).real)
    poles = (1.0 + scaled) / (1.0 - scaled)
    pairs = poles[: len(poles) // 2]  # the others are conjugate to these
    pairs = pairs[np.argsort(-np.abs(1.0 - np.abs(pairs)))]
    rows = [[1.0, 2.0, 1.0, 1.0, -2.0 * p.real, p.real**2 + p.imag**2] for p in pairs]
    if len(poles) % 2:
        real = poles[len(poles) // 2].real
        rows.insert(0, [1.0, 1.0, 0.0, 1.0, -real, 0.0])
    sections = np.array(rows)
    sections[0, :3] *= gain
    return sections
