"""The columns of suspects are derivatives of the simulated loop: against differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import didim
from didim.regression.system import LinearSystem
from didim.simulation.records import record_set
from didim.structure.columns import SimulatedFit
from didim.structure.of_loop import suspects_of_loop
from didim.structure.of_robot import suspects_of_robot
from didim.structure.suspect import Course, Suspect
from support.virtual import model

EFFECTS = ("rotor", "viscous")
"""Without Coulomb friction: no contact is frozen."""

GAINS = {"kp": [12.0, 20.0], "kv": [140.0, 6.0]}


@pytest.fixture(scope="module", params=["tau", "q"])
def fit(request) -> SimulatedFit:
    """The SCARA in a continuous PD loop, right parameters; torque or position compared."""
    scara = model("scara", EFFECTS)
    loop = didim.PD(**GAINS)
    trajectory = didim.Fourier.random(scara.robot, 1, period=4.0, periods=1, share=0.7)
    record, _ = didim.virtual_experiment(scara, scara.nominal, loop, trajectory, rate=500)
    estimate = didim.identify(scara, record, didim.DIDIM(controller=loop, lack_of_fit=False))
    how = estimate.preprocessing
    records = record_set(
        estimate.model,
        [record],
        loop,
        how.selection,
        how.transient,
        how.start,
        (request.param,),
        False,
    )
    return SimulatedFit(
        estimate.model, estimate.parameters, loop, records, records.window(how.transient)
    )


@pytest.fixture(scope="module")
def courses(fit) -> list[Course]:
    found = fit.courses()
    assert found is not None
    return found


def column(fit: SimulatedFit, courses: list[Course], suspect: Suspect):
    found = fit.columns([suspect], courses)
    assert found is not None
    return found[0], found[1][:, 0]


def difference(
    fit: SimulatedFit, system: LinearSystem, changed: Callable[[float], SimulatedFit], step: float
) -> np.ndarray:
    """A difference of second order of the simulated output at the rows of the fit; one-sided, since
    gains must not be negative.
    """
    (output,) = fit.records.outputs
    none, one, two = (getattr(changed(k * step).motions()[0], output) for k in (0, 1, 2))
    slope = (4 * one - 3 * none - two) / (2 * step)
    reduced = fit.records.selection.columns(fit.window.samples[0], slope)
    return reduced[system.index, system.joint]


def named(suspects: list[Suspect], name: str) -> Suspect:
    return next(each for each in suspects if each.name == name)


def agree(found: np.ndarray, expected: np.ndarray, fraction: float = 0.01) -> None:
    assert np.linalg.norm(found - expected) < fraction * np.linalg.norm(expected)


@pytest.mark.parametrize("name", ["off1", "ks2", "dFv1"])
def test_an_effect_is_the_answer_of_the_loop_to_its_torque(fit, courses, name):
    suspect = named(suspects_of_robot(fit.model, courses, {}, True), name)
    joint = int(name[-1])
    torque = {
        "off1": "c",
        "ks2": f"c * (q - {suspect.shapes.get('qs', 0.0):.17g})",
        "dFv1": "c * abs(dq)",
    }[name]
    effect = didim.Effect("more", torque, {"c": {"unit": ""}}, joint=joint)
    larger = didim.DynamicModel(fit.model.robot, [*EFFECTS, effect]).base

    def with_more(c: float) -> SimulatedFit:
        values = dict(zip(fit.model.parameter_names, fit.parameters, strict=True))
        parameters = np.array([values.get(each, c) for each in larger.parameter_names])
        return replace(fit, model=larger, parameters=parameters)

    system, found = column(fit, courses, suspect)
    agree(found, difference(fit, system, with_more, 1e-3))


@pytest.mark.parametrize("name", ["ff1", "ff", "ki", "kiv2", "reference delay", "kp1"])
def test_a_term_of_the_law_is_the_answer_of_the_loop_to_its_command(fit, courses, name):
    law = courses[0].law
    assert law is not None
    suspect = named(suspects_of_loop(law, courses, np.full(2, np.inf), ()), name)
    kp, kv = (np.array(GAINS[kind]) for kind in ("kp", "kv"))

    def with_term(theta: float) -> SimulatedFit:
        if name == "reference delay":
            return replace(fit, delay=theta)
        loop = {
            "ff1": lambda: didim.PD(kp=kp, kv=kv, velocity_reference=[theta, 0.0]),
            "ff": lambda: didim.PD(kp=kp, kv=kv, velocity_reference=theta),
            "ki": lambda: didim.PID(kp=kp, kv=kv, ki=theta * kp * kv),
            "kiv2": lambda: didim.Cascade(kp=kp, kv=kv, kiv=theta * kv * [0.0, 1.0]),
            "kp1": lambda: didim.PD(kp=kp * [1.0 + 0.01 * theta, 1.0], kv=kv),
        }[name]
        return replace(fit, controller=loop())

    system, found = column(fit, courses, suspect)
    agree(found, difference(fit, system, with_term, 1e-3))
