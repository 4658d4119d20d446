"""The page of the XL330: what each effect brings, drive constants, friction and pictures; part of
`make machines`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

import didim
from didim.report.files import write_picture
from didim.report.pictures import new_axes
from didim.results.prediction import simulated

ROOT = Path(__file__).parents[1]
VOLTS = 7.4
SERVO = ("rotor", "viscous", "coulomb", "back_emf")
VARIANTS = {
    "Coulomb and viscous friction": SERVO,
    "and Stribeck friction": (*SERVO, "stribeck"),
    "friction proportional to the load": (*SERVO, "load_friction"),
    "friction of the study: load and temperature": None,
}


def rows() -> Iterator[str]:
    """The lines of the page, with the pictures written on the way."""
    study = didim.load_study(ROOT / "examples" / "xl330.toml")
    own = study.model.robot.effects
    yield "| model | status | residual | mean error of the fit | at kp 400 |"
    yield "|---|---|---:|---:|---:|"
    for name, effects in VARIANTS.items():
        chosen = (*SERVO, *(each.name for each in own)) if effects is None else effects
        model = didim.DynamicModel(study.model.robot, list(chosen), fixed=study.settings.fixed)
        found = didim.identify(model, study.experiments, study.method())
        fit, tried = (mean_error(found, some) for some in (study.experiments, study.validation))
        figures = f"{100 * found.residual:.3g} % | {fit:.2f}° | {tried:.2f}°"
        yield f"| {name} | {found.status} | {figures} |"
    yield ""
    yield "| | value | 95 % interval or sigma |"
    yield "|---|---:|---|"
    for name, value, (low, high) in zip(found.names, found.values, found.interval(), strict=True):
        if high > low:
            yield f"| {name} | {value:.4g} | {low:.4g} to {high:.4g} |"
    for name, (value, sigma) in {**found.gains, **found.shapes}.items():
        yield f"| {name} | {value:.4g} | {sigma:.2g} |"
    back = found.values[list(found.names).index("Kb1")]
    kt = VOLTS * back / found.gains["drive_gain1"][0]
    yield f"| kt = V Kb/g, V s/rad | {kt:.3g} | |"
    yield f"| R = V kt/g, ohm | {VOLTS * kt / found.gains['drive_gain1'][0]:.3g} | |"
    _positions(found, study.validation)
    _friction(found)


def mean_error(found: didim.Estimate, records: Sequence[didim.Experiment]) -> float:
    """Mean absolute position error of simulations from the first sample, degrees."""
    return float(np.mean([np.mean(np.abs(_error(found, each))) for each in records]))


def _error(found: didim.Estimate, record: didim.Experiment) -> np.ndarray:
    return np.degrees(_simulated(found, record) - np.asarray(record.q))


def _simulated(found: didim.Estimate, record: didim.Experiment) -> np.ndarray:
    of = found.predictor
    motion = simulated(of.model, of.parameters, of.controller, record, of.preprocessing)
    return np.asarray(motion.q + of.preprocessing.logged)


def _positions(found: didim.Estimate, records: Sequence[didim.Experiment]) -> None:
    axes = new_axes(len(records), 1, (9.0, 2.0))
    for ax, record in zip(axes[:, 0], records, strict=True):
        ax.plot(record.t, np.degrees(record.q), label="measured")
        ax.plot(record.t, np.degrees(_simulated(found, record)), label="simulated")
        ax.set_title(record.name)
        ax.set_ylabel("degrees")
    axes[0, 0].legend()
    axes[-1, 0].set_xlabel("s")
    write_picture(axes[0, 0], ROOT / "docs" / "images" / "xl330.png")


def _friction(found: didim.Estimate) -> None:
    """Coulomb limit over the load, at the temperatures of the first and the last records."""
    model, load = found.model, np.linspace(0.0, 0.45, 100)[:, None]
    rest, slip = np.zeros((load.size, 1)), np.ones((load.size, 1))
    axes = new_axes(1, 1, (7.0, 3.2))
    for degrees in (28.0, 32.0, 38.0):
        channels = {"temperature": np.full(load.size, degrees), "enabled": np.ones(load.size)}
        signals = {"load": load, **channels}
        of = (rest, rest, rest, found.predictor.parameters)
        sliding, free = (
            model.inverse_dynamics(*of, part * slip, signals)[:, 0] for part in (1.0, 0.0)
        )
        axes[0, 0].plot(load[:, 0], sliding - free, label=f"{degrees:g} °C")
    axes[0, 0].set(xlabel="load, N.m", ylabel="friction, N.m", title="What does the gear lose?")
    axes[0, 0].legend()
    write_picture(axes[0, 0], ROOT / "docs" / "images" / "xl330_friction.png")
