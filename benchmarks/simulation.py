"""The TX40 case, 10 s of closed loop, beside SciPy around Pinocchio, MuJoCo and straight-line C,
each with its torque error.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

import didim
from benchmarks.dynamics import mujoco_model
from benchmarks.straight_line import StraightLine
from benchmarks.timing import Row, best, installed, missing
from didim.simulation.prepare import SimulationRequest
from didim.simulation.sensitivities import differentiable, run_with
from didim.simulation.steps import MAX_SUBSTEPS
from support.pinocchio_model import pinocchio_model

WIDTH = 0.05
CASE = Path(__file__).parents[1] / "cases" / "tx40.toml"
SMOOTH = {"friction": "smooth", "width": WIDTH}


def torque_error(found: np.ndarray, expected: np.ndarray) -> float:
    """Relative root mean square error of the torque, worst joint."""
    return float(
        np.sqrt(np.mean((found - expected) ** 2, axis=0) / np.mean(expected**2, axis=0)).max()
    )


@dataclass(frozen=True)
class Loop:
    """The case, its first `seconds`, with a tabulated reference."""

    seconds: float = 10.0

    @cached_property
    def case(self) -> didim.Case:
        """Of `cases/tx40.toml`."""
        return didim.load_case(CASE)

    @cached_property
    def t(self) -> np.ndarray:
        """Times of the outputs, 1 kHz."""
        return np.asarray(self.case.t)[: round(1000 * self.seconds) + 1]

    @cached_property
    def phi(self) -> np.ndarray:
        """Standard parameters."""
        return self.case.model.nominal

    @cached_property
    def table(self) -> didim.Reference:
        """The reference on the clock of the outputs."""
        return didim.Reference(self.t, self.case.reference.sample(self.t)[0])

    @cached_property
    def pd(self) -> didim.PD:
        """The loop, tuned once."""
        J = didim.largest_inertias(self.case.model, self.phi)
        return didim.PD(natural_frequency=self.case.controller.natural_frequency, inertia=J)

    @cached_property
    def gains(self):
        """kp and kv of the loop."""
        return self.pd.gains(6, np.ones(6), np.asarray(self.pd.inertia))

    @cached_property
    def start(self) -> np.ndarray:
        """q, dq at the first time."""
        q, dq, _ = self.table.sample(self.t[:1])
        return np.concatenate([q[0], dq[0]])

    def own(self, **settings: object) -> np.ndarray:
        """Torque of didim's simulation."""
        run = didim.simulate(
            self.case.model, self.phi, self.pd, t=self.t, q_ref=self.table, check=False, **settings
        )
        return run.tau

    def sensitive(self) -> np.ndarray:
        """Torque of the run that carries the sensitivities of all base parameters along, block by
        block, as an identification decimates them.
        """
        base = self.case.model.base
        request = SimulationRequest(
            base, base.nominal, self.pd, self.t, self.table, None, "exact", WIDTH, None, None,
            MAX_SUBSTEPS,
        )  # fmt: skip
        run, directions = differentiable(request, gains=False, delay=False)
        return run_with(run, directions, request, lambda *_: None).tau

    def converged(self, kind: str) -> np.ndarray:
        """Torque of a run with steps so short that shorter ones change nothing."""
        return (
            self.own(step=1e-3 / 64)
            if kind == "exact"
            else self.own(**SMOOTH, method="fixed", step=1e-3 / 16)
        )

    @cached_property
    def friction(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Fv, Fc and Ia by joint."""
        named = dict(zip(self.case.model.parameter_names, self.phi, strict=True))
        return tuple(
            np.array([named[f"{stem}{j}"] for j in range(1, 7)]) for stem in ("Fv", "Fc", "Ia")
        )

    def command(self, q_ref: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The PD law."""
        return self.gains.kv * (self.gains.kp * (q_ref - y[:6]) - y[6:])

    def by_scipy(self, method: str) -> np.ndarray:
        """As a user would write it today: solve_ivp at 1e-6 around Pinocchio's aba."""
        import pinocchio as pin

        Fv, Fc, Ia = self.friction
        peer = pinocchio_model(self.case.model)
        peer.armature = Ia
        data = peer.createData()

        def rates(at: float, y: np.ndarray) -> np.ndarray:
            friction = Fv * y[6:] + Fc * np.tanh(y[6:] / WIDTH)
            torque = self.command(self.table.sample([at])[0][0], y)
            return np.concatenate([y[6:], pin.aba(peer, data, y[:6], y[6:], torque - friction)])

        run = solve_ivp(
            rates, (0, self.t[-1]), self.start, method=method, t_eval=self.t, rtol=1e-6, atol=1e-6
        )
        reference = self.table.sample(self.t)[0]
        return np.array([self.command(at, y) for at, y in zip(reference, run.y.T, strict=True)])

    def by_mujoco(self) -> np.ndarray:
        """MuJoCo's Runge-Kutta steps of 1 ms, the law and the friction evaluated once a step, in
        Python.
        """
        import mujoco

        Fv, Fc, Ia = self.friction
        peer = mujoco_model(self.case.model, Ia)
        peer.opt.timestep, peer.opt.integrator = 1e-3, mujoco.mjtIntegrator.mjINT_RK4
        data, reference = mujoco.MjData(peer), self.table.sample(self.t)[0]
        data.qpos[:], data.qvel[:] = self.start[:6], self.start[6:]
        found = np.empty((self.t.size, 6))
        for k in range(self.t.size):
            dq = np.array(data.qvel)
            found[k] = self.command(reference[k], np.concatenate([data.qpos, dq]))
            data.qfrc_applied[:] = found[k] - Fv * dq - Fc * np.tanh(dq / WIDTH)
            mujoco.mj_step(peer, data)
        return found

    def by_c(self) -> Callable[[], np.ndarray]:
        """Straight-line C at -O3, classical Runge-Kutta steps of 1 ms."""
        compiled = StraightLine(self.case.model, self.phi)
        half = self.table.sample(np.arange(2 * self.t.size - 1) * 5e-4)[0]
        return lambda: compiled(1e-3, WIDTH, self.gains.kp, self.gains.kv, half, self.start)


def rows() -> list[Row]:
    """All rows of this file; the last column is the error of didim's torque against a converged
    run.
    """
    loop = Loop()
    truth = {kind: loop.converged(kind) for kind in ("exact", "smooth")}
    ours = {
        "exact": lambda: loop.own(),
        "fixed": lambda: loop.own(**SMOOTH, method="fixed"),
        "adaptive": lambda: loop.own(**SMOOTH, tolerance=1e-6),
    }
    times = best(ours)
    errors = {
        name: torque_error(run(), truth["exact" if name == "exact" else "smooth"])
        for name, run in ours.items()
    }
    what = "closed loop, TX40, 10 s at 1 kHz"
    exact, fixed, adaptive = (
        f"{what}, exact friction",
        f"{what}, smooth friction",
        f"{what}, smooth friction, to 1e-6",
    )
    found = [
        Row(
            exact,
            times["exact"],
            "didim with smooth friction",
            times["fixed"],
            errors["exact"],
            "<= 1.5",
        )
    ]
    taken = best({"didim": loop.sensitive, "plain": ours["exact"]})
    found.append(
        Row(
            f"sensitivities of {len(loop.case.model.base.parameter_names)} parameters, {exact}",
            taken["didim"],
            "didim's simulation alone",
            taken["plain"],
            torque_error(loop.sensitive(), ours["exact"]()),
            "<= 4",
        )
    )
    label = "straight-line C at -O3"
    if StraightLine.available:
        c = loop.by_c()
        taken = best({"didim": ours["fixed"], "c": c})
        told = f"{label} (torque error {torque_error(c(), truth['smooth'][:-1]):.0e})"
        found.append(Row(fixed, taken["didim"], told, taken["c"], errors["fixed"], "<= 1.4"))
    else:
        found.append(missing(fixed, f"{label}, no compiler", "<= 1.4"))
    for method, target in (("LSODA", ">= 10"), ("RK45", ""), ("DOP853", "")):
        label = f"SciPy's {method} at 1e-6 around Pinocchio"
        if not installed("pin"):
            found.append(missing(adaptive, label, target))
            continue
        taken, tau = _once(lambda m=method: loop.by_scipy(m))
        told = f"{label} (torque error {torque_error(tau, truth['smooth']):.0e})"
        found.append(Row(adaptive, times["adaptive"], told, taken, errors["adaptive"], target))
    label = "MuJoCo, RK4 steps of 1 ms, law in Python"
    if installed("mujoco"):
        taken, tau = _once(loop.by_mujoco)
        found.append(
            Row(
                fixed,
                times["fixed"],
                f"{label} (torque error {torque_error(tau, truth['smooth']):.0e})",
                taken,
                errors["fixed"],
            )
        )
    else:
        found.append(missing(fixed, label))
    return found


def _once(function: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    """Best time of five in ms, and the result; two for what takes seconds."""
    taken, found = float("inf"), None
    for k in range(5):
        begin = time.perf_counter()
        found = function()
        taken = min(taken, 1e3 * (time.perf_counter() - begin))
        if k and taken > 1500:
            break
    return taken, found
