"""Whole identifications: DIDIM of the TX40 beside a script, refinement beside finite differences,
IDIM beside figaroh, `improve` beside the identification that it starts with.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import signal
from scipy.optimize import least_squares

import didim
from benchmarks.lack_of_fit import DESCRIBED, LOOPS, Situation
from benchmarks.simulation import CASE
from benchmarks.timing import Row, best, installed, missing
from support.pinocchio_model import pinocchio_model

ITERATIONS = 4
N_D = 20
HERTZ = 5.0
"""Of the loops, as in the case."""
LONG = 45_000
"""Samples of the record of IDIM."""


@cache
def record() -> tuple[didim.Case, didim.Experiment, Any]:
    """The case by its gains' poles, its record with a tabulated reference, and the true gains."""
    case = replace(didim.load_case(CASE), controller=didim.PD(natural_frequency=2 * np.pi * HERTZ))
    experiment, truth = case.experiment()
    t = np.asarray(experiment.t)
    gains = truth.controller.gains(6, np.ones(6), np.asarray(truth.controller.inertia))
    made = didim.Experiment(
        t,
        experiment.tau,
        didim.Reference(t, case.reference.sample(t)[0]),
        experiment.q,
        name="tx40",
    )
    return case, made, gains


def rows() -> list[Row]:
    """All rows of this file."""
    return [*_didim(), _refined(), _idim(), *(_nothing_to_find(robot) for robot in LOOPS)]


def didim_settings(start: np.ndarray) -> didim.DIDIM:
    """Four plain steps from `start` (p,), gains known and nothing tested, as the script does."""
    case, _, gains = record()
    return didim.DIDIM(
        exact_interval=False,
        lack_of_fit=False,
        controller=didim.PD(kp=gains.kp, kv=gains.kv),
        initial=case.model.base.matrix @ start,
        decimation=N_D,
        weights="ols",
        transient=1.0,
        max_iterations=ITERATIONS,
        tol_residual=1e-12,
        tol_parameters=1e-12,
        accelerate=False,
    )


def _didim() -> list[Row]:
    """Four iterations of both from the same start; the difference is that of the base
    parameters.
    """
    task, peer, target = (
        f"DIDIM, {ITERATIONS} iterations, TX40, {HERTZ:.0f} Hz loops",
        "Pinocchio, solve_ivp, lstsq",
        ">= 12",
    )
    if not installed("pin"):
        return [missing(task, peer, target)]
    from benchmarks.user_script import didim_by_hand

    case, experiment, gains = record()
    model, t = case.model, np.asarray(experiment.t)
    start = model.nominal * np.random.default_rng(0).uniform(
        0.9, 1.1
    )  # all by the same factor: physically consistent
    settings = didim_settings(start)
    own = didim.identify(model, experiment, settings)
    taken = best({"didim": lambda: didim.identify(model, experiment, settings)})["didim"]
    q_ref, tau = case.reference.sample(t)[0], np.asarray(experiment.tau)
    begin = time.perf_counter()
    phi = didim_by_hand(
        model,
        start,
        gains.kp,
        gains.kv,
        t,
        q_ref,
        tau,
        ITERATIONS,
        N_D,
        int(np.searchsorted(t, 1.0)),
    )
    peer_ms = 1e3 * (time.perf_counter() - begin)
    other = model.base.matrix @ phi
    errors = [
        np.abs((each - model.base.nominal) / own.corrected_sigma) for each in (own.values, other)
    ]
    label = (
        f"{peer} (median error {np.median(errors[1]):.1f} sigma, worst {errors[1].max():.0f}; "
        f"didim {np.median(errors[0]):.1f}, {errors[0].max():.0f})"
    )
    return [
        Row(
            task,
            taken,
            label,
            peer_ms,
            float(np.linalg.norm(own.values - other) / np.linalg.norm(other)),
            target,
        )
    ]


def _nothing_to_find(robot: str) -> Row:
    """`improve` of a right model beside the identification without its tests, both started as in
    the grid of the lack of fit.
    """
    at = Situation(robot, seed=1)
    record, initial = at.record(), "nominal" if robot in DESCRIBED else "unit"
    method = didim.DIDIM(controller=at.loop, initial=initial)
    alone = replace(method, lack_of_fit=False)
    taken = best(
        {
            "improve": lambda: didim.improve(at.model, record, method),
            "identify": lambda: didim.identify(at.model, record, alone),
        }
    )
    improved, own = didim.improve(at.model, record, method), didim.identify(at.model, record, alone)
    difference = np.linalg.norm(improved.estimate.values - own.values) / np.linalg.norm(own.values)
    return Row(
        f"improve with nothing to find, {robot}, 16 s",
        taken["improve"],
        "the identification alone",
        taken["identify"],
        float(difference),
        "<= 2",
    )


def _refined() -> Row:
    """Unknown gains on a SCARA, where finite differences end within a minute."""
    model = didim.DynamicModel(didim.load_robot("scara"))
    J, omega = didim.largest_inertias(model, model.nominal), np.array([6.28, 30.0])
    right = didim.PD(kp=omega / 2, kv=2 * omega * J)
    trajectory = didim.Fourier.random(model.robot, seed=1, period=7.3, periods=3, share=1.0)
    experiment, _ = didim.virtual_experiment(
        model, model.nominal, right, trajectory, rate=200, noise=0.02
    )
    believed = didim.PD(kp=0.7 * omega / 2, kv=0.7 * 2 * omega * J)
    method = didim.DIDIM(controller=believed, decimation=4, estimate_gains=True, lack_of_fit=False)
    found = didim.identify(model, experiment, method)
    taken = best({"didim": lambda: didim.identify(model, experiment, method)})["didim"]
    begin = time.perf_counter()
    gains = finite_differences(model, experiment, believed, found.preprocessing.transient)
    peer = 1e3 * (time.perf_counter() - begin)
    ours = np.array([found.gains[name][0] for name in ("kp1", "kp2", "kv1", "kv2")])
    difference = float(np.max(np.abs(ours / gains - 1)))
    return Row(
        "refined DIDIM with unknown gains, SCARA, 22 s",
        taken,
        "SciPy's least_squares, finite differences, same simulator",
        peer,
        difference,
    )


def finite_differences(
    model: didim.DynamicModel, experiment: didim.Experiment, believed: didim.PD, cut: float
) -> np.ndarray:
    """kp and kv (4,) that minimise the torque error together with the base parameters, started at
    the nominal ones.
    """
    base, t = model.base, np.asarray(experiment.t)
    window = t >= cut
    scale = np.maximum(np.abs(base.nominal), 1e-2)
    size = np.asarray(experiment.tau)[window].std(axis=0)

    def residual(x: np.ndarray) -> np.ndarray:
        kp, kv = (
            np.asarray(believed.kp) * np.exp(x[-4:-2]),
            np.asarray(believed.kv) * np.exp(x[-2:]),
        )
        run = didim.simulate(
            base, x[:-4] * scale, didim.PD(kp=kp, kv=kv), t=t, q_ref=experiment.q_ref, check=False
        )
        left = (
            (np.asarray(experiment.tau)[window] - run.tau[window]) / size
            if run.completed
            else np.full((window.sum(), 2), 1e3)
        )
        return signal.decimate(left, 4, axis=0).ravel()

    start = np.concatenate([base.nominal / scale, np.zeros(4)])
    found = least_squares(residual, start, diff_step=1e-5, x_scale="jac", max_nfev=30)
    return np.concatenate(
        [
            np.asarray(believed.kp) * np.exp(found.x[-4:-2]),
            np.asarray(believed.kv) * np.exp(found.x[-2:]),
        ]
    )


@cache
def long_record(samples: int = LONG) -> tuple[didim.DynamicModel, didim.Experiment]:
    """An exact motion of the TX40 with noise on its torques."""
    model = didim.load_case(CASE).model
    t = np.arange(samples) / 1000.0
    q, dq, ddq = didim.Fourier.random(model.robot, 3, period=samples / 4000.0, periods=4).sample(t)
    tau = model.inverse_dynamics(q, dq, ddq, model.nominal)
    noise = np.random.default_rng(0).standard_normal(tau.shape) * 0.02 * tau.std(axis=0)
    return model, didim.Experiment(t, tau + noise, None, q, name="tx40")


def _idim() -> Row:
    model, experiment = long_record()
    method = didim.IDIM(cutoff=20.0, decimation=N_D, lack_of_fit=False)
    task = f"IDIM, TX40, {LONG} x 6"
    peer = "figaroh: filter, differences, regressor, decimation, QR"
    taken = best({"didim": lambda: didim.identify(model, experiment, method)})["didim"]
    if not (installed("figaroh") and installed("pin")):
        return replace(missing(task, peer), didim_ms=taken)
    begin = time.perf_counter()
    torque = by_figaroh(model, experiment)
    other = 1e3 * (time.perf_counter() - begin)
    own = didim.identify(model, experiment, method).predict(experiment)
    middle = slice(1000, -1000)
    difference = float(np.linalg.norm(own[middle] - torque[middle]) / np.linalg.norm(own[middle]))
    return Row(task, taken, peer, other, difference)


def by_figaroh(model: didim.DynamicModel, experiment: didim.Experiment) -> np.ndarray:
    """Torques (N, n) predicted by what figaroh's functions identify, in the order of its
    examples.
    """
    from figaroh.tools.qrdecomposition import build_baseRegressor, get_baseIndex
    from figaroh.tools.regressor import (
        RegressorBuilder,
        RegressorConfig,
        build_regressor_reduced,
        get_index_eliminate,
    )

    n, rate = model.robot.n, 1000.0
    q = signal.filtfilt(*signal.butter(4, 20.0 / (rate / 2)), np.asarray(experiment.q), axis=0)
    dq = np.gradient(q, 1 / rate, axis=0)
    ddq = np.gradient(dq, 1 / rate, axis=0)
    peer = pinocchio_model(model)
    settings = RegressorConfig(has_friction=True, has_actuator_inertia=True)
    builder = RegressorBuilder(SimpleNamespace(model=peer, data=peer.createData()), settings)
    W = builder.build_basic_regressor(q, dq, ddq, {"act_idxv": range(n)})
    names = {f"p{k}": 0.0 for k in range(W.shape[1])}
    gone, kept = get_index_eliminate(W, names)
    reduced, N = build_regressor_reduced(W, gone), len(q)
    rows = np.vstack([signal.decimate(reduced[j * N : (j + 1) * N], N_D, axis=0) for j in range(n)])
    y = np.concatenate([signal.decimate(column, N_D) for column in np.asarray(experiment.tau).T])
    columns = list(get_baseIndex(rows, kept, 1e-6))
    phi = np.linalg.lstsq(build_baseRegressor(rows, columns), y, rcond=None)[0]
    return (build_baseRegressor(reduced, columns) @ phi).reshape(n, N).T
