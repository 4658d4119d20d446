"""Trials of other laws: the right one is found from parameters that it cannot be simulated with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import didim
from didim.simulation.records import record_set
from didim.structure.columns import SimulatedFit
from didim.structure.other_laws import other_laws
from didim.structure.trial import best_trial
from support.virtual import model

GAINS = {"kp": [12.0, 20.0], "kv": [140.0, 6.0]}
INTEGRAL = 6.0
"""1/s: ki over kp kv."""


@pytest.fixture(scope="module")
def fit() -> SimulatedFit:
    """A record of a PID, and the PD that it is taken for, at the right parameters."""
    scara, assumed = model(), didim.PD(**GAINS)
    kp, kv = (np.array(GAINS[name]) for name in ("kp", "kv"))
    true = didim.PID(kp=kp, kv=kv, ki=INTEGRAL * kp * kv)
    trajectory = didim.Fourier.random(scara.robot, 1, period=4.0, periods=2, share=0.7)
    record, _ = didim.virtual_experiment(scara, scara.nominal, true, trajectory, rate=500)
    estimate = didim.identify(scara, record, didim.DIDIM(controller=assumed, lack_of_fit=False))
    how = estimate.preprocessing
    records = record_set(
        estimate.model, [record], assumed, how.selection, how.transient, how.start, ("tau",), False
    )
    at = scara.base.nominal, assumed, records, records.window(how.transient)
    return SimulatedFit(scara.base, *at)


@pytest.mark.parametrize("enough", [np.inf, 1e-3])
def test_the_right_law_is_found_from_other_parameters_where_those_of_the_fit_fail(fit, enough):
    """At friction that drives the joints, no PID of this loop is stable."""
    viscous = [fit.model.parameter_names.index(name) for name in ("Fv1", "Fv2")]
    wrong = fit.parameters.copy()
    wrong[viscous] = -0.8 * np.array(GAINS["kv"])
    start = replace(fit, parameters=wrong)
    courses = start.courses()
    assert courses is not None
    laws = other_laws(fit.controller, courses[0].law, [])
    found = best_trial(start, laws, np.ones(2), enough)
    assert found is not None
    if enough < 1:
        assert found.law.suspect == "ki"
        assert found.theta == pytest.approx(INTEGRAL, rel=0.02)
    else:
        assert found.law.suspect != "ki" or found.theta != pytest.approx(INTEGRAL, rel=0.02)
