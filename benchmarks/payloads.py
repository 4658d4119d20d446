"""`python -m benchmarks.payloads`: how well loads and drive gains are identified, as Markdown
tables; with `--docs` they go into docs/payload.md.

Loads: virtual TX40 and Panda in loops of 5 Hz, empty and loaded records of 16 s on random
trajectories of their own, 2 % torque noise, encoder steps of 1e-4 rad for IDIM, torque and
reference alone for DIDIM, which starts from the nominal robot. The loop keeps the gains of the
empty robot. The load is a round body within 5 cm of a point 5 cm off the last joint. Gains: a
virtual arm with the geometry of the UR10e, and the records of that robot where `DIDIM_DATA` has
them.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

import didim
from benchmarks.feasible_gains import feasible_gains
from didim.robot.inertia import about_origin
from support.virtual import model

PAGE = Path(__file__).parents[1] / "docs" / "payload.md"
SHARES = (0.0, 0.02, 0.2)
"""Of the arm's mass."""
ROBOTS, METHODS = ("tx40", "panda"), ("IDIM", "DIDIM")
BANDWIDTH = 2 * np.pi * 5.0
NOISE, RATE, ENCODER = 0.02, 500.0, 1e-4
REFERENCE_GAINS = np.array([14.87, 13.26, 11.13, 10.62, 11.03, 11.47])
"""N.m/A, that the folder of the UR10e's records gives."""
UR_MASS = 2.805
SMALLEST_GAIN = 10.0
"""N.m/A, bound of the first gain in the script of the records' author."""


@dataclass(frozen=True)
class Found:
    """One load: errors of the mass, inside the physical set and of least squares alone, and of the
    centre in sigmas, sigma, also over the mass, and whether the 95 % interval contains zero.
    """

    error: float
    plain: float
    centre: float
    sigma: float
    relative: float
    has_zero: bool


def load_of(robot: str, share: float, seed: int) -> np.ndarray:
    """(10,) a round body of that share of the arm's mass."""
    chosen = model(robot)
    mass = share * float(np.nansum(chosen.nominal[chosen.layout.link[:, 9]]))
    centre = np.random.default_rng(1000 + seed).uniform(-0.05, 0.05, 3)
    centre[2] += 0.05
    return about_origin(mass, centre, mass * 0.04**2 * np.eye(3))


def record(robot: str, body: np.ndarray, loop: didim.PD, seed: int):
    """A virtual record with a body at the last link, and its truth."""
    chosen = model(robot)
    phi = np.nan_to_num(chosen.nominal)
    phi[chosen.layout.link[-1]] += body
    trajectory = didim.Fourier.random(chosen.robot, seed, period=5.3, periods=3, share=0.7)
    made = {"rate": RATE, "noise": NOISE, "encoder": ENCODER, "seed": seed}
    return didim.virtual_experiment(chosen, phi, loop, trajectory, **made)


def loads(task: tuple[str, str, int]) -> list[Found]:
    """The loads of one robot, method and seed, from an empty record of that seed."""
    robot, kind, seed = task
    chosen, loop = model(robot), didim.PD(natural_frequency=BANDWIDTH)
    empty, truth = record(robot, np.zeros(10), loop, 2 * seed)
    quiet = {"lack_of_fit": False}
    known = {"controller": truth.controller, "gain_update": False, "initial": "nominal"}
    method = didim.IDIM(**quiet) if kind == "IDIM" else didim.DIDIM(**known, **quiet)
    estimate = didim.identify(chosen, _seen(empty, kind), method)
    return [_load(robot, kind, seed, share, estimate, truth.controller) for share in SHARES]


def _seen(experiment: didim.Experiment, kind: str) -> didim.Experiment:
    """What the method sees."""
    if kind == "IDIM":
        return experiment
    return didim.Experiment(experiment.t, experiment.tau, experiment.q_ref)


def _load(
    robot: str, kind: str, seed: int, share: float, empty: didim.Estimate, loop: didim.PD
) -> Found:
    body = load_of(robot, share, seed)
    loaded, _ = record(robot, body, loop, 2 * seed + 1)
    try:
        found = didim.identify_payload(empty, _seen(loaded, kind))
    except didim.InputError:  # counted as wrong
        return Found(np.inf, np.inf, np.inf, np.inf, np.inf, False)
    error, plain = (np.array([found.mass, found.plain[9]]) - body[9]) / found.sigma.mass
    relative = found.sigma.mass / body[9] if body[9] else np.nan
    centre = np.nan
    if share:
        apart = (found.centre - body[6:9] / body[9]) / found.sigma.centre
        centre = float(np.abs(apart).max())
    has_zero = bool(found.interval()[0] <= 0)
    return Found(float(error), float(plain), centre, found.sigma.mass, float(relative), has_zero)


def load_table(found: dict[tuple[str, str], list[list[Found]]]) -> str:
    """Markdown."""
    lines = [
        "| robot | method | load, % of the arm | seeds | mass within 3 sigma | rms error, sigma | "
        "of least squares alone | centre within 3 sigma | sigma of the mass | "
        "interval contains zero |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for (robot, kind), seeds in found.items():
        for k, share in enumerate(SHARES):
            each = [one[k] for one in seeds]
            within = 100 * np.mean([abs(one.error) < 3 for one in each])
            rms, plain = (
                np.sqrt(np.mean([e**2 for one in each if np.isfinite(e := getattr(one, name))]))
                for name in ("error", "plain")
            )
            centre = 100 * np.mean([one.centre < 3 for one in each]) if share else np.nan
            sigma = np.median([one.sigma for one in each])
            zero = 100 * np.mean([one.has_zero for one in each])
            relative = (
                "" if not share else f" ({100 * np.median([o.relative for o in each]):.2g} %)"
            )
            place = f"{centre:.0f} %" if share else ""
            lines.append(
                f"| {robot} | {kind} | {100 * share:g} | {len(each)} | {within:.0f} % | "
                f"{rms:.2f} | {plain:.2f} | {place} | {1e3 * sigma:.3g} g{relative} | "
                f"{zero:.0f} % |"
            )
    return "\n".join(lines)


@cache
def ur10e() -> didim.DynamicModel | None:
    """The UR10e of the records; None where they are absent."""
    folder = Path(os.environ.get("DIDIM_DATA", "")) / "ur10e"
    if not (folder / "ur10e.urdf").exists():
        return None
    robot = didim.load_robot(folder / "ur10e.urdf")
    return didim.DynamicModel(robot, ["rotor", "viscous", "coulomb", "offset"])


def ur10e_record(name: str, rows: tuple[int, int], gains: object = 1.0) -> didim.Experiment:
    """A record of the UR10e, in amperes or in N.m."""
    folder, chosen = Path(os.environ["DIDIM_DATA"]) / "ur10e", ur10e()
    assert chosen is not None
    return didim.load_experiment(
        folder / f"{name}.csv.gz",
        {"t": 1, "q": "2-7", "dq": "8-13", "control": "14-19"},
        rows=rows,
        joints=chosen.robot.joint_names,
        drive_gain=gains,
        name=name,
    )


EMPTY, LOADED = ("empty", (195, 4966)), ("load", (308, 5071))


def ur10e_tables() -> str:
    """Payload and gains of the measured pair."""
    chosen = ur10e()
    if chosen is None:
        return ""
    pair = ur10e_record(*EMPTY), ur10e_record(*LOADED)
    gains = didim.identify_drive_gains(chosen, *pair, mass=UR_MASS)
    bounded = feasible_gains(chosen, *pair, UR_MASS, SMALLEST_GAIN)
    lines = [
        "| joint | reference | found | sigma | wls | tls | as the author |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for j, name in enumerate(chosen.robot.joint_names):
        others = " | ".join(f"{gains.others[each].values[j]:.2f}" for each in ("wls", "tls"))
        lines.append(
            f"| {name} | {REFERENCE_GAINS[j]:.2f} | {gains.values[j]:.2f} | {gains.sigma[j]:.2f} | "
            f"{others} | {bounded[j]:.2f} |"
        )
    lines += [
        "",
        "| gains | order | mass, kg | 95 % interval | with gains known to 5 % |",
        "|---|---|---:|---|---|",
    ]
    for label, used in (("reference", REFERENCE_GAINS), ("found", gains.values)):
        for order, (one, two) in (
            ("empty, then loaded", (EMPTY, LOADED)),
            ("loaded, then empty", (LOADED, EMPTY)),
        ):
            first = didim.identify(
                chosen, ur10e_record(*one, used), didim.IDIM(consistent=True, lack_of_fit=False)
            )
            other = ur10e_record(*two, used)
            both = [didim.identify_payload(first, other, torque_sigma=each) for each in (0.0, 0.05)]
            texts = ["{:.3f} to {:.3f}".format(*each.interval()) for each in both]
            lines.append(f"| {label} | {order} | {both[0].mass:.3f} | {' | '.join(texts)} |")
    lines.append(_other_half(chosen))
    return "\n".join(lines)


def _other_half(chosen: didim.DynamicModel) -> str:
    """The load in the second half of the record, with the gains that the first half gives."""
    empty, loaded = ur10e_record(*EMPTY), ur10e_record(*LOADED)
    first = [each.between(each.t[0], each.t[0] + 25.0) for each in (empty, loaded)]
    gains = didim.identify_drive_gains(chosen, *first, mass=UR_MASS)
    rest = loaded.between(loaded.t[0] + 25.0, loaded.t[-1])
    load = didim.identify_payload(gains.estimate, gains.torque(rest))
    bounds = "{:.3f} to {:.3f}".format(*load.interval())
    return f"| found in the first 25 s | the rest | {load.mass:.3f} | {bounds} | |"


def arm_gains(seed: int) -> dict[str, np.ndarray]:
    """Errors, in sigmas, of the gains of a virtual arm with the geometry of the UR10e, and relative
    ones of the other methods.
    """
    chosen = ur10e()
    assert chosen is not None
    phi = np.nan_to_num(chosen.nominal)
    for k, each in enumerate(chosen.parameters):
        phi[k] += {"Ia": 0.5, "Fv": 5.0, "Fc": 4.0}.get(each.symbol, 0.0)
    random = np.random.default_rng(seed)
    gains = random.uniform(8.0, 16.0, chosen.robot.n)
    centre = random.uniform(-0.1, 0.1, 3)
    body = about_origin(UR_MASS, centre, UR_MASS * 0.05**2 * np.eye(3))
    records = []
    for k, added in enumerate((np.zeros(10), body)):
        own = phi.copy()
        own[chosen.layout.link[-1]] += added
        trajectory = didim.Fourier.random(
            chosen.robot, 100 * seed + k, period=10.0, periods=3, harmonics=8, share=0.7
        )
        t = np.arange(0.0, 30.0, 0.01)
        q, dq, ddq = trajectory.sample(t)
        amperes = chosen.inverse_dynamics(q, dq, ddq, own) / gains
        size = 0.05 * np.sqrt(np.mean(amperes**2, axis=0))
        noisy = amperes + size * random.standard_normal(amperes.shape)
        records.append(didim.Experiment(t, noisy, None, np.round(q / 1e-4) * 1e-4))
    found = didim.identify_drive_gains(chosen, *records, mass=UR_MASS)
    return {
        "sigmas": (found.values - gains) / found.sigma,
        "consistent": found.values / gains - 1,
        "wls": found.others["wls"].values / gains - 1,
        "tls": found.others["tls"].values / gains - 1,
    }


def gain_table(found: list[dict[str, np.ndarray]]) -> str:
    """Markdown."""
    sigmas = np.concatenate([each["sigmas"] for each in found])
    lines = [
        f"{len(found)} seeds: {100 * np.mean(np.abs(sigmas) < 3):.1f} % of the gains within 3 "
        f"sigma, rms error {np.sqrt(np.mean(sigmas**2)):.2f} sigma.",
        "",
        "| method | median error | largest error | negative |",
        "|---|---:|---:|---:|",
    ]
    for name in ("consistent", "wls", "tls"):
        errors = np.concatenate([each[name] for each in found])
        lines.append(
            f"| {name} | {100 * np.median(np.abs(errors)):.2g} % | "
            f"{100 * np.abs(errors).max():.3g} % | {np.sum(errors < -1)} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--only", choices=("loads", "gains", "records"), default=None)
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--docs", action="store_true", help=f"write the tables into {PAGE.name}")
    chosen = parser.parse_args()
    seeds, texts = range(1, chosen.seeds + 1), {}
    with ProcessPoolExecutor(chosen.jobs) as pool:
        if chosen.only in (None, "loads"):
            found = {}
            for robot, kind in product(ROBOTS, chosen.methods):
                tasks = [(robot, kind, seed) for seed in seeds]
                found[robot, kind] = list(pool.map(loads, tasks))
                print(load_table({(robot, kind): found[robot, kind]}), flush=True)
            texts["loads"] = load_table(found)
        if chosen.only in (None, "gains") and ur10e() is not None:
            texts["gains"] = gain_table(list(pool.map(arm_gains, seeds)))
    if chosen.only in (None, "records"):
        texts["records"] = ur10e_tables()
    for name, text in texts.items():
        print(f"{name}\n\n{text}\n")
        if chosen.docs and text:
            before, rest = PAGE.read_text().split(f"<!-- {name} -->")
            end = f"<!-- end of {name} -->"
            after = rest.split(end)[1]
            PAGE.write_text(f"{before}<!-- {name} -->\n{text}\n{end}{after}")


if __name__ == "__main__":
    main()
