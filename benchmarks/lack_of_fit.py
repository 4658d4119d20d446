"""`python -m benchmarks.lack_of_fit`: what the tests for a lack of fit name on virtual robots where
nothing is wrong, and where one thing is; with `--docs` the tables go into docs/lack-of-fit-grid.md.

PD loops of 5 to 20 Hz with gains that are given, 2 % torque noise, a random trajectory of 16 s for
each seed. A fault is named rightly where it, or something that the record cannot distinguish from
it, comes first. Runs are written to a file as they end, and a second call makes those that are
missing.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import didim
from benchmarks.resumable import run_missing, write_tables
from didim.control.law import Gains
from didim.results.judgement import judge
from didim.results.lack_of_fit import LackOfFit
from support.virtual import model as shared_model

PAGE = Path(__file__).parents[1] / "docs" / "lack-of-fit-grid.md"
RESULTS = Path(__file__).parent / "results" / "lack_of_fit.jsonl"
LOOPS = {"scara": (5.0, 10.0, 20.0), "double_pendulum": (5.0, 10.0, 20.0), "tx40": (10.0,),
         "panda": (5.0,)}  # fmt: skip
"""Hz of the loops of each robot, one after the other by the seed; faster ones of the last two are
unstable at 1 kHz in some poses.
"""
DESCRIBED = ("tx40", "panda")
"""Robots whose identification starts from their description."""
RATE, NOISE, ENCODER, ORDER = 1000.0, 0.02, 1e-4, 17.3
UNSTABLE = 3.0
"""Torque of a loop over that of the same loop without its fault, which shows that it oscillates."""


@dataclass(frozen=True, eq=False)
class Situation:
    """A robot in its loop, of one seed."""

    robot: str
    seed: int

    @property
    def model(self) -> didim.DynamicModel:
        return shared_model(self.robot)

    @property
    def joint(self) -> int:
        """The joint that a fault is at."""
        return self.seed % self.model.robot.n

    @property
    def omega(self) -> float:
        loops = LOOPS[self.robot]
        return 2 * np.pi * loops[self.seed % len(loops)]

    @property
    def gains(self) -> Gains:
        n, J = self.model.robot.n, didim.largest_inertias(self.model, self.model.nominal)
        loop = didim.PD(natural_frequency=self.omega, inertia=J)
        return loop.gains(n, np.diag(self.model.robot.drive_gain), J)

    @property
    def loop(self) -> didim.PD:
        return didim.PD(kp=self.gains.kp, kv=self.gains.kv, rate=RATE)

    def record(
        self,
        loop: Any = None,
        model: didim.DynamicModel | None = None,
        phi: np.ndarray | None = None,
        encoder: float = 0.0,
        part: int = 0,
    ) -> didim.Experiment:
        robot = self.model.robot
        trajectory = didim.Fourier.random(
            robot, self.seed + 1000 * part, period=5.3, periods=3, share=0.7
        )
        made = didim.virtual_experiment(
            model or self.model,
            self.model.nominal if phi is None else phi,
            self.loop if loop is None else loop,
            trajectory,
            rate=RATE,
            noise=NOISE,
            encoder=encoder,
            seed=self.seed + 1000 * part,
            name=f"record {part + 1}",
        )
        return made[0]

    def with_effect(self, effect: didim.Effect, value: float) -> tuple[didim.DynamicModel, Any]:
        """The robot with one more effect, and its parameters."""
        robot = self.model.robot
        declared = sorted(set().union(*(joint.effects for joint in robot.joints)))
        coupled = ["coupling"] if robot.couplings else []
        richer = didim.DynamicModel(robot, [*declared, *coupled, *robot.effects, effect])
        known = dict(zip(self.model.parameter_names, self.model.nominal, strict=True))
        return richer, np.array([known.get(name, value) for name in richer.parameter_names])

    def nominal(self, symbol: str) -> float:
        """A described parameter of the fault's joint."""
        names = list(self.model.parameter_names)
        return float(self.model.nominal[names.index(f"{symbol}{self.joint + 1}")])


@dataclass(frozen=True, eq=False)
class Fault:
    """What differs from what the identification is told."""

    records: list[didim.Experiment]
    assumed: didim.PD
    names: tuple[str, ...]
    """Suspects that are right."""
    value: float | None = None


def gain(kind: str, part: float) -> Callable[[Situation], Fault]:
    """A gain of one joint is assumed too small."""

    def fault(at: Situation) -> Fault:
        values = getattr(at.gains, kind).copy()
        values[at.joint] *= 1 - part
        assumed = replace(at.loop, **{kind: values})
        return Fault([at.record()], assumed, (f"{kind}{at.joint + 1}",), 100 * (1 / (1 - part) - 1))

    return fault


def _every(at: Situation, name: str) -> tuple[str, ...]:
    return (name, *(f"{name}{j + 1}" for j in range(at.model.robot.n)))


def delay(at: Situation) -> Fault:
    """The command comes a sample late; of a clock twice as fast where the loop is unstable so."""
    expected = _rms(at.record())
    for rate in (RATE, 2 * RATE):
        loop = replace(at.loop, rate=rate)
        record = at.record(replace(loop, delay=1))
        if np.all(_rms(record) < UNSTABLE * expected):
            break
    return Fault([record], loop, ("delay",), 1 / rate)


def _rms(record: didim.Experiment) -> np.ndarray:
    return np.sqrt(np.mean(np.asarray(record.tau) ** 2, axis=0))


def velocity_reference(at: Situation) -> Fault:
    """The law has the velocity of the reference."""
    loop = replace(at.loop, velocity_reference=1.0)
    return Fault([at.record(loop)], at.loop, _every(at, "ff"), 1.0)


def integral(at: Situation) -> Fault:
    """The law is a PID."""
    g, fast = at.gains, at.omega / 10
    loop = didim.PID(kp=g.kp, kv=g.kv, ki=g.kp * g.kv * fast, rate=RATE)
    return Fault([at.record(loop)], at.loop, _every(at, "ki"), fast)


def cascade(at: Situation) -> Fault:
    """The law is a cascade."""
    g, fast = at.gains, at.omega / 10
    loop = didim.Cascade(kp=g.kp, kv=g.kv, kiv=g.kv * fast, rate=RATE)
    return Fault([at.record(loop)], at.loop, _every(at, "kiv"), fast)


def drive_gain(at: Situation) -> Fault:
    """The drive of a joint is stronger than the log says."""
    factor = np.ones(at.model.robot.n)
    factor[at.joint] = 1.05
    g = np.diag(at.model.robot.drive_gain) * factor
    record = at.record(replace(at.loop, drive_gain=g))
    record = replace(record, tau=np.asarray(record.tau) / factor)
    return Fault([record], at.loop, (f"drive{at.joint + 1}",), 5.0)


def _of_effect(at: Situation, effect: didim.Effect, value: float, names: tuple[str, ...]) -> Fault:
    return Fault([at.record(None, *at.with_effect(effect, value))], at.loop, names, value)


def _own(at: Situation, name: str, torque: str, **fixed: float) -> didim.Effect:
    return didim.Effect(
        name, torque, {"p": {"unit": "N m"}}, fixed, joint=at.joint + 1, conservative="q" in fixed
    )


def stribeck(at: Situation) -> Fault:
    """A joint has more friction at rest."""
    effect = _own(at, "rest", "p * slip * exp(-abs(dq / vs) ^ 2)", vs=0.1)
    return _of_effect(at, effect, 0.5 * at.nominal("Fc"), (f"dFs{at.joint + 1}",))


def load_friction(at: Situation) -> Fault:
    """Friction of a joint grows with its load."""
    effect = _own(at, "loaded", "p * slip * abs(load)")
    return _of_effect(at, effect, 0.05, (f"mu{at.joint + 1}",))


def asymmetric(at: Situation) -> Fault:
    """Friction differs between the directions."""
    j = at.joint + 1
    if f"off{j}" in at.model.parameter_names:  # which is the same for Coulomb friction
        effect = _own(at, "uneven", "p * abs(dq)")
        return _of_effect(at, effect, 0.3 * at.nominal("Fv"), (f"dFv{j}",))
    effect = _own(at, "uneven", "p * abs(slip)")
    return _of_effect(at, effect, 0.3 * at.nominal("Fc"), (f"dFc{j}", f"off{j}"))


def ripple(at: Situation) -> Fault:
    """A joint has a ripple of 2 % of its torque."""
    size = 0.02 * float(_rms(at.record())[at.joint])
    effect = _own(at, "teeth", "p * sin(order * q)", order=ORDER)
    return _of_effect(at, effect, size, (f"ripple{at.joint + 1}",))


def payload(at: Situation) -> Fault:
    """5 % of the robot's mass, 0.1 m from the last axis, in the second of two records."""
    names, phi = list(at.model.parameter_names), at.model.nominal.copy()
    n = at.model.robot.n
    mass = 0.05 * sum(phi[names.index(f"M{j + 1}")] for j in range(n))
    for symbol, value in (
        ("M", mass),
        ("MX", 0.1 * mass),
        ("YY", 0.01 * mass),
        ("ZZ", 0.01 * mass),
    ):
        phi[names.index(f"{symbol}{n}")] += value
    records = [at.record(), at.record(phi=phi, part=1)]
    return Fault(records, at.loop, ("payload in record 2",))


FAULTS: dict[str, Callable[[Situation], Fault]] = {
    **{f"kp {part} % small": gain("kp", part / 100) for part in (2, 5, 10)},
    **{f"kv {part} % small": gain("kv", part / 100) for part in (2, 5, 10)},
    "delay of a sample": delay,
    "velocity reference forgotten": velocity_reference,
    "integral forgotten": integral,
    "cascade taken for PD": cascade,
    "drive gain 5 % off": drive_gain,
    "Stribeck not modelled": stribeck,
    "load friction not modelled": load_friction,
    "asymmetric friction not modelled": asymmetric,
    "ripple of 2 %": ripple,
    "payload of 5 %": payload,
    "nothing": lambda at: Fault([at.record()], at.loop, ()),
    "nothing, encoder steps": lambda at: Fault(
        [at.record(replace(at.loop, encoder=ENCODER), encoder=ENCODER)],
        replace(at.loop, encoder=ENCODER),
        (),
    ),
    "nothing, loop by its poles": lambda at: Fault(
        [at.record()], didim.PD(natural_frequency=at.omega, rate=RATE), ()
    ),
}


def run(task: tuple[str, str, int, str]) -> dict[str, Any]:
    """One identification with its tests, as a row."""
    robot, name, seed, method = task
    warnings.simplefilter("ignore")
    at, row = Situation(robot, seed), {"robot": robot, "fault": name, "seed": seed}
    row["method"] = method
    try:
        fault = FAULTS[name](at)
    except didim.InfeasibleError as problem:
        return row | {"status": "no record", "reason": str(problem)}
    initial = "nominal" if robot in DESCRIBED else "unit"
    loop = didim.DIDIM(controller=fault.assumed, refine=method == "refined", initial=initial)
    used = didim.IDIM() if method == "IDIM" else loop
    start = time.process_time()
    estimate = didim.identify(at.model, fault.records, used)
    seconds, lack, truth = time.process_time() - start, estimate.lack, at.model.base.nominal
    low, high = estimate.interval(0.95).T
    found = lack.found[0] if lack.found else None
    right = found is not None and not set(fault.names).isdisjoint((found.name, *found.alternatives))
    quiet = replace(estimate, lack=LackOfFit())
    row |= {
        "status": str(estimate.status),
        "first": found.label if found else "",
        "others": [each.label for each in lack.found[1:]],
        "reason": lack.reason,
        "p": min(lack.groups.values(), default=1.0),
        "right": right,
        "covered": float(np.mean((low <= truth) & (truth <= high))),
        "over_noise": None
        if estimate.residual_over_noise is None
        else float(np.max(estimate.residual_over_noise)),
        "level": judge(estimate).values.level,
        "level_before": judge(quiet).values.level,
        "seconds": seconds,
        "value_right": None,
    }
    rows = [each for each in lack.rows if each.name in fault.names]
    if right and fault.value is not None and rows:
        best = max(rows, key=lambda each: each.share)
        off = abs(best.value - fault.value)
        row["value_right"] = bool(off <= 0.3 * abs(fault.value) or off <= 3 * best.sigma)
        row["value"], row["sigma"], row["true"] = best.value, best.sigma, fault.value
    return row


def table(rows: Iterable[dict[str, Any]]) -> str:
    """The tables of the page."""
    rows = [row for row in rows if row["status"] != "no record"]
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        own = [row for row in rows if row["method"] == method]
        robots = [robot for robot in LOOPS if any(row["robot"] == robot for row in own)]
        lines += [
            f"## {method}",
            "",
            f"| fault | {' | '.join(robots)} |",
            "|---|" + "---|" * len(robots),
        ]
        for fault in FAULTS:
            cells = []
            for robot in robots:
                some = [row for row in own if row["fault"] == fault and row["robot"] == robot]
                cells.append(_cell(fault, some))
            if any(cells):
                lines.append(f"| {fault} | {' | '.join(cells)} |")
        wrong = [row for row in own if not row["fault"].startswith("nothing")]
        counts = [[row["right"] for row in wrong if row["robot"] == robot] for robot in robots]
        named = ", ".join(
            f"{robot} {sum(each)} of {len(each)}"
            for robot, each in zip(robots, counts, strict=True)
        )
        right = sum(row["right"] for row in wrong)
        bad = [row for row in wrong if row["status"] == "converged" and row["covered"] < 0.8]
        before = sum((row["over_noise"] or 1.0) <= 1.3 for row in bad)
        after = sum((row["over_noise"] or 1.0) <= 1.3 and not row["first"] for row in bad)
        lines += [
            "",
            f"Named rightly: {right} of {len(wrong)}.",
            f"By robot: {named}.",
            f"Converged with fewer than 80 % of the intervals right: {len(bad)} of {len(wrong)}.",
            f"Of these, hardly above the noise: {before}; and the tests quiet: {after}.",
            "",
        ]
    return "\n".join(lines)


def _cell(fault: str, some: list[dict[str, Any]]) -> str:
    """Named rightly of all, values right of these; where nothing is wrong, anything named."""
    if not some:
        return ""
    if fault.startswith("nothing"):
        return f"{sum(bool(row['first']) for row in some)} of {len(some)} named"
    values = [row["value_right"] for row in some if row["value_right"] is not None]
    right = sum(row["right"] for row in some)
    return f"{right} of {len(some)}" + (f", value {sum(values)} of {len(values)}" if values else "")


def main() -> None:
    """Run what is missing, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=10, help="of each fault")
    parser.add_argument("--nothing", type=int, default=60, help="seeds where nothing is wrong")
    parser.add_argument("--robots", nargs="*", default=list(LOOPS))
    parser.add_argument("--methods", nargs="*", default=["DIDIM"])
    parser.add_argument("--faults", nargs="*", default=list(FAULTS))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--docs", action="store_true", help=f"write {PAGE.name}")
    chosen = parser.parse_args()
    tasks = [
        (robot, fault, seed, method)
        for method in chosen.methods
        for robot in chosen.robots
        for fault in chosen.faults
        for seed in range(1, 1 + (chosen.nothing if "nothing" in fault else chosen.seeds))
        if not (method == "IDIM" and not _of_robot(fault))
    ]
    keys = ("robot", "fault", "seed", "method")
    text = table(run_missing(tasks, keys, run, chosen.results, chosen.jobs))
    print(text)
    if chosen.docs:
        write_tables(PAGE, text)


def _of_robot(fault: str) -> bool:
    """Whether a fault shows along the measured motion."""
    words = ("nothing", "Stribeck", "load", "asymmetric", "ripple", "drive", "payload")
    return fault.startswith(words)


if __name__ == "__main__":
    main()
