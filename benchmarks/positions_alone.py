"""`python -m benchmarks.positions_alone`: armature and friction of a virtual Panda from positions
alone, beside their sigma; with `--docs` the table goes into docs/positions-alone.md.

A PD with velocity reference, 5 to 20 Hz from the shoulder to the wrist, 4 s of a random Fourier
trajectory, positions at 200 Hz through encoders of 1e-4 rad; each seed has its own trajectory.
Links are those of the description. `known gains`: all gains are known. `one link known`: all gains
are unknown, all links but the last too, whose first moment is known.
"""

from __future__ import annotations

import argparse
from functools import cache
from pathlib import Path

import numpy as np

import didim
from benchmarks.resumable import Row, run_missing

PAGE = Path(__file__).parents[1] / "docs" / "positions-alone.md"
FILE = Path(__file__).parent / "results" / "positions_alone.jsonl"
BEGIN, END = "<!-- coverage -->", "<!-- end of coverage -->"
FREQUENCY = 2.0 * np.pi * np.linspace(5.0, 20.0, 7)
ENCODER, RATE, DURATION = 1e-4, 200.0, 4.0
CASES = ("known gains", "one link known")
SIGMAS = 3.0


@cache
def described() -> didim.DynamicModel:
    """The Panda with rotors, viscous and Coulomb friction."""
    return didim.DynamicModel(didim.load_robot("panda"))


def model_of(case: str) -> didim.DynamicModel:
    """The model whose parameters are identified."""
    full = described()
    links = {
        name: value
        for name, value, each in zip(
            full.parameter_names, full.nominal, full.parameters, strict=True
        )
        if each.kind.is_inertial
    }
    known = links if case == CASES[0] else {name: links[name] for name in ("MX7", "MY7")}
    return didim.DynamicModel(full.robot, fixed=known)


def run(task: tuple[str, int]) -> Row:
    """One record and what is found in it."""
    case, seed = task
    full = described()
    J = didim.largest_inertias(full, full.nominal)
    loop = didim.PD(kp=FREQUENCY / 2.0, kv=2.0 * FREQUENCY * J, velocity_reference=1.0)
    trajectory = didim.Fourier.random(full.robot, seed, period=DURATION, periods=1, share=0.6)
    record, _ = didim.virtual_experiment(
        full, full.nominal, loop, trajectory, rate=RATE, encoder=ENCODER, seed=seed
    )
    record = didim.Experiment(record.t, None, record.q_ref, record.q)
    unknown = case != CASES[0]
    method = didim.OutputError(
        controller=loop.faster(1.1) if unknown else loop,
        decimation=4,
        estimate_gains=unknown,
        initial="nominal",
        lack_of_fit=False,
    )
    model = model_of(case)
    found = didim.identify(model, record, method)
    truth = dict(zip(model.base.parameter_names, model.base.matrix @ full.nominal, strict=True))
    half = np.ptp(found.interval(0.9973), axis=1) / 2.0
    wanted = [
        k
        for k, name in enumerate(found.names)
        if half[k] > 0 and (not unknown or name[:2] in ("Ia", "Fv", "Fc"))
    ]
    inside = [abs(found.values[k] - truth[found.names[k]]) <= half[k] for k in wanted]
    return {
        "case": case,
        "seed": seed,
        "status": str(found.status),
        "inside": int(sum(inside)),
        "of": len(inside),
        "iterations": found.iterations,
    }


def table(rows: list[Row]) -> str:
    """Markdown."""
    lines = ["| case | seeds | converged | within 3 sigma |", "|---|---:|---:|---:|"]
    for case in CASES:
        some = [row for row in rows if row["case"] == case]
        settled = sum(row["status"] == "converged" for row in some)
        inside, of = (sum(row[key] for row in some) for key in ("inside", "of"))
        share = f"{100 * inside / of:.1f} %" if of else ""
        lines.append(f"| {case} | {len(some)} | {settled} | {share} |")
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--docs", action="store_true", help=f"write the table into {PAGE.name}")
    chosen = parser.parse_args()
    tasks = [(case, seed) for seed in range(1, chosen.seeds + 1) for case in CASES]
    text = table(run_missing(tasks, ("case", "seed"), run, FILE, chosen.jobs))
    print(text)
    if chosen.docs:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
