"""Lowpass filters over many columns at once, one sample of all columns after the other: the inner
loops run over columns.
"""

from __future__ import annotations

from typing import Any

from didim.jit.compiled import entry, kernel
from didim.jit.types import float64, int64, void

Columns = Any


@kernel
def cascade(sections: Any, state: Any, row: Any) -> None:
    """One sample through all second-order sections (s, 6), transposed direct form II; state (s, 2,
    m), row (m,) in place.

    Two sections at a time, s is even: what lies between them stays in a register, which halves the
    time of one by one.
    """
    for s in range(0, sections.shape[0], 2):
        b0, b1, b2, a1, a2 = (
            sections[s, 0],
            sections[s, 1],
            sections[s, 2],
            sections[s, 4],
            sections[s, 5],
        )
        d0, d1, d2, c1, c2 = (
            sections[s + 1, 0],
            sections[s + 1, 1],
            sections[s + 1, 2],
            sections[s + 1, 4],
            sections[s + 1, 5],
        )
        one, two, three, four = state[s, 0], state[s, 1], state[s + 1, 0], state[s + 1, 1]
        for c in range(row.size):
            x = row[c]
            y = b0 * x + one[c]
            one[c] = b1 * x - a1 * y + two[c]
            two[c] = b2 * x - a2 * y
            z = d0 * y + three[c]
            three[c] = d1 * y - c1 * z + four[c]
            four[c] = d2 * y - c2 * z
            row[c] = z


@kernel
def settle(steady: Any, state: Any, row: Any) -> None:
    """The state (s, 2, m) of a filter that has been fed the constant row (m,) for ever; `steady`
    (s, 2) is that of 1.
    """
    for s in range(state.shape[0]):
        for i in range(2):
            for c in range(row.size):
                state[s, i, c] = steady[s, i] * row[c]


_matrix, _cube = float64[:, ::1], float64[:, :, ::1]


@kernel
def copy(row: Any, out: Any) -> None:
    """The columns that both have."""
    for c in range(min(row.size, out.size)):
        out[c] = row[c]


@entry(void(_matrix, _matrix, int64, _matrix, int64, int64, _matrix, _matrix, _cube, _matrix))
def forward_backward(
    sections: Any,
    steady: Any,
    pad: int,
    X: Columns,
    first: int,
    factor: int,
    Y: Columns,
    edge: Columns,
    state: Any,
    out: Columns,
) -> None:
    """Zero-phase filter of the columns of X (N, m), forward, then backward; every `factor`-th row
    from `first` on goes to out.

    Both ends are continued by `pad` samples, turned about the end point, as MATLAB's filtfilt does.
    Scratch: Y (N, l), edge (pad + 1, l), zeros, and state (s, 2, l), with l >= m columns. X may be
    Y; so may `out`, where it has all rows and columns.
    """
    N, m = X.shape[0], out.shape[1]
    for i in range(pad):
        for c in range(m):
            edge[i, c] = 2 * X[N - 1, c] - X[N - 2 - i, c]
    spare = edge[pad]
    for i in range(pad):
        for c in range(m):
            spare[c] = 2 * X[0, c] - X[pad - i, c]
        if i == 0:
            settle(steady, state, spare)
        cascade(sections, state, spare)
    if pad == 0:
        copy(X[0], spare)
        settle(steady, state, spare)
    for k in range(N):
        copy(X[k], Y[k])
        for c in range(m, Y.shape[1]):
            Y[k, c] = 0.0
        cascade(sections, state, Y[k])
    for i in range(pad):
        cascade(sections, state, edge[i])
    settle(steady, state, edge[pad - 1] if pad > 0 else Y[N - 1])
    for i in range(pad - 1, -1, -1):
        cascade(sections, state, edge[i])
    for k in range(N - 1, -1, -1):
        copy(Y[k], spare)
        cascade(sections, state, spare)
        if k >= first and (k - first) % factor == 0:
            copy(spare, out[(k - first) // factor])
