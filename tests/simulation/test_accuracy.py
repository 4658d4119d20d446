"""The TX40 case against itself at a much higher rate, and against SciPy around Pinocchio."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import didim
from support.pinocchio_model import pinocchio_model

CASE = didim.load_case(Path(__file__).parents[2] / "cases" / "tx40.toml")


def worst(found: np.ndarray, expected: np.ndarray) -> float:
    """Largest relative root mean square error of a joint's torque."""
    return float(
        (
            np.sqrt(np.mean((found - expected) ** 2, axis=0))
            / np.sqrt(np.mean(expected**2, axis=0))
        ).max()
    )


def run(**settings) -> didim.Motion:
    t = settings.pop("t", CASE.t)
    return didim.simulate(
        CASE.model, CASE.model.nominal, CASE.controller, t=t, q_ref=CASE.reference, **settings
    )


@pytest.mark.slow
def test_exact_friction_at_1_kHz():
    assert worst(run().tau, run(step=1e-3 / 32).tau) < 1e-3


@pytest.fixture(scope="module")
def around_pinocchio() -> tuple[np.ndarray, np.ndarray]:
    """DOP853 at 1e-10 around Pinocchio's aba, 2.5 s of the case with smooth friction of width
    0.05 rad/s.
    """
    import pinocchio as pin

    model = CASE.model
    phi = dict(zip(model.parameter_names, model.nominal, strict=True))
    Fv, Fc, Ia = (np.array([phi[f"{stem}{j}"] for j in range(1, 7)]) for stem in ("Fv", "Fc", "Ia"))
    peer = pinocchio_model(model)
    peer.armature = Ia
    data = peer.createData()
    J = didim.largest_inertias(model, model.nominal)
    omega = float(CASE.controller.natural_frequency)

    def torque(t, q, dq):
        q_ref = CASE.reference.sample([t])[0][0]
        return 2 * omega * J * (omega / 2 * (q_ref - q) - dq)

    def rates(t, y):
        q, dq = y[:6], y[6:]
        return np.concatenate(
            [dq, pin.aba(peer, data, q, dq, torque(t, q, dq) - Fv * dq - Fc * np.tanh(dq / 0.05))]
        )

    t = CASE.t[:2501]
    start = np.concatenate([part[0] for part in CASE.reference.sample([0.0])[:2]])
    found = solve_ivp(rates, (0, t[-1]), start, method="DOP853", t_eval=t, rtol=1e-10, atol=1e-10)
    tau = np.array([torque(s, y[:6], y[6:]) for s, y in zip(t, found.y.T, strict=True)])
    return t, tau


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "limit"), [("fixed", 1e-5), pytest.param("adaptive", 1e-6, marks=pytest.mark.long)]
)
def test_smooth_friction(around_pinocchio, method, limit):
    t, expected = around_pinocchio
    assert worst(run(t=t, friction="smooth", width=0.05, method=method).tau, expected) < limit
