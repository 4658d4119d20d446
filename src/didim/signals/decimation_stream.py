"""Decimation of columns that come block by block."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dgemm

from didim.dynamics.kernels.elementary import LANES
from didim.signals.zero_phase import concatenate_into, zero_phase

if TYPE_CHECKING:
    from didim.signals.decimation import Decimation

Array = NDArray[np.float64]

HALF_LENGTH = 10
"""Of the linear-phase filter, in new samples."""
BLOCK_OUTPUTS = 4
"""New samples that one block of old ones is worth. Every old sample is read once, and a sixth of
the products is with zeros.
"""

PIECE_BYTES = 40 << 20
"""Of decimated rows that are put together: more than what allocators keep to themselves (32 MiB),
so that a long record is given back to the system piece by piece.
"""


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
        """(2 HALF_LENGTH, m) sums of the new samples that the blocks to come belong to as well."""
        self._pieces, self._loose = 0, 0
        """Parts that are put together, and bytes of those that are not."""

    def push(self, rows: Array) -> None:
        """The next rows (k, m)."""
        if not self.decimation.streams:
            self.parts.append(rows)
            return
        size = BLOCK_OUTPUTS * self.decimation.factor
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
        HALF_LENGTH of which blocks before have begun.
        """
        n_d, bands = self.decimation.factor, self.decimation.bands
        sums = np.zeros((2 * HALF_LENGTH + len(rows) // n_d, rows.shape[1]))
        if self.open is not None:
            sums[: 2 * HALF_LENGTH] = self.open
        for at in range(0, len(rows) // n_d if rows.shape[1] else 0, BLOCK_OUTPUTS):
            block, reached = (
                rows[at * n_d : (at + BLOCK_OUTPUTS) * n_d],
                sums[at : at + bands.shape[1]],
            )
            block.reshape(-1)[
                ::LANES
            ].max()  # reads it line by line into the cache: the product jumps between rows
            dgemm(
                1.0, block.T, bands, 1.0, reached.T, overwrite_c=True
            )  # in place: transposed, both have Fortran's order
        self._keep(sums[: -2 * HALF_LENGTH])
        self.count += len(rows)
        self.open = sums[-2 * HALF_LENGTH :]

    def _keep(self, rows: Array) -> None:
        """Decimated rows (k, m), put together with those before once these are many."""
        self.parts.append(rows)
        self._loose += rows.nbytes
        if self._loose > PIECE_BYTES:
            self.parts[self._pieces :] = [np.concatenate(self.parts[self._pieces :])]
            self._pieces, self._loose = len(self.parts), 0

    def mapped(self, columns: Callable[[Array], Array]) -> Stream:
        """The stream of other columns, which are a linear function of these, row by row; it takes
        the rows of this one.
        """
        found = Stream(self.decimation)
        found.count = self.count
        while self.parts:
            found.parts.append(columns(self.parts.pop(0)))
        found.rest = None if self.rest is None else columns(self.rest)
        found.open = None if self.open is None else columns(self.open)
        return found

    def join(self, later: Stream) -> None:
        """The rows of another stream, which follow those of this one: whole blocks."""
        if self.open is not None and later.open is not None:
            begun = self.open
            for part in (*later.parts, later.open):
                reached = min(len(part), len(begun))
                part[:reached] += begun[:reached]
                begun = begun[reached:]
        self.parts += later.parts
        self.count, self.rest = self.count + later.count, later.rest
        self.open = self.open if later.open is None else later.open

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
                    + self.decimation.bands[: len(self.rest), : 2 * HALF_LENGTH].T @ self.rest
                )
            new = self.decimation.kept(self.count + len(self.rest)).size
            sums = np.empty((2 * HALF_LENGTH + new, self.rest.shape[1]))
            concatenate_into(self.parts, sums)
            return sums[2 * HALF_LENGTH :]
        if self.decimation.factor == 1:
            return np.ascontiguousarray(np.concatenate(self.parts))
        kept = self.decimation.kept(sum(map(len, self.parts)))
        given = self.parts, self.decimation.sections, self.decimation.pad
        return zero_phase(*given, kept[0], self.decimation.factor)
