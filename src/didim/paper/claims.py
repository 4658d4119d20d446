"""What the paper claims, and whether it holds on the virtual SCARA."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from didim.paper.experiments import PaperExperiments
from didim.results.estimate import Estimate
from didim.results.status import Status


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
    parts = (_tuning, _initial_values, _iterations, _low_rate, _no_filter, _bandwidth, _start)
    return [claim for part in parts for claim in part(runs)]


def inertia_error(runs: PaperExperiments, estimate: Estimate) -> float:
    """Largest relative error of ZZ1R, ZZ2 and LMX2."""
    chosen = [estimate.names.index(name) for name in ("ZZ1R", "ZZ2", "MX2")]
    return float(np.abs(estimate.values[chosen] / runs.truth[chosen] - 1).max())


def _difference(one: Estimate, other: Estimate) -> float:
    """Largest difference of two estimates, in standard deviations of it."""
    sigma = np.hypot(one.corrected_sigma, other.corrected_sigma)
    return float(np.abs((one.values - other.values) / sigma).max())


def _percent(value: float) -> str:
    return f"{100 * value:.2g} %"


def _tuning(runs: PaperExperiments) -> list[Claim]:
    worst = {name: inertia_error(runs, estimate) for name, estimate in runs.mistuned.items()}
    figures = ", ".join(f"{name} {_percent(error)}" for name, error in worst.items())
    text = "an a priori J or drive gain 20 % off, (58) and (60), has little effect."
    holds = max(worst.values()) < 0.025
    return [Claim("IV.B", text, holds, f"Inertias are off by {figures}.")]


def _initial_values(runs: PaperExperiments) -> list[Claim]:
    from_idim = runs.from_idim.printed
    pairs = zip(runs.idim.names, runs.idim.values, from_idim.values, strict=True)
    compared = ("ZZ1R", "Fc1", "ZZ2", "MX2", "Fc2")
    change = max(abs(two / one - 1) for name, one, two in pairs if name in compared)
    residuals = [each.residual for each in (runs.idim, from_idim)]
    viscous = [from_idim.relative_sigma[from_idim.names.index(name)] for name in ("Fv1", "Fv2")]
    regular = (runs.regular.printed, runs.identity.printed)
    gap = max(_difference(each, from_idim) for each in regular)
    steps = max(each.iterations for each in regular)
    bad = inertia_error(runs, runs.by_reference)
    return [
        Claim(
            "VI.A",
            "with good filtering, DIDIM started at IDIM's values stays close to them, residuals "
            "below 3 %.",
            change < 0.03 and max(residuals) < 0.03,
            f"Inertias and Coulomb friction differ by at most {_percent(change)}; residuals "
            f"{_percent(residuals[0])} and {_percent(residuals[1])}.",
        ),
        Claim(
            "VI.A",
            "it needs only 2 steps.",
            from_idim.iterations <= 2,
            f"{from_idim.iterations} steps as printed, {runs.from_idim.guarded.iterations} by the "
            "test in units of sigma.",
        ),
        Claim(
            "VI.A",
            "Fv1 and Fv2 are not significant (relative sigma above 30 %).",
            min(viscous) > 30,
            f"Relative sigma {viscous[0]:.2g} and {viscous[1]:.2g} %.",
        ),
        Claim(
            "VI.B",
            "the regular initialisation leads to the same values in about 3 steps.",
            gap < 1 and steps <= 4,
            f"(61) and (63) differ by at most {gap:.2f} sigma after {steps} steps.",
        ),
        Claim(
            "VI.B",
            "the reference in place of the motion gives bad parameters.",
            bad > 0.05,
            f"An inertia is off by {_percent(bad)}, friction by more.",
        ),
    ]


def _iterations(runs: PaperExperiments) -> list[Claim]:
    history = runs.regular.printed.history
    signals = ("q", "dq", "ddq")
    to_measured = {
        name: np.array([getattr(step.to_measured, name) for step in history]) for name in signals
    }
    to_reference = {name: getattr(history[-1].to_reference, name) for name in signals}
    change = {
        name: float((each.max(axis=0) / each.min(axis=0)).max())
        for name, each in to_measured.items()
    }
    ratio = {name: float(np.min(to_reference[name] / to_measured[name][-1])) for name in signals}
    errors = np.array([step.residual_by_joint for step in history])
    fall, third = errors[0] / errors[-1], errors[min(3, len(errors) - 1)] / errors[-1]
    return [
        Claim(
            "VI.B",
            "the simulated motion stays at a constant distance from the actual one over the "
            "iterations.",
            max(change.values()) < 2,
            "Largest over smallest distance: "
            + ", ".join(f"{name} {value:.2g}" for name, value in change.items())
            + " (worst joint).",
        ),
        Claim(
            "VI.B",
            "it is 3 to 5 times closer to the actual motion than to the reference.",
            min(ratio.values()) > 3,
            "Times closer: "
            + ", ".join(f"{name} {value:.2g}" for name, value in ratio.items())
            + " (worst joint).",
        ),
        Claim(
            "VI.B",
            "meanwhile the torque error falls more than ten times, within 3 steps (Table 3).",
            bool(np.all(fall > 10) and np.all(third < 1.1)),
            f"It falls {fall[0]:.2g} and {fall[1]:.2g} times; after 3 steps it is "
            f"{third.max():.3g} times its last value.",
        ),
    ]


def _low_rate(runs: PaperExperiments) -> list[Claim]:
    bad, good = inertia_error(runs, runs.slow_idim), inertia_error(runs, runs.slow_didim.printed)
    text = "at 0.5 Hz IDIM fails and DIDIM is still good."
    figures = f"Inertias are off by {_percent(bad)} and {_percent(good)}."
    return [Claim("VI.C", text, bad > 0.2 and good < 0.03, figures)]


def _no_filter(runs: PaperExperiments) -> list[Claim]:
    bad, good = inertia_error(runs, runs.raw_idim), inertia_error(runs, runs.raw_didim.printed)
    text = "without data filtering IDIM fails and DIDIM is still good."
    figures = f"Inertias are off by {_percent(bad)} and {_percent(good)}."
    return [Claim("VI.D", text, bad > 0.2 and good < 0.03, figures)]


def _bandwidth(runs: PaperExperiments) -> list[Claim]:
    found = []
    stiffer = runs.stiffer
    kept = "kp kept as (59) prints"
    cases = (
        (runs, "kp and kv from it", runs.half, runs.third),
        (runs, kept, runs.half_kp_kept, runs.third_kp_kept),
        (stiffer, f"{kept}, stiffer loop", stiffer.half_kp_kept, stiffer.third_kp_kept),
    )
    for case, reading, half, third in cases:
        same, fails = (_loop_error(case, each.printed) for each in (half, third))
        found += [
            Claim(
                "VI.E",
                f"half the true bandwidth ({reading}) gives the same parameters.",
                half.printed.status is Status.CONVERGED and same[0] < 0.025,
                same[1],
            ),
            Claim(
                "VI.E",
                f"DIDIM fails at a third of the bandwidth ({reading}).",
                third.printed.status is not Status.CONVERGED or fails[0] > 0.05,
                fails[1],
            ),
        ]
    return found


def _loop_error(runs: PaperExperiments, estimate: Estimate) -> tuple[float, str]:
    """The inertia error of a run in another loop, and its figures."""
    error, residual = inertia_error(runs, estimate), _percent(estimate.residual)
    text = f"Inertias are off by {_percent(error)}, the residual is {residual}"
    return error, f"{text} ({estimate.status})."


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
            f"of {_percent(with_cut.residual)} ({kept.status}).",
        ),
    ]
