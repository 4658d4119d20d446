"""The flat arrays that describe a robot to the kernels, and the motion of its links.

`Tree` is the geometry, `Values` the numerical parameters, `Work` the scratch memory of one thread.
n coordinates, m joints and links, which are as many unless joints follow others (`ties.py`), c
contacts, K terms. Frame i moves along or about its own z axis; `rotation` and
`translation` place it in its parent's frame at q_i = 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from didim.dynamics.kernels.elementary import MIN_VECTOR_LENGTH, padded, sines
from didim.dynamics.kernels.ties import joint_positions
from didim.dynamics.kernels.vectors import add, cross, get, into, put, scale
from didim.jit.compiled import kernel
from didim.jit.types import float64, int64, record_type


class Tree(NamedTuple):
    """What its parameters phi do not change in a robot."""

    parent: Any  # (m,) int64, -1: the base; a parent comes before its children
    prismatic: Any  # (m,) int64, 1 where the joint slides
    rotation: Any  # (m, 3, 3)
    translation: Any  # (m, 3) m
    gravity: Any  # (3,) m/s^2, in the base frame
    terms: int  # address of the effects that are expressions (`terms.py`), 0: none
    ties: int  # address of what joints follow (`ties.py`), 0: each is a coordinate


class Values(NamedTuple):
    """The parameters phi, sorted by what they do (SI units, joint side)."""

    link: Any  # (m, 10) XX XY XZ YY YZ ZZ MX MY MZ M
    armature: Any  # (n, n) rotor inertias and their couplings: torque = armature @ ddq
    viscous: Any  # (n, n) torque = viscous @ dq
    viscous_positive: Any  # (n,) torque = viscous_positive * max(dq, 0)
    viscous_negative: Any  # (n,) torque = viscous_negative * min(dq, 0)
    offset: Any  # (n,)
    coupled: int  # whether `armature` and `viscous` have entries beside their diagonals
    contact: Any  # (c, n) velocity of the contacts = contact @ dq
    only: Any  # (c,) int64 the one joint of a contact, -1: it couples several
    limit_positive: Any  # (c,) Coulomb limit of a contact that slips forward
    limit_negative: Any  # (c,) and backward
    term: Any  # (K,) parameter of each term


class Work(NamedTuple):
    """Scratch memory, one per thread."""

    angle: Any  # (padded m,) positions, the coordinates first; so the next two, of the joints
    cos: Any
    sin: Any
    R: Any  # (m, 3, 3) rotation from frame i to its parent, at q
    P: Any  # (m, 3) origin of frame i in its parent, at q
    w: Any  # (m, 3) angular velocity, in frame i; so the next two
    dw: Any  # (m, 3) angular acceleration
    dv: Any  # (m, 3) acceleration of the origin, less gravity
    force: Any  # (m, 3)
    moment: Any  # (m, 3) about the origin of frame i
    composite: Any  # (m, 10) inertial parameters of the subtree that starts at link i
    turn: Any  # (m, m, 3) angular part of joint j's unit motion, seen in frame i: [i, j]
    slide: Any  # (m, m, 3) its linear part, at the origin of frame i
    M: Any  # (n, n)
    bias: Any  # (n,)
    sources: Any  # (4 n + 3 c + 1 + K,) signals that the effects are made of


_vector, _matrix, _cube = float64[::1], float64[:, ::1], float64[:, :, ::1]
tree_type = record_type(
    Tree, int64[::1], int64[::1], _cube, _matrix, _vector, int64, int64, lasting=True
)
work_type = record_type(
    Work,
    *[_vector] * 3,
    _cube,
    *[_matrix] * 7,
    *[_cube] * 2,
    _matrix,
    *[_vector] * 2,
    lasting=True,
)
values_type = record_type(
    Values, *[_matrix] * 3, *[_vector] * 3, int64, _matrix, int64[::1], *[_vector] * 3
)


def allocate(n: int, c: int, K: int, m: int) -> Work:
    """Scratch memory for a robot of n coordinates, c contacts, K terms and m joints; the kernels
    themselves allocate nothing.
    """
    shapes = [
        *[(padded(m),)] * 3,
        (m, 3, 3),
        *[(m, 3)] * 6,
        (m, 10),
        (m, m, 3),
        (m, m, 3),
        (n, n),
        (n,),
        (4 * n + 3 * c + 1 + K,),
    ]
    return Work(*(np.zeros(shape) for shape in shapes))


@kernel
def plain(tree: Tree) -> Tree:
    """The tree without terms and ties, known to the compiler: what it is handed to runs as if
    there were none.
    """
    return Tree(tree.parent, tree.prismatic, tree.rotation, tree.translation, tree.gravity, 0, 0)


@kernel
def turn(q: Any, work: Work) -> None:
    """Cosines and sines of the positions q (m,) of all joints."""
    for i in range(q.size):
        work.angle[i] = q[i]
    sines(work.angle, q.size, work.cos, work.sin)


@kernel
def place(tree: Tree, q: Any, work: Work) -> None:
    """R_i, P_i: frame i in its parent at the coordinates q (n,), rad or m."""
    place_joints(tree, joint_positions(tree.ties, q), work)
    if tree.ties != 0:
        for i in range(q.size):
            work.angle[i] = q[i]


@kernel
def place_joints(tree: Tree, q: Any, work: Work) -> None:
    """`place` at the positions q (m,) of all joints."""
    one_by_one = q.size < MIN_VECTOR_LENGTH
    if one_by_one:
        for i in range(q.size):
            work.angle[i] = q[i]
    else:
        turn(q, work)
    for i in range(tree.parent.size):
        if tree.prismatic[i]:
            for k in range(3):
                work.P[i, k] = tree.translation[i, k] + tree.rotation[i, k, 2] * q[i]
                for m in range(3):
                    work.R[i, k, m] = tree.rotation[i, k, m]
        else:
            cos, sin = (np.cos(q[i]), np.sin(q[i])) if one_by_one else (work.cos[i], work.sin[i])
            for k in range(3):
                x, y = tree.rotation[i, k, 0], tree.rotation[i, k, 1]
                work.P[i, k] = tree.translation[i, k]
                work.R[i, k, 0] = cos * x + sin * y
                work.R[i, k, 1] = cos * y - sin * x
                work.R[i, k, 2] = tree.rotation[i, k, 2]


@kernel
def move(tree: Tree, dq: Any, ddq: Any, work: Work) -> None:
    """w_i, dw_i, dv_i from base to tips at the rates dq, ddq (m,) of all joints; gravity enters as
    an acceleration of the base (Newton-Euler, forward).
    """
    for i in range(tree.parent.size):
        p = tree.parent[i]
        P = get(work.P, i)
        if p < 0:
            w, dw = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
            dv = into(work.R, i, (-tree.gravity[0], -tree.gravity[1], -tree.gravity[2]))
        else:
            wp, dwp = get(work.w, p), get(work.dw, p)
            w, dw = into(work.R, i, wp), into(work.R, i, dwp)
            dv = into(work.R, i, add(get(work.dv, p), add(cross(dwp, P), cross(wp, cross(wp, P)))))
        rate, acceleration = (0.0, 0.0, dq[i]), (0.0, 0.0, ddq[i])
        if tree.prismatic[i]:
            dv = add(dv, add(acceleration, scale(2.0, cross(w, rate))))
        else:
            dw = add(dw, add(acceleration, cross(w, rate)))
            w = add(w, rate)
        put(work.w, i, w)
        put(work.dw, i, dw)
        put(work.dv, i, dv)
