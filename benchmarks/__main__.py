"""`make bench`: run all benchmarks, print Markdown tables, and keep them with a JSON file in
benchmarks/results.

`python -m benchmarks --docs` writes the tables into docs/benchmarks.md too.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from dataclasses import asdict
from pathlib import Path
from textwrap import fill

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

from benchmarks import dynamics, growth, identification, signals, simulation, timing
from benchmarks.compiling import compile_seconds
from didim.jit.compiled import warm

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- results -->", "<!-- end -->"


def main() -> None:
    """Measure, print and write."""
    warnings.simplefilter("ignore")  # of peers
    warm()
    seconds = compile_seconds()
    rows = dynamics.rows() + signals.rows() + simulation.rows() + identification.rows()
    growing, peaks, starts = growth.growths(), growth.memory(), growth.cold_start()
    starts |= growth.exact_method()
    about = timing.machine()
    lines = [
        " · ".join(f"{key} {value}" for key, value in about.items()),
        "",
        timing.table(rows),
        "",
        growth.text(growing, peaks, starts),
        "",
        "Compiling, s: "
        + ", ".join(f"{name} {value:.2g}" for name, value in seconds.items())
        + ".",
    ]
    text = "\n".join(line if line.startswith("|") else fill(line, 100) for line in lines)
    print(text)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "bench.md").write_text(text + "\n")
    found = {
        "machine": about,
        "compile_seconds": seconds,
        "rows": [asdict(row) | {"ratio": row.ratio, "reached": row.reached} for row in rows],
        "growth": growth.as_json(growing),
        "memory": peaks,
        "cold_start": starts,
    }
    (RESULTS / "bench.json").write_text(json.dumps(found, indent=2) + "\n")
    if "--docs" in sys.argv[1:]:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
