"""What one stage of the sensitivities is made of, over plain arrays: m directions in the columns,
compiled apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from didim.dynamics.kernels.derivatives import (
    add_sliding_terms,
    add_term_derivatives,
    motion_derivatives,
)
from didim.dynamics.kernels.direct import factor
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
from didim.dynamics.kernels.tree import Tree, Values, Work
from didim.jit.compiled import kernel, shared
from didim.simulation.kernels.contact import BACK, FORTH, ContactWorkspace, is_held

DIAGONAL_REGULARISATION = 1e-10
"""By which the diagonal of D M^-1 D' is raised: the contacts of a coupling and of its joints, when
all are held, depend on each other.
"""


@kernel
def apply_tangent(gain: Any, v: Any, tau: Any) -> None:
    """tau = g v (8), of all directions (n, m)."""
    n, m = tau.shape
    for i in range(n):
        for c in range(m):
            tau[i, c] = gain[i, i] * v[i, c]
        for k in range(n):
            if k != i and gain[i, k] != 0.0:
                for c in range(m):
                    tau[i, c] += gain[i, k] * v[k, c]


@kernel
def solve_rows(L: Any, X: Any) -> None:
    """X <- (L L')^-1 X for all columns of X (n, m), with L as `factor` leaves it."""
    n, m = X.shape
    for i in range(n):
        for k in range(i):
            for c in range(m):
                X[i, c] -= L[i, k] * X[k, c]
        for c in range(m):
            X[i, c] *= L[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            for c in range(m):
                X[i, c] -= L[k, i] * X[k, c]
        for c in range(m):
            X[i, c] *= L[i, i]


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
    """The slope of smooth friction, limit (1 - tanh^2) / width, added to by_dq (n, n), and its
    slip.
    """
    n = by_dq.shape[0]
    for i in range(slip.size):
        slip[i] = np.tanh(contacts.speed[i] / width)
        limit = contacts.limit[FORTH if contacts.speed[i] > 0.0 else BACK, i]
        steep = limit * (1.0 - slip[i] * slip[i]) / width
        for j in range(n):
            for k in range(n):
                by_dq[j, k] += steep * values.contact[i, j] * values.contact[i, k]


@shared
def keep_held(
    contact: Any,
    column: Any,
    A: Any,
    held: Any,
    L: Any,
    force: Any,
    rows: Any,
    dq: Any,
    rate: float,
) -> None:
    """Take from rows (n, m) what moves the held contacts: D rows = -rate D dq; L (c, c) and force
    (c, m) are scratch.
    """
    c, n, m = held.size, rows.shape[0], rows.shape[1]
    for i in range(c):
        for k in range(c):
            L[i, k] = A[i, k] if held[i] and held[k] else (1.0 if i == k else 0.0)
        L[i, i] *= 1.0 + DIAGONAL_REGULARISATION
        for s in range(m):
            force[i, s] = 0.0
        if held[i]:
            for j in range(n):
                if contact[i, j] != 0.0:
                    for s in range(m):
                        force[i, s] += contact[i, j] * (rows[j, s] + rate * dq[j, s])
    if factor(L) >= 0:
        return
    solve_rows(L, force)
    for i in range(c):
        if held[i]:
            for j in range(n):
                for s in range(m):
                    rows[j, s] -= column[i, j] * force[i, s]


@shared
def driven(by_q: Any, by_dq: Any, W: Any, tau: Any, share: Any, L: Any, x: Any, K: Any) -> None:
    """K (4 n, m), rates of q and dq: d(ddq) = M^-1 (d(tau) - (d tau/d q) d(q) - (d tau/d dq) d(dq)
    - W d(chi)).

    `share` (n,) is the part of d(tau) that reaches the load, see `add_terms_tangent`.
    """
    n, m, b = tau.shape[0], tau.shape[1], W.shape[1]
    for i in range(n):
        for c in range(m):
            K[i, c] = x[n + i, c]
            K[n + i, c] = share[i] * tau[i, c]
        for c in range(b):
            K[n + i, c] -= W[i, c]
        for k in range(n):
            for c in range(m):
                K[n + i, c] -= by_q[i, k] * x[k, c] + by_dq[i, k] * x[n + k, c]
    solve_rows(L, K[n : 2 * n])


@shared
def stage_regressor(
    tree: Tree, columns: Columns, dq: Any, ddq: Any, slip: Any, work: Work, W: Any
) -> None:
    """IDM (n, b) of the stage into W."""
    for i in range(W.shape[0]):
        for c in range(W.shape[1]):
            W[i, c] = 0.0
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
    W: Any,
) -> None:
    """What terms add to by_q, by_dq (n, n) and W beyond their own columns: the limits of contacts
    that slide, the columns of shapes, and where friction grows with the load the share (n,) of what
    a joint's own friction and offset change that reaches the load.

    own (2, n, n) is scratch, smooth_width 0 where friction is exact.
    """
    terms = read_terms(address)
    add_sliding_terms(terms, values.term, slip, by_q, by_dq)
    fill_share(terms, values, held, slip, share)
    add_shapes(terms, values.term, slip, share, W)
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
    to 2 n of K (4 n, m).
    """
    weightless = Tree(
        tree.parent, tree.prismatic, tree.rotation, tree.translation, none[:3], 0, tree.ties
    )
    n = jump.size
    for i in range(slip.size):
        slip[i] = 0.0
    motion_derivatives(weightless, values, none[:n], jump, work, ground, M, by_q, by_dq)
    stage_regressor(weightless, columns, none[:n], jump, slip, work, W)
    one = 4 * n + 3 * slip.size
    for e in range(columns.row.size):  # offsets and terms are no inertia
        if columns.column[e] >= 0 and columns.source[e] >= one:
            torque = columns.weight[e] * work.sources[columns.source[e]]
            W[columns.row[e], columns.column[e]] -= torque
    for i in range(n):
        for c in range(tau.shape[1]):
            tau[i, c] = 0.0
        for k in range(n):
            by_dq[i, k] = 0.0
    driven(by_q, by_dq, W, tau, share, work.M, x, K)
