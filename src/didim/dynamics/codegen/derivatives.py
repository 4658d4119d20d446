"""d tau/d q, d tau/d dq and the link columns of the regressor on symbols: the equations of
`kernels/ground.py` and `kernels/regressor.py`, written down for one robot.

Unlike there, everything is in the frame of its own link, where the unit motion of a joint is 0s and
a 1, and bodies and wrenches are carried from frame to frame.
"""

from __future__ import annotations

from typing import NamedTuple

from didim.dynamics.codegen.recursions import Body, Frames, joined, tensor
from didim.dynamics.codegen.trace import Matrix, Trace, Vector
from didim.jit.statements import Symbol

Pair = tuple[Vector, Vector]
"""Angular and linear part of a motion, or moment and force."""


class Twists(NamedTuple):
    """Motion of each link and of its joint, at the origin of its frame."""

    S: list[Pair]  # unit motion of the joint
    rate: list[Pair]  # dS
    bend: list[Pair]  # ddS
    velocity: list[Pair]
    acceleration: list[Pair]  # of the point at the origin, less gravity


class Moving(NamedTuple):
    """A body that moves: its inertia, the rate B of it, momentum and wrench."""

    body: Body
    B: Matrix
    p: Vector
    wrench: Pair


def _crossed(code: Trace, v: Pair, S: Pair) -> Pair:
    """v x S of two motions."""
    turn = code.cross(v[0], S[0])
    return turn, code.plus(code.cross(v[0], S[1]), code.cross(v[1], S[0]))


def _plus(code: Trace, *pairs: Pair) -> Pair:
    turns, slides = zip(*pairs, strict=True)
    return code.plus(*turns), code.plus(*slides)


def _scale(code: Trace, a: Symbol, x: Pair) -> Pair:
    return code.scale(a, x[0]), code.scale(a, x[1])


def _dot(code: Trace, x: Pair, y: Pair) -> Symbol:
    return code.add(code.dot(x[0], y[0]), code.dot(x[1], y[1]))


def _inward(code: Trace, frames: Frames, i: int, v: Pair) -> Pair:
    """A motion, from the parent's frame into frame i."""
    back = [[row[k] for row in frames.R[i]] for k in range(3)]
    at_origin = code.plus(v[1], code.cross(v[0], frames.P[i]))
    return code.times(back, v[0]), code.times(back, at_origin)


def _outward(code: Trace, frames: Frames, i: int, wrench: Pair) -> Pair:
    """A wrench, from frame i into the parent's."""
    force = code.times(frames.R[i], wrench[1])
    moment = code.times(frames.R[i], wrench[0])
    return code.plus(moment, code.cross(frames.P[i], force)), force


def twists(code: Trace, frames: Frames, gravity: Vector, dq: Vector, ddq: Vector) -> Twists:
    """The motion of joints and links, base to tips."""
    found = Twists([], [], [], [], [])
    still, z = [0.0] * 3, [0.0, 0.0, 1.0]
    for i, p in enumerate(frames.parent):
        v: Pair = (list(still), list(still)) if p < 0 else found.velocity[p]
        a: Pair = (list(still), code.scale(-1.0, gravity)) if p < 0 else found.acceleration[p]
        v, a = _inward(code, frames, i, v), _inward(code, frames, i, a)
        S: Pair = (list(still), list(z)) if frames.prismatic[i] else (list(z), list(still))
        rate = _crossed(code, v, S)
        found.S.append(S)
        found.rate.append(rate)
        found.bend.append(_plus(code, _crossed(code, a, S), _crossed(code, v, rate)))
        found.velocity.append(_plus(code, v, _scale(code, dq[i], S)))
        found.acceleration.append(
            _plus(code, a, _scale(code, ddq[i], S), _scale(code, dq[i], rate))
        )
    return found


def _weighed(code: Trace, body: Body, v: Pair) -> Pair:
    """I v."""
    J, h, mass = body
    moment = code.plus(code.times(J, v[0]), code.cross(h, v[1]))
    return moment, code.plus(code.scale(mass, v[1]), code.cross(v[0], h))


def _moving(code: Trace, ten: Vector, v: Pair, a: Pair) -> Moving:
    """Link alone as a body."""
    (w, u), J, h, mass = v, tensor(ten), ten[6:9], ten[9]
    trace = code.mul(0.5, code.add(code.add(J[0][0], J[1][1]), J[2][2]))
    along = code.dot(h, u)
    B: Matrix = [[0.0] * 3 for _ in range(3)]
    for m in range(3):
        second = [code.sub(trace, J[m][k]) if k == m else code.mul(-1.0, J[m][k]) for k in range(3)]
        turned = code.cross(second, w)
        for k in range(3):
            B[k][m] = code.sub(turned[k], code.mul(u[k], h[m]))
        B[m][m] = code.add(B[m][m], along)
    momentum, p = _weighed(code, (J, h, mass), v)
    moment, force = _weighed(code, (J, h, mass), a)
    moment = code.plus(moment, code.cross(w, momentum), code.cross(u, p))
    return Moving((J, h, mass), B, p, (moment, code.plus(force, code.cross(w, p))))


def _united(code: Trace, frames: Frames, i: int, parent: Moving, moving: Moving) -> Moving:
    """The parent of link i and the body at i as one."""
    R, P, p = frames.R[i], frames.P[i], code.times(frames.R[i], moving.p)
    half = [code.times(moving.B, row) for row in R]
    along = code.dot(P, p)
    B = [list(row) for row in parent.B]
    for k in range(3):
        for m in range(3):
            turned = code.sub(code.dot(R[k], half[m]), code.mul(p[k], P[m]))
            B[k][m] = code.add(B[k][m], code.add(turned, along) if k == m else turned)
    wrench = _plus(code, parent.wrench, _outward(code, frames, i, moving.wrench))
    body = joined(code, parent.body, moving.body, R, P)
    return Moving(body, B, code.plus(parent.p, p), wrench)


def link_derivatives(
    code: Trace, frames: Frames, links: list[Vector], motion: Twists
) -> tuple[Matrix, Matrix]:
    """d tau/d q and d tau/d dq (n, n) of the links alone."""
    n = len(links)
    q: Matrix = [[0.0] * n for _ in range(n)]
    dq: Matrix = [[0.0] * n for _ in range(n)]
    bodies = [
        _moving(code, *each)
        for each in zip(links, motion.velocity, motion.acceleration, strict=True)
    ]
    for i in reversed(range(n)):
        body, B, p, wrench = bodies[i]
        S, rate, bend = motion.S[i], motion.rate[i], motion.bend[i]

        def pushed(v: Pair, B: Matrix = B, p: Vector = p) -> Pair:
            return code.scale(2.0, code.times(B, v[0])), code.scale(2.0, code.cross(v[0], p))

        y = _weighed(code, body, S)
        turned = code.times([[row[k] for row in B] for k in range(3)], S[0])
        z: Pair = code.scale(2.0, code.plus(turned, code.cross(p, S[1]))), [0.0] * 3
        moment = code.plus(code.cross(S[0], wrench[0]), code.cross(S[1], wrench[1]))
        bent = _weighed(code, body, bend)
        of_q = _plus(code, pushed(rate), bent, (moment, code.cross(S[0], wrench[1])))
        of_dq = _plus(code, pushed(S), _scale(code, 2.0, _weighed(code, body, rate)))
        j = i
        while j >= 0:
            q[i][j] = code.add(_dot(code, z, motion.rate[j]), _dot(code, y, motion.bend[j]))
            double = code.mul(2.0, _dot(code, y, motion.rate[j]))
            dq[i][j] = code.add(_dot(code, z, motion.S[j]), double)
            if j != i:
                q[j][i] = _dot(code, of_q, motion.S[j])
                dq[j][i] = _dot(code, of_dq, motion.S[j])
            if frames.parent[j] >= 0:
                y, z, of_q, of_dq = (
                    _outward(code, frames, j, each) for each in (y, z, of_q, of_dq)
                )
            j = frames.parent[j]
        if frames.parent[i] >= 0:
            bodies[frames.parent[i]] = _united(code, frames, i, bodies[frames.parent[i]], bodies[i])
    return q, dq


def link_columns(code: Trace, frames: Frames, motion: Twists) -> list[dict[int, Vector]]:
    """Of each link, its ten coefficients (2) in the torque of every joint that carries it."""
    seen: list[dict[int, Pair]] = []
    found: list[dict[int, Vector]] = []
    for i, p in enumerate(frames.parent):
        carried = {} if p < 0 else seen[p]
        seen.append({j: _inward(code, frames, i, S) for j, S in carried.items()})
        seen[i][i] = motion.S[i]
        (w, u), (dw, slide) = motion.velocity[i], motion.acceleration[i]
        dv = code.plus(slide, code.cross(w, u))
        xx, yy, zz, xy, xz, yz = (
            code.mul(w[a], w[b]) for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
        )
        less_xx, less_yy = code.mul(-1.0, xx), code.mul(-1.0, yy)
        tensors = [
            [dw[0], xz, code.mul(-1.0, xy)],
            [code.sub(dw[1], xz), code.add(dw[0], yz), code.sub(xx, yy)],
            [code.add(dw[2], xy), code.sub(zz, xx), code.sub(dw[0], yz)],
            [code.mul(-1.0, yz), dw[1], xy],
            [code.sub(yy, zz), code.sub(dw[2], xy), code.add(dw[1], xz)],
            [yz, code.mul(-1.0, xz), dw[2]],
        ]
        U = [
            [code.sub(less_yy, zz), code.sub(xy, dw[2]), code.add(xz, dw[1])],
            [code.add(xy, dw[2]), code.sub(less_xx, zz), code.sub(yz, dw[0])],
            [code.sub(xz, dw[1]), code.add(yz, dw[0]), code.sub(less_xx, yy)],
        ]
        found.append({})
        for j, (turn, shift) in seen[i].items():
            first = code.plus(code.cross(dv, turn), *(code.scale(shift[k], U[k]) for k in range(3)))
            inertia = [code.dot(turn, each) for each in tensors]
            found[i][j] = [*inertia, *first, code.dot(shift, dv)]
    return found
