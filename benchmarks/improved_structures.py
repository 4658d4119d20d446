"""`python -m benchmarks.improved_structures`: does `didim.improve` find what a study lacks?

Virtual robots in a loop, or with friction, that the study does not know, 2 % torque noise, 10 seeds
each. Found: the law has the form of the true one and the model its effects. The error is that of a
second motion, over the error of a model that was given the true structure. With `--docs` the table
goes into docs/improved-structures.md. Rows are kept; a second call makes those that are missing.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import didim
from benchmarks.lack_of_fit import DESCRIBED, Situation
from benchmarks.resumable import Row, run_missing, write_tables

PAGE = Path(__file__).parents[1] / "docs" / "improved-structures.md"
RESULTS = Path(__file__).parent / "results" / "improved_structures.jsonl"
RATE = {"scara": 1000.0, "tx40": 500.0}
"""1/s of loop and record."""
PERIOD, PERIODS, NOISE = 5.3, 2, 0.02
Loop = Any


def _pd(at: Situation) -> didim.PD:
    return replace(at.loop, rate=RATE[at.robot])


def _velocity_reference(at: Situation) -> Loop:
    return replace(_pd(at), velocity_reference=1.0)


def _pid(at: Situation) -> Loop:
    g = at.gains
    return didim.PID(kp=g.kp, kv=g.kv, ki=g.kp * g.kv * at.omega / 10, rate=RATE[at.robot])


def _cascade(at: Situation) -> Loop:
    g = at.gains
    return didim.Cascade(kp=g.kp, kv=g.kv, kiv=g.kv * at.omega / 10, rate=RATE[at.robot])


def _feedforward(at: Situation) -> Loop:
    loop: Loop = replace(_pd(at), model=at.model, model_term="feedforward")
    return loop


LOOPS: dict[str, Callable[[Situation], Loop]] = {
    "PD with velocity reference": _velocity_reference,
    "PID": _pid,
    "cascade": _cascade,
    "PD with feedforward of its model": _feedforward,
    "PD, Stribeck friction in every joint": _pd,
}


def _friction(at: Situation) -> tuple[didim.DynamicModel, np.ndarray]:
    """The robot with Stribeck friction, half of Fc at rest, in every joint."""
    robot = at.model.robot
    declared = sorted(set().union(*(joint.effects for joint in robot.joints)))
    coupled = ["coupling"] if robot.couplings else []
    rates = _motion(at, 0).sample(np.linspace(0.0, PERIOD, 500))[1].std(axis=0)
    shapes = {f"vs{j + 1}": 0.1 * float(rates[j]) for j in range(robot.n)}
    model = didim.DynamicModel(robot, [*declared, *coupled, "stribeck"], shapes)
    known = dict(zip(model.parameter_names, model.nominal, strict=True))
    for j in range(robot.n):
        known[f"dFs{j + 1}"] = 0.5 * known[f"Fc{j + 1}"]
    return model, np.array([known[name] for name in model.parameter_names])


def _motion(at: Situation, part: int) -> didim.Fourier:
    seed = at.seed + 1000 * part
    return didim.Fourier.random(at.model.robot, seed, period=PERIOD, periods=PERIODS, share=0.7)


def _found(structure: str, true: Loop, improved: didim.Improvement) -> bool:
    """Whether the form of the law is the true one, and friction has what the robot has."""
    loop, n = improved.estimate.controller, improved.estimate.model.robot.n
    if structure.endswith("joint"):
        kept = {name for step in improved.steps if step.kept for name in step.names}
        return kept >= {f"dFs{j + 1}" for j in range(n)}
    ahead = [np.asarray(each.velocity_reference) > 0.5 for each in (loop, true)]
    same = type(loop) is type(true) and loop.model_term == true.model_term
    return bool(same and np.all(ahead[0] == ahead[1]))


def run(task: tuple[str, str, int]) -> Row:
    """One study that lacks something, improved."""
    robot, structure, seed = task
    warnings.simplefilter("ignore")
    at, row = Situation(robot, seed), {"robot": robot, "structure": structure, "seed": seed}
    true, model, phi = LOOPS[structure](at), at.model, at.model.nominal
    if structure.endswith("joint"):
        model, phi = _friction(at)
    try:
        record, other = (
            didim.virtual_experiment(
                model, phi, true, _motion(at, part), rate=RATE[robot], noise=NOISE,
                seed=seed + 1000 * part, name=f"record {part + 1}",
            )[0]
            for part in range(2)
        )  # fmt: skip
    except didim.InfeasibleError as problem:
        return row | {"status": "no record", "reason": str(problem)}
    method = didim.DIDIM(
        controller=true,
        initial="nominal" if robot in DESCRIBED else "unit",
        refine=True,
        lack_of_fit=False,
    )
    known = didim.identify(model, record, method)
    start = time.perf_counter()
    told = replace(method, controller=_pd(at), lack_of_fit=True)
    improved = didim.improve(at.model, record, told)
    seconds = time.perf_counter() - start
    errors = [each.validate(other).residual for each in (known, improved.first, improved.estimate)]
    return row | {
        "status": str(improved.estimate.status),
        "found": _found(structure, true, improved),
        "kept": [step.label for step in improved.steps if step.kept],
        "before": errors[1] / errors[0],
        "ratio": errors[2] / errors[0],
        "seconds": seconds,
    }


def table(rows: list[Row]) -> str:
    """The table of the page."""
    lines = [
        "| robot | true structure | found | error, before | after, largest |",
        "|---|---|---|---|---|",
    ]
    for robot in dict.fromkeys(row["robot"] for row in rows):
        for structure in LOOPS:
            some = [row for row in rows if (row["robot"], row["structure"]) == (robot, structure)]
            runs = [row for row in some if row["status"] != "no record"]
            if runs:
                found = f"{sum(row['found'] for row in runs)} of {len(runs)}"
                before = float(np.median([row["before"] for row in runs]))
                after = sorted(row["ratio"] for row in runs)
                lines.append(
                    f"| {robot} | {structure} | {found} | {before:.2f} | {np.median(after):.3f}, "
                    f"{after[-1]:.3f} |"
                )
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--robots", nargs="*", default=list(RATE))
    parser.add_argument("--structures", nargs="*", default=list(LOOPS))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--docs", action="store_true", help=f"write {PAGE.name}")
    chosen = parser.parse_args()
    tasks = [
        (robot, structure, seed)
        for robot in chosen.robots
        for seed in range(1, 1 + chosen.seeds)
        for structure in chosen.structures
    ]
    keys = ("robot", "structure", "seed")
    text = table(run_missing(tasks, keys, run, chosen.results, chosen.jobs))
    print(text)
    if chosen.docs:
        write_tables(PAGE, text)


if __name__ == "__main__":
    main()
