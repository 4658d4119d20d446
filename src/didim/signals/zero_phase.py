"""Zero-phase filters of columns, forward and backward, in as little memory as possible."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.kernels.elementary import LANES, padded
from didim.signals.filter_design import steady_state
from didim.signals.kernels.zero_phase import forward_backward

Array = NDArray[np.float64]


def zero_phase(
    parts: list[Array], sections: Array, pad: int, first: int = 0, factor: int = 1
) -> Array:
    """Every `factor`-th row from `first` on of all parts (k, m) together, filtered by second-order
    sections (s, 6).

    Both ends are continued by `pad` samples. Several parts are taken from their list; one is left
    as it is.
    """
    if len(sections) % 2:  # the kernel takes them in pairs; this one passes everything
        sections = np.vstack([sections, [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]])
    N, m = sum(map(len, parts)), parts[0].shape[1]
    pad, width = max(0, min(pad, N - 2)), m if factor == 1 or m < LANES else padded(m)
    X, Y = np.require(parts[0], float, ["C", "A", "W"]), _aligned(N, width)
    if len(parts) > 1:
        concatenate_into(parts, Y[:, :m])
        X = Y
    edge, state = _aligned(pad + 1, width), _aligned(len(sections), 2, width)
    edge[:] = 0.0
    out = Y if factor == 1 else np.empty((len(range(first, N, factor)), m))
    steady = np.ascontiguousarray(steady_state(sections))
    forward_backward(
        np.ascontiguousarray(sections), steady, pad, X, first, factor, Y, edge, state, out
    )
    return out


def concatenate_into(parts: list[Array], into: Array) -> None:
    """All parts, one after the other, as far as they fit; each is released at once, so that a long
    record is never in memory twice.
    """
    row = 0
    while parts:
        rows = parts.pop(0)[: len(into) - row]
        into[row : row + len(rows)] = rows
        row += len(rows)


def _aligned(*shape: int) -> Array:
    """Memory that begins with a line of the processor's cache: rows that do are filtered in two
    thirds of the time.
    """
    size = int(np.prod(shape))
    memory = np.empty(size + LANES)
    begin = -(memory.ctypes.data // memory.itemsize) % LANES
    return memory[begin : begin + size].reshape(shape)
