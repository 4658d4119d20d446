"""Inertia matrix and direct dynamics (21): M(q) ddq = tau - N(q, dq), solved by Cholesky.

Links may be massless (base parameters), so only the whole matrix M need be positive definite; where
it is not, the kernels return the joint at which the factorisation failed instead of a number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from didim.dynamics.kernels.inverse import (
    add_contact,
    add_coulomb,
    add_dissipation,
    motion_torque,
    own_friction,
)
from didim.dynamics.kernels.terms import (
    add_to_bias,
    read_terms,
    set_channels,
    solve_loads,
)
from didim.dynamics.kernels.ties import gather_matrix, joint_positions, read_ties
from didim.dynamics.kernels.tree import (
    Tree,
    Values,
    Work,
    place,
    plain,
    tree_type,
    turn,
    values_type,
    work_type,
)
from didim.dynamics.kernels.vectors import (
    add,
    cross,
    dot,
    first_moment,
    get,
    inertia_times,
    out_of,
    scale,
)
from didim.jit.compiled import entry, kernel, shared
from didim.jit.function_pointers import call_int64
from didim.jit.types import float64, int64, void

SMALLEST_PIVOT = 1e-14
"""Of M, over its diagonal: below this M is not positive definite."""

_matrix, _cube = float64[:, ::1], float64[:, :, ::1]


@kernel
def carry_to_parent(tree: Tree, i: int, work: Work) -> None:
    """Add the composite body of link i to that of its parent: J' = R J R' + 2 (P.S) 1 - P S' - S
    P', S = R MS + M P / 2.
    """
    body, R, p = work.composite, work.R, tree.parent[i]
    mass, P = body[i, 9], get(work.P, i)
    S = add(out_of(R, i, first_moment(body, i)), scale(0.5 * mass, P))
    double = 2.0 * dot(P, S)
    column = 0
    for a in range(3):
        J = inertia_times(body, i, (R[i, a, 0], R[i, a, 1], R[i, a, 2]))
        for b in range(a, 3):
            turned = dot((R[i, b, 0], R[i, b, 1], R[i, b, 2]), J)
            body[p, column] += turned - P[a] * S[b] - S[a] * P[b] + (double if a == b else 0.0)
            column += 1
    for k in range(3):
        body[p, 6 + k] += S[k] + 0.5 * mass * P[k]
    body[p, 9] += mass


@kernel
def inertia_matrix(tree: Tree, values: Values, work: Work) -> None:
    """M (n, n) into work.M at the placement held in `work`: composite bodies, tips to base.

    Implements (1).
    """
    M, armature = work.M, values.armature
    if tree.ties != 0:
        ties = read_ties(tree.ties)
        M, armature = ties.M, ties.none
    joint_inertia(tree, values, armature, work, M)
    if tree.ties != 0:
        gather_inertia(tree.ties, values.armature, work.M)


@shared
def gather_inertia(address: int, armature: Any, M: Any) -> None:
    """M (n, n) = armature + T' M_joints T, with M_joints (m, m) as the ties hold it."""
    ties = read_ties(address)
    for i in range(M.shape[0]):
        for k in range(M.shape[0]):
            M[i, k] = armature[i, k]
    gather_matrix(ties, ties.M, M)


@kernel
def joint_inertia(tree: Tree, values: Values, armature: Any, work: Work, M: Any) -> None:
    """M (m, m) of all joints, with rotors `armature` (m, m)."""
    n = tree.parent.size
    for i in range(n):
        for k in range(10):
            work.composite[i, k] = values.link[i, k]
        for k in range(n):
            M[i, k] = armature[i, k]
    for i in range(n - 1, -1, -1):
        body = work.composite
        if tree.prismatic[i]:
            f, m = (0.0, 0.0, body[i, 9]), (body[i, 7], -body[i, 6], 0.0)
        else:
            f, m = (-body[i, 7], body[i, 6], 0.0), (body[i, 2], body[i, 4], body[i, 5])
        M[i, i] += f[2] if tree.prismatic[i] else m[2]
        k, j = i, tree.parent[i]
        while j >= 0:
            f = out_of(work.R, k, f)
            m = add(out_of(work.R, k, m), cross(get(work.P, k), f))
            inertia = f[2] if tree.prismatic[j] else m[2]
            M[i, j] += inertia
            M[j, i] += inertia
            k, j = j, tree.parent[j]
        if tree.parent[i] >= 0:
            carry_to_parent(tree, i, work)


@kernel
def factor(M: Any) -> int:
    """Cholesky M = L L', in place: L below the diagonal, 1/L_jj on it; -1 on success, else the
    first joint that fails.
    """
    return factor_leading(M, M.shape[0])


@kernel
def factor_leading(M: Any, n: int) -> int:
    """`factor` of the first n rows and columns."""
    for j in range(n):
        pivot = M[j, j] - products(M, j, M, j, j)
        if not pivot > SMALLEST_PIVOT * abs(M[j, j]):
            return j
        M[j, j] = 1.0 / np.sqrt(pivot)
        for i in range(j + 1, n):
            M[i, j] = (M[i, j] - products(M, i, M, j, j)) * M[j, j]
    return -1


@kernel
def solve(L: Any, x: Any) -> None:
    """x <- (L L')^-1 x, in place, with L as `factor` leaves it."""
    n = x.size
    for i in range(n):
        known = 0.0
        for k in range(i):
            known += L[i, k] * x[k]
        x[i] = (x[i] - known) * L[i, i]
    for i in range(n - 1, -1, -1):
        known = 0.0
        for k in range(i + 1, n):
            known += L[k, i] * x[k]
        x[i] = (x[i] - known) * L[i, i]


@kernel
def products(A: Any, i: int, B: Any, j: int, count: int) -> float:
    """Sum of A[i, k] B[j, k] over the first `count` columns."""
    total = 0.0
    for k in range(count):
        total += A[i, k] * B[j, k]
    return total


@kernel
def bias(tree: Tree, values: Values, dq: Any, work: Work) -> None:
    """N(q, dq) of the links alone into work.bias, at the placement held in `work`; uses ddq = 0."""
    for i in range(dq.size):
        work.bias[i] = 0.0
    motion_torque(tree, values, dq, work.bias, work, work.bias)


@kernel
def factored_by_recursion(tree: Tree, values: Values, q: Any, dq: Any, work: Work) -> int:
    """N(q, dq) of the links alone into work.bias, the factor of M into work.M; the status of
    `factor`. By the recursions that serve every robot.
    """
    place(tree, q, work)
    inertia_matrix(tree, values, work)
    bias(tree, values, dq, work)
    return factor(work.M)


@kernel
def factored_by_code(
    tree: Tree, values: Values, code_address: int, q: Any, dq: Any, work: Work
) -> int:
    """The same by the robot's own code, which lies at `code_address`."""
    turn(joint_positions(tree.ties, q), work)
    arrays = (q, work.cos, work.sin, dq, values.link, values.armature, work.M, work.bias)
    return call_int64(code_address, arrays)


@shared
def add_sliding(
    address: int, values: Values, dq: Any, tau: Any, slip: Any, work: Work, rest: Any
) -> None:
    """The force of all contacts at their slips, terms included, added to work.bias; rest (n,) is
    scratch.
    """
    terms, c = read_terms(address), slip.size
    limit, force = work.sources[:c], work.sources[c : 2 * c]
    own_friction(terms, values, dq, rest)
    for j in range(tau.size):
        rest[j] = tau[j] - rest[j]
    for i in range(c):
        limit[i] = values.limit_positive[i] if slip[i] >= 0.0 else values.limit_negative[i]
    solve_loads(terms, values.term, limit, values.only, slip, rest, force)
    for i in range(c):
        add_contact(values, i, force[i], work.bias)


@kernel
def direct_dynamics(
    tree: Tree, values: Values, q: Any, dq: Any, tau: Any, slip: Any, work: Work, ddq: Any
) -> int:
    """ddq (n,) of eq. 21, one sample; leaves the factor of M in work.M and returns the status of
    `factor`.

    Implements (21).
    """
    failed = factored_by_recursion(tree, values, q, dq, work)
    add_dissipation(values, dq, work.bias)
    if tree.terms != 0:
        add_to_bias(tree.terms, values.term, q, dq, work.bias)
        add_sliding(tree.terms, values, dq, tau, slip, work, ddq)
    else:
        add_coulomb(values, slip, work.bias)
    for i in range(q.size):
        ddq[i] = tau[i] - work.bias[i]
    if failed < 0:
        solve(work.M, ddq)
    return failed


@entry(void(tree_type, values_type, _matrix, work_type, _cube))
def inertia_matrix_batch(tree: Tree, values: Values, q: Any, work: Work, M: Any) -> None:
    """`inertia_matrix` over the rows of q (N, n), into M (N, n, n)."""
    for k in range(q.shape[0]):
        place(tree, q[k], work)
        inertia_matrix(tree, values, work)
        for i in range(q.shape[1]):
            for j in range(q.shape[1]):
                M[k, i, j] = work.M[i, j]


@kernel
def direct_rows(
    tree: Tree,
    values: Values,
    q: Any,
    dq: Any,
    tau: Any,
    slip: Any,
    channels: Any,
    work: Work,
    ddq: Any,
    joint: Any,
) -> int:
    """`direct_dynamics` over the rows; as `direct_dynamics_batch`."""
    for k in range(q.shape[0]):
        if tree.terms != 0:
            set_channels(tree.terms, channels[k])
        joint[0] = direct_dynamics(tree, values, q[k], dq[k], tau[k], slip[k], work, ddq[k])
        if joint[0] >= 0:
            return k
    return -1


@entry(int64(tree_type, values_type, *[_matrix] * 5, work_type, _matrix, int64[::1]))
def direct_dynamics_batch(
    tree: Tree,
    values: Values,
    q: Any,
    dq: Any,
    tau: Any,
    slip: Any,
    channels: Any,
    work: Work,
    ddq: Any,
    joint: Any,
) -> int:
    """`direct_dynamics` over the rows, into ddq (N, n); -1, or the first sample that failed, and
    joint[0] its joint.
    """
    if tree.terms != 0 or tree.ties != 0:
        return direct_rows(tree, values, q, dq, tau, slip, channels, work, ddq, joint)
    return direct_rows(plain(tree), values, q, dq, tau, slip, channels, work, ddq, joint)
