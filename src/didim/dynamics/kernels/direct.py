"""Inertia matrix and direct dynamics (21): M(q) ddq = tau - N(q, dq), solved by Cholesky.

Links may be massless (base parameters), so only the whole matrix M need be positive definite; where it is not, the kernels
return the joint at which the factorisation failed instead of a number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float64, int64, void

from didim.compiled import entry, kernel
from didim.dynamics.kernels.inverse import add_coulomb, add_dissipation, link_torque
from didim.dynamics.kernels.tree import Tree, Values, Work, allocate, move, place, tree_type, values_type
from didim.dynamics.kernels.vectors import add, cross, dot, first_moment, get, out_of, scale

_matrix, _cube = float64[:, ::1], float64[:, :, ::1]


@kernel
def carry_to_parent(tree: Tree, i: int, work: Work) -> None:
    """Add the composite body of link i to that of its parent: J' = R J R' + 2 (P.S) 1 - P S' - S P', S = R MS + M P / 2."""
    p = tree.parent[i]
    own, sum_ = work.composite[i], work.composite[p]
    P = get(work.P, i)
    S = add(out_of(work.R, i, first_moment(work.composite, i)), scale(0.5 * own[9], P))
    double = 2.0 * dot(P, S)
    column = 0
    for a in range(3):
        x, y, z = work.R[i, a, 0], work.R[i, a, 1], work.R[i, a, 2]
        Jx = own[0] * x + own[1] * y + own[2] * z
        Jy = own[1] * x + own[3] * y + own[4] * z
        Jz = own[2] * x + own[4] * y + own[5] * z
        for b in range(a, 3):
            turned = work.R[i, b, 0] * Jx + work.R[i, b, 1] * Jy + work.R[i, b, 2] * Jz
            sum_[column] += turned - P[a] * S[b] - S[a] * P[b] + (double if a == b else 0.0)
            column += 1
    for k in range(3):
        sum_[6 + k] += S[k] + 0.5 * own[9] * P[k]
    sum_[9] += own[9]


@kernel
def inertia_matrix(tree: Tree, values: Values, work: Work) -> None:
    """M (n, n) into work.M at the placement held in `work`: composite bodies, tips to base."""
    n = tree.parent.size
    for i in range(n):
        for k in range(10):
            work.composite[i, k] = values.link[i, k]
        for k in range(n):
            work.M[i, k] = values.armature[i, k]
    for i in range(n - 1, -1, -1):
        body = work.composite[i]
        if tree.prismatic[i]:
            f, m = (0.0, 0.0, body[9]), (body[7], -body[6], 0.0)
        else:
            f, m = (-body[7], body[6], 0.0), (body[2], body[4], body[5])
        work.M[i, i] += f[2] if tree.prismatic[i] else m[2]
        k, j = i, tree.parent[i]
        while j >= 0:
            f = out_of(work.R, k, f)
            m = add(out_of(work.R, k, m), cross(get(work.P, k), f))
            share = f[2] if tree.prismatic[j] else m[2]
            work.M[i, j] += share
            work.M[j, i] += share
            k, j = j, tree.parent[j]
        if tree.parent[i] >= 0:
            carry_to_parent(tree, i, work)


@kernel
def factor(M: Any) -> int:
    """Cholesky M = L L' in the lower triangle, in place; -1 on success, else the first joint whose pivot is not positive."""
    n = M.shape[0]
    for j in range(n):
        given = M[j, j]
        for k in range(j):
            M[j, j] -= M[j, k] * M[j, k]
        if not M[j, j] > 1e-14 * abs(given):
            return j
        M[j, j] = np.sqrt(M[j, j])
        for i in range(j + 1, n):
            for k in range(j):
                M[i, j] -= M[i, k] * M[j, k]
            M[i, j] /= M[j, j]
    return -1


@kernel
def solve(L: Any, x: Any) -> None:
    """x <- (L L')^-1 x, in place."""
    n = x.size
    for i in range(n):
        for k in range(i):
            x[i] -= L[i, k] * x[k]
        x[i] /= L[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= L[k, i] * x[k]
        x[i] /= L[i, i]


@kernel
def bias(tree: Tree, values: Values, dq: Any, work: Work) -> None:
    """N(q, dq) without Coulomb contacts into work.bias, at the placement held in `work`; uses ddq = 0."""
    for i in range(dq.size):
        work.bias[i] = 0.0
    move(tree, dq, work.bias, work)
    link_torque(tree, values, work, work.bias)
    add_dissipation(values, dq, work.bias)


@kernel
def direct_dynamics(
    tree: Tree, values: Values, q: Any, dq: Any, tau: Any, slip: Any, work: Work, ddq: Any
) -> int:
    """ddq (n,) of eq. 21, one sample; leaves the factor of M in work.M and returns the status of `factor`."""
    place(tree, q, work)
    inertia_matrix(tree, values, work)
    bias(tree, values, dq, work)
    add_coulomb(values, slip, work.bias)
    for i in range(q.size):
        ddq[i] = tau[i] - work.bias[i]
    failed = factor(work.M)
    if failed < 0:
        solve(work.M, ddq)
    return failed


@entry(void(tree_type, values_type, _matrix, _cube))
def inertia_matrix_batch(tree: Tree, values: Values, q: Any, M: Any) -> None:
    """`inertia_matrix` over the rows of q (N, n), into M (N, n, n)."""
    work = allocate(q.shape[1])
    for k in range(q.shape[0]):
        place(tree, q[k], work)
        inertia_matrix(tree, values, work)
        M[k] = work.M


@entry(int64(tree_type, values_type, _matrix, _matrix, _matrix, _matrix, _matrix, int64[::1]))
def direct_dynamics_batch(
    tree: Tree, values: Values, q: Any, dq: Any, tau: Any, slip: Any, ddq: Any, joint: Any
) -> int:
    """`direct_dynamics` over the rows, into ddq (N, n); -1, or the first sample that failed, its joint in joint[0]."""
    work = allocate(q.shape[1])
    for k in range(q.shape[0]):
        joint[0] = direct_dynamics(tree, values, q[k], dq[k], tau[k], slip[k], work, ddq[k])
        if joint[0] >= 0:
            return k
    return -1
