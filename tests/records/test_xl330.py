"""A measured servo with a pendulum, positions alone: its study, and what a check finds."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import didim
from didim.results.prediction import simulated
from support.records import DATA, record

STUDY = Path(__file__).parents[2] / "examples" / "xl330.toml"


@pytest.fixture(autouse=True)
def data(monkeypatch):
    monkeypatch.setenv("DIDIM_DATA", str(DATA))


@cache
def study(*settings: str) -> didim.Study:
    record("xl330", "kp100_sin_sin.csv.gz")
    return didim.load_study(STUDY, settings)


def mean_error(found: didim.Estimate, experiment: didim.Experiment) -> float:
    """Degrees, of a simulation from the first sample."""
    of = found.predictor
    motion = simulated(of.model, of.parameters, of.controller, experiment, of.preprocessing)
    error = motion.q + of.preprocessing.logged - np.asarray(experiment.q)
    return float(np.degrees(np.mean(np.abs(error))))


def test_its_records_have_no_torque_and_gains_of_their_own():
    records = study().records
    assert len(records) == 12
    assert all(each.tau is None for each in records)
    assert {float(each.gains["kp"][0]) for each in records} == {100.0, 400.0, 800.0}
    findings = study().check()
    assert not [each for each in findings if each.check.startswith("torque")]
    assert not [each for each in findings if each.level == "fail"]


@pytest.mark.long
def test_a_gain_that_it_was_not_fitted_to_is_predicted():
    found = study().run()
    assert found.status == "converged"
    assert np.mean([mean_error(found, each) for each in study().validation]) < 2.3
    assert 0.5 < found.gains["drive_gain1"][0] < 0.75
    assert {each.experiment for each in found.validation} == {r.name for r in study().validation}
