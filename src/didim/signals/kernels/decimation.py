"""Lowpass filters over many columns at once, one sample of all columns after the other: the inner loops run over columns."""

from __future__ import annotations

from typing import Any

from numba import float64, int64, void

from didim.compiled import entry, kernel

Columns = Any


@kernel
def cascade(sections: Any, state: Any, row: Any) -> None:
    """One sample through all second-order sections (s, 6), transposed direct form II; state (s, 2, m), row (m,) in place."""
    for s in range(sections.shape[0]):
        b0, b1, b2, a1, a2 = sections[s, 0], sections[s, 1], sections[s, 2], sections[s, 4], sections[s, 5]
        for c in range(row.size):
            x = row[c]
            y = b0 * x + state[s, 0, c]
            state[s, 0, c] = b1 * x - a1 * y + state[s, 1, c]
            state[s, 1, c] = b2 * x - a2 * y
            row[c] = y


@kernel
def settle(steady: Any, state: Any, row: Any) -> None:
    """The state (s, 2, m) of a filter that has been fed the constant row (m,) for ever; `steady` (s, 2) is that of 1."""
    for s in range(state.shape[0]):
        for i in range(2):
            for c in range(row.size):
                state[s, i, c] = steady[s, i] * row[c]


@entry(void(float64[:, ::1], float64[:, ::1], int64, float64[:, ::1], float64[:, ::1], float64[:, :, ::1]))
def forward_backward(sections: Any, steady: Any, pad: int, X: Columns, edge: Columns, state: Any) -> None:
    """Zero-phase filter of the columns of X (N, m) in place: forward, then backward.

    Both ends are continued by `pad` samples, turned about the end point, as MATLAB's filtfilt does. `edge` (pad + 1, m) and
    `state` (s, 2, m) are scratch.
    """
    N, m = X.shape
    for i in range(pad):
        for c in range(m):
            edge[i, c] = 2 * X[N - 1, c] - X[N - 2 - i, c]
    lead = edge[pad]
    for i in range(pad):
        for c in range(m):
            lead[c] = 2 * X[0, c] - X[pad - i, c]
        if i == 0:
            settle(steady, state, lead)
        cascade(sections, state, lead)
    if pad == 0:
        settle(steady, state, X[0])
    for k in range(N):
        cascade(sections, state, X[k])
    for i in range(pad):
        cascade(sections, state, edge[i])
    settle(steady, state, edge[pad - 1] if pad > 0 else X[N - 1])
    for i in range(pad - 1, -1, -1):
        cascade(sections, state, edge[i])
    for k in range(N - 1, -1, -1):
        cascade(sections, state, X[k])


@entry(void(float64[::1], int64, float64[:, ::1], float64[:, ::1]))
def decimate_fir(taps: Any, factor: int, X: Columns, out: Columns) -> None:
    """Row k of out (K, m) is the symmetric filter `taps` (2 h + 1,) over the rows of X from k * factor on."""
    half, m = taps.size // 2, X.shape[1]
    for k in range(out.shape[0]):
        first = k * factor
        last = first + 2 * half
        for c in range(m):
            out[k, c] = taps[half] * X[first + half, c]
        for i in range(half):
            weight = taps[i]
            for c in range(m):
                out[k, c] += weight * (X[first + i, c] + X[last - i, c])
