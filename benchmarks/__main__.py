"""`make bench`: run all benchmarks, print a Markdown table, and keep it with a JSON file in benchmarks/results."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

from benchmarks import dynamics, identification, simulation, timing
from didim.compiled import warm

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Measure, print and write."""
    seconds = warm()
    rows = dynamics.rows() + simulation.rows() + identification.rows()
    about = timing.machine()
    lines = [
        " · ".join(f"{key} {value}" for key, value in about.items()),
        "",
        timing.table(rows),
        "",
        "Compiling or loading, s: " + ", ".join(f"{name.rsplit('.', 1)[1]} {value:.2f}" for name, value in seconds.items()),
    ]
    print("\n".join(lines))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "bench.md").write_text("\n".join(lines) + "\n")
    report = {"machine": about, "compile_seconds": seconds, "rows": [asdict(row) | {"ratio": row.ratio} for row in rows]}
    (RESULTS / "bench.json").write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
