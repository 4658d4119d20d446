"""`python -m benchmarks.basin`: from how far off plain and refined DIDIM arrive; the map of
docs/images/basin.png.

A virtual SCARA in a loop of 6.28 and 62.8 rad/s, 20 s of torque at 200 Hz, from "unit"; the assumed
loop is that loop with kp and kv both times a factor, the noise a share of the torque. Colour: what
is left of the torque, over what noise would leave.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LogNorm

import didim
from support.undescribed import inertias, judged, loop, truth, undescribed

RATIOS = (0.2, 0.333, 0.5, 0.8, 1.0, 1.25, 2.0, 3.0, 5.0)
NOISES = (0.005, 0.02, 0.05, 0.1, 0.2)
FREQUENCY = np.array([6.28, 62.8])
IMAGE = Path(__file__).parents[1] / "docs" / "images" / "basin.png"


def tried(case: tuple[float, float, bool]) -> tuple[float, int, str]:
    """Residual over the noise floor, steps and status of one run."""
    ratio, noise, refine = case
    model, J = truth("scara"), inertias("scara")
    trajectory = didim.Fourier.random(model.robot, 1, period=6.7, share=1.0, periods=3)
    right, assumed = (loop("PD", FREQUENCY, J, factor) for factor in (1.0, ratio))
    record, real = didim.virtual_experiment(
        model, model.nominal, right, trajectory, rate=200.0, noise=noise, seed=3
    )
    record = didim.Experiment(t=record.t, tau=record.tau, q_ref=trajectory)
    method = didim.DIDIM(controller=assumed, decimation=4, estimate_gains=refine)
    estimate = didim.identify(undescribed("scara"), record, method)
    if not np.isfinite(estimate.residual):
        return np.inf, 0, estimate.status
    return judged(estimate, record, real, "scara").floor, estimate.iterations, estimate.status


def draw(found: dict[tuple[float, float, bool], tuple[float, int, str]]) -> plt.Figure:
    """Four maps: residual and steps, plain and refined."""
    figure, axes = plt.subplots(
        2, 2, figsize=(9.5, 6.2), sharex=True, sharey=True, layout="constrained"
    )
    titles = {False: "plain DIDIM, loop as assumed", True: "refined, gains unknown"}
    for column, refine in enumerate((False, True)):
        floor, steps = (
            np.array(
                [[found[ratio, noise, refine][part] for ratio in RATIOS] for noise in NOISES],
                dtype=float,
            )
            for part in (0, 1)
        )
        shown = [
            (
                np.clip(floor, 1.0, 100.0),
                {"norm": LogNorm(1, 100), "cmap": "magma_r"},
                "residual / noise floor",
            ),
            (steps, {"vmin": 0, "vmax": 20, "cmap": "viridis_r"}, "steps"),
        ]
        for row, (values, style, label) in enumerate(shown):
            ax = axes[row, column]
            image = ax.imshow(values, origin="lower", aspect="auto", **style)
            for (y, x), value in np.ndenumerate(values):
                ratio, noise = RATIOS[x], NOISES[y]
                failed = found[ratio, noise, refine][2] != "converged"
                text = ("x " if failed else "") + (f"{value:.3g}" if row == 0 else f"{value:.0f}")
                red, green, blue, _ = image.cmap(image.norm(value))
                dark = 0.3 * red + 0.6 * green + 0.1 * blue < 0.5
                ax.text(
                    x,
                    y,
                    text,
                    ha="center",
                    va="center",
                    fontsize=8,
                    color="white" if dark else "black",
                )
            ax.set_xticks(range(len(RATIOS)), [f"{ratio:g}" for ratio in RATIOS])
            ax.set_yticks(range(len(NOISES)), [f"{100 * noise:g}" for noise in NOISES])
            if row == 0:
                ax.set_title(titles[refine])
            else:
                ax.set_xlabel("assumed over true gains (kp and kv)")
            if column == 0:
                ax.set_ylabel("torque noise, %")
            else:
                figure.colorbar(image, ax=axes[row, :], label=label, shrink=0.9)
    figure.suptitle("From how wrong a loop does DIDIM arrive? (x: it says itself that it did not)")
    return figure


def main() -> None:
    """Run and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=IMAGE)
    chosen = parser.parse_args()
    cases = list(product(RATIOS, NOISES, (False, True)))
    with ProcessPoolExecutor(chosen.jobs) as pool:
        found = dict(zip(cases, pool.map(tried, cases), strict=True))
    draw(found).savefig(chosen.out, dpi=110)


if __name__ == "__main__":
    main()
