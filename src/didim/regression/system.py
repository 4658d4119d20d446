"""`LinearSystem`: Y = W chi + rho, the equations of each joint grouped together (10)-(14),
(45)-(48).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from didim.dynamics.known import Affine
from didim.dynamics.model import BaseModel
from didim.dynamics.torque import TorqueModel
from didim.signals.rows import RowSelection
from didim.signals.states import States

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

_MOST = 1 << 27
"""Bytes of columns that are filtered at once, where the filter needs whole columns: longer records
go in parts.
"""

SIGNALS_AT_ONCE = 32
"""That `fill_signal_columns` filters."""

FACTORED_ROWS = 50_000
"""That `compressed` takes at once."""

MIN_ROW_VARIANCE = 0.3
"""Of the noise of a row, over that of a row whose samples all count: rows with less are left
out.
"""


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """r equations in b parameters, joint by joint (14), never mixed across joints or experiments.

    Implements (7).
    """

    W: Array
    """(r, b)."""
    y: Array
    """(r,) N.m or N."""
    joint: Integers
    """(r,) joint of each row."""
    series: Integers
    """(r,) experiment of each row."""
    index: Integers
    """(r,) which decimated sample of its experiment the row is; rows at rest are missing."""
    names: tuple[str, ...]
    """(b,) parameters."""
    n: int
    """Number of joints; of joints and outputs, where positions are compared as well as torques."""
    correlation: Array
    """(L,) autocorrelation that white torque noise has from row to row, by the decimation
    filter.
    """
    affine: Affine | None = None
    """What known values leave of the parameters; None: all."""

    @property
    def free(self) -> LinearSystem:
        """In the parameters that known values leave: y - W offset = W basis z."""
        if (known := self.affine) is None:
            return self
        y, names = self.y - self.W @ known.offset, self.free_names
        return replace(self, W=self.W @ known.basis, y=y, names=names, affine=None)

    @property
    def free_names(self) -> tuple[str, ...]:
        """Names of these."""
        known = self.affine
        return self.names if known is None else tuple(self.names[i] for i in known.kept)

    def residual(self, parameters: Array) -> Array:
        """rho = Y - W chi (r,)."""
        return np.asarray(self.y - self.W @ parameters)

    @property
    def sizes(self) -> Array:
        """(n,) root mean square of y, of each joint."""
        counts = np.bincount(self.joint, minlength=self.n)
        squares = np.bincount(self.joint, self.y**2, minlength=self.n)
        return np.sqrt(squares / np.maximum(counts, 1))

    def error_weights(self, parameters: Array) -> Array:
        """(r,) 1 over the rms error that parameters leave of each row's joint."""
        rms = replace(self, y=self.residual(parameters)).sizes
        floor = np.maximum(1e-9 * self.sizes, 1e-150)
        return np.asarray(1.0 / np.maximum(rms, floor))[self.joint]

    def only(self, columns: Integers) -> LinearSystem:
        """The same equations in fewer parameters; the others are zero."""
        affine = None if self.affine is None else self.affine.only(columns)
        names = tuple(self.names[i] for i in columns)
        return replace(self, W=self.W[:, columns], names=names, affine=affine)


def active_columns(model: TorqueModel) -> NDArray[np.bool_]:
    """(n, p) which parameters a joint's torque can depend on; the other columns of its rows are
    zero by structure.
    """
    random = np.random.default_rng(0)
    q, dq, ddq = random.uniform(-1, 1, (3, 16, model.robot.n))
    signals = {name: random.uniform(1, 2, 16) for name in model.channels}
    if model.loaded:
        signals["load"] = random.uniform(1, 2, (16, model.robot.n))
    return np.asarray(np.any(model.regressor(q, dq, ddq, None, signals) != 0, axis=0))


def load_columns(model: TorqueModel) -> NDArray[np.bool_]:
    """(n, p) which parameters act as load of a joint: all but its own friction and offset."""
    is_load = np.ones((model.robot.n, len(model.parameter_names)), dtype=bool)
    columns = model.columns
    own = np.array([entry.own for entry in model.layout.entries], dtype=bool)
    own &= columns.column >= 0
    is_load[columns.row[own], columns.column[own]] = False
    return is_load


def fill_signal_columns(
    into: Array,
    torques: Iterable[Mapping[int, Array]],
    system: LinearSystem,
    selection: RowSelection,
    window: tuple[int, int],
    series: int = 0,
    weights: Array | None = None,
) -> None:
    """Torques of one record as columns of `into` (r, k), at the rows that `system` has of it,
    filtered and weighted as `observe` does. Each column has the joints that it acts on, with (N,).
    """
    own = [np.flatnonzero((system.series == series) & (system.joint == j)) for j in range(system.n)]
    deviation = None
    if weights is not None:
        variance = selection.decimator.noise_variance(weights[window[0] : window[1]] ** 2)
        deviation = np.sqrt(np.maximum(variance, MIN_ROW_VARIANCE))
    pairs = ((c, j, torque) for c, column in enumerate(torques) for j, torque in column.items())
    while group := list(islice(pairs, SIGNALS_AT_ONCE)):
        signals = np.empty((group[0][2].size, len(group)))
        for i, (_, j, torque) in enumerate(group):
            signals[:, i] = torque if weights is None else torque * weights[:, j]
        reduced = selection.columns(window, signals)
        for i, (c, j, _) in enumerate(group):
            row = system.index[own[j]]
            column = reduced[row, i]
            into[own[j], c] = column if deviation is None else column / deviation[row, j]


def observe(
    model: TorqueModel,
    states: States,
    tau: Array,
    selection: RowSelection,
    window: tuple[int, int],
    series: int = 0,
    weights: Array | None = None,
    growth: Array | None = None,
) -> LinearSystem:
    """The equations of one record: W of the motion and Y of the torque, filtered and decimated in
    parallel (10)-(13).

    With `growth` (N, n), d f/d load of each joint's friction, W is the derivative of the torque by
    the parameters instead, which friction that grows with the load makes another matrix.

    `weights` (N, n), 0 to 1, multiply the equations of each joint at each sample before they are
    filtered: those with 0 do not reach any row. Each row is then divided by the standard deviation
    that this leaves of white torque noise, and rows of which too little is left are left out.

    Implements (10)-(12).
    """
    row, column = np.nonzero(active_columns(model))
    is_load = load_columns(model)
    y = selection.columns(window, tau if weights is None else weights * tau)
    W = np.zeros((y.shape[0], model.robot.n, len(model.parameter_names)))
    parts = (
        1 if selection.decimator.streams else -(-8 * row.size * (window[1] - window[0]) // _MOST)
    )
    for some in np.array_split(np.arange(row.size), parts):

        def entries(start: int, stop: int, some: Integers = some) -> Array:
            part = slice(start, stop)
            slip = None if states.slip is None else states.slip[part]
            signals = {name: signal[part] for name, signal in states.signals.items()}
            columns = model.regressor_entries(
                states.q[part],
                states.dq[part],
                states.ddq[part],
                slip,
                row[some],
                column[some],
                signals,
            )
            if weights is not None:
                columns *= weights[part][:, row[some]]
            if growth is not None:
                columns *= 1.0 + growth[part][:, row[some]] * is_load[row[some], column[some]]
            return columns

        W[:, row[some], column[some]] = selection.reduce(window, entries)
    used = selection.used(states.dq, window)
    if weights is not None:
        variance = selection.decimator.noise_variance(weights[window[0] : window[1]] ** 2)
        used &= variance > MIN_ROW_VARIANCE
        deviation = np.sqrt(np.maximum(variance, MIN_ROW_VARIANCE))
        W, y = W / deviation[:, :, None], y / deviation
    names, correlation = model.parameter_names, selection.decimator.correlation
    affine = model.affine if isinstance(model, BaseModel) else None
    return rows_of(W, y, used, names, series, correlation, affine)


def rows_of(
    W: Array,
    y: Array,
    used: NDArray[np.bool_],
    names: tuple[str, ...],
    series: int,
    correlation: Array,
    affine: Affine | None = None,
    columns: Callable[[Array], Array] | None = None,
) -> LinearSystem:
    """The equations of one record from W (K, g, b) and y (K, g), grouped by joint (14); only those
    that are `used` (K, g). `columns` makes the parameters' columns of those of W, row by row.

    Implements (33).
    """
    g = y.shape[1]
    kept = [np.flatnonzero(used[:, j]) for j in range(g)]
    joints = np.repeat(np.arange(g), [each.size for each in kept])
    sorted_W, ends = np.empty((joints.size, len(names))), np.cumsum([each.size for each in kept])
    for j, end in enumerate(ends):  # joint by joint: W is large
        rows = W[kept[j], j]
        sorted_W[end - kept[j].size : end] = rows if columns is None else columns(rows)
    return LinearSystem(
        sorted_W,
        np.concatenate([y[kept[j], j] for j in range(g)]),
        joints,
        np.full(joints.size, series),
        np.concatenate(kept),
        names,
        g,
        correlation,
        affine,
    )


def stack(systems: Sequence[LinearSystem]) -> LinearSystem:
    """Several experiments as one system, the equations of each joint still together (14).

    Implements (14).
    """
    if len(systems) == 1:
        return systems[0]
    order = np.argsort(np.concatenate([system.joint for system in systems]), kind="stable")
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(system, name) for system in systems])[order]
        for name in ("W", "y", "joint", "series", "index")
    }
    return replace(systems[0], **joined)


def at_rows(columns: LinearSystem, system: LinearSystem) -> Array:
    """(r, b) W of the equations `columns` at the rows of `system`, which are among theirs."""
    counts = [int(max(each.max() for each in pair)) + 1 for pair in (
        (columns.series, system.series), (columns.index, system.index)
    )]  # fmt: skip
    own, wanted = (
        (each.joint * counts[0] + each.series) * counts[1] + each.index
        for each in (columns, system)
    )
    return np.asarray(columns.W[np.searchsorted(own, wanted)])


def compressed(system: LinearSystem, weights: Array) -> tuple[Array, Array]:
    """R (k, m) and target (k,) of the weighted equations: |R x - target| is what W x = y leaves,
    but for a constant.
    """
    R = np.zeros((0, system.W.shape[1] + 1))
    for start in range(0, system.y.size, FACTORED_ROWS):  # long records have no room for copies
        part = slice(start, start + FACTORED_ROWS)
        rows = np.column_stack([system.W[part], system.y[part]]) * weights[part, None]
        R = linalg.qr(np.vstack([R, rows]), mode="r", check_finite=False)[0][: R.shape[1]]
    return np.asarray(R[:, :-1]), np.asarray(R[:, -1])
