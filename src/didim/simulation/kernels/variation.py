"""What one stage of the sensitivities is made of, over plain arrays: m directions in the columns,
compiled apart. Tables of m columns are padded to a multiple of LANES.
"""

from __future__ import annotations

from typing import Any

from didim.dynamics.kernels.derivatives import (
    add_sliding_terms,
    add_term_derivatives,
    motion_derivatives,
)
from didim.dynamics.kernels.direct import factor_leading
from didim.dynamics.kernels.regressor import Columns, placed_regressor
from didim.dynamics.kernels.terms import (
    BY_LOAD,
    BY_V,
    BY_X,
    CONSERVATIVE,
    CONTACT,
    Terms,
    add_shapes,
    at_slip,
    read_terms,
)
from didim.dynamics.kernels.tree import Tree, Values, Work, place
from didim.jit.compiled import kernel, shared
from didim.jit.function_pointers import call_int64
from didim.jit.lanes import LANES, load, spread, store
from didim.simulation.kernels.contact import BACK, FORTH, ContactWorkspace, is_held

DIAGONAL_REGULARISATION = 1e-10
"""By which the diagonal of D M^-1 D' is raised: the contacts of a coupling and of its joints, when
all are held, depend on each other.
"""


@shared
def advance_rows(
    y: Any, K0: Any, K1: Any, K2: Any, K3: Any, size: int, stage: int, h: float, x: Any
) -> None:
    """The first `size` rows of y and of the rates at four stages (rows, m), as `stage_state` has
    the state, into x.
    """
    for k in range(size):
        for c in range(0, y.shape[1], LANES):
            start = load(y, k, c)
            if stage == 0:
                store(x, k, c, start)
            elif stage == 1:
                store(x, k, c, start + 0.5 * h * load(K0, k, c))
            elif stage == 2:
                store(x, k, c, start + 0.5 * h * load(K1, k, c))
            elif stage == 3:
                store(x, k, c, start + h * load(K2, k, c))
            else:
                middle = load(K1, k, c) + load(K2, k, c)
                ends = load(K0, k, c) + load(K3, k, c)
                store(x, k, c, start + h / 6.0 * (ends + 2.0 * middle))


@shared
def copy_rows(rows: Any, out: Any) -> None:
    """Write rows (n, padded m) into out (n, m)."""
    n, m = out.shape
    for i in range(n):
        if m < LANES:
            for c in range(m):
                out[i, c] = rows[i, c]
        else:
            for c in range(0, m, LANES):
                at = min(c, m - LANES)
                store(out, i, at, load(rows, i, at))


@shared
def end_rows(y: Any, K0: Any, K1: Any, K2: Any, K3: Any, h: float, x: Any) -> None:
    """The sensitivities at the end of a step, into x (2 n, m), which may be y, from those of the
    accelerations at its four stages (n, m): the rates of positions are velocities.
    """
    n = K0.shape[0]
    for i in range(n):
        for c in range(0, y.shape[1], LANES):
            first, rate = load(K0, i, c), load(y, n + i, c)
            middle = load(K1, i, c) + load(K2, i, c)
            store(x, i, c, load(y, i, c) + h * (rate + h / 6.0 * (first + middle)))
            ends = first + load(K3, i, c)
            store(x, n + i, c, rate + h / 6.0 * (ends + 2.0 * middle))


@kernel
def subtract_rows(x: Any, change: Any, n: int) -> None:
    """Take rows n to 2 n of `change` from those of x, both (s, m)."""
    for i in range(n, 2 * n):
        for c in range(0, x.shape[1], LANES):
            store(x, i, c, load(x, i, c) - load(change, i, c))


@kernel
def apply_tangent(gain: Any, v: Any, tau: Any) -> None:
    """tau = g v (8), of all directions (n, m)."""
    n, m = tau.shape
    for i in range(n):
        coupled = False
        for k in range(n):
            coupled = coupled or (k != i and gain[i, k] != 0.0)
        for c in range(0, m, LANES):
            torque = gain[i, i] * load(v, i, c)
            if coupled:
                for k in range(n):
                    if k != i and gain[i, k] != 0.0:
                        torque += gain[i, k] * load(v, k, c)
            store(tau, i, c, torque)


@kernel
def solve_rows(L: Any, X: Any) -> None:
    """X <- (L L')^-1 X for all columns of X (n, m), with L as `factor` leaves it."""
    n, m = X.shape
    for c in range(0, m, LANES):
        for i in range(n):
            x = load(X, i, c)
            for k in range(i):
                x -= L[i, k] * load(X, k, c)
            store(X, i, c, L[i, i] * x)
        for i in range(n - 1, -1, -1):
            x = load(X, i, c)
            for k in range(i + 1, n):
                x -= L[k, i] * load(X, k, c)
            store(X, i, c, L[i, i] * x)


@kernel
def sort_contacts(contacts: ContactWorkspace, held: Any, slip: Any) -> None:
    """Which contacts are held at this stage, and the slip of the others."""
    for i in range(slip.size):
        held[i] = 0
        slip[i] = 1.0 if contacts.speed[i] > 0.0 else (-1.0 if contacts.speed[i] < 0.0 else 0.0)
    for a in range(contacts.count[0]):
        i = contacts.slow[a]
        held[i] = is_held(contacts, i)
        slip[i] = 0.0 if held[i] else (1.0 if contacts.force[i] > 0.0 else -1.0)


@kernel
def add_smooth(
    values: Values, contacts: ContactWorkspace, width: float, slip: Any, by_dq: Any
) -> None:
    """The slope of smooth friction at its slip, limit (1 - tanh^2) / width, added to by_dq (n,
    n).
    """
    n = by_dq.shape[0]
    for i in range(slip.size):
        limit = contacts.limit[FORTH if contacts.speed[i] > 0.0 else BACK, i]
        steep = limit * (1.0 - slip[i] * slip[i]) / width
        for j in range(n):
            for k in range(n):
                by_dq[j, k] += steep * values.contact[i, j] * values.contact[i, k]


@kernel
def move_contact(
    contact: Any, only: int, rows: Any, dq: Any, rate: float, force: Any, k: int
) -> None:
    """Row k of force (c, m): how much a contact D (n,) moves, D (rows + rate dq)."""
    n, m = rows.shape
    first, end = (only, only + 1) if only >= 0 else (0, n)
    for s in range(0, m, LANES):
        moved = spread(0.0)
        for j in range(first, end):
            moved += contact[j] * (load(rows, j, s) + rate * load(dq, j, s))
        store(force, k, s, moved)


@shared
def keep_held(
    contact: Any,
    only: Any,
    column: Any,
    A: Any,
    held: Any,
    L: Any,
    reaction: Any,
    force: Any,
    rows: Any,
    dq: Any,
    rate: float,
) -> None:
    """Take from rows (n, m) what moves the held contacts, D rows = -rate D dq, by their forces:
    rows - M^-1 D' A^-1 D (rows + rate dq).

    `only` (c,) is the one joint of a contact, or -1; L (c, c), reaction (c, padded n), which is
    A^-1 D M^-1, and force (c, m) are scratch.
    """
    n, m, count = rows.shape[0], rows.shape[1], 0
    for i in range(held.size):
        if held[i]:
            before = 0
            for k in range(i + 1):
                if held[k]:
                    L[count, before] = A[i, k]
                    before += 1
            L[count, count] *= 1.0 + DIAGONAL_REGULARISATION
            for j in range(n):
                reaction[count, j] = column[i, j]
            move_contact(contact[i], only[i], rows, dq, rate, force, count)
            count += 1
    if factor_leading(L, count) >= 0:
        return
    solve_rows(L, reaction[:count])
    for s in range(0, m, LANES):
        for j in range(n):
            x = load(rows, j, s)
            for k in range(count):
                x -= reaction[k, j] * load(force, k, s)
            store(rows, j, s, x)


@shared
def driven(
    code_address: int,
    by_q: Any,
    by_dq: Any,
    W: Any,
    tau: Any,
    share: Any,
    L: Any,
    x: Any,
    K: Any,
) -> None:
    """K (s, m), rates of q and dq: d(ddq) = M^-1 (d(tau) - (d tau/d q) d(q) - (d tau/d dq) d(dq)
    - W d(chi)).

    `share` (n,) is the part of d(tau) that reaches the load, see `add_terms_tangent`;
    `code_address` is that of the machine code for n joints, or 0.
    """
    n, m = tau.shape
    if code_address != 0:
        call_int64(code_address, (by_q, by_dq, share, L, W, tau, x, K, m))
        return
    for c in range(0, m, LANES):
        for i in range(n):
            force = share[i] * load(tau, i, c) - load(W, i, c)
            for k in range(n):
                force -= by_q[i, k] * load(x, k, c)
                force -= by_dq[i, k] * load(x, n + k, c)
            store(K, n + i, c, force)
            store(K, i, c, load(x, n + i, c))
    solve_rows(L, K[n : 2 * n])


@kernel
def clear_rows(rows: Any) -> None:
    """Zeros into rows (n, m)."""
    for i in range(rows.shape[0]):
        for c in range(0, rows.shape[1], LANES):
            store(rows, i, c, spread(0.0))


@shared
def stage_regressor(
    tree: Tree, columns: Columns, dq: Any, ddq: Any, slip: Any, work: Work, W: Any
) -> None:
    """IDM (n, b) of the stage into W, which has zeros in its columns."""
    placed_regressor(tree, columns, dq, ddq, slip, work, W)


@kernel
def fill_share(terms: Terms, values: Values, held: Any, slip: Any, share: Any) -> None:
    """share (n,) = 1 / (1 + kappa), kappa = d f / d load of the contact of each joint that slides:
    load + f = rest, so that the load changes by this part of any other torque.
    """
    for j in range(share.size):
        share[j] = 1.0
    for k in range(terms.table.shape[0]):
        c = terms.table[k, CONTACT]
        if c >= 0 and not held[c] and values.only[c] >= 0:
            share[values.only[c]] += values.term[k] * at_slip(terms, k, BY_LOAD, slip[c])
    for j in range(share.size):
        share[j] = 1.0 / share[j]


@shared
def add_terms_tangent(
    address: int,
    values: Values,
    contacts: ContactWorkspace,
    columns: Columns,
    smooth_width: float,
    dq: Any,
    held: Any,
    slip: Any,
    share: Any,
    sources: Any,
    own: Any,
    by_q: Any,
    by_dq: Any,
    filled: int,
    W: Any,
) -> None:
    """What terms add to by_q, by_dq (n, n) and W beyond their own columns: the limits of contacts
    that slide, the columns of shapes, and where friction grows with the load the share (n,) of what
    a joint's own friction and offset change that reaches the load.

    own (2, n, n) is scratch, smooth_width 0 where friction is exact, `filled` the columns of W that
    are not padding.
    """
    terms = read_terms(address)
    add_sliding_terms(terms, values.term, slip, by_q, by_dq)
    fill_share(terms, values, held, slip, share)
    add_shapes(terms, values.term, slip, share, filled, W)
    if not terms.loaded:
        return
    n, own_q, own_dq = dq.size, own[0], own[1]
    for i in range(n):
        for j in range(n):
            own_q[i, j] = own_dq[i, j] = 0.0
        one_way = values.viscous_positive[i] if dq[i] > 0.0 else values.viscous_negative[i]
        own_dq[i, i] = values.viscous[i, i] + (one_way if dq[i] != 0.0 else 0.0)
    for k in range(terms.table.shape[0]):
        if terms.table[k, CONTACT] < 0 and not terms.table[k, CONSERVATIVE]:
            by_x = values.term[k] * terms.registers[terms.table[k, BY_X]]
            by_v = values.term[k] * terms.registers[terms.table[k, BY_V]]
            add_term_derivatives(terms, k, by_x, by_v, own_q, own_dq)
    add_sliding_terms(terms, values.term, slip, own_q, own_dq)
    if smooth_width > 0.0:
        add_smooth(values, contacts, smooth_width, slip, own_dq)
    for i in range(n):
        for j in range(n):
            by_q[i, j] -= (1.0 - share[i]) * own_q[i, j]
            by_dq[i, j] -= (1.0 - share[i]) * own_dq[i, j]
    for e in range(columns.row.size):
        if terms.own[e] and columns.column[e] >= 0:
            i = columns.row[e]
            torque = columns.weight[e] * sources[columns.source[e]]
            W[i, columns.column[e]] -= (1.0 - share[i]) * torque


@shared
def jolt(
    code_address: int,
    tree: Tree,
    values: Values,
    work: Work,
    ground: Any,
    columns: Columns,
    slip: Any,
    W: Any,
    M: Any,
    by_q: Any,
    by_dq: Any,
    none: Any,
    tau: Any,
    share: Any,
    jump: Any,
    x: Any,
    K: Any,
) -> None:
    """How the jump of velocity, M^-1 D' lambda, changes with M: minus M^-1 (d M) jump into rows n
    to 2 n of K (s, m).
    """
    weightless = Tree(
        tree.parent, tree.prismatic, tree.rotation, tree.translation, none[:3], 0, tree.ties
    )
    n = jump.size
    place(tree, work.angle[:n], work)
    for i in range(slip.size):
        slip[i] = 0.0
    motion_derivatives(weightless, values, none[:n], jump, work, ground, M, by_q, by_dq)
    clear_rows(W)
    stage_regressor(weightless, columns, none[:n], jump, slip, work, W)
    one = 4 * n + 3 * slip.size
    for e in range(columns.row.size):  # offsets and terms are no inertia
        if columns.column[e] >= 0 and columns.source[e] >= one:
            torque = columns.weight[e] * work.sources[columns.source[e]]
            W[columns.row[e], columns.column[e]] -= torque
    clear_rows(tau)
    for i in range(n):
        for k in range(n):
            by_dq[i, k] = 0.0
    driven(code_address, by_q, by_dq, W, tau, share, work.M, x, K)
