"""`python -m benchmarks.effect_coverage`: how often 95 % intervals contain the truth where joints
have one of the effects of the catalogue, as a Markdown table; with `--docs` it goes into
docs/effects.md.

A virtual SCARA in a loop of 6 and 10 Hz, 5 s, 2 % torque noise, one noise a seed. Shapes that are
estimated, such as vs of Stribeck friction, start at 1.5 times their true value and are counted.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

import didim
from support.effects import LOOP, NEW, identified_record, wrong_shapes

PAGE = Path(__file__).parents[1] / "docs" / "effects.md"
BEGIN, END = "<!-- coverage -->", "<!-- end of coverage -->"
NOISE = 0.02
METHODS = {
    "IDIM": didim.IDIM(decimation=5),
    "DIDIM": didim.DIDIM(controller=LOOP, decimation=10),
}


def coverage(effect: str, seeds: int) -> list[float]:
    """Fraction of the intervals that contain the truth, for each of the methods."""
    model, true, record, motion = identified_record(effect)
    held: list[list[bool]] = [[] for _ in METHODS]
    for seed in range(1, seeds + 1):
        noise = np.random.default_rng(seed).standard_normal(record.tau.shape)
        deviation = NOISE * np.sqrt(np.mean(motion.tau**2, axis=0))
        noisy = replace(record, tau=record.tau + deviation * noise)
        for found, method in zip(held, METHODS.values(), strict=True):
            estimate = didim.identify(wrong_shapes(model), noisy, method)
            low, high = estimate.interval().T
            found += list((low <= true) & (true <= high))
            found += [
                abs(value - model.shape_values[name]) <= estimate.quantile(0.95) * sigma
                for name, (value, sigma) in estimate.shapes.items()
            ]
    return [float(np.mean(found)) for found in held]


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--docs", action="store_true", help=f"write the table into {PAGE.name}")
    chosen = parser.parse_args()
    names = [effect for effect in NEW if isinstance(effect, str)]
    with ProcessPoolExecutor(chosen.jobs) as pool:
        found = list(pool.map(coverage, names, [chosen.seeds] * len(names)))
    lines = [
        f"| effect | {' | '.join(METHODS)} |",
        "|---|" + "---:|" * len(METHODS),
        *(
            f"| `{name}` | {' | '.join(f'{100 * each:.1f} %' for each in row)} |"
            for name, row in zip(names, found, strict=True)
        ),
    ]
    table = "\n".join(lines)
    print(table)
    if chosen.docs:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}\n{chosen.seeds} seeds.\n\n{table}\n{END}{after}")


if __name__ == "__main__":
    main()
