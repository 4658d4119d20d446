"""DIDIM as a user would write it today: Pinocchio, SciPy's solve_ivp and decimate, NumPy's lstsq;
friction smoothed by tanh.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.signal import decimate

from support.pinocchio_model import pinocchio_model

WIDTH = 0.05
"""Of the smoothed friction, rad/s."""


def didim_by_hand(
    model,
    phi: np.ndarray,
    kp: np.ndarray,
    kv: np.ndarray,
    t,
    q_ref,
    tau,
    iterations: int,
    n_d: int,
    cut: int,
):
    """Standard parameters after some iterations from `phi`: simulate, build W, solve for the least
    change of the parameters.

    The parameters are ordered as those of `model` with rotor, viscous and Coulomb effects on every
    joint.
    """
    n = model.robot.n
    peer, spline = pinocchio_model(model), CubicSpline(t, q_ref)
    data = peer.createData()
    names = list(model.parameter_names)
    links = model.layout.link
    Ia, Fv, Fc = (
        [names.index(f"{stem}{j}") for j in range(1, n + 1)] for stem in ("Ia", "Fv", "Fc")
    )

    def torque(at, y):
        return kv * (kp * (spline(at) - y[:n]) - y[n:])

    def acceleration(at, y):
        friction = phi[Fv] * y[n:] + phi[Fc] * np.tanh(y[n:] / WIDTH)
        return pin.aba(peer, data, y[:n], y[n:], torque(at, y) - friction)

    Y = np.concatenate([decimate(column[cut:], n_d) for column in tau.T])
    for _ in range(iterations):
        for j in range(n):
            XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M = phi[links[j]]
            peer.inertias[j + 1] = pin.Inertia.FromDynamicParameters(
                np.array([M, MX, MY, MZ, XX, XY, YY, XZ, YZ, ZZ])
            )
        peer.armature = phi[Ia]
        start = np.concatenate([spline(t[0]), spline(t[0], 1)])
        run = solve_ivp(
            lambda at, y: np.concatenate([y[n:], acceleration(at, y)]),
            (t[0], t[-1]),
            start,
            "LSODA",
            t,
            rtol=1e-6,
            atol=1e-6,
        )
        W = np.zeros((t.size, n, len(phi)))
        for k, (at, y) in enumerate(zip(t, run.y.T, strict=True)):
            ddq = acceleration(at, y)
            for j, rows in enumerate(
                pin.computeJointTorqueRegressor(peer, data, y[:n], y[n:], ddq)
                .reshape(n, n, 10)
                .transpose(1, 0, 2)
            ):
                W[k][:, links[j]] = rows[:, [4, 5, 7, 6, 8, 9, 1, 2, 3, 0]]
            W[k, range(n), Ia], W[k, range(n), Fv], W[k, range(n), Fc] = (
                ddq,
                y[n:],
                np.tanh(y[n:] / WIDTH),
            )
        stacked = np.vstack([decimate(W[cut:, j], n_d, axis=0) for j in range(n)])
        phi = phi + np.linalg.lstsq(stacked, Y - stacked @ phi, rcond=1e-8)[0]
    return phi
