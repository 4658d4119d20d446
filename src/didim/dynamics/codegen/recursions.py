"""Newton-Euler and composite bodies on symbols: the equations of `kernels/`, written down for one
robot.

Everything is in the frame of its own link. A link is its ten parameters, XX XY XZ YY YZ ZZ MX MY MZ
M.
"""

from __future__ import annotations

from typing import NamedTuple

from didim.dynamics.codegen.trace import Matrix, Trace, Vector
from didim.dynamics.kernels.tree import Tree
from didim.jit.statements import Symbol

ROUND = 1e-15
"""Entries of rotations this near to -1, 0 or 1 are these, rounded."""


class Frames(NamedTuple):
    """Where each frame is in its parent's, at q."""

    parent: list[int]
    prismatic: list[bool]
    R: list[Matrix]
    P: list[Vector]


class Flow(NamedTuple):
    """Angular velocity and acceleration, and acceleration of the origin less gravity, of each
    link.
    """

    w: list[Vector]
    dw: list[Vector]
    dv: list[Vector]


def place(code: Trace, tree: Tree, q: Vector, cos: Vector, sin: Vector) -> Frames:
    """R_i, P_i from the joint positions, their cosines and their sines."""
    prismatic = [bool(slides) for slides in tree.prismatic]
    rotations: list[Matrix] = []
    origins: list[Vector] = []
    for i, slides in enumerate(prismatic):
        fixed: Matrix = [[_clean(float(x)) for x in row] for row in tree.rotation[i]]
        origin: Vector = [float(x) for x in tree.translation[i]]
        if slides:
            origins.append(code.plus(origin, code.scale(q[i], [row[2] for row in fixed])))
            rotations.append(fixed)
            continue
        origins.append(origin)
        rotations.append(
            [
                [
                    code.add(code.mul(cos[i], row[0]), code.mul(sin[i], row[1])),
                    code.sub(code.mul(cos[i], row[1]), code.mul(sin[i], row[0])),
                    row[2],
                ]
                for row in fixed
            ]
        )
    return Frames([int(p) for p in tree.parent], prismatic, rotations, origins)


def _clean(x: float) -> float:
    return float(round(x)) if abs(x - round(x)) < ROUND else x


def move(code: Trace, frames: Frames, gravity: Vector, dq: Vector, ddq: Vector) -> Flow:
    """The motion of the links, base to tips; gravity (3,) m/s^2 enters as an acceleration of the
    base.
    """
    w: list[Vector] = []
    dw: list[Vector] = []
    dv: list[Vector] = []
    still: Vector = [0.0, 0.0, 0.0]
    for i, (p, R, P) in enumerate(zip(frames.parent, frames.R, frames.P, strict=True)):
        back = [[R[k][m] for k in range(3)] for m in range(3)]
        wp, dwp = (still, still) if p < 0 else (w[p], dw[p])
        dvp = code.scale(-1.0, gravity) if p < 0 else dv[p]
        inner, turned = code.times(back, wp), code.times(back, dwp)
        moved = code.times(
            back, code.plus(dvp, code.cross(dwp, P), code.cross(wp, code.cross(wp, P)))
        )
        rate: Vector = [0.0, 0.0, dq[i]]
        acceleration: Vector = [0.0, 0.0, ddq[i]]
        if frames.prismatic[i]:
            w.append(inner)
            dw.append(turned)
            dv.append(code.plus(moved, acceleration, code.scale(2.0, code.cross(inner, rate))))
        else:
            w.append(code.plus(inner, rate))
            dw.append(code.plus(turned, acceleration, code.cross(inner, rate)))
            dv.append(moved)
    return Flow(w, dw, dv)


def link_torque(code: Trace, frames: Frames, links: list[Vector], flow: Flow) -> Vector:
    """Torques (n,) that move the links alone, tips to base."""
    force: list[Vector] = []
    moment: list[Vector] = []
    for ten, w, dw, dv in zip(links, *flow, strict=True):
        J, MS = tensor(ten), ten[6:9]
        force.append(
            code.plus(code.scale(ten[9], dv), code.cross(dw, MS), code.cross(w, code.cross(w, MS)))
        )
        moment.append(
            code.plus(code.times(J, dw), code.cross(w, code.times(J, w)), code.cross(MS, dv))
        )
    tau: Vector = [0.0] * len(links)
    for i, p in reversed(list(enumerate(frames.parent))):
        tau[i] = force[i][2] if frames.prismatic[i] else moment[i][2]
        if p >= 0:
            f = code.times(frames.R[i], force[i])
            force[p] = code.plus(force[p], f)
            moment[p] = code.plus(
                moment[p], code.times(frames.R[i], moment[i]), code.cross(frames.P[i], f)
            )
    return tau


def inertia_matrix(code: Trace, frames: Frames, links: list[Vector]) -> Matrix:
    """Rows 0 to i of M's lower triangle, without rotors: composite bodies, tips to base."""
    n = len(links)
    M: Matrix = [[0.0] * (i + 1) for i in range(n)]
    bodies = [(tensor(ten), ten[6:9], ten[9]) for ten in links]
    for i in reversed(range(n)):
        J, MS, mass = bodies[i]
        if frames.prismatic[i]:
            f, m = [0.0, 0.0, mass], [MS[1], code.mul(-1.0, MS[0]), 0.0]
        else:
            f, m = [code.mul(-1.0, MS[1]), MS[0], 0.0], [row[2] for row in J]
        M[i][i] = f[2] if frames.prismatic[i] else m[2]
        k, j = i, frames.parent[i]
        while j >= 0:
            f = code.times(frames.R[k], f)
            m = code.plus(code.times(frames.R[k], m), code.cross(frames.P[k], f))
            M[i][j] = f[2] if frames.prismatic[j] else m[2]
            k, j = j, frames.parent[j]
        if frames.parent[i] >= 0:
            bodies[frames.parent[i]] = joined(
                code, bodies[frames.parent[i]], bodies[i], frames.R[i], frames.P[i]
            )
    return M


def tensor(ten: Vector) -> Matrix:
    """J from XX XY XZ YY YZ ZZ."""
    return [[ten[0], ten[1], ten[2]], [ten[1], ten[3], ten[4]], [ten[2], ten[4], ten[5]]]


Body = tuple[Matrix, Vector, Symbol]
"""Inertia tensor and first moment about the origin of a frame, and mass."""


def joined(code: Trace, parent: Body, body: Body, R: Matrix, P: Vector) -> Body:
    """Parent and body as one: J' = R J R' + 2 (P.S) 1 - P S' - S P', S = R MS + M P / 2."""
    J, MS, mass = body
    middle = code.scale(code.mul(0.5, mass), P)
    S = code.plus(code.times(R, MS), middle)
    double = code.mul(2.0, code.dot(P, S))
    JR = [code.times(J, row) for row in R]
    whole = [list(row) for row in parent[0]]
    for a in range(3):
        for b in range(a, 3):
            turned = code.sub(
                code.dot(R[b], JR[a]), code.add(code.mul(P[a], S[b]), code.mul(S[a], P[b]))
            )
            whole[a][b] = whole[b][a] = code.add(
                whole[a][b], code.add(turned, double) if a == b else turned
            )
    return whole, code.plus(parent[1], S, middle), code.add(parent[2], mass)


def factor(code: Trace, M: Matrix) -> tuple[Matrix, Vector]:
    """Cholesky: rows of L below the diagonal with 1/L_jj on it, and the pivots, which must be
    positive.
    """
    n = len(M)
    L: Matrix = [[0.0] * (i + 1) for i in range(n)]
    pivots: Vector = []
    for j in range(n):
        pivots.append(code.sub(M[j][j], code.dot(L[j][:j], L[j][:j])))
        L[j][j] = code.inverse_root(pivots[j])
        for i in range(j + 1, n):
            L[i][j] = code.mul(code.sub(M[i][j], code.dot(L[i][:j], L[j][:j])), L[j][j])
    return L, pivots
