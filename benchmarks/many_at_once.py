"""`python -m benchmarks.many_at_once`: many identifications at once, measured.

Three figures: whether a cluster gives the bits of this machine's processes though one of its
workers is killed; how much more two processes do than one; and whether a fleet names the robot with
more friction and the one that drifts, and no other. With `--docs` they go into docs/fleet.md.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np

import didim
from didim.fleet.analysis import Kind, fleet_of
from didim.fleet.members import Member
from support import many

PAGE = Path(__file__).parents[1] / "docs" / "fleet.md"
RATE, SECONDS, NOISE = 200.0, 8.0, 0.03
ROBOTS, DAYS, SPREAD = 12, 10, 0.03
MORE, DRIFT = 0.3, 0.04
"""Coulomb friction of joint 2 of one robot, and of joint 1 of another one by day: fractions."""


def killed(tasks: int = 200) -> str:
    """A cluster of two workers, one of which is killed on the way, beside this machine."""
    import distributed

    alone = many.numbers(didim.run_many(many.tasks(tasks), jobs=2))
    with tempfile.TemporaryDirectory() as folder:
        sign = Path(folder) / "sign"
        deadly = many.deadly_tasks(sign, tasks, fatal=tasks // 2)
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            table = didim.run_many(deadly, client)
        deaths = sign.stat().st_size
    same = sum(one == other for one, other in zip(many.numbers(table), alone, strict=True))
    return f"{same} of {tasks} rows equal bit for bit, workers killed: {deaths}"


def tx40_record(seed: int) -> didim.Experiment:
    """The TX40 in loops of 5 Hz."""
    clean = _tx40()[2]
    noise = np.random.default_rng(seed).standard_normal(clean.tau.shape)
    return replace(clean, tau=clean.tau + 0.02 * clean.tau.std(axis=0) * noise)


@cache
def _tx40() -> tuple[didim.DynamicModel, didim.PD, didim.Experiment]:
    model = didim.DynamicModel(didim.load_robot("tx40"), ["rotor", "viscous", "coulomb"])
    inertia = didim.largest_inertias(model, model.nominal)
    loop = didim.PD(natural_frequency=2 * np.pi * 5.0, inertia=inertia)
    motion = didim.Fourier.random(model.robot, 3, period=10.0, share=0.6)
    clean, _ = didim.virtual_experiment(model, model.nominal, loop, motion, rate=500.0)
    return model, loop, clean


def throughput(tasks: int = 96, turns: int = 2) -> str:
    """Refined DIDIM of the TX40 in one process and in two, in turns: the least seconds of all
    tasks, starts of processes included, and the most rows per second once every worker has one.
    """
    model, loop, _ = _tx40()
    settings = {"decimation": 10, "refine": True, "lack_of_fit": False, "initial": "nominal"}
    method = didim.DIDIM(controller=loop, **settings)
    jobs = [((model, tx40_record, method), {}, seed) for seed in range(tasks)]
    seconds, rates = {1: np.inf, 2: np.inf}, {1: 0.0, 2: 0.0}
    for workers in (1, 2) * turns:
        ends = [time.perf_counter()]
        table = didim.run_many(
            jobs, jobs=workers, progress=lambda _, ends=ends: ends.append(time.perf_counter())
        )
        assert all(row.status == "converged" for row in table)
        seconds[workers] = min(seconds[workers], ends[-1] - ends[0])
        rates[workers] = max(rates[workers], (tasks - workers) / (ends[-1] - ends[workers]))
    return (
        f"{tasks} tasks, {seconds[1]:.1f} s in one process, {seconds[2]:.1f} in two: "
        f"{seconds[1] / seconds[2]:.2f}; {rates[1]:.2f} and {rates[2]:.2f} rows per second after "
        f"the first: {rates[2] / rates[1]:.2f}"
    )


def logged(seed: int, phi: np.ndarray) -> didim.Experiment:
    """A log of one day: torques by inverse dynamics, and noise."""
    scara, t = many.scara(), np.arange(0.0, SECONDS, 1 / RATE)
    q, dq, ddq = didim.Fourier.random(scara.robot, seed=1, period=SECONDS, share=1.0).sample(t)
    tau = scara.inverse_dynamics(q, dq, ddq, phi)
    noise = np.random.default_rng(seed).standard_normal(tau.shape)
    return didim.Experiment(t=t, tau=tau + NOISE * tau.std(axis=0) * noise, q=q, q_ref=q)


def fleet_is_judged(seed: int) -> bool:
    """Whether both faults of a fleet are found, and nothing else is."""
    scara, rng = many.scara(), np.random.default_rng(seed)
    names = list(scara.parameter_names)
    odd, drifting = rng.choice(ROBOTS, 2, replace=False)
    members, tasks = [], []
    for robot in range(ROBOTS):
        own = scara.nominal * (1 + SPREAD * rng.standard_normal(scara.nominal.size))
        own[names.index("Fc2")] *= 1 + MORE * (robot == odd)
        for day in range(DAYS):
            phi = own.copy()
            phi[names.index("Fc1")] *= 1 + DRIFT * day * (robot == drifting)
            members.append(Member(f"arm{robot} day {day}", f"arm{robot}", float(day)))
            record = partial(logged, phi=phi)
            tasks.append(((scara, record, many.METHOD), {}, int(rng.integers(1 << 30))))
    found = fleet_of(members, didim.run_many(tasks, jobs=1)).findings
    kinds = {(each.robot, each.parameter, each.kind) for each in found}
    wanted = {(f"arm{odd}", "Fc2", Kind.DIFFERS), (f"arm{drifting}", "Fc1", Kind.DRIFTS)}
    return wanted <= kinds and {each.robot for each in found} == {f"arm{odd}", f"arm{drifting}"}


def main() -> None:
    """Measure, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=200, help="of the cluster")
    parser.add_argument("--seeds", type=int, default=12, help="of the fleet")
    parser.add_argument("--docs", action="store_true", help=f"write {PAGE.name}")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    speed = throughput()  # before there is a cluster, which takes its time to end
    judged = sum(fleet_is_judged(seed) for seed in range(chosen.seeds))
    rows = {
        "a worker of a cluster killed": killed(chosen.tasks),
        "one process and two": speed,
        "a fleet with two faults": f"both found and no other: {judged} of {chosen.seeds} seeds",
    }
    text = "\n".join(["| | |", "|---|---|", *(f"| {name} | {row} |" for name, row in rows.items())])
    print(text)
    if chosen.docs:
        before, mark, rest = PAGE.read_text().partition("<!-- measured -->\n")
        after = rest.partition("<!-- end -->")[2]
        PAGE.write_text(f"{before}{mark}{text}\n<!-- end -->{after}")


if __name__ == "__main__":
    from benchmarks.many_at_once import main as run  # workers import what they are sent by name

    run()
