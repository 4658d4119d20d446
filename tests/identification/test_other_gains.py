"""A minimum of the gains of one joint alone: other ones of that joint are tried from the prior."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import didim
from didim.identification.best_run import Run, best_run, odd_joint
from didim.identification.exact import ExactMethod
from didim.identification.solve import Outcome
from didim.results.status import Failure, StopReason
from support.virtual import loop, model, scara_record

NOISE = 0.02


def method(**settings) -> ExactMethod:
    chosen = didim.DIDIM(**{"controller": loop(), "estimate_gains": True, **settings}, decimation=4)
    records = chosen._records(model().base, (scara_record(noise=NOISE)[0],))
    preprocessing = chosen._preprocessing(records)
    return ExactMethod(
        "DIDIM", chosen, *(model().base, records, loop(), preprocessing), False, True
    )


def ended_with(found: ExactMethod, by_kp: list[float], by_kv: list[float]) -> Run:
    """A run that calls itself converged, with other gains than those that are true here."""
    gains = found.gains_of(loop())
    other = replace(gains, kp=gains.kp * by_kp, kv=gains.kv * by_kv)
    problem = found.problem(loop().with_gains(other))
    start = found._started(problem, found.first)
    assert not isinstance(start, Failure)
    return problem, Outcome(start, StopReason.TOLERANCES, ())


def test_the_joint_that_leaves_far_more_than_the_others_is_odd():
    found = method()
    assert odd_joint(found, *ended_with(found, [1.0, 1.4], [1.0, 0.7])) == 1
    assert odd_joint(found, *ended_with(found, [1.0, 1.0], [1.0, 1.0])) is None
    assert odd_joint(found, *ended_with(found, [1.3, 1.4], [0.7, 0.7])) is None, "both"
    known = method(estimate_gains=False)
    assert odd_joint(known, *ended_with(known, [1.0, 1.4], [1.0, 0.7])) is None
    problem, outcome = ended_with(found, [1.0, 1.4], [1.0, 0.7])
    assert odd_joint(found, problem, replace(outcome, reason=StopReason.LIMIT)) is None


def test_other_gains_of_an_odd_joint_lead_out_of_its_minimum(monkeypatch: pytest.MonkeyPatch):
    found = method()
    wrong = ended_with(found, [1.0, 1.4], [1.0, 0.7])
    monkeypatch.setattr("didim.identification.best_run._starts", lambda *_: ([], []))
    monkeypatch.setattr("didim.identification.best_run.is_final", lambda *_: True)
    ended = best_run(found, begun=wrong)
    assert not isinstance(ended, Failure)
    problem, outcome = ended
    left, before = (each.iterate.evaluation.by_joint[1] for each in (outcome, wrong[1]))
    assert left < 0.3 * before
    gains = found.gains_of(problem.controller(outcome.iterate.x))
    true = found.gains_of(loop())
    assert np.allclose(gains.kp, true.kp, rtol=0.02)
    assert np.allclose(gains.kv, true.kv, rtol=0.1)
