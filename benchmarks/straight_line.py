"""A closed loop in straight-line C, written for one robot: the limit that a generic compiled loop
is measured against.

Newton-Euler and composite bodies are run once on symbols, by the recursions that the simulation's
own code comes from; every product with 0 or 1 falls away and every number of the robot stands in
the code. The loop around it is a PD law (53), tanh friction and classical Runge-Kutta. Needs a C
compiler.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import didim
from didim.dynamics.codegen.recursions import factor, inertia_matrix, link_torque, move, place
from didim.dynamics.codegen.trace import Trace
from didim.jit.statements import Symbol, shown


def _accelerations(
    model: didim.DynamicModel, phi: np.ndarray
) -> tuple[list[tuple[str, str]], list[Symbol]]:
    """Statements from q[], dq[] and tau[] to the accelerations, and these; C has the parameters as
    numbers too.
    """
    code, n = Trace(), model.robot.n
    values, tree = model.values(phi), model.tree
    links = [[float(x) for x in ten] for ten in values.link]
    q, dq = ([f"{name}[{i}]" for i in range(n)] for name in ("q", "dq"))
    cos, sin = zip(
        *((code.let(f"cos({angle})"), code.let(f"sin({angle})")) for angle in q), strict=True
    )
    frames = place(code, tree, q, list(cos), list(sin))
    force = link_torque(
        code, frames, links, move(code, frames, [float(g) for g in tree.gravity], dq, [0.0] * n)
    )
    M = inertia_matrix(code, frames, links)
    for i in range(n):
        M[i][i] = code.add(M[i][i], float(values.armature[i, i]))
    tanh = [code.let(f"tanh({rate} / width)") for rate in dq]
    for i in range(n):
        friction = code.add(
            code.mul(float(values.viscous[i, i]), dq[i]),
            code.mul(float(values.limit_positive[i]), tanh[i]),
        )
        force[i] = code.add(force[i], friction)
    L, _ = factor(code, M)
    x = [code.sub(f"tau[{i}]", force[i]) for i in range(n)]
    for i in range(n):
        x[i] = code.mul(code.sub(x[i], code.dot(L[i][:i], x[:i])), L[i][i])
    for i in reversed(range(n)):
        known = code.dot([L[k][i] for k in range(i + 1, n)], x[i + 1 :])
        x[i] = code.mul(code.sub(x[i], known), L[i][i])
    return code.needed(x), x


def source(model: didim.DynamicModel, phi: np.ndarray) -> str:
    """The whole C file: void run(steps, h, width, kp, kv, q_ref at half steps, state, tau of each
    step).
    """
    n = model.robot.n
    statements, accelerations = _accelerations(model, phi)
    body = "\n  ".join(
        [f"const double {name} = {expression};" for name, expression in statements]
        + [f"ddq[{i}] = {shown(each)};" for i, each in enumerate(accelerations)]
    )
    return f"""#include <math.h>
static void rates(const double *y, const double *r, const double *kp, const double *kv,
                  double width, double *d, double *tau) {{
  const double *q = y, *dq = y + {n};
  double *ddq = d + {n};
  for (int j = 0; j < {n}; j++) {{
    tau[j] = kv[j] * (kp[j] * (r[j] - q[j]) - dq[j]); d[j] = dq[j];
  }}
  {body}
}}
void run(long steps, double h, double width, const double *kp, const double *kv,
         const double *ref, double *y, double *out) {{
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
        with (
            tempfile.TemporaryDirectory() as folder
        ):  # once loaded, the library needs its file no more
            file, library = Path(folder) / "loop.c", Path(folder) / "loop.so"
            file.write_text(source(model, phi))
            subprocess.run(
                ["cc", "-O3", "-march=native", "-shared", "-fPIC", "-o", library, file, "-lm"],
                check=True,
            )
            self._run = ctypes.CDLL(str(library)).run

    def __call__(
        self,
        h: float,
        width: float,
        kp: np.ndarray,
        kv: np.ndarray,
        ref: np.ndarray,
        start: np.ndarray,
    ) -> np.ndarray:
        """tau (N, n) of N steps; ref (2 N + 1, n) at half steps, start (2 n,)."""
        steps = (ref.shape[0] - 1) // 2
        y, out = start.copy(), np.zeros((steps, self.n))
        pointers = [
            x.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
            for x in (kp, kv, np.ascontiguousarray(ref), y, out)
        ]
        self._run(ctypes.c_long(steps), ctypes.c_double(h), ctypes.c_double(width), *pointers)
        return out
