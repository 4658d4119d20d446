"""Plans after others: what an estimate, records or plans tell already, and what does not count."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import didim
from didim.design.predict import sigma_of

SCARA = didim.DynamicModel(didim.load_robot("scara"))
LOOP = didim.PD(natural_frequency=[12.0, 30.0])
LIMITS = didim.Limits(SCARA.robot, position=[[-2.0, 2.0], [-2.5, 2.5]], velocity=[2.0, 4.0])


@cache
def plan(**settings: Any) -> didim.Plan:
    chosen = {"duration": 6.0, "limits": LIMITS, "noise": 0.1, "effort": 0.3, **settings}
    return didim.excite(SCARA, **chosen)


@cache
def record() -> didim.Experiment:
    found = plan(loop=LOOP)
    rms = np.sqrt(np.mean(found.motion.tau**2, axis=0))
    made, _ = didim.virtual_experiment(
        SCARA, SCARA.nominal, found.loop, found.trajectory, noise=found.noise / rms
    )
    return made


@cache
def estimate() -> didim.Estimate:
    return didim.identify(SCARA, record(), didim.IDIM())


def longer_arm() -> didim.DynamicModel:
    """The same names of joints and parameters, and another robot."""
    first, second = SCARA.robot.joints
    second = replace(second, translation=np.array([0.7, 0.0, 0.0]))
    model = didim.DynamicModel(replace(SCARA.robot, name="longer", joints=(first, second)))
    assert model.base.parameter_names == SCARA.base.parameter_names
    return model


def test_a_plan_after_another_measures_what_is_still_unknown() -> None:
    first = plan()
    second = plan(after=first)
    assert second.sigma_before is not None
    assert np.allclose(second.sigma_before, first.sigma)
    assert np.all(second.sigma < first.sigma)
    alone = sigma_of(second.information - first.information)
    assert np.all(alone > second.sigma)


def test_a_plan_after_an_estimate_and_after_its_record_agree() -> None:
    found = plan(loop=LOOP)
    rms = np.sqrt(np.mean(found.motion.tau**2, axis=0))
    record, _ = didim.virtual_experiment(
        SCARA, SCARA.nominal, found.loop, found.trajectory, noise=found.noise / rms
    )
    estimate = didim.identify(SCARA, record, didim.IDIM())
    by_record = plan(loop=LOOP, method="idim", after=record)
    by_estimate = plan(loop=LOOP, method="idim", after=estimate)
    ratio = by_estimate.sigma_before / by_record.sigma_before
    assert np.all((ratio > 0.8) & (ratio < 1.25))
    assert np.allclose(by_record.noise, 0.1)


def test_information_counts_once_however_often_it_is_given() -> None:
    """What a plan rests on is part of it, and an estimate has the information of its records."""
    first = plan()
    second = plan(after=first, seed=1)
    both = plan(after=(first, second), seed=2).sigma_before
    assert np.allclose(both, second.sigma, rtol=1e-9)
    assert np.allclose(plan(after=(second, first, second)).sigma_before, both, rtol=1e-9)
    assert np.allclose(plan(after=second).sigma_before, both, rtol=1e-9)
    copied = didim.excite(
        SCARA, 6.0, limits=LIMITS, noise=0.1, effort=0.05, after=[copy.copy(first), first]
    )
    assert np.allclose(copied.sigma_before, first.sigma, rtol=1e-9)
    added = first.own_information + second.own_information
    assert np.allclose(second.information, added, rtol=1e-9)


@pytest.mark.parametrize("stored", [False, True])
def test_an_estimate_and_its_record_count_once(stored: bool, tmp_path: Any) -> None:
    found = estimate()
    if stored:
        found.save(tmp_path / "known.json")
        found = didim.load_estimate(tmp_path / "known.json")
    alone = plan(loop=LOOP, method="idim", after=found)
    both = plan(loop=LOOP, method="idim", after=(found, record()))
    assert np.array_equal(both.sigma_before, alone.sigma_before)
    (note,) = (each for each in both.messages if each.startswith("after:"))
    assert "a record is left out" in note
    assert not any(each.startswith("after:") for each in alone.messages)


def test_of_two_estimates_of_one_record_the_later_counts() -> None:
    again = didim.identify(SCARA, record(), didim.IDIM(weights="ols"))
    both = plan(after=(estimate(), again))
    assert np.array_equal(both.sigma_before, plan(after=again).sigma_before)
    assert any("an estimate is left out" in each for each in both.messages)


def test_a_plan_for_known_gains_tells_less_where_they_are_unknown() -> None:
    """As much as the record of it, whose information has columns for the gains."""
    planned = plan(loop=LOOP)
    by_plan = plan(loop=LOOP, gains_unknown=True, after=planned)
    by_record = plan(loop=LOOP, gains_unknown=True, after=record())
    ratio = by_plan.sigma_before / by_record.sigma_before
    assert np.all(np.abs(ratio - 1) < 0.05), ratio
    assert by_plan.sigma_before[0] > 1.5 * planned.sigma[0]


def test_an_estimate_that_rests_on_gains_says_so_where_they_are_unknown() -> None:
    method = didim.DIDIM(controller=LOOP, initial="nominal", lack_of_fit=False)
    found = didim.identify(SCARA, record(), method)
    told = plan(loop=LOOP, gains_unknown=True, after=found).messages
    assert any("taken as known" in each for each in told)
    measured = plan(loop=LOOP, gains_unknown=True, after=estimate())
    for other in (measured, plan(loop=LOOP, after=found)):
        assert not any("taken as known" in each for each in other.messages)


@pytest.mark.parametrize("source", ["plan", "estimate"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_is_known_of_another_robot_is_refused_wherever_it_stands(
    source: str, place: int
) -> None:
    other = longer_arm()
    limits = didim.Limits(other.robot, velocity=[2.0, 4.0])
    foreign: Any = didim.excite(other, 4.0, limits=limits, noise=0.1, effort=0.05)
    if source == "estimate":
        q, dq, _ = foreign.trajectory.sample(foreign.motion.t)
        measured = didim.Experiment(foreign.motion.t, foreign.motion.tau, q=q, dq=dq)
        foreign = didim.identify(other, measured, didim.IDIM())
    given = [estimate(), plan()]
    given.insert(place, foreign)
    with pytest.raises(didim.InputError, match="another robot, 'longer'") as refusal:
        plan(after=tuple(given))
    assert str(refusal.value).startswith(f"after: the {source}")


def test_the_same_robot_with_other_values_and_limits_is_no_other_robot() -> None:
    joints = tuple(
        replace(j, link=1.1 * j.link, torque_limit=7.0, position_limits=(-1.0, 1.0))
        for j in SCARA.robot.joints
    )
    model = didim.DynamicModel(replace(SCARA.robot, name="another name", joints=joints))
    limits = didim.Limits(model.robot, velocity=[2.0, 4.0])
    found = didim.excite(model, 4.0, limits=limits, noise=0.1, effort=0.05, after=plan())
    assert np.allclose(found.sigma_before, plan().sigma)


def test_a_plan_of_another_model_is_refused() -> None:
    model = didim.DynamicModel(SCARA.robot, effects=["viscous"])
    with pytest.raises(didim.InputError, match="the plan has other base parameters"):
        didim.excite(model, 4.0, noise=0.1, effort=0.05, after=plan())


@pytest.mark.parametrize("noise", [0.1, None])
def test_a_record_without_torque_tells_nothing(noise: float | None) -> None:
    silent = replace_torque(record())
    with pytest.raises(didim.InputError, match="'silent' has no torque") as refusal:
        plan(after=(record(), silent), noise=noise)
    assert str(refusal.value).startswith("after: ")
    assert "\n" not in str(refusal.value)


def replace_torque(given: didim.Experiment) -> didim.Experiment:
    return didim.Experiment(given.t, None, given.q_ref, given.q, name="silent")


def test_a_record_of_another_robot_is_named() -> None:
    t = np.arange(0.0, 2.0, 1e-2)
    other = didim.Experiment(t, np.ones((t.size, 3)), q=np.ones((t.size, 3)), name="arm 7")
    with pytest.raises(didim.InputError, match="after: the record 'arm 7' is of 3 joints"):
        plan(after=other)


def test_a_record_that_is_too_short_for_its_rows_is_named() -> None:
    part = record().between(0.0, 0.2)
    with pytest.raises(didim.InputError, match=r"after: the record .* too short"):
        plan(after=part, loop=LOOP)


def test_the_start_of_a_record_is_left_out_as_its_plan_has_it() -> None:
    planned = plan(loop=LOOP)
    after = plan(loop=LOOP, after=record())
    assert np.allclose(after.sigma_before, planned.sigma, rtol=0.02)
    assert np.all(after.sigma_before > sigma_of(_whole(planned)))


def _whole(planned: didim.Plan) -> np.ndarray:
    """The information if nothing were left out."""
    from didim.design.predict import Prediction
    from didim.design.unknowns import Unknowns

    unknowns = Unknowns(planned.model, planned.model.nominal, LIMITS.velocity)
    prediction = Prediction(unknowns, planned.loop, False, planned.noise, planned.rate)
    return prediction.information(planned.motion, planned.trajectory, cut=False)
