"""The regressor IDM of (2) and (4): what one unit of each parameter adds to each joint's torque.

A unit motion of joint j carries link i with the twist (a, l), angular and linear, seen in frame i. The torque at j of
link i is its power, l.f + a.n, linear in the link's ten parameters:
    M:  l . dv
    MS: a . (MS x dv) + l . (dw x MS + w x (w x MS))  =  MS . (dv x a + l x dw + (l x w) x w)
    J:  a . J dw + (a x w) . J w
All other effects are entries (row, column, source, weight): column += weight * source, see `didim.dynamics.layout`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import float64, int64, types, void

from didim.compiled import entry, kernel
from didim.dynamics.kernels.tree import Tree, Work, allocate, move, place, tree_type
from didim.dynamics.kernels.vectors import Vector, add, cross, dot, get, into


class Columns(NamedTuple):
    """Where each parameter's column goes; -1 where it is left out."""

    link: Any  # (n, 10) int64
    row: Any  # (e,) int64 joint of each entry
    column: Any  # (e,) int64
    source: Any  # (e,) int64 index into the sources of `fill_sources`
    weight: Any  # (e,)


columns_type = types.NamedTuple((int64[:, ::1], int64[::1], int64[::1], int64[::1], float64[::1]), Columns)
_matrix, _cube = float64[:, ::1], float64[:, :, ::1]


def source_starts(n: int, c: int) -> dict[str, int]:
    """Where each signal starts in the sources that `fill_sources` writes; the two belong together."""
    return {
        "ddq": 0,
        "dq": n,
        "dq+": 2 * n,
        "dq-": 3 * n,
        "slip": 4 * n,
        "slip+": 4 * n + c,
        "slip-": 4 * n + 2 * c,
        "one": 4 * n + 3 * c,
    }


@kernel
def fill_sources(dq: Any, ddq: Any, slip: Any, sources: Any) -> None:
    """ddq, dq, max(dq, 0), min(dq, 0), slip, max(slip, 0), min(slip, 0), 1, one after the other."""
    n, c = dq.size, slip.size
    for i in range(n):
        sources[i] = ddq[i]
        sources[n + i] = dq[i]
        sources[2 * n + i] = max(dq[i], 0.0)
        sources[3 * n + i] = min(dq[i], 0.0)
    for k in range(c):
        sources[4 * n + k] = slip[k]
        sources[4 * n + c + k] = max(slip[k], 0.0)
        sources[4 * n + 2 * c + k] = min(slip[k], 0.0)
    sources[4 * n + 3 * c] = 1.0


@kernel
def fill_twists(tree: Tree, work: Work) -> None:
    """Twist of every ancestor joint j (and of i itself) in frame i, at the placement held in `work`."""
    for i in range(tree.parent.size):
        p = tree.parent[i]
        j = p
        while j >= 0:
            a, l = get(work.turn[p], j), get(work.slide[p], j)
            a_i, l_i = into(work.R, i, a), into(work.R, i, add(l, cross(a, get(work.P, i))))
            for k in range(3):
                work.turn[i, j, k] = a_i[k]
                work.slide[i, j, k] = l_i[k]
            j = tree.parent[j]
        for k in range(3):
            work.turn[i, i, k] = 0.0
            work.slide[i, i, k] = 0.0
        work.turn[i, i, 2] = 1.0 - tree.prismatic[i]
        work.slide[i, i, 2] = 1.0 * tree.prismatic[i]


@kernel
def link_coefficients(a: Vector, l: Vector, w: Vector, dw: Vector, dv: Vector, out: Any) -> None:
    """The ten coefficients of one link in one joint's torque, in the order XX XY XZ YY YZ ZZ MX MY MZ M."""
    b = cross(a, w)
    out[0] = a[0] * dw[0] + b[0] * w[0]
    out[1] = a[0] * dw[1] + a[1] * dw[0] + b[0] * w[1] + b[1] * w[0]
    out[2] = a[0] * dw[2] + a[2] * dw[0] + b[0] * w[2] + b[2] * w[0]
    out[3] = a[1] * dw[1] + b[1] * w[1]
    out[4] = a[1] * dw[2] + a[2] * dw[1] + b[1] * w[2] + b[2] * w[1]
    out[5] = a[2] * dw[2] + b[2] * w[2]
    S = add(cross(dv, a), add(cross(l, dw), cross(cross(l, w), w)))
    out[6], out[7], out[8] = S[0], S[1], S[2]
    out[9] = dot(l, dv)


@kernel
def regressor(
    tree: Tree,
    columns: Columns,
    q: Any,
    dq: Any,
    ddq: Any,
    slip: Any,
    work: Work,
    sources: Any,
    ten: Any,
    W: Any,
) -> None:
    """IDM (n, p) of one sample into W, which must hold zeros."""
    place(tree, q, work)
    move(tree, dq, ddq, work)
    fill_twists(tree, work)
    for i in range(q.size):
        w, dw, dv = get(work.w, i), get(work.dw, i), get(work.dv, i)
        j = i
        while j >= 0:
            link_coefficients(get(work.turn[i], j), get(work.slide[i], j), w, dw, dv, ten)
            for k in range(10):
                if columns.link[i, k] >= 0:
                    W[j, columns.link[i, k]] = ten[k]
            j = tree.parent[j]
    fill_sources(dq, ddq, slip, sources)
    for e in range(columns.row.size):
        if columns.column[e] >= 0:
            W[columns.row[e], columns.column[e]] += columns.weight[e] * sources[columns.source[e]]


@entry(void(tree_type, columns_type, _matrix, _matrix, _matrix, _matrix, _cube))
def regressor_batch(tree: Tree, columns: Columns, q: Any, dq: Any, ddq: Any, slip: Any, W: Any) -> None:
    """`regressor` over the rows of q, dq, ddq (N, n) and slip (N, c), into W (N, n, p), which must hold zeros."""
    n, c = q.shape[1], slip.shape[1]
    work = allocate(n)
    sources, ten = np.zeros(4 * n + 3 * c + 1), np.zeros(10)
    for k in range(q.shape[0]):
        regressor(tree, columns, q[k], dq[k], ddq[k], slip[k], work, sources, ten, W[k])
