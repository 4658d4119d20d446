"""The regressor IDM of (2) and (4): what one unit of each parameter adds to each joint's torque.

A unit motion of joint j carries link i with the twist (a, l), angular and linear, seen in frame i.
The torque at j of link i is its power, a.n + l.f, and the wrench is linear in the link's ten
parameters:
    n = J dw + w x J w + MS x dv        one 3-vector for each of XX XY XZ YY YZ ZZ
    f = M dv + U MS,  U = [dw] + [w][w]   its rows U0 U1 U2
All other effects are entries (row, column, source, weight): column += weight * source, see
`didim.dynamics.layout`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from didim.dynamics.kernels.terms import fill_terms, set_signals
from didim.dynamics.kernels.ties import joint_rates, read_ties
from didim.dynamics.kernels.tree import Tree, Work, move, place, tree_type, work_type
from didim.dynamics.kernels.vectors import Vector, add, cross, dot, get, into, scale
from didim.jit.compiled import entry, kernel, shared
from didim.jit.types import boolean, float64, int64, record_type, void


class Columns(NamedTuple):
    """Where each parameter's column goes; -1 where it is left out."""

    link: Any  # (m, 10) int64
    row: Any  # (e,) int64 joint of each entry
    column: Any  # (e,) int64
    source: Any  # (e,) int64 index into the sources of `fill_sources`
    weight: Any  # (e,)


columns_type = record_type(
    Columns, int64[:, ::1], int64[::1], int64[::1], int64[::1], float64[::1], lasting=True
)
_matrix, _cube = float64[:, ::1], float64[:, :, ::1]


def source_starts(n: int, c: int) -> dict[str, int]:
    """Where each signal starts in the sources that `fill_sources` writes; the two belong
    together.
    """
    return {
        "ddq": 0,
        "dq": n,
        "dq+": 2 * n,
        "dq-": 3 * n,
        "slip": 4 * n,
        "slip+": 4 * n + c,
        "slip-": 4 * n + 2 * c,
        "one": 4 * n + 3 * c,
        "term": 4 * n + 3 * c + 1,
    }


@kernel
def fill_sources(terms_address: int, dq: Any, ddq: Any, slip: Any, work: Work) -> None:
    """ddq, dq, max(dq, 0), min(dq, 0), slip, max(slip, 0), min(slip, 0), 1 and the terms, one after
    the other, at the placement held in `work`.
    """
    n, c, sources = dq.size, slip.size, work.sources
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
    if terms_address != 0:
        fill_terms(terms_address, work.angle[:n], dq, slip, sources, 4 * n + 3 * c + 1)


@kernel
def seen(twists: Any, i: int, j: int) -> Vector:
    """Joint j's motion in frame i, from a table (n, n, 3)."""
    return (twists[i, j, 0], twists[i, j, 1], twists[i, j, 2])


@kernel
def see(twists: Any, i: int, j: int, a: Vector) -> None:
    """Write joint j's motion in frame i."""
    for k in range(3):
        twists[i, j, k] = a[k]


@kernel
def fill_twists(tree: Tree, work: Work) -> None:
    """Twist of every ancestor joint j (and of i itself) in frame i, at the placement held in
    `work`.
    """
    for i in range(tree.parent.size):
        p = tree.parent[i]
        j = p
        while j >= 0:
            a, l = seen(work.turn, p, j), seen(work.slide, p, j)
            see(work.turn, i, j, into(work.R, i, a))
            see(work.slide, i, j, into(work.R, i, add(l, cross(a, get(work.P, i)))))
            j = tree.parent[j]
        slides = 1.0 * tree.prismatic[i]
        see(work.turn, i, i, (0.0, 0.0, 1.0 - slides))
        see(work.slide, i, i, (0.0, 0.0, slides))


@kernel
def link_columns(tree: Tree, columns: Columns, i: int, work: Work, W: Any) -> None:
    """The ten coefficients of link i in the torque of every joint j that carries it."""
    w, dw, dv, at = get(work.w, i), get(work.dw, i), get(work.dv, i), columns.link
    xx, yy, zz, xy, xz, yz = (
        w[0] * w[0],
        w[1] * w[1],
        w[2] * w[2],
        w[0] * w[1],
        w[0] * w[2],
        w[1] * w[2],
    )
    XX, XY, XZ = (
        (dw[0], xz, -xy),
        (dw[1] - xz, dw[0] + yz, xx - yy),
        (dw[2] + xy, zz - xx, dw[0] - yz),
    )
    YY, YZ, ZZ = (-yz, dw[1], xy), (yy - zz, dw[2] - xy, dw[1] + xz), (yz, -xz, dw[2])
    U0, U1, U2 = (
        (-yy - zz, xy - dw[2], xz + dw[1]),
        (xy + dw[2], -xx - zz, yz - dw[0]),
        (xz - dw[1], yz + dw[0], -xx - yy),
    )
    to = (
        at[i, 0],
        at[i, 1],
        at[i, 2],
        at[i, 3],
        at[i, 4],
        at[i, 5],
        at[i, 6],
        at[i, 7],
        at[i, 8],
        at[i, 9],
    )
    j = i
    while j >= 0:
        a, l = seen(work.turn, i, j), seen(work.slide, i, j)
        MS = add(cross(dv, a), add(scale(l[0], U0), add(scale(l[1], U1), scale(l[2], U2))))
        J = (dot(a, XX), dot(a, XY), dot(a, XZ), dot(a, YY), dot(a, YZ), dot(a, ZZ))
        row = (J[0], J[1], J[2], J[3], J[4], J[5], MS[0], MS[1], MS[2], dot(l, dv))
        for k in range(10):
            if to[k] >= 0:
                W[j, to[k]] = row[k]
        j = tree.parent[j]


@kernel
def joint_columns(tree: Tree, columns: Columns, dq: Any, ddq: Any, work: Work, W: Any) -> None:
    """The columns of all links in the torques of all joints, W (m, p)."""
    move(tree, dq, ddq, work)
    fill_twists(tree, work)
    for i in range(dq.size):
        link_columns(tree, columns, i, work, W)


@shared
def empty_columns(address: int) -> None:
    """Zeros where the columns of the joints are gathered from."""
    ties = read_ties(address)
    for k in range(ties.W.shape[0]):
        for c in range(ties.W.shape[1]):
            ties.W[k, c] = 0.0


@shared
def gather_columns(address: int, W: Any) -> None:
    """W (n, p) += T' W_joints (m, p)."""
    ties = read_ties(address)
    for k in range(ties.ratio.size):
        for c in range(min(W.shape[1], ties.W.shape[1])):
            W[ties.coordinate[k], c] += ties.ratio[k] * ties.W[k, c]


@kernel
def placed_regressor(
    tree: Tree, columns: Columns, dq: Any, ddq: Any, slip: Any, work: Work, W: Any
) -> None:
    """`regressor` at the placement held in `work`."""
    joints = W
    if tree.ties != 0:
        empty_columns(tree.ties)
        joints = read_ties(tree.ties).W
    rates, accelerations = joint_rates(tree.ties, dq, ddq)
    joint_columns(tree, columns, rates, accelerations, work, joints)
    if tree.ties != 0:
        gather_columns(tree.ties, W)
    add_entries(tree, columns, dq, ddq, slip, work, 0, W)


@kernel
def add_entries(
    tree: Tree, columns: Columns, dq: Any, ddq: Any, slip: Any, work: Work, first: int, W: Any
) -> None:
    """All columns of W (n, p) that are not those of links, of sources from `first` on."""
    if columns.row.size > 0:
        fill_sources(tree.terms, dq, ddq, slip, work)
    for e in range(columns.row.size):
        if columns.column[e] >= 0 and columns.source[e] >= first:
            W[columns.row[e], columns.column[e]] += (
                columns.weight[e] * work.sources[columns.source[e]]
            )


@kernel
def regressor(
    tree: Tree,
    columns: Columns,
    q: Any,
    dq: Any,
    ddq: Any,
    slip: Any,
    work: Work,
    clean: bool,
    W: Any,
) -> None:
    """IDM (n, p) of one sample into W, whatever it held, unless it is `clean`, all zeros.

    Implements (2), (65).
    """
    if not clean:
        for i in range(
            W.shape[0]
        ):  # here, where the rows are in the cache, and not over the whole array beforehand
            for c in range(W.shape[1]):
                W[i, c] = 0.0
    place(tree, q, work)
    placed_regressor(tree, columns, dq, ddq, slip, work, W)


@entry(void(tree_type, columns_type, *[_matrix] * 6, work_type, boolean, _cube))
def regressor_batch(
    tree: Tree,
    columns: Columns,
    q: Any,
    dq: Any,
    ddq: Any,
    slip: Any,
    load: Any,
    channels: Any,
    work: Work,
    clean: bool,
    W: Any,
) -> None:
    """`regressor` over the rows of q, dq, ddq (N, n), slip (N, c), load (N, n), or (N, 0) where no
    term needs it, and channels (N, k), into W (N, n, p).
    """
    for k in range(q.shape[0]):
        if tree.terms != 0:
            set_signals(tree.terms, load[k], channels[k])
        regressor(tree, columns, q[k], dq[k], ddq[k], slip[k], work, clean, W[k])


@entry(
    void(
        tree_type,
        columns_type,
        *[_matrix] * 6,
        work_type,
        _matrix,
        int64[::1],
        int64[::1],
        _matrix,
    )
)
def regressor_entries_batch(
    tree: Tree,
    columns: Columns,
    q: Any,
    dq: Any,
    ddq: Any,
    slip: Any,
    load: Any,
    channels: Any,
    work: Work,
    W: Any,
    row: Any,
    column: Any,
    out: Any,
) -> None:
    """Entries (row, column), each (m,), of the regressor of every sample, into out (N, m); W (n, p)
    is scratch.
    """
    for k in range(q.shape[0]):
        if tree.terms != 0:
            set_signals(tree.terms, load[k], channels[k])
        regressor(tree, columns, q[k], dq[k], ddq[k], slip[k], work, False, W)
        for a in range(row.size):
            out[k, a] = W[row[a], column[a]]
