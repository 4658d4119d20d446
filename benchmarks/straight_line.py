"""A closed loop in straight-line C, written for one robot: the limit that a generic compiled loop is measured against.

Newton-Euler and composite bodies are run once on symbols; every product with 0 or 1 falls away and every number of the robot
stands in the code. The loop around it is a PD law (53), tanh friction and classical Runge-Kutta. Needs a C compiler.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import didim
from didim.export.trace import Symbol, Trace, shown


def _dynamics(model: didim.DynamicModel, phi: np.ndarray) -> list[str]:
    """C statements from q[], dq[] to M<i><j> (lower triangle) and bias<i>, all joints revolute."""
    code, n = Trace(), model.robot.n
    values = model.values(phi)
    link = [[float(x) for x in row] for row in values.link]
    J = [[[p[0], p[1], p[2]], [p[1], p[3], p[4]], [p[2], p[4], p[5]]] for p in link]
    S = [p[6:9] for p in link]
    R, P = [], []
    for i, joint in enumerate(model.robot.joints):
        c, s = code.let(f"cos(q[{i}])"), code.let(f"sin(q[{i}])")
        turn: list[list[Symbol]] = [[c, code.mul(-1.0, s), 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]
        fixed = [[float(x) for x in row] for row in np.round(joint.rotation, 15)]
        R.append([[code.dot(row, [turn[k][m] for k in range(3)]) for m in range(3)] for row in fixed])
        P.append([float(x) for x in joint.translation])
    back = [[[A[k][m] for k in range(3)] for m in range(3)] for A in R]
    w, dw, dv, f, m = ([None] * n for _ in range(5))
    for i, joint in enumerate(model.robot.joints):
        p = joint.parent
        wp = [0.0] * 3 if p < 0 else w[p]
        dwp = [0.0] * 3 if p < 0 else dw[p]
        dvp = [float(-x) for x in model.robot.gravity] if p < 0 else dv[p]
        rate: list[Symbol] = [0.0, 0.0, f"dq[{i}]"]
        inner = code.times(back[i], wp)
        w[i] = code.plus(inner, rate)
        dw[i] = code.plus(code.times(back[i], dwp), code.cross(inner, rate))
        dv[i] = code.times(back[i], code.plus(dvp, code.cross(dwp, P[i]), code.cross(wp, code.cross(wp, P[i]))))
        f[i] = code.plus(
            [code.mul(link[i][9], x) for x in dv[i]], code.cross(dw[i], S[i]), code.cross(w[i], code.cross(w[i], S[i]))
        )
        m[i] = code.plus(code.times(J[i], dw[i]), code.cross(w[i], code.times(J[i], w[i])), code.cross(S[i], dv[i]))
    lines_of = []
    for i in reversed(range(n)):
        friction = f"{float(values.viscous[i, i])!r} * dq[{i}] + {float(values.limit_positive[i])!r} * tanh(dq[{i}] / width)"
        lines_of.append(f"const double bias{i} = {shown(m[i][2])} + {friction};")
        p = model.robot.joints[i].parent
        if p >= 0:
            fp = code.times(R[i], f[i])
            f[p] = code.plus(f[p], fp)
            m[p] = code.plus(m[p], code.times(R[i], m[i]), code.cross(P[i], fp))
    mass, moment, inertia = [p[9] for p in link], list(S), list(J)
    for i in reversed(range(n)):
        push, twist = [code.mul(-1.0, moment[i][1]), moment[i][0], 0.0], [inertia[i][k][2] for k in range(3)]
        lines_of.append(f"double M{i}{i} = {shown(code.add(twist[2], float(values.armature[i, i])))};")
        k, j = i, model.robot.joints[i].parent
        while j >= 0:
            push = code.times(R[k], push)
            twist = code.plus(code.times(R[k], twist), code.cross(P[k], push))
            lines_of.append(f"double M{i}{j} = {shown(twist[2])};")
            k, j = j, model.robot.joints[j].parent
        p = model.robot.joints[i].parent
        if p >= 0:
            half = code.plus(code.times(R[i], moment[i]), [code.mul(0.5 * mass[i], x) for x in P[i]])
            double = code.mul(2.0, code.dot(P[i], half))
            RJ = [code.times(inertia[i], R[i][a]) for a in range(3)]
            moved = [[code.dot(R[i][b], RJ[a]) for b in range(3)] for a in range(3)]
            for a in range(3):
                for b in range(3):
                    less = code.add(code.mul(P[i][a], half[b]), code.mul(half[a], P[i][b]))
                    moved[a][b] = code.add(moved[a][b], code.mul(-1.0, less))
                moved[a][a] = code.add(moved[a][a], double)
            inertia[p] = [code.plus(inertia[p][a], moved[a]) for a in range(3)]
            moment[p] = code.plus(moment[p], half, [code.mul(0.5 * mass[i], x) for x in P[i]])
            mass[p] += mass[i]
    return [f"const double {name} = {expression};" for name, expression in code.lines] + lines_of


def _factor_and_solve(n: int) -> list[str]:
    """Cholesky and the two substitutions, unrolled."""
    lines = []
    for j in range(n):
        terms = "".join(f" - L{j}{k}*L{j}{k}" for k in range(j))
        lines.append(f"const double D{j} = 1.0 / sqrt(M{j}{j}{terms});")
        for i in range(j + 1, n):
            terms = "".join(f" - L{i}{k}*L{j}{k}" for k in range(j))
            lines.append(f"const double L{i}{j} = (M{i}{j}{terms}) * D{j};")
    for i in range(n):
        terms = "".join(f" - L{i}{k}*y{k}" for k in range(i))
        lines.append(f"const double y{i} = (tau[{i}] - bias{i}{terms}) * D{i};")
    for i in reversed(range(n)):
        terms = "".join(f" - L{k}{i}*a{k}" for k in range(i + 1, n))
        lines.append(f"const double a{i} = (y{i}{terms}) * D{i}; ddq[{i}] = a{i};")
    return lines


def source(model: didim.DynamicModel, phi: np.ndarray) -> str:
    """The whole C file: void run(steps, h, width, kp, kv, q_ref at half steps, state, tau of each step)."""
    n = model.robot.n
    body = "\n  ".join([*_dynamics(model, phi), *_factor_and_solve(n)])
    return f"""#include <math.h>
static void rates(const double *y, const double *r, const double *kp, const double *kv, double width, double *d, double *tau) {{
  const double *q = y, *dq = y + {n};
  double *ddq = d + {n};
  for (int j = 0; j < {n}; j++) {{ tau[j] = kv[j] * (kp[j] * (r[j] - q[j]) - dq[j]); d[j] = dq[j]; }}
  {body}
}}
void run(long steps, double h, double width, const double *kp, const double *kv, const double *ref, double *y, double *out) {{
  double k1[{2 * n}], k2[{2 * n}], k3[{2 * n}], k4[{2 * n}], x[{2 * n}], tau[{n}];
  for (long s = 0; s < steps; s++) {{
    const double *r = ref + 2 * s * {n};
    rates(y, r, kp, kv, width, k1, out + s * {n});
    for (int k = 0; k < {2 * n}; k++) x[k] = y[k] + 0.5 * h * k1[k];
    rates(x, r + {n}, kp, kv, width, k2, tau);
    for (int k = 0; k < {2 * n}; k++) x[k] = y[k] + 0.5 * h * k2[k];
    rates(x, r + {n}, kp, kv, width, k3, tau);
    for (int k = 0; k < {2 * n}; k++) x[k] = y[k] + h * k3[k];
    rates(x, r + {2 * n}, kp, kv, width, k4, tau);
    for (int k = 0; k < {2 * n}; k++) y[k] += h / 6.0 * (k1[k] + 2.0 * k2[k] + 2.0 * k3[k] + k4[k]);
  }}
}}
"""


class StraightLine:
    """The compiled C loop; `available` says whether there is a compiler."""

    available = shutil.which("cc") is not None

    def __init__(self, model: didim.DynamicModel, phi: np.ndarray) -> None:
        self.n = model.robot.n
        with tempfile.TemporaryDirectory() as folder:  # once loaded, the library needs its file no more
            file, library = Path(folder) / "loop.c", Path(folder) / "loop.so"
            file.write_text(source(model, phi))
            subprocess.run(["cc", "-O3", "-march=native", "-shared", "-fPIC", "-o", library, file, "-lm"], check=True)
            self._run = ctypes.CDLL(str(library)).run

    def __call__(
        self, h: float, width: float, kp: np.ndarray, kv: np.ndarray, ref: np.ndarray, start: np.ndarray
    ) -> np.ndarray:
        """tau (N, n) of N steps; ref (2 N + 1, n) at half steps, start (2 n,)."""
        steps = (ref.shape[0] - 1) // 2
        y, out = start.copy(), np.zeros((steps, self.n))
        pointers = [x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for x in (kp, kv, np.ascontiguousarray(ref), y, out)]
        self._run(ctypes.c_long(steps), ctypes.c_double(h), ctypes.c_double(width), *pointers)
        return out
