"""`python -m benchmarks.excitation`: plans for TX40 and panda over many seeds: whether they meet
their limits when judged from outside at ten times the rate, how much better than random plans and
than the condition number, and whether their sigma is what virtual experiments show.

The published cases, `cases/excite_tx40.toml` and `cases/excite_panda.toml`: 20 s, floor and
self-collision, in a PD loop of 5 Hz with velocity reference; gains are unknown in that loop ("gains
case") and in loops of the law (53) of 5 and 10 Hz, without velocity reference. The kinds "grid 5"
and "grid 10" are the runs with unknown gains of `benchmarks.robustness` (nothing known of the
robot, gains wrong by up to four, torque noise of 2 %), on a planned trajectory. Rows are written as
they end, and a second call makes those that are missing.
"""

from __future__ import annotations

import argparse
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import didim
from benchmarks.resumable import run_missing
from didim.design.predict import Prediction, geometric_mean, sigma_of
from didim.design.unknowns import Unknowns
from didim.study.planned import limits_with_defaults
from support.planned import case, outside_margins, planned
from support.robustness import Run, problem
from support.undescribed import judged, truth

RESULTS = Path(__file__).parent / "results" / "excitation.jsonl"
ROBOTS = ("tx40", "panda")
RANDOM_PLANS, EXPERIMENTS = 100, 60
LOW, HIGH = 0.8, 1.25
LOOP_HERTZ = 5.0
GRID_GAINS = ("0.25", "0.5", "2", "4", "random")
"""Assumed over true gains; each with as many seeds of the noise."""


def with_loop(
    robot: str, hertz: float, seed: int, model: didim.DynamicModel | None = None, **settings: Any
) -> didim.Plan:
    """A plan in a PD loop whose gains are given, for the limits of the case."""
    study = case(robot)
    model = study.model if model is None else model
    limits, _ = limits_with_defaults(model.robot, **study.settings.limits.given())
    J, omega = didim.largest_inertias(model, model.nominal), 2 * np.pi * hertz
    loop = didim.PD(kp=np.full(J.size, omega / 2), kv=2 * omega * J)
    noise = study.settings.excite.noise
    return didim.excite(model, 20.0, loop, limits=limits, seed=seed, noise=noise, **settings)


def feasible(robot: str, seed: int, gains_unknown: bool) -> dict[str, Any]:
    """A plan, its time and its margins from outside."""
    began = time.process_time()
    plan = planned(robot, seed=seed, gains_unknown=gains_unknown)
    cpu = time.process_time() - began
    margins = outside_margins(plan)
    return {
        "seconds": plan.seconds,
        "cpu": cpu,
        "least": min(plan.margins.values()),
        "sigma": geometric_mean(plan.sigma),
        "outside": margins,
        "feasible": min(margins.values()) >= 0,
    }


def compared(robot: str, seed: int) -> dict[str, Any]:
    """Geometric mean of sigma over that of the best random plan, and of a plan for the condition
    number with half as many iterations again.
    """
    plan = planned(robot, seed=seed, random_plans=RANDOM_PLANS)
    condition = planned(robot, seed=seed, criterion="condition", effort=1.5)
    assert plan.sigma_random is not None
    return {
        "random": geometric_mean(plan.sigma / plan.sigma_random),
        "condition": geometric_mean(plan.sigma / condition.sigma),
        "seconds": plan.seconds,
        "condition_seconds": condition.seconds,
    }


def gains(robot: str, seed: int, loop: str) -> dict[str, Any]:
    """Sigma of the gains over that of a plan that ignores them, in the loop of the case or in one
    of so many Hz.
    """

    def plan(**settings: Any) -> didim.Plan:
        if loop == "case":
            return planned(robot, seed=seed, **settings)
        return with_loop(robot, float(loop), seed, **settings)

    found, ignoring = plan(gains_unknown=True), plan()
    unknowns = Unknowns(ignoring.model, ignoring.model.nominal, ignoring.limits.velocity)
    prediction = Prediction(unknowns, ignoring.loop, True, found.noise, found.rate)
    sigma = sigma_of(prediction.information(ignoring.motion, ignoring.trajectory))
    b = len(ignoring.names)
    return {
        "gains": geometric_mean(found.sigma[b:] / sigma[b:]),
        "parameters": geometric_mean(found.sigma[:b] / sigma[:b]),
        "worst_gain": float(np.max(found.relative_sigma[b:])),
        "seconds": found.seconds,
        "bursts": sum("bursts" in each for each in found.messages),
    }


@cache
def grid_plan(robot: str, hertz: float) -> didim.Plan:
    """The plan of a grid: for the effects that its robot has."""
    return with_loop(robot, hertz, 0, truth(robot), gains_unknown=True)


def grid(robot: str, number: int, hertz: float) -> dict[str, Any]:
    """One run with unknown gains on a planned trajectory."""
    seed, k = divmod(number, len(GRID_GAINS))
    run = Run(
        "planned", robot, "PD", (2 * np.pi * hertz,), "generic", gains=GRID_GAINS[k], seed=seed
    )
    plan = grid_plan(robot, hertz)
    unknown, record, method, real = problem(run, plan.trajectory)
    began = time.process_time()
    estimate = didim.identify(unknown, record, method)
    cpu = time.process_time() - began
    found = judged(estimate, record, real, robot)
    return {
        "assumed": run.gains,
        "noise_seed": seed,
        "status": found.status,
        "found": found.found,
        "gain_error": found.gains,
        "gain_error_in_sigma": found.gains_sigma,
        "cpu": cpu,
    }


def true(robot: str, method: str) -> dict[str, Any]:
    """Observed over predicted standard deviations of virtual experiments; unknown gains in a loop
    of the law (53), or in that of the case.
    """
    unknown = method in ("gains", "case")
    if method == "case":
        plan = planned(robot, seed=0, gains_unknown=True)
    else:
        settings = {"method": "idim"} if method == "idim" else {"gains_unknown": unknown}
        plan = with_loop(robot, LOOP_HERTZ, 0, **settings)
    model = plan.model.full
    fractions = plan.noise / np.sqrt(np.mean(plan.motion.tau**2, axis=0))
    solver: Any = didim.IDIM(lack_of_fit=False)
    if method != "idim":
        solver = didim.DIDIM(
            controller=plan.loop,
            initial="nominal",
            estimate_gains=unknown,
            lack_of_fit=False,
        )
    values = []
    for seed in range(EXPERIMENTS):
        record, _ = didim.virtual_experiment(
            model, model.nominal, plan.loop, plan.trajectory, noise=fractions, seed=seed
        )
        found = didim.identify(model, record, solver)
        gains = [found.gains[name][0] for name in plan.names if name in found.gains]
        values.append([*found.values, *gains])  # a sampled loop has a delay too
    table = np.array(values)
    ratio = table.std(axis=0, ddof=1) / plan.sigma
    b = len(model.base.parameter_names)
    near = np.abs(table[:, b:] / plan.values[b:] - 1) < 0.03
    return {
        "inside": float(np.mean((ratio > LOW) & (ratio < HIGH))),
        "quantiles": np.quantile(ratio, [0.0, 0.05, 0.5, 0.95, 1.0]).round(3).tolist(),
        "gains_within_3": float(near.all(axis=1).mean()) if near.size else None,
    }


def row(task: tuple[str, str, int]) -> dict[str, Any]:
    """One row: (robot, kind, seed)."""
    robot, kind, seed = task
    name, _, option = kind.partition(" ")
    if name == "true":
        found = true(robot, option)
    elif name == "gains":
        found = gains(robot, seed, option)
    elif name == "grid":
        found = grid(robot, seed, float(option))
    elif name == "feasible":
        found = feasible(robot, seed, option == "gains")
    else:
        found = compared(robot, seed)
    return {"robot": robot, "kind": kind, "seed": seed, **found}


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--compared", type=int, default=5, help="seeds that are compared")
    parser.add_argument("--grid", type=int, default=25, help="runs of each grid")
    parser.add_argument("--robot", choices=ROBOTS)
    parser.add_argument("--kind", help="only kinds that begin with this text")
    parser.add_argument("--jobs", type=int, default=1)
    chosen = parser.parse_args()
    kinds = {"feasible": chosen.seeds, "feasible gains": chosen.compared}
    kinds |= dict.fromkeys(("compared", "gains case", "gains 5", "gains 10"), chosen.compared)
    kinds |= dict.fromkeys(("true idim", "true didim", "true gains", "true case"), 1)
    kinds |= {"grid 5": chosen.grid, "grid 10": chosen.grid}
    tasks = [
        (robot, kind, seed)
        for kind, seeds in kinds.items()
        for robot in ROBOTS
        for seed in range(seeds)
        if chosen.robot in (None, robot) and kind.startswith(chosen.kind or "")
    ]
    rows = run_missing(tasks, ("robot", "kind", "seed"), row, RESULTS, chosen.jobs)
    for robot in ROBOTS:
        for kind in kinds:
            some = [each for each in rows if (each["robot"], each["kind"]) == (robot, kind)]
            if some:
                print(f"{robot} {kind}: {len(some)} rows; {summary(kind, some)}")


def _gains_near(row: dict[str, Any]) -> bool:
    return bool(row["gain_error"] < 0.03)


def summary(kind: str, rows: list[dict[str, Any]]) -> str:
    """Of the rows of a kind."""
    if kind.startswith("feasible"):
        seconds, cpu = (max(each[key] for each in rows) for key in ("seconds", "cpu"))
        good = sum(each["feasible"] for each in rows)
        return f"{good} feasible, at most {seconds:.1f} s, {cpu:.1f} s of one core"
    if kind.startswith("grid"):
        near, good = (sum(map(test, rows)) for test in (_gains_near, lambda each: each["found"]))
        worst = max(each["gain_error"] for each in rows)
        return f"all gains within 3 % in {near}, worst {100 * worst:.2g} %; at the floor {good}"
    numbers = [key for key, value in rows[0].items() if isinstance(value, float)]
    parts = []
    for key in numbers:
        values = [each[key] for each in rows]
        parts.append(f"{key} {np.median(values):.3g} ({min(values):.3g} to {max(values):.3g})")
    return ", ".join(parts)


if __name__ == "__main__":
    main()
