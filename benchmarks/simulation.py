"""The TX40 case, 10 s of closed loop, beside SciPy around Pinocchio and beside straight-line C, each with its torque error."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

import didim
from benchmarks.dynamics import pinocchio_model
from benchmarks.straight_line import StraightLine
from benchmarks.timing import Row, best

WIDTH = 0.05
CASE = Path(__file__).parents[1] / "cases" / "tx40.toml"


def torque_error(found: np.ndarray, expected: np.ndarray) -> float:
    """Relative root mean square error of the torque, worst joint."""
    return float(np.sqrt(np.mean((found - expected) ** 2, axis=0) / np.mean(expected**2, axis=0)).max())


def rows() -> list[Row]:
    """All rows of this file; the difference column is the error of didim's torque against a converged run."""
    case = didim.load_case(CASE)
    model, phi, t = case.model, case.model.nominal, case.t
    J = didim.largest_inertias(model, phi)
    loop = didim.PD(natural_frequency=case.controller.natural_frequency, inertia=J)
    table = didim.Reference(t, case.reference.sample(t)[0])

    def run(**settings: object) -> didim.Motion:
        return didim.simulate(model, phi, loop, t=t, q_ref=table, check=False, **settings)

    smooth = {"friction": "smooth", "width": WIDTH}
    converged = {
        "exact": run(step=1e-3 / 64).tau,
        "smooth": run(**smooth, method="fixed", step=1e-3 / 16).tau,
    }
    ours: dict[str, tuple[Callable[[], didim.Motion], str]] = {
        "exact friction, fixed step": (run, "exact"),
        "smooth friction, fixed step": (lambda: run(**smooth, method="fixed"), "smooth"),
        "smooth friction, adaptive 1e-6": (lambda: run(**smooth, tolerance=1e-6), "smooth"),
    }
    times = best({name: function for name, (function, _) in ours.items()})
    errors = {name: torque_error(function().tau, converged[kind]) for name, (function, kind) in ours.items()}
    plain = times["smooth friction, fixed step"]
    found = [Row(f"{name}, TX40, 10 s", times[name], "didim, smooth fixed step", plain, errors[name]) for name in ours]
    if StraightLine.available:
        found.append(
            _beside_c(model, phi, loop, J, table, t, plain, errors["smooth friction, fixed step"], converged["smooth"])
        )
    if importlib.util.find_spec("pinocchio") is not None:
        name = "smooth friction, adaptive 1e-6"
        found.append(_beside_lsoda(model, phi, loop, J, table, t, times[name], errors[name], converged["smooth"]))
    return found + _growth()


def _beside_c(model, phi, loop, J, table, t, own, error, converged) -> Row:
    gains = loop.gains(6, np.ones(6), J)
    compiled = StraightLine(model, phi)
    half = table.sample(np.arange(2 * t.size - 1) * 5e-4)[0]
    q, dq, _ = table.sample(t[:1])
    start = np.concatenate([q[0], dq[0]])
    taken = best({"c": lambda: compiled(1e-3, WIDTH, gains.kp, gains.kv, half, start)})["c"]
    off = torque_error(compiled(1e-3, WIDTH, gains.kp, gains.kv, half, start), converged[:-1])
    return Row("smooth friction, fixed step, TX40, 10 s", own, f"straight-line C, 1 kHz (torque error {off:.0e})", taken, error)


def _beside_lsoda(model, phi, loop, J, table, t, own, error, converged) -> Row:
    """As a user would write it today: solve_ivp, LSODA at 1e-6, Pinocchio's aba."""
    import pinocchio as pin

    named = dict(zip(model.parameter_names, phi, strict=True))
    Fv, Fc, Ia = (np.array([named[f"{stem}{j}"] for j in range(1, 7)]) for stem in ("Fv", "Fc", "Ia"))
    gains = loop.gains(6, np.ones(6), J)
    peer = pinocchio_model(model)
    peer.armature = Ia
    data = peer.createData()

    def torque(at: float, y: np.ndarray) -> np.ndarray:
        return gains.kv * (gains.kp * (table.sample([at])[0][0] - y[:6]) - y[6:])

    def rates(at: float, y: np.ndarray) -> np.ndarray:
        friction = Fv * y[6:] + Fc * np.tanh(y[6:] / WIDTH)
        return np.concatenate([y[6:], pin.aba(peer, data, y[:6], y[6:], torque(at, y) - friction)])

    q, dq, _ = table.sample(t[:1])
    begin = time.perf_counter()
    solution = solve_ivp(rates, (0, t[-1]), np.concatenate([q[0], dq[0]]), method="LSODA", t_eval=t, rtol=1e-6, atol=1e-6)
    taken = 1e3 * (time.perf_counter() - begin)
    tau = np.array([torque(at, y) for at, y in zip(t, solution.y.T, strict=True)])
    label = f"SciPy LSODA 1e-6 around Pinocchio (torque error {torque_error(tau, converged):.0e})"
    return Row("smooth friction, adaptive 1e-6, TX40, 10 s", own, label, taken, error)


def _growth() -> list[Row]:
    """Cost against duration: the same loop for 10, 100 and 1000 s, read at 101 times."""
    model = didim.DynamicModel(didim.load_robot("tx40"), ["rotor", "viscous", "coulomb"])
    loop = didim.PD(natural_frequency=30.0)
    taken = {}
    for duration in (10, 100, 1000):
        series = didim.Fourier.random(model.robot, 0, period=10.0, periods=duration // 10)
        t = np.linspace(0, duration, 101)
        begin = time.perf_counter()
        didim.simulate(model, model.nominal, loop, t=t, q_ref=series, check=False, step=1e-3)
        taken[duration] = 1e3 * (time.perf_counter() - begin)
    return [
        Row(f"TX40, 10 s, exact, trajectory; peer: {duration} s", taken[10], f"didim, {duration} s", taken[duration], 0.0)
        for duration in (100, 1000)
    ]
