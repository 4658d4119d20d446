"""What the paper claims, and whether it holds on the virtual SCARA."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from didim.paper.experiments import PaperExperiments
from didim.results.estimate import Estimate


@dataclass(frozen=True)
class Claim:
    """One claim, where it is made, whether it holds here, and the figures that say so."""

    section: str
    text: str
    holds: bool
    figures: str

    def __str__(self) -> str:
        return (
            f"[{'holds' if self.holds else 'DOES NOT HOLD'}] {self.section}: {self.text} "
            f"{self.figures}"
        )


def claims(runs: PaperExperiments) -> list[Claim]:
    """All of them, in the order of the paper."""
    return [
        *_tuning(runs),
        *_initial_values(runs),
        *_low_rate(runs),
        *_no_filter(runs),
        *_bandwidth(runs),
        *_start(runs),
    ]


def inertia_error(runs: PaperExperiments, estimate: Estimate) -> float:
    """Largest relative error of ZZ1R, ZZ2 and LMX2."""
    chosen = [estimate.names.index(name) for name in ("ZZ1R", "ZZ2", "MX2")]
    return float(np.abs(estimate.values[chosen] / runs.truth[chosen] - 1).max())


def _apart(one: Estimate, other: Estimate) -> float:
    """Largest difference of two estimates, in standard deviations of it."""
    sigma = np.hypot(one.corrected_sigma, other.corrected_sigma)
    return float(np.abs((one.values - other.values) / sigma).max())


def _percent(value: float) -> str:
    return f"{100 * value:.2g} %"


def _tuning(runs: PaperExperiments) -> list[Claim]:
    worst = {name: inertia_error(runs, estimate) for name, estimate in runs.mistuned.items()}
    told = ", ".join(f"{name} {_percent(error)}" for name, error in worst.items())
    text = "an a priori J or drive gain 20 % off, (58) and (60), has little effect."
    return [Claim("IV.B", text, max(worst.values()) < 0.025, f"Inertias are off by {told}.")]


def _initial_values(runs: PaperExperiments) -> list[Claim]:
    pairs = zip(runs.idim.names, runs.idim.values, runs.didim_from_idim.values, strict=True)
    apart = {
        name: abs(two / one - 1)
        for name, one, two in pairs
        if name in ("ZZ1R", "Fc1", "ZZ2", "MX2", "Fc2")
    }
    residuals = [each.residual for each in (runs.idim, runs.didim_from_idim)]
    regular = {"unit": runs.regular, "identity": runs.identity}
    gap = max(_apart(each, runs.didim_from_idim) for each in regular.values())
    steps = max(each.iterations for each in regular.values())
    last = runs.regular.history[-1]
    ratio = {
        signal: float(
            np.min(getattr(last.to_reference, signal) / getattr(last.to_measured, signal))
        )
        for signal in ("q", "dq", "ddq")
    }
    bad = inertia_error(runs, runs.by_reference)
    return [
        Claim(
            "VI.A",
            "with good filtering, DIDIM started at IDIM's values stays close to them, residuals "
            "below 3 %.",
            max(apart.values()) < 0.03
            and runs.didim_from_idim.iterations <= 2
            and max(residuals) < 0.03,
            f"Inertias and Coulomb friction differ by at most {_percent(max(apart.values()))} "
            "after "
            f"{runs.didim_from_idim.iterations} steps; residuals {_percent(residuals[0])} and "
            f"{_percent(residuals[1])}.",
        ),
        Claim(
            "VI.B",
            "the regular initialisation leads to the same values in about 3 steps.",
            gap < 1 and steps <= 4,
            f"(61) and (63) differ by at most {gap:.2f} sigma after {steps} steps.",
        ),
        Claim(
            "VI.B",
            "the simulated motion is 3 to 5 times closer to the actual one than to the reference.",
            min(ratio.values()) > 3,
            "Times closer: "
            + ", ".join(f"{signal} {value:.2g}" for signal, value in ratio.items())
            + " (worst joint).",
        ),
        Claim(
            "VI.B",
            "the reference in place of the motion gives bad parameters.",
            bad > 0.05,
            f"An inertia is off by {_percent(bad)}, friction by more.",
        ),
    ]


def _low_rate(runs: PaperExperiments) -> list[Claim]:
    bad, good = inertia_error(runs, runs.slow_idim), inertia_error(runs, runs.slow_didim)
    text = "at 0.5 Hz IDIM fails and DIDIM is still good."
    return [
        Claim(
            "VI.C",
            text,
            bad > 0.2 and good < 0.03,
            f"Inertias are off by {_percent(bad)} and {_percent(good)}.",
        )
    ]


def _no_filter(runs: PaperExperiments) -> list[Claim]:
    bad, good = inertia_error(runs, runs.raw_idim), inertia_error(runs, runs.raw_didim)
    text = "without data filtering IDIM fails and DIDIM is still good."
    return [
        Claim(
            "VI.D",
            text,
            bad > 0.2 and good < 0.03,
            f"Inertias are off by {_percent(bad)} and {_percent(good)}.",
        )
    ]


def _bandwidth(runs: PaperExperiments) -> list[Claim]:
    half, third = inertia_error(runs, runs.half), inertia_error(runs, runs.third)
    return [
        Claim(
            "VI.E",
            "half the true bandwidth gives the same parameters.",
            runs.half.status == "converged" and half < 0.025,
            f"Inertias are off by {_percent(half)}, the residual is {_percent(runs.half.residual)} "
            f"({runs.half.status}).",
        ),
        Claim(
            "VI.E",
            "DIDIM fails at a third of the bandwidth.",
            runs.third.status != "converged" or third > 0.05,
            f"Inertias are off by {_percent(third)}, the residual is "
            f"{_percent(runs.third.residual)} ({runs.third.status}).",
        ),
    ]


def _start(runs: PaperExperiments) -> list[Claim]:
    with_cut, kept = runs.off_start
    cut, whole = inertia_error(runs, with_cut), inertia_error(runs, kept)
    return [
        Claim(
            "VII",
            "an unknown initial state does no harm once the transient is cut.",
            cut < 0.025,
            f"Inertias within {_percent(cut)}.",
        ),
        Claim(
            "VII",
            "it does harm if the transient is kept.",
            kept.residual > 2 * with_cut.residual,
            f"Inertias off by {_percent(whole)}; the residual is {_percent(kept.residual)} instead "
            "of "
            f"{_percent(with_cut.residual)} ({kept.status}).",
        ),
    ]
