"""`python -m benchmarks.instruments`: IDIM and instrumental variables under good and bad filters,
the coverage of their intervals, and how often the test of Durbin, Wu and Hausman rejects; with
`--docs` the tables go into docs/instruments.md.

Virtual robots in loops of 5 Hz at 1 kHz, three random Fourier periods of 5.3 s, 2 % torque noise,
white noise on the positions; each seed has its own trajectory and noise. Runs are written to a file
as they end, and a second call makes those that are missing. The EMPS is the published record.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import didim
from didim.results.filtering import Filtering
from didim.results.hypothesis import DURBIN_WU_HAUSMAN, INSTRUMENTS
from support.coverage import LOOP_HZ, virtual_record
from support.records import DATA
from support.virtual import model

PAGE = Path(__file__).parents[1] / "docs" / "instruments.md"
RESULTS = Path(__file__).parent / "results" / "instruments.jsonl"
STUDY = Path(__file__).parents[1] / "examples" / "emps.toml"
SEEDS = {"scara": 200, "tx40": 200}
POSITION_NOISE = {"clean": 1e-6, "noisy": 3e-5}
"""rad, of a record that a filter cleans, and of one with poor encoders."""
FILTERS = {"chosen": 1.0, "five times": 5.0, "none": None}
"""Of the cutoff that is chosen from the record."""
RATE, DECIMATION, FAR, NEAR = 1000.0, 5, 10.0, 3.0
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
    record = virtual_record(robot, RATE, 0.0, seed)
    deviation = POSITION_NOISE[noise] * np.random.default_rng([seed, 1]).standard_normal
    return replace(record, q=record.q + deviation(record.q.shape))


def run(robot: str, noise: str, seed: int) -> dict[str, Any]:
    """Errors of IDIM and IV in sigmas, and p-values, with every filter."""
    record, loop = noisy_record(robot, noise, seed), didim.PD(natural_frequency=2 * np.pi * LOOP_HZ)
    chosen = Filtering(decimation=DECIMATION).rows(model(robot).base, [record]).preprocessing.cutoff
    found: dict[str, Any] = {"robot": robot, "noise": noise, "seed": seed, "cutoff": chosen}
    for name, factor in FILTERS.items():
        cutoff: Any = "auto" if name == "chosen" else factor and min(factor * chosen, 0.45 * RATE)
        shared = {"cutoff": cutoff, "decimation": DECIMATION, "controller": loop,
                  "lack_of_fit": False}  # fmt: skip
        for method in (didim.IDIM(**shared), didim.IV(**shared)):
            estimate = didim.identify(model(robot), record, method)
            error = (estimate.values - model(robot).base.nominal) / estimate.corrected_sigma
            found[f"{estimate.method} {name}"] = {
                "status": str(estimate.status),
                "sigmas": np.abs(error).tolist(),
                "quantile": estimate.quantile(),
                "dwh": estimate.tests[DURBIN_WU_HAUSMAN].p_value,
                "instruments": estimate.tests[INSTRUMENTS].p_value,
                "iterations": estimate.iterations,
            }
    return found


def missing(robots: Iterable[str], seeds: int) -> Iterable[tuple[str, str, int]]:
    """Cases that the file does not have."""
    known = {(each["robot"], each["noise"], each["seed"]) for each in stored()}
    for seed in range(1, seeds + 1):
        for robot in robots:
            for noise in POSITION_NOISE:
                if seed <= SEEDS[robot] and (robot, noise, seed) not in known:
                    yield robot, noise, seed


def stored() -> list[dict[str, Any]]:
    """The runs of the file."""
    return (
        [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []
    )


def virtual_table(runs: list[dict[str, Any]]) -> str:
    """Errors and coverage, a row for each robot, noise and filter."""
    lines = [
        "| robot | positions | filter | runs | IDIM covers | IDIM beyond 10 sigma | IV covers | IV "
        "within 3 sigma | of these within 3 sigma by IV | DWH rejects |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for robot in SEEDS:
        for noise in POSITION_NOISE:
            chosen = [each for each in runs if (each["robot"], each["noise"]) == (robot, noise)]
            for name in FILTERS:
                if chosen:
                    lines.append(_row(robot, noise, name, chosen))
    return "\n".join(lines)


def _row(robot: str, noise: str, name: str, runs: list[dict[str, Any]]) -> str:
    idim, iv = (
        np.array([each[f"{method} {name}"]["sigmas"] for each in runs]) for method in ("IDIM", "IV")
    )
    quantile = runs[0][f"IV {name}"]["quantile"]
    p = [each[f"IDIM {name}"]["dwh"] for each in runs]
    tested = np.array([each for each in p if each is not None])
    far = idim > FAR
    of_these = f"{100 * np.mean(iv[far] <= NEAR):.1f} %" if far.any() else "-"
    cells = [
        robot,
        f"{POSITION_NOISE[noise]:g} rad",
        name,
        str(len(runs)),
        f"{100 * np.mean(idim <= quantile):.1f} %",
        f"{100 * np.mean(far):.1f} %",
        f"{100 * np.mean(iv <= quantile):.1f} %",
        f"{100 * np.mean(iv <= NEAR):.1f} %",
        of_these,
        f"{100 * np.mean(tested < 0.05):.1f} % of {tested.size}" if tested.size else "-",
    ]
    return f"| {' | '.join(cells)} |"


def emps_table() -> str:
    """The EMPS by IDIM and IV with three filters, beside the published values."""
    lines = [
        f"| method, cutoff | {' | '.join(PUBLISHED)} | away, published sigma | DWH, p |",
        "|---|" + "---:|" * (len(PUBLISHED) + 2),
        f"| published | {' | '.join(f'{v:.5g} ± {s:.2g}' for v, s in PUBLISHED.values())} | | |",
    ]
    for cutoff in EMPS_CUTOFFS:
        for method in ("idim", "iv"):
            study = didim.load_study(STUDY, [f"method={method}", f"idim.cutoff={cutoff}"])
            found = study.run()
            pairs = zip(found.values, found.corrected_sigma, strict=True)
            cells = [f"{value:.5g} ± {sigma:.2g}" for value, sigma in pairs]
            away = [
                abs(found.values[found.names.index(name)] - value) / sigma
                for name, (value, sigma) in PUBLISHED.items()
            ]
            p = found.tests[DURBIN_WU_HAUSMAN].p_value
            lines.append(
                f"| {found.method}, {cutoff:g} Hz | {' | '.join(cells)} | {max(away):.2g} | "
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
    parser.add_argument("--seeds", type=int, default=max(SEEDS.values()))
    parser.add_argument("--robots", nargs="+", default=list(SEEDS), choices=list(SEEDS))
    parser.add_argument("--docs", action="store_true", help=f"write the tables into {PAGE.name}")
    chosen = parser.parse_args()
    RESULTS.parent.mkdir(exist_ok=True)
    for case in list(missing(chosen.robots, chosen.seeds)):
        found = run(*case)
        with RESULTS.open("a") as file:
            file.write(f"{json.dumps(found)}\n")
    tables = {"filters": virtual_table(stored())}
    if (DATA / "emps" / "DATA_EMPS.mat").exists():
        tables["emps"] = emps_table()
    for name, table in tables.items():
        print(f"{table}\n")
        if chosen.docs:
            PAGE.write_text(written(PAGE.read_text(), name, table))


if __name__ == "__main__":
    main()
