"""How the inverse dynamics (1) changes with the motion: d tau/d q and d tau/d dq, exact, all pairs
of joints at once.

Everything is seen in the base frame, so that the bodies of a subtree simply add up. A unit motion
of joint i is the twist S = (a, l), angular and linear at the origin; it changes with the rate dS =
v x S. With the composite body of the subtree at i (inertia I, its rate 2 B, wrench f), for every
joint j between i and the base:

    d tau_i/d q_j  = S_i (2 B dS_j + I ddS_j)
    d tau_j/d q_i  = S_j (2 B dS_i + I ddS_i + S_i x* f)
    d tau_i/d dq_j = S_i (2 B S_j + 2 I dS_j)
    d tau_j/d dq_i = S_j (2 B S_i + 2 I dS_i)

ddS_j = a_p x S_j + v_p x dS_j with the parent's velocity and acceleration. For one body with the
second moment Sigma, first moment h, angular velocity w and velocity u of its point at the origin, B
(a, l) = (-w x Sigma a - h x (u x a), a x p), where p = M u + w x h is its momentum: nine numbers
and three, which add up as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from didim.dynamics.kernels.terms import (
    BY_V,
    BY_X,
    CONTACT,
    Terms,
    at_slip,
    evaluate_terms,
    read_terms,
    set_channels,
)
from didim.dynamics.kernels.ties import gather_matrix, joint_rates, read_ties
from didim.dynamics.kernels.tree import Tree, Values, Work, place, tree_type, values_type, work_type
from didim.dynamics.kernels.vectors import (
    Vector,
    add,
    cross,
    dot,
    first_moment,
    get,
    inertia_times,
    scale,
)
from didim.jit.compiled import entry, kernel, shared
from didim.jit.types import float64, void

_matrix, _cube = float64[:, ::1], float64[:, :, ::1]


BODY = 0  # 10: inertial parameters of the composite body at i, as those of a link
B_ = 10  # 9: its B, row by row
MOMENTUM = 19  # 3: so all that follow but R_
MOMENT = 22  # its wrench
FORCE = 25
SUMMED = 28  # what comes before is added to the parent's
TURN, SLIDE = 28, 31  # S_i
TURN_RATE, SLIDE_RATE = 34, 37  # dS_i
TURN_BEND, SLIDE_BEND = 40, 43  # ddS_i
W_, U_ = 46, 49  # velocity of link i
DW, DU = 52, 55  # its acceleration, less gravity
P_ = 58  # origin of frame i
R_ = 61  # 9: rotation from frame i to the base, row by row
WIDTH = 70
"""Columns of the scratch, one row per link, in the axes of the base frame and about its origin: one
table, since every array that is handed from kernel to kernel costs compile time.
"""


def allocate_ground(m: int) -> Any:
    """Scratch for a robot of m joints."""
    return np.zeros((m, WIDTH))


@kernel
def part(g: Any, i: int, start: int) -> Vector:
    """Three numbers of link i."""
    return (g[i, start], g[i, start + 1], g[i, start + 2])


@kernel
def keep(g: Any, i: int, start: int, a: Vector) -> None:
    """Write three numbers of link i."""
    g[i, start] = a[0]
    g[i, start + 1] = a[1]
    g[i, start + 2] = a[2]


@kernel
def times(g: Any, i: int, start: int, a: Vector) -> Vector:
    """A 3 x 3 matrix of link i, times a."""
    return (dot(part(g, i, start), a), dot(part(g, i, start + 3), a), dot(part(g, i, start + 6), a))


@kernel
def carry(tree: Tree, i: int, dq: Any, ddq: Any, work: Work, g: Any) -> None:
    """Frame, joint twist and motion of link i from those of its parent."""
    p = tree.parent[i]
    w, u, dw = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    du = (-tree.gravity[0], -tree.gravity[1], -tree.gravity[2])
    if p < 0:
        keep(g, i, P_, get(work.P, i))
        for k in range(3):
            keep(g, i, R_ + 3 * k, (work.R[i, k, 0], work.R[i, k, 1], work.R[i, k, 2]))
    else:
        w, u, dw, du = part(g, p, W_), part(g, p, U_), part(g, p, DW), part(g, p, DU)
        keep(g, i, P_, add(part(g, p, P_), times(g, p, R_, get(work.P, i))))
        for m in range(3):
            column = times(g, p, R_, (work.R[i, 0, m], work.R[i, 1, m], work.R[i, 2, m]))
            for k in range(3):
                g[i, R_ + 3 * k + m] = column[k]
    z = (g[i, R_ + 2], g[i, R_ + 5], g[i, R_ + 8])
    slides = 1.0 * tree.prismatic[i]
    a = scale(1.0 - slides, z)
    l = add(scale(slides, z), cross(part(g, i, P_), a))
    ra, rl = cross(w, a), add(cross(w, l), cross(u, a))
    keep(g, i, TURN, a)
    keep(g, i, SLIDE, l)
    keep(g, i, TURN_RATE, ra)
    keep(g, i, SLIDE_RATE, rl)
    keep(g, i, TURN_BEND, add(cross(dw, a), cross(w, ra)))
    keep(g, i, SLIDE_BEND, add(add(cross(dw, l), cross(du, a)), add(cross(w, rl), cross(u, ra))))
    keep(g, i, W_, add(w, scale(dq[i], a)))
    keep(g, i, U_, add(u, scale(dq[i], l)))
    keep(g, i, DW, add(dw, add(scale(ddq[i], a), scale(dq[i], ra))))
    keep(g, i, DU, add(du, add(scale(ddq[i], l), scale(dq[i], rl))))


@kernel
def embody(values: Values, i: int, g: Any) -> None:
    """Link i alone as the body at i: its inertia about the origin, the rate B of it, momentum and
    wrench.
    """
    link = values.link
    mass, P = link[i, 9], part(g, i, P_)
    MS = times(g, i, R_, first_moment(link, i))
    half = add(MS, scale(0.5 * mass, P))
    double = 2.0 * dot(P, half)
    column = 0
    for a in range(3):
        J = inertia_times(link, i, part(g, i, R_ + 3 * a))
        for b in range(a, 3):
            moved = dot(part(g, i, R_ + 3 * b), J)
            g[i, BODY + column] = (
                moved - P[a] * half[b] - half[a] * P[b] + (double if a == b else 0.0)
            )
            column += 1
    h = add(MS, scale(mass, P))
    keep(g, i, BODY + 6, h)
    g[i, BODY + 9] = mass
    w, u, dw, du = part(g, i, W_), part(g, i, U_), part(g, i, DW), part(g, i, DU)
    trace = 0.5 * (g[i, 0] + g[i, 3] + g[i, 5])
    second = (
        (trace - g[i, 0], -g[i, 1], -g[i, 2]),
        (-g[i, 1], trace - g[i, 3], -g[i, 4]),
        (-g[i, 2], -g[i, 4], trace - g[i, 5]),
    )
    unit = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    for m in range(3):
        change = add(cross(w, second[m]), cross(h, cross(u, unit[m])))
        for k in range(3):
            g[i, B_ + 3 * k + m] = -change[k]
    p = add(scale(mass, u), cross(w, h))
    L = add(inertia_times(g, i, w), cross(h, u))
    keep(g, i, MOMENTUM, p)
    keep(g, i, FORCE, add(add(scale(mass, du), cross(dw, h)), cross(w, p)))
    keep(
        g, i, MOMENT, add(add(inertia_times(g, i, dw), cross(h, du)), add(cross(w, L), cross(u, p)))
    )


@kernel
def gather(tree: Tree, i: int, g: Any) -> None:
    """Add the composite body at i to that of its parent."""
    for k in range(SUMMED):
        g[tree.parent[i], k] += g[i, k]


@kernel
def pushed(g: Any, i: int, a: Vector) -> tuple[Vector, Vector]:
    """2 B (a, l): moment and force."""
    return scale(2.0, times(g, i, B_, a)), scale(2.0, cross(a, part(g, i, MOMENTUM)))


@kernel
def weighed(g: Any, i: int, a: Vector, l: Vector) -> tuple[Vector, Vector]:
    """I (a, l): moment and force."""
    h = first_moment(g, i)
    return add(inertia_times(g, i, a), cross(h, l)), add(scale(g[i, BODY + 9], l), cross(a, h))


@kernel
def add_term_derivatives(
    terms: Terms, k: int, by_x: float, by_v: float, by_q: Any, by_dq: Any
) -> None:
    """Add w w' by_x and w w' by_v, the derivatives of term k, to by_q and by_dq (n, n)."""
    for i in range(by_q.shape[0]):
        for j in range(by_q.shape[0]):
            both = terms.weight[k, i] * terms.weight[k, j]
            by_q[i, j] += both * by_x
            by_dq[i, j] += both * by_v


@shared
def add_smooth_derivatives(address: int, phi: Any, q: Any, dq: Any, by_q: Any, by_dq: Any) -> None:
    """Evaluate all terms with their derivatives at q, dq (n,), and add those of the terms that
    belong to no contact to by_q and by_dq (n, n).
    """
    terms = read_terms(address)
    evaluate_terms(terms, q, dq, True)
    for k in range(terms.table.shape[0]):
        if terms.table[k, CONTACT] < 0:
            by_x = phi[k] * terms.registers[terms.table[k, BY_X]]
            by_v = phi[k] * terms.registers[terms.table[k, BY_V]]
            add_term_derivatives(terms, k, by_x, by_v, by_q, by_dq)


@shared
def add_sliding_derivatives(address: int, phi: Any, slip: Any, by_q: Any, by_dq: Any) -> None:
    """`add_sliding_terms` of the terms at an address."""
    add_sliding_terms(read_terms(address), phi, slip, by_q, by_dq)


@kernel
def add_sliding_terms(terms: Terms, phi: Any, slip: Any, by_q: Any, by_dq: Any) -> None:
    """Add how the limits of contacts change with the motion to by_q, by_dq (n, n); slip (c,) is 0
    where a contact is held.
    """
    for k in range(terms.table.shape[0]):
        c = terms.table[k, CONTACT]
        if c >= 0:
            by_x = phi[k] * at_slip(terms, k, BY_X, slip[c])
            by_v = phi[k] * at_slip(terms, k, BY_V, slip[c])
            add_term_derivatives(terms, k, by_x, by_v, by_q, by_dq)


@kernel
def own_derivatives(values: Values, dq: Any, M: Any, by_q: Any, by_dq: Any) -> None:
    """Rotors and viscous friction alone, into M, by_q and by_dq (n, n)."""
    for i in range(dq.size):
        for j in range(dq.size):
            M[i, j] = values.armature[i, j]
            by_q[i, j] = 0.0
            by_dq[i, j] = values.viscous[i, j]
        by_dq[i, i] += (
            values.viscous_positive[i]
            if dq[i] > 0.0
            else (values.viscous_negative[i] if dq[i] < 0.0 else 0.0)
        )


@kernel
def add_link_derivatives(
    tree: Tree, values: Values, dq: Any, ddq: Any, work: Work, g: Any, M: Any, by_q: Any, by_dq: Any
) -> None:
    """Add what the links do to the torques of all joints at their rates dq, ddq (m,), to M, by_q
    and by_dq (m, m).
    """
    n = dq.size
    for i in range(n):
        carry(tree, i, dq, ddq, work, g)
        embody(values, i, g)
    for i in range(n - 1, -1, -1):
        a, l, ra, rl = (
            part(g, i, TURN),
            part(g, i, SLIDE),
            part(g, i, TURN_RATE),
            part(g, i, SLIDE_RATE),
        )
        ya, yl = weighed(g, i, a, l)  # I S_i
        turned = add(
            scale(a[0], part(g, i, B_)),
            add(scale(a[1], part(g, i, B_ + 3)), scale(a[2], part(g, i, B_ + 6))),
        )
        za = scale(
            2.0, add(turned, cross(part(g, i, MOMENTUM), l))
        )  # S_i 2 B, which has no linear part
        n1, f1 = pushed(g, i, ra)
        n2, f2 = weighed(g, i, part(g, i, TURN_BEND), part(g, i, SLIDE_BEND))
        moment, force = part(g, i, MOMENT), part(g, i, FORCE)
        n3, f3 = add(cross(a, moment), cross(l, force)), cross(a, force)
        qa, ql = add(n1, add(n2, n3)), add(f1, add(f2, f3))
        n1, f1 = pushed(g, i, a)
        n2, f2 = weighed(g, i, ra, rl)
        va, vl = add(n1, scale(2.0, n2)), add(f1, scale(2.0, f2))
        j = i
        while j >= 0:
            b, k = part(g, j, TURN), part(g, j, SLIDE)
            rb, rk = part(g, j, TURN_RATE), part(g, j, SLIDE_RATE)
            inertia = dot(ya, b) + dot(yl, k)
            M[i, j] += inertia
            by_q[i, j] += (
                dot(za, rb) + dot(ya, part(g, j, TURN_BEND)) + dot(yl, part(g, j, SLIDE_BEND))
            )
            by_dq[i, j] += dot(za, b) + 2.0 * (dot(ya, rb) + dot(yl, rk))
            if j != i:
                M[j, i] += inertia
                by_q[j, i] += dot(b, qa) + dot(k, ql)
                by_dq[j, i] += dot(b, va) + dot(k, vl)
            j = tree.parent[j]
        if tree.parent[i] >= 0:
            gather(tree, i, g)


@shared
def empty_derivatives(address: int) -> None:
    """Zeros where the derivatives of the joints are gathered from."""
    ties = read_ties(address)
    for k in range(ties.ratio.size):
        for l in range(ties.ratio.size):
            ties.M[k, l], ties.by_q[k, l], ties.by_dq[k, l] = 0.0, 0.0, 0.0


@shared
def gather_derivatives(address: int, M: Any, by_q: Any, by_dq: Any) -> None:
    """Add T' A T of the joints' matrices (m, m) to those of the coordinates (n, n)."""
    ties = read_ties(address)
    gather_matrix(ties, ties.M, M)
    gather_matrix(ties, ties.by_q, by_q)
    gather_matrix(ties, ties.by_dq, by_dq)


@kernel
def motion_derivatives(
    tree: Tree, values: Values, dq: Any, ddq: Any, work: Work, g: Any, M: Any, by_q: Any, by_dq: Any
) -> None:
    """M, d tau/d q and d tau/d dq (n, n), row: torque, at the placement held in `work`; friction by
    dq, no Coulomb contact.

    Implements (39).
    """
    own_derivatives(values, dq, M, by_q, by_dq)
    of_joints = (M, by_q, by_dq)
    if tree.ties != 0:
        empty_derivatives(tree.ties)
        ties = read_ties(tree.ties)
        of_joints = (ties.M, ties.by_q, ties.by_dq)
    rates, accelerations = joint_rates(tree.ties, dq, ddq)
    add_link_derivatives(tree, values, rates, accelerations, work, g, *of_joints)
    if tree.ties != 0:
        gather_derivatives(tree.ties, M, by_q, by_dq)
    if tree.terms != 0:
        add_smooth_derivatives(tree.terms, values.term, work.angle[: dq.size], dq, by_q, by_dq)


@entry(void(tree_type, values_type, *[_matrix] * 4, work_type, _matrix, _cube, _cube, _cube))
def motion_derivatives_batch(
    tree: Tree,
    values: Values,
    q: Any,
    dq: Any,
    ddq: Any,
    channels: Any,
    work: Work,
    g: Any,
    M: Any,
    by_q: Any,
    by_dq: Any,
) -> None:
    """`motion_derivatives` over the rows of q, dq, ddq (N, n) and channels (N, k), into three
    (N, n, n) arrays.
    """
    for k in range(q.shape[0]):
        if tree.terms != 0:
            set_channels(tree.terms, channels[k])
        place(tree, q[k], work)
        motion_derivatives(tree, values, dq[k], ddq[k], work, g, M[k], by_q[k], by_dq[k])
