"""`python -m benchmarks.idim_coverage`: how often 95 % intervals of IDIM contain the truth, as a
Markdown table; with `--docs` it goes into docs/identification.md.

Virtual robots in loops of 5 Hz, 16 s of three random Fourier periods, 2 % torque noise; each seed
has its own trajectory and noise. Coverage is pooled over seeds and base parameters, at the default
settings and, for comparison, with `cutoff=20.0`.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np

import didim
from support.coverage import relative_errors, virtual_record

SEEDS = {"scara": 100, "double_pendulum": 100, "panda": 20, "tx40": 20}
RATES = (200.0, 500.0, 1000.0)
ENCODERS = (0.0, 1e-4)
METHODS = {"default": didim.IDIM(), "`cutoff=20.0`": didim.IDIM(cutoff=20.0)}
PAGE = Path(__file__).parents[1] / "docs" / "identification.md"
BEGIN, END = "<!-- coverage -->", "<!-- end of coverage -->"

Case = tuple[str, float, float]


def coverage(case: Case) -> list[float]:
    """Fraction of the intervals that contain the truth, for each of the methods."""
    errors: list[list[np.ndarray]] = [[] for _ in METHODS]
    for seed in range(1, SEEDS[case[0]] + 1):
        record = virtual_record(*case, seed)
        for found, method in zip(errors, METHODS.values(), strict=True):
            found.append(relative_errors(case[0], record, method))
    return [float(np.mean(np.concatenate(found) <= 1.0)) for found in errors]


def table(cases: list[Case], found: list[list[float]]) -> str:
    """Markdown."""
    lines = [
        f"| robot | seeds | rate, Hz | encoder step, rad | {' | '.join(METHODS)} |",
        "|---|---:|---:|---:|" + "---:|" * len(METHODS),
    ]
    for (robot, rate, encoder), each in zip(cases, found, strict=True):
        percent = " | ".join(f"{100 * value:.1f} %" for value in each)
        step = "none" if encoder == 0 else f"{encoder:g}"
        lines.append(f"| {robot} | {SEEDS[robot]} | {rate:g} | {step} | {percent} |")
    return "\n".join(lines)


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--docs", action="store_true", help=f"write the table into {PAGE.name}")
    chosen = parser.parse_args()
    cases = list(product(SEEDS, RATES, ENCODERS))
    with ProcessPoolExecutor(chosen.jobs) as pool:
        found = list(pool.map(coverage, cases))
    print(text := table(cases, found))
    if chosen.docs:
        before, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main()
