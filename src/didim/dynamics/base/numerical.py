"""Base parameters by QR (Gautier 1991): linear dependence among the columns of W at random states.

Columns are taken in their order, and one is kept if it is independent of those kept before it.
Since parents come before children and, in a link, XX before YY and the moments before the mass,
this keeps what the closed-form rules keep.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from didim.dynamics.base.regrouping import Regrouping, regrouping
from didim.dynamics.kernels.regressor import regressor_batch
from didim.dynamics.kernels.tree import Tree
from didim.dynamics.layout import Layout
from didim.dynamics.tree_memory import TreeMemory, work_of
from didim.errors import InputError
from didim.robot.effects import LINK

Array = NDArray[np.float64]

TOLERANCE = 1e-9
"""A column is dependent where the part of it that is orthogonal to the kept ones is below this
fraction of it.
"""

MAX_DRAWS = 10
"""Times that states are drawn, where effects are not defined in all of them."""

ROUNDING_LEVEL = 1e-13
"""Rounding error of a column that should vanish, as a fraction of the largest column."""


def regroup_by_qr(tree: Tree, layout: Layout) -> Regrouping:
    """Base parameters from W at random states (deterministic: the seed is fixed).

    Implements (6).
    """
    W = random_regressor(tree, layout)
    norms = np.linalg.norm(W, axis=0)
    scale = np.where(norms > 0, norms, 1.0)
    kept, Q = independent_columns(W)
    R = Q.T @ (W / scale)
    coefficients = solve_triangular(R[:, kept], R)
    coefficients[np.abs(coefficients) < 1e-9] = 0.0
    coefficients[:, kept] = np.eye(len(kept))
    return regrouping(kept, coefficients * scale / scale[kept][:, None], layout.names, "qr")


def random_regressor(tree: Tree, layout: Layout) -> Array:
    """W (N n, p) at random positions, velocities, accelerations and slips, with N n well above
    p; states in which an effect is not defined, such as the root of a negative number, are drawn
    anew.
    """
    n, c, p = layout.n, len(layout.contacts), len(layout.names)
    N = 20 + 4 * p // n
    random = np.random.default_rng(20100101)
    memory = TreeMemory(layout)
    slides = np.isin(layout.axis_inertia[:n], layout.link[:, LINK.index("M")])
    found, columns = np.zeros((0, n, p)), layout.columns()
    for _ in range(MAX_DRAWS):
        q = random.uniform(-np.pi, np.pi, (N, n))
        q[:, slides] /= np.pi
        dq, ddq = random.standard_normal((2, N, n)) * [[[2.0]], [[6.0]]]
        W, slip = np.zeros((N, n, p)), random.uniform(-1, 1, (N, c))
        load = random.standard_normal((N, n)) if layout.terms.loaded else np.zeros((N, 0))
        channels = random.uniform(0.5, 1.5, (N, len(layout.terms.channels)))
        work = work_of(layout)
        regressor_batch(memory.on(tree), columns, q, dq, ddq, slip, load, channels, work, False, W)
        finite = np.isfinite(W)
        found = np.concatenate([found, W[finite.all(axis=(1, 2))]])[:N]
        if len(found) == N:
            return found.reshape(N * n, p)
    names = [layout.names[k] for k in np.flatnonzero(~np.all(finite, axis=(0, 1)))]
    raise InputError(
        f"The torque of {', '.join(names)} is not finite in most states: does its expression "
        "divide by zero, or take the root or logarithm of a negative number?"
    )


def independent_columns(W: Array) -> tuple[list[int], Array]:
    """Indices of the columns that are independent of the earlier kept ones, and an orthonormal
    basis Q of their span.

    Gram-Schmidt, done twice for each column, which is as good as Householder's QR and lets a
    dependent column be left out.
    """
    kept: list[int] = []
    Q = np.zeros((W.shape[0], 0))
    norms = np.linalg.norm(W, axis=0)
    for k, column in enumerate(W.T):
        residual = column - Q @ (Q.T @ column)
        residual -= Q @ (Q.T @ residual)
        size = np.linalg.norm(residual)
        if size > max(TOLERANCE * norms[k], ROUNDING_LEVEL * norms.max()):
            kept.append(k)
            Q = np.column_stack([Q, residual / size])
    return kept, Q
