"""What the links add to d tau/d q and d tau/d dq, exact, all pairs of joints at once.

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

from didim.dynamics.kernels.tree import Tree, Values, Work
from didim.dynamics.kernels.vectors import Vector, add, cross, dot, get, scale
from didim.jit.compiled import kernel
from didim.jit.lanes import FEW_LANES, load_few, padded_lanes, store

BODY = 0  # 10: inertial parameters of the composite body at i, as those of a link
B_ = 10  # 9: its B, row by row
MOMENTUM = 19  # 3: so all that follow but R_ and LINK
MOMENT = 22  # its wrench
FORCE = 25
SUMMED = 28  # what comes before is added to the parent's
TURN, SLIDE = 28, 31  # S_i
TURN_RATE, SLIDE_RATE = 34, 37  # dS_i
TURN_BEND, SLIDE_BEND = 40, 43  # ddS_i
W_, U_ = 46, 49  # velocity of link i
WP, UP = 52, 55  # and of its parent
DW, DU = 58, 61  # acceleration of link i, less gravity
DWP, DUP = 64, 67  # and of its parent
P_ = 70  # origin of frame i
YA, YL = 73, 76  # I S_i
ZA = 79  # S_i 2 B, which has no linear part
QA, QL = 82, 85  # 2 B dS_i + I ddS_i + S_i x* f
VA, VL = 88, 91  # 2 B S_i + 2 I dS_i
R_ = 94  # 9: rotation from frame i to the base, row by row
LINK = 103  # 10: inertial parameters of the link
RATE, ACCELERATION, SLIDES = 113, 114, 115  # dq_i, ddq_i, and 1 where joint i slides
PAIRS = (
    116  # 5: of one i and all j, M_ij, d tau_i/d q_j, d tau_i/d dq_j, d tau_j/d q_i, d tau_j/d dq_i
)
WIDTH = 121
"""Rows of the scratch, one column per link, in the axes of the base frame and about its origin: one
table, since every array that is handed from kernel to kernel costs compile time. FEW_LANES links
are computed at once.
"""


def allocate_ground(m: int) -> Any:
    """Scratch for a robot of m joints."""
    return np.zeros((WIDTH, padded_lanes(m, FEW_LANES)))


@kernel
def at(g: Any, start: int, i: int) -> Vector:
    """Three numbers of link i."""
    return (g[start, i], g[start + 1, i], g[start + 2, i])


@kernel
def part(g: Any, start: int, c: int) -> Any:
    """Three numbers of the links c, c + 1, ..., in lanes."""
    return (load_few(g, start, c), load_few(g, start + 1, c), load_few(g, start + 2, c))


@kernel
def keep(g: Any, start: int, c: int, a: Any) -> None:
    """Write three numbers of these links."""
    store(g, start, c, a[0])
    store(g, start + 1, c, a[1])
    store(g, start + 2, c, a[2])


@kernel
def inertia_of(g: Any, start: int, c: int, a: Any) -> Any:
    """J a of these links, J = [XX XY XZ; XY YY YZ; XZ YZ ZZ] from the row `start` on."""
    XX, XY, XZ = part(g, start, c)
    YY, YZ, ZZ = part(g, start + 3, c)
    return (
        XX * a[0] + XY * a[1] + XZ * a[2],
        XY * a[0] + YY * a[1] + YZ * a[2],
        XZ * a[0] + YZ * a[1] + ZZ * a[2],
    )


@kernel
def times(g: Any, start: int, c: int, a: Any) -> Any:
    """A 3 x 3 matrix of these links, times a."""
    return (
        dot(part(g, start, c), a),
        dot(part(g, start + 3, c), a),
        dot(part(g, start + 6, c), a),
    )


@kernel
def set_links(tree: Tree, values: Values, dq: Any, ddq: Any, work: Work, g: Any) -> None:
    """Frames in the base frame, parameters and rates of all links, one after the other."""
    for i in range(dq.size):
        p, P = tree.parent[i], get(work.P, i)
        for k in range(3):
            row = (1.0 * (k == 0), 1.0 * (k == 1), 1.0 * (k == 2))
            origin = 0.0
            if p >= 0:
                row = (g[R_ + 3 * k, p], g[R_ + 3 * k + 1, p], g[R_ + 3 * k + 2, p])
                origin = g[P_ + k, p]
            g[P_ + k, i] = origin + dot(row, P)
            for m in range(3):
                g[R_ + 3 * k + m, i] = dot(row, (work.R[i, 0, m], work.R[i, 1, m], work.R[i, 2, m]))
        for k in range(10):
            g[LINK + k, i] = values.link[i, k]
        g[RATE, i], g[ACCELERATION, i], g[SLIDES, i] = dq[i], ddq[i], 1.0 * tree.prismatic[i]


@kernel
def add_up(tree: Tree, start: int, of_parent: int, gravity: float, g: Any) -> None:
    """From what each joint adds to a motion, six rows from `start` on, to the motion of the links
    and of their parents; that of the base is minus gravity.
    """
    for i in range(tree.parent.size):
        p = tree.parent[i]
        for k in range(6):
            base = 0.0 if k < 3 else -gravity * tree.gravity[k - 3]
            before = g[start + k, p] if p >= 0 else base
            g[of_parent + k, i] = before
            g[start + k, i] += before


@kernel
def set_twists(c: int, g: Any) -> None:
    """S_i, and what it adds to the velocity."""
    z = (load_few(g, R_ + 2, c), load_few(g, R_ + 5, c), load_few(g, R_ + 8, c))
    slides, rate = load_few(g, SLIDES, c), load_few(g, RATE, c)
    a = scale(1.0 - slides, z)
    l = add(scale(slides, z), cross(part(g, P_, c), a))
    keep(g, TURN, c, a)
    keep(g, SLIDE, c, l)
    keep(g, W_, c, scale(rate, a))
    keep(g, U_, c, scale(rate, l))


@kernel
def set_twist_rates(c: int, g: Any) -> None:
    """dS_i, and what joint i adds to the acceleration."""
    a, l, w, u = part(g, TURN, c), part(g, SLIDE, c), part(g, WP, c), part(g, UP, c)
    rate, acceleration = load_few(g, RATE, c), load_few(g, ACCELERATION, c)
    ra, rl = cross(w, a), add(cross(w, l), cross(u, a))
    keep(g, TURN_RATE, c, ra)
    keep(g, SLIDE_RATE, c, rl)
    keep(g, DW, c, add(scale(acceleration, a), scale(rate, ra)))
    keep(g, DU, c, add(scale(acceleration, l), scale(rate, rl)))


@kernel
def set_twist_bends(c: int, g: Any) -> None:
    """ddS_i."""
    a, l, ra, rl = (
        part(g, TURN, c),
        part(g, SLIDE, c),
        part(g, TURN_RATE, c),
        part(g, SLIDE_RATE, c),
    )
    w, u, dw, du = part(g, WP, c), part(g, UP, c), part(g, DWP, c), part(g, DUP, c)
    keep(g, TURN_BEND, c, add(cross(dw, a), cross(w, ra)))
    keep(g, SLIDE_BEND, c, add(add(cross(dw, l), cross(du, a)), add(cross(w, rl), cross(u, ra))))


@kernel
def embody(c: int, g: Any) -> None:
    """Each link alone as a body: its inertia about the origin, the rate B of it, momentum and
    wrench.
    """
    mass, P = load_few(g, LINK + 9, c), part(g, P_, c)
    MS = times(g, R_, c, part(g, LINK + 6, c))
    half = add(MS, scale(0.5 * mass, P))
    double = 2.0 * dot(P, half)
    JX, JY, JZ = (
        inertia_of(g, LINK, c, part(g, R_, c)),
        inertia_of(g, LINK, c, part(g, R_ + 3, c)),
        inertia_of(g, LINK, c, part(g, R_ + 6, c)),
    )
    X, Y, Z = part(g, R_, c), part(g, R_ + 3, c), part(g, R_ + 6, c)
    XX = dot(X, JX) - 2.0 * P[0] * half[0] + double
    YY = dot(Y, JY) - 2.0 * P[1] * half[1] + double
    ZZ = dot(Z, JZ) - 2.0 * P[2] * half[2] + double
    XY = dot(Y, JX) - P[0] * half[1] - half[0] * P[1]
    XZ = dot(Z, JX) - P[0] * half[2] - half[0] * P[2]
    YZ = dot(Z, JY) - P[1] * half[2] - half[1] * P[2]
    keep(g, BODY, c, (XX, XY, XZ))
    keep(g, BODY + 3, c, (YY, YZ, ZZ))
    h = add(MS, scale(mass, P))
    keep(g, BODY + 6, c, h)
    store(g, BODY + 9, c, mass)
    w, u, dw, du = part(g, W_, c), part(g, U_, c), part(g, DW, c), part(g, DU, c)
    trace, along = 0.5 * (XX + YY + ZZ), dot(h, u)
    changes = (
        cross((trace - XX, -1.0 * XY, -1.0 * XZ), w),
        cross((-1.0 * XY, trace - YY, -1.0 * YZ), w),
        cross((-1.0 * XZ, -1.0 * YZ, trace - ZZ), w),
    )
    for k in range(3):
        keep(
            g,
            B_ + 3 * k,
            c,
            (
                changes[0][k] - u[k] * h[0],
                changes[1][k] - u[k] * h[1],
                changes[2][k] - u[k] * h[2],
            ),
        )
        store(g, B_ + 4 * k, c, load_few(g, B_ + 4 * k, c) + along)
    p = add(scale(mass, u), cross(w, h))
    L = add(inertia_of(g, BODY, c, w), cross(h, u))
    keep(g, MOMENTUM, c, p)
    keep(g, FORCE, c, add(add(scale(mass, du), cross(dw, h)), cross(w, p)))
    turned = add(inertia_of(g, BODY, c, dw), cross(h, du))
    keep(g, MOMENT, c, add(turned, add(cross(w, L), cross(u, p))))


@kernel
def pushed(g: Any, c: int, a: Any) -> Any:
    """2 B (a, l): moment and force."""
    return scale(2.0, times(g, B_, c, a)), scale(2.0, cross(a, part(g, MOMENTUM, c)))


@kernel
def weighed(g: Any, c: int, a: Any, l: Any) -> Any:
    """I (a, l): moment and force."""
    h = part(g, BODY + 6, c)
    moment = add(inertia_of(g, BODY, c, a), cross(h, l))
    return moment, add(scale(load_few(g, BODY + 9, c), l), cross(a, h))


@kernel
def set_products(c: int, g: Any) -> None:
    """What each composite body makes of the motions of its joint."""
    a, l, ra, rl = (
        part(g, TURN, c),
        part(g, SLIDE, c),
        part(g, TURN_RATE, c),
        part(g, SLIDE_RATE, c),
    )
    ya, yl = weighed(g, c, a, l)
    keep(g, YA, c, ya)
    keep(g, YL, c, yl)
    turned = add(
        scale(a[0], part(g, B_, c)),
        add(scale(a[1], part(g, B_ + 3, c)), scale(a[2], part(g, B_ + 6, c))),
    )
    keep(g, ZA, c, scale(2.0, add(turned, cross(part(g, MOMENTUM, c), l))))
    n1, f1 = pushed(g, c, ra)
    n2, f2 = weighed(g, c, part(g, TURN_BEND, c), part(g, SLIDE_BEND, c))
    moment, force = part(g, MOMENT, c), part(g, FORCE, c)
    n3, f3 = add(cross(a, moment), cross(l, force)), cross(a, force)
    keep(g, QA, c, add(n1, add(n2, n3)))
    keep(g, QL, c, add(f1, add(f2, f3)))
    n1, f1 = pushed(g, c, a)
    n2, f2 = weighed(g, c, ra, rl)
    keep(g, VA, c, add(n1, scale(2.0, n2)))
    keep(g, VL, c, add(f1, scale(2.0, f2)))


@kernel
def set_pairs(i: int, c: int, g: Any) -> None:
    """The five products of joint i with the joints c, c + 1, ..., whether they carry it or not."""
    b, k = part(g, TURN, c), part(g, SLIDE, c)
    rb, rk = part(g, TURN_RATE, c), part(g, SLIDE_RATE, c)
    ya, yl, za = at(g, YA, i), at(g, YL, i), at(g, ZA, i)
    bend = dot(ya, part(g, TURN_BEND, c)) + dot(yl, part(g, SLIDE_BEND, c))
    store(g, PAIRS, c, dot(ya, b) + dot(yl, k))
    store(g, PAIRS + 1, c, dot(za, rb) + bend)
    store(g, PAIRS + 2, c, dot(za, b) + 2.0 * (dot(ya, rb) + dot(yl, rk)))
    store(g, PAIRS + 3, c, dot(at(g, QA, i), b) + dot(at(g, QL, i), k))
    store(g, PAIRS + 4, c, dot(at(g, VA, i), b) + dot(at(g, VL, i), k))


@kernel
def add_link_derivatives(
    tree: Tree, values: Values, dq: Any, ddq: Any, work: Work, g: Any, M: Any, by_q: Any, by_dq: Any
) -> None:
    """Add what the links do to the torques of all joints at their rates dq, ddq (m,), to M, by_q
    and by_dq (m, m).
    """
    n = dq.size
    set_links(tree, values, dq, ddq, work, g)
    for c in range(0, n, FEW_LANES):
        set_twists(c, g)
    add_up(tree, W_, WP, 0.0, g)
    for c in range(0, n, FEW_LANES):
        set_twist_rates(c, g)
    add_up(tree, DW, DWP, 1.0, g)
    for c in range(0, n, FEW_LANES):
        set_twist_bends(c, g)
        embody(c, g)
    for i in range(n - 1, -1, -1):
        if tree.parent[i] >= 0:
            for k in range(SUMMED):
                g[k, tree.parent[i]] += g[k, i]
    for c in range(0, n, FEW_LANES):
        set_products(c, g)
    for i in range(n):
        for c in range(0, i + 1, FEW_LANES):
            set_pairs(i, c, g)
        M[i, i] += g[PAIRS, i]
        by_q[i, i] += g[PAIRS + 1, i]
        by_dq[i, i] += g[PAIRS + 2, i]
        j = tree.parent[i]
        while j >= 0:
            M[i, j] += g[PAIRS, j]
            M[j, i] += g[PAIRS, j]
            by_q[i, j] += g[PAIRS + 1, j]
            by_dq[i, j] += g[PAIRS + 2, j]
            by_q[j, i] += g[PAIRS + 3, j]
            by_dq[j, i] += g[PAIRS + 4, j]
            j = tree.parent[j]
