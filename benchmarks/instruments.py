"""`python -m benchmarks.instruments`: IDIM and instrumental variables under good and bad filters,
the coverage of their intervals, and how often the test of Durbin, Wu and Hausman rejects; with
`--docs` the tables go into docs/instruments.md.

Virtual robots in loops of 5 Hz at 1 kHz, two random Fourier periods of 5.3 s, 2 % torque noise,
white noise on the positions; each seed has its own trajectory and noise. Runs are written to a file
as they end, and a second call makes those that are missing. The EMPS is the published record.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import didim
from benchmarks.resumable import run_missing
from didim.results.filtering import Filtering
from didim.results.hypothesis import DURBIN_WU_HAUSMAN, INSTRUMENTS
from support.coverage import LOOP_HZ, virtual_record
from support.records import DATA
from support.virtual import model

PAGE = Path(__file__).parents[1] / "docs" / "instruments.md"
RESULTS = Path(__file__).parent / "results" / "instruments.jsonl"
TESTS = RESULTS.with_name("instrument_tests.jsonl")
STUDY = Path(__file__).parents[1] / "examples" / "emps.toml"
SEEDS = {"scara": 200, "tx40": 100}
POSITIONS = {"clean": (1e-7, 20), "noisy": (2e-5, 3)}
"""Noise in rad, and decimation: a record that is well filtered, and one with poor encoders and too
little decimation.
"""
FILTERS = {"chosen": 1.0, "a fifth": 0.2, "five times": 5.0, "none": None}
"""Of the cutoff that is chosen from the record."""
FILTERS_OF = {
    ("scara", "clean"): tuple(FILTERS),
    ("scara", "noisy"): tuple(FILTERS),
    ("tx40", "clean"): ("chosen", "five times"),
    ("tx40", "noisy"): ("five times", "none"),
}
BAD = ("five times", "none")
RATE, COVERED, NEAR, FAR, LEVEL = 1000.0, 1.96, 3.0, 10.0, 0.05
PUBLISHED = {
    "M1": (95.1089, 0.1085),
    "Fv1": (203.5034, 1.1460),
    "Fc1": (20.3935, 0.1012),
    "off1": (-3.1648, 0.0444),
}
EMPS_CUTOFFS = (20.0, 100.0, 499.0)
"""Hz: five times lower than published, as published, and as near to five times higher as half the
sampling rate allows.
"""


def noisy_record(robot: str, noise: str, seed: int) -> didim.Experiment:
    """A record of a seed, with white noise on its positions."""
    record = virtual_record(robot, RATE, 0.0, seed, periods=2)
    white = np.random.default_rng([seed, 1]).standard_normal(record.q.shape)
    return replace(record, q=record.q + POSITIONS[noise][0] * white)


def run(case: tuple[str, str, int]) -> dict[str, Any]:
    """Errors of IDIM and IV in sigmas, and p-values, with every filter."""
    robot, noise, seed = case
    record, loop = noisy_record(robot, noise, seed), didim.PD(natural_frequency=2 * np.pi * LOOP_HZ)
    decimation = POSITIONS[noise][1]
    chosen = Filtering(decimation=decimation).rows(model(robot).base, [record]).preprocessing.cutoff
    found: dict[str, Any] = {"robot": robot, "noise": noise, "seed": seed, "cutoff": chosen}
    for name in FILTERS_OF[robot, noise]:
        factor = FILTERS[name]
        cutoff: Any = "auto" if name == "chosen" else factor and min(factor * chosen, 0.45 * RATE)
        shared = {"cutoff": cutoff, "decimation": decimation, "controller": loop,
                  "lack_of_fit": False}  # fmt: skip
        for method in (didim.IDIM(**shared), didim.IV(**shared)):
            estimate = didim.identify(model(robot), record, method)
            error = (estimate.values - model(robot).base.nominal) / estimate.corrected_sigma
            found[f"{estimate.method} {name}"] = {
                "status": str(estimate.status),
                "sigmas": np.abs(error).tolist(),
                "dwh": estimate.tests[DURBIN_WU_HAUSMAN].p_value,
                "instruments": estimate.tests[INSTRUMENTS].p_value,
                "iterations": estimate.iterations,
            }
    return found


def clean_tests(case: tuple[str, int]) -> dict[str, Any]:
    """p-values of IDIM on a clean record, at its own filter."""
    robot, seed = case
    record, loop = (
        noisy_record(robot, "clean", seed),
        didim.PD(natural_frequency=2 * np.pi * LOOP_HZ),
    )
    method = didim.IDIM(decimation=POSITIONS["clean"][1], controller=loop, lack_of_fit=False)
    found = didim.identify(model(robot), record, method).tests
    p = {"dwh": found[DURBIN_WU_HAUSMAN].p_value, "instruments": found[INSTRUMENTS].p_value}
    return {"robot": robot, "seed": seed, "IDIM": p}


def clean_table(runs: list[dict[str, Any]]) -> str:
    """How often the tests reject clean records at the 5 % level."""
    lines = [
        "| robot | clean records | DWH rejects | instruments rejected |",
        "|---|---:|---:|---:|",
    ]
    for robot in SEEDS:
        own = [each for each in runs if each["robot"] == robot]
        if own:
            cells = [_rejected(own, "IDIM", test) for test in ("dwh", "instruments")]
            lines.append(f"| {robot} | {len(own)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def virtual_table(runs: list[dict[str, Any]]) -> str:
    """Errors and coverage, a row for each robot, noise and filter."""
    lines = [
        "| robot | positions | filter | runs | IDIM covers | IDIM beyond 10 sigma | IV covers | IV "
        "within 3 sigma | of those of IDIM beyond 10 | DWH rejects | instruments rejected |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for robot in SEEDS:
        for noise in POSITIONS:
            chosen = [each for each in runs if (each["robot"], each["noise"]) == (robot, noise)]
            for name in FILTERS_OF[robot, noise]:
                if chosen:
                    lines.append(_row(robot, noise, name, chosen))
    return "\n".join(lines)


def _row(robot: str, noise: str, name: str, runs: list[dict[str, Any]]) -> str:
    idim, iv = (_sigmas(runs, f"{method} {name}") for method in ("IDIM", "IV"))
    far, both = idim > FAR, [each[f"{kind} {name}"] for each in runs for kind in ("IDIM", "IV")]
    failed = sum(each["status"] != "converged" for each in both)
    cells = [
        robot,
        f"{POSITIONS[noise][0]:g} rad, decimation {POSITIONS[noise][1]}",
        name,
        str(len(runs)) + (f", {failed} fits not converged" if failed else ""),
        percent(idim <= COVERED),
        percent(far),
        percent(iv <= COVERED),
        percent(iv <= NEAR),
        percent(iv[far] <= NEAR) if far.any() else "-",
        *(_rejected(runs, f"IDIM {name}", test) for test in ("dwh", "instruments")),
    ]
    return f"| {' | '.join(cells)} |"


def pooled(runs: list[dict[str, Any]]) -> str:
    """IV with bad filters of noisy records, all robots and parameters together."""
    noisy = [each for each in runs if each["noise"] == "noisy"]
    found = [_sigmas(noisy[k : k + 1], f"IV {name}") for k in range(len(noisy)) for name in BAD]
    every = np.concatenate([each.ravel() for each in found])
    return (
        f"IV with cutoffs five times too high and without a filter, noisy positions, pooled over "
        f"{len(noisy)} records and all parameters: 95 % intervals cover {percent(every <= COVERED)}"
        f", {percent(every <= NEAR)} are within 3 sigma."
    )


def _sigmas(runs: list[dict[str, Any]], key: str) -> np.ndarray:
    return np.array([each[key]["sigmas"] for each in runs])


def _rejected(runs: list[dict[str, Any]], key: str, test: str) -> str:
    found = [each[key][test] for each in runs]
    made = np.array([each for each in found if each is not None])
    missing = f", {len(found) - made.size} not made" if made.size < len(found) else ""
    return f"{percent(made < LEVEL)}{missing}" if made.size else "-"


def percent(held: np.ndarray) -> str:
    """How often something holds."""
    return f"{100 * np.mean(held):.1f} %"


def emps_table() -> str:
    """The EMPS by IDIM and IV with three filters, beside the published values."""
    lines = [
        f"| method, cutoff | {' | '.join(PUBLISHED)} | away, published σ | own σ | DWH, p |",
        "|---|" + "---:|" * (len(PUBLISHED) + 3),
        f"| published | {' | '.join(f'{v:.5g} ± {s:.2g}' for v, s in PUBLISHED.values())} | | | |",
    ]
    known = np.array(list(PUBLISHED.values()))
    for cutoff in EMPS_CUTOFFS:
        for method in ("idim", "iv"):
            study = didim.load_study(STUDY, [f"method={method}", f"idim.cutoff={cutoff}"])
            found = study.run()
            assert found.names == tuple(PUBLISHED)
            sigma, away = found.corrected_sigma, np.abs(found.values - known[:, 0])
            cells = [f"{value:.5g} ± {s:.2g}" for value, s in zip(found.values, sigma, strict=True)]
            cells += [f"{np.max(away / known[:, 1]):.2g}", f"{np.max(away / sigma):.2g}"]
            p = found.tests[DURBIN_WU_HAUSMAN].p_value
            lines.append(
                f"| {found.method}, {cutoff:g} Hz | {' | '.join(cells)} | "
                f"{'-' if p is None else f'{p:.2g}'} |"
            )
    return "\n".join(lines)


def written(page: str, name: str, table: str) -> str:
    """The page with a table between its marks."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, rest = page.split(begin)
    return f"{before}{begin}\n{table}\n{end}{rest.split(end)[1]}"


def main() -> None:
    """Run what is missing, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=max(SEEDS.values()))
    parser.add_argument("--robots", nargs="+", default=list(SEEDS), choices=list(SEEDS))
    parser.add_argument("--docs", action="store_true", help=f"write the tables into {PAGE.name}")
    chosen = parser.parse_args()
    cases = [
        (robot, noise, seed)
        for seed in range(1, chosen.seeds + 1)
        for robot in chosen.robots
        for noise in POSITIONS
        if seed <= SEEDS[robot]
    ]
    runs = run_missing(cases, ("robot", "noise", "seed"), run, RESULTS, chosen.jobs)
    clean = [(robot, seed) for seed in range(1, chosen.seeds + 1) for robot in chosen.robots]
    tests = run_missing(clean, ("robot", "seed"), clean_tests, TESTS, chosen.jobs)
    tables = {"filters": f"{virtual_table(runs)}\n\n{pooled(runs)}", "tests": clean_table(tests)}
    if (DATA / "emps" / "DATA_EMPS.mat").exists():
        tables["emps"] = emps_table()
    for name, table in tables.items():
        print(f"{table}\n")
        if chosen.docs:
            PAGE.write_text(written(PAGE.read_text(), name, table))


if __name__ == "__main__":
    main()
