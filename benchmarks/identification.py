"""A complete DIDIM of the TX40 case, beside the script that a user would write today."""

from __future__ import annotations

import importlib.util
import time
from dataclasses import replace

import numpy as np

import didim
from benchmarks.simulation import CASE
from benchmarks.timing import Row, best
from didim.identification.didim import DIDIM

ITERATIONS = 4
N_D = 20
HERTZ = 5.0
"""Of the loops, as in the case."""


def rows() -> list[Row]:
    """One row: four iterations of both from the same start, gains known; the difference is that of the base parameters."""
    if importlib.util.find_spec("pinocchio") is None:
        print("Pinocchio (pip install pin) is not installed: no row of a complete DIDIM")
        return []
    from benchmarks.user_script import didim_by_hand

    case = replace(didim.load_case(CASE), controller=didim.PD(natural_frequency=2 * np.pi * HERTZ))
    experiment, truth = case.experiment()
    model, t, tau = case.model, np.asarray(experiment.t), np.asarray(experiment.tau)
    q_ref = case.reference.sample(t)[0]
    gains = truth.controller.gains(6, np.ones(6), np.asarray(truth.controller.inertia))
    start = model.nominal * np.random.default_rng(0).uniform(0.9, 1.1)  # all by the same factor: physically consistent
    settings = DIDIM(
        exact_interval=False,  # the script has none
        controller=didim.PD(kp=gains.kp, kv=gains.kv),
        initial=model.base.matrix @ start,
        decimation=N_D,
        weights="ols",
        transient=1.0,
        max_iterations=ITERATIONS,
        tol_residual=1e-12,
        tol_parameters=1e-12,
        accelerate=False,
    )
    record = didim.Experiment(t, tau, didim.Reference(t, q_ref), name="tx40")
    own = didim.identify(model, record, settings)
    taken = best({"didim": lambda: didim.identify(model, record, settings)}, repeats=5)["didim"]
    begin = time.perf_counter()
    phi = didim_by_hand(model, start, gains.kp, gains.kv, t, q_ref, tau, ITERATIONS, N_D, int(np.searchsorted(t, 1.0)))
    peer = 1e3 * (time.perf_counter() - begin)
    other = model.base.matrix @ phi
    errors = [np.abs((each - model.base.nominal) / own.corrected_sigma) for each in (own.values, other)]
    label = (
        f"Pinocchio, solve_ivp, lstsq (median error {np.median(errors[1]):.1f} sigma, worst {errors[1].max():.0f}; "
        f"didim {np.median(errors[0]):.1f}, {errors[0].max():.0f})"
    )
    difference = float(np.linalg.norm(own.values - other) / np.linalg.norm(other))
    return [Row(f"DIDIM, {ITERATIONS} iterations, TX40, {HERTZ:.0f} Hz loops", taken, label, peer, difference)]
