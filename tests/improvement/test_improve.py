"""The path: what is kept, what is refused, where it ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import didim
from didim.improvement.held_out import Errors, HeldOut, Predicted, held_out
from didim.improvement.path import Ending, Outcome
from didim.improvement.search import MAX_TRIES
from didim.improvement.significance import insignificant_effects, lost_parameters
from didim.improvement.structure import Structure
from didim.results.lack_of_fit import LackOfFit, LackRow, Remedy
from support.virtual import inverse_record, model


def rippled_record(noise: float = 0.05) -> tuple[didim.DynamicModel, didim.Experiment]:
    """A SCARA whose joint 1 has a ripple that the model lacks."""
    names = ["rotor", "viscous", "coulomb", didim.effects()["ripple"].at(1)]
    true = didim.DynamicModel(model().robot, names, {"order_ripple": 8.0})
    phi = np.nan_to_num(true.nominal)
    phi[true.parameter_names.index("Rs_ripple")] = 0.5
    return model(), inverse_record(true, phi, noise)


IDIM = didim.IDIM(decimation=5)
QUICK = didim.IDIM(decimation=5, lack_of_fit=False)


def test_what_is_missing_is_added_and_the_path_ends_quietly():
    start, record = rippled_record()
    found = didim.improve(start, record, IDIM)
    assert found.ending is Ending.QUIET
    (step,) = found.kept
    assert step.after < 0.8 * step.before
    assert found.errors == (step.before, step.after)
    assert (found.overall.before, found.overall.after) == found.errors
    assert set(found.model.base.parameter_names) > set(start.base.parameter_names)
    again = didim.identify(found.model, record, found.method)
    assert np.array_equal(again.values, found.estimate.values)
    assert "kept" in str(found)


def test_with_nothing_to_find_one_identification_is_all(monkeypatch):
    record = inverse_record(model(), model().nominal, 0.05)
    calls = []
    plain = didim.identify

    def counted(*arguments, **more):
        calls.append(arguments)
        return plain(*arguments, **more)

    for module in ("search", "held_out"):
        monkeypatch.setattr(f"didim.improvement.{module}.identify", counted)
    found = didim.improve(model(), record, IDIM)
    assert len(calls) == 1
    assert found.ending is Ending.QUIET
    assert not found.steps
    assert not found.improved
    assert found.errors == ()
    assert found.model is model()


def test_what_held_out_records_do_not_support_is_refused():
    """The record of the fit has a ripple, the held-out one has none."""
    start, record = rippled_record()
    other = inverse_record(model(), model().nominal, 0.05, seed=1)
    found = didim.improve(start, record, IDIM, validation=other)
    assert not found.improved
    assert found.ending is Ending.UNSUPPORTED
    refused = [step for step in found.steps if step.outcome is Outcome.NOT_BETTER]
    assert refused
    assert all(step.after > step.before for step in refused)
    assert len(refused) <= MAX_TRIES
    assert found.estimate.names == tuple(start.base.parameter_names)


@pytest.mark.parametrize(("order", "lost"), [(1.01, {"MX1R"}), (8.0, set())])
def test_what_hides_a_parameter_is_seen(order, lost):
    """A ripple of one period in a turn looks like gravity."""
    pendulum = model("double_pendulum")
    record = inverse_record(pendulum, pendulum.nominal, 0.02)
    ripple = didim.effects()["ripple"].at(1)
    larger = didim.DynamicModel(
        pendulum.robot, ["viscous", "coulomb", ripple], {"order_ripple": order}
    )
    before, after = (
        didim.identify(each.with_held_shapes(), record, IDIM)
        for each in (didim.DynamicModel(pendulum.robot, ["viscous", "coulomb"]), larger)
    )
    assert set(lost_parameters(before, after)) >= lost
    assert bool(lost_parameters(before, after)) == bool(lost)


@pytest.mark.parametrize(("amplitude", "zero"), [(0.5, []), (0.0, ["ripple"])])
def test_an_effect_that_may_be_zero_is_seen(amplitude, zero):
    """Two amplitudes together, with the order estimated along."""
    names = ["rotor", "viscous", "coulomb", didim.effects()["ripple"].at(1)]
    larger = didim.DynamicModel(model().robot, names, {"order_ripple": 8.0})
    phi = np.nan_to_num(larger.nominal)
    phi[larger.parameter_names.index("Rs_ripple")] = amplitude
    record = inverse_record(larger, phi, 0.05)
    before, after = (didim.identify(each, record, IDIM) for each in (model(), larger))
    assert insignificant_effects(before, after) == zero
    assert insignificant_effects(after, after) == []


@pytest.mark.long
def test_how_often_an_effect_that_is_absent_is_taken_for_present():
    """At most twice the level of 1 %, with a margin for 100 seeds."""
    names = ["rotor", "viscous", "coulomb", didim.effects()["load_friction"].at(1)]
    larger = didim.DynamicModel(model().robot, names)
    seen = 0
    for seed in range(100):
        record = inverse_record(model(), model().nominal, 0.05, seed=seed)
        before, after = (didim.identify(each, record, QUICK) for each in (model(), larger))
        seen += not insignificant_effects(before, after)
    assert seen <= 5


def named(monkeypatch, *rows: LackRow):
    """Let every identification name these suspects."""
    lack = LackOfFit(rows)
    plain = didim.identify

    def naming(*arguments, **more):
        return replace(plain(*arguments, **more), lack=lack)

    monkeypatch.setattr("didim.improvement.search.identify", naming)


def suspect(name: str, remedy: Remedy, **more) -> LackRow:
    return LackRow(name, "", 0, 1.0, 0.1, "", 1e-9, 0.5, remedy, "", found=True, **more)


def test_what_only_a_person_can_check_is_named_and_passed_over(monkeypatch):
    start, record = rippled_record()
    offset = suspect("off1", Remedy.EFFECT, effect="offset")
    named(
        monkeypatch,
        suspect("zero1", Remedy.JOINT_ZERO),
        suspect("drive1", Remedy.DRIVE_GAIN),
        offset,
    )
    found = didim.improve(start, record, IDIM)
    outcomes = [step.outcome for step in found.steps[:3]]
    assert outcomes == [Outcome.FOR_A_PERSON, Outcome.FOR_A_PERSON, Outcome.KEPT]
    assert found.ending is Ending.UNSUPPORTED  # the ripple is named again, but is there


def test_what_may_as_well_be_zero_is_refused(monkeypatch):
    record = inverse_record(model(), model().nominal, 0.05)
    named(monkeypatch, suspect("mu1", Remedy.EFFECT, effect="load_friction"))
    found = didim.improve(model(), record, IDIM)
    assert [step.outcome for step in found.steps] == [Outcome.INSIGNIFICANT]
    assert found.ending is Ending.UNSUPPORTED


def test_what_the_method_cannot_have_is_not_tried(monkeypatch):
    start, record = rippled_record()
    named(monkeypatch, suspect("kp1", Remedy.GAIN))
    found = didim.improve(start, record, IDIM)
    assert [step.outcome for step in found.steps] == [Outcome.NOT_APPLICABLE]
    assert "no loop" in found.steps[0].why


def test_what_cannot_be_identified_is_refused(monkeypatch):
    """A second offset of the joint is the first one again."""
    start = didim.DynamicModel(model().robot, ["rotor", "viscous", "coulomb", "offset"])
    _, record = rippled_record()
    named(monkeypatch, suspect("off1", Remedy.EFFECT, effect="offset"))
    found = didim.improve(start, record, IDIM)
    assert not found.improved
    assert found.steps[0].outcome in (Outcome.UNIDENTIFIABLE, Outcome.FAILED, Outcome.NOT_BETTER)


def test_the_path_stops_on_request():
    start, record = rippled_record()
    found = didim.improve(start, record, IDIM, progress=lambda fraction: fraction < 0.6)
    assert found.ending is Ending.REQUEST


def test_progress_rises_and_stays_a_fraction():
    start, record = rippled_record()
    told: list[float] = []
    didim.improve(start, record, IDIM, progress=told.append)
    assert told == sorted(told)
    assert told[0] >= 0
    assert told[-1] < 1


@pytest.mark.parametrize(
    ("before", "after", "better"),
    [
        ([2.0, 1.0], [1.9, 1.0], True),
        ([2.0, 1.0], [2.0, 1.0], False),
        ([2.0, 1.0], [1.999, 1.0], False),  # not noticeable
        ([2.0, 0.1], [2.1, 0.05], False),  # the small joint gains, all together lose
        ([2.0, 1.0], [1.9, 1.5], False),
        ([np.inf, np.inf], [1.0, 1.0], True),
        ([1.0, 1.0], [np.inf, np.inf], False),
        ([np.inf, np.inf], [np.inf, np.inf], False),
    ],
)
def test_better_is_on_average_noticeable_and_in_all(before, after, better):
    record = inverse_record(model(), model().nominal)
    unseen = held_out(Structure(model(), IDIM), [record], [record])
    samples = 0, record.t.size

    def predicted(errors):
        if not np.isfinite(errors).all():
            return (None,)
        return (Predicted(record.tau + np.array(errors), samples),)

    found = unseen.compared(predicted(before), predicted(after))
    assert found.is_better is better


def test_blocks_cover_the_record_and_no_fit_sees_its_own():
    record = inverse_record(model(), model().nominal)
    unseen = held_out(Structure(model(), IDIM), [record], [])
    assert isinstance(unseen, HeldOut)
    covered = []
    for fold in unseen.folds:
        (target,) = fold.targets
        seen = np.concatenate([each.t for each in fold.fitted])
        hidden = record.t[slice(*target.samples)]
        assert not np.intersect1d(seen, hidden).size
        assert seen.size + hidden.size == record.t.size
        covered.append(hidden)
    assert np.array_equal(np.concatenate(covered), record.t)


def test_errors_are_compared_on_the_rows_that_both_predict():
    record = inverse_record(model(), model().nominal)
    unseen = held_out(Structure(model(), IDIM), [record], [record])
    wrong = record.tau.copy()
    wrong[:300] += 100.0  # outside of what the second one can predict
    found = unseen.compared(
        (Predicted(wrong, (0, record.t.size)),),
        (Predicted(record.tau + 0.1, (300, record.t.size)),),
    )
    assert isinstance(found, Errors)
    assert found.before < 1e-6 < found.after


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("scara", "record", IDIM), "model must be"),
        ((None, "record", IDIM), "model must be"),
        (("model", [], IDIM), "experiments must be"),
        (("model", "record", "didim"), "IDIM"),
        (("model", "record", didim.IDIM), "IDIM"),
        (("model", "record", None), "IDIM"),
        (("model", "record", IDIM, "other"), "validation must be"),
        (("model", "record", IDIM, None, 3), "progress must be"),
    ],
)
def test_hostile_arguments_are_refused_in_a_line(arguments, said):
    known = {"model": model(), "record": inverse_record(model(), model().nominal)}
    given = [known.get(each, each) if isinstance(each, str) else each for each in arguments]
    with pytest.raises(didim.InputError, match=said) as problem:
        didim.improve(*given)
    assert "\n" not in str(problem.value)


def test_a_record_that_is_too_short_to_hold_out_says_what_to_do():
    start, record = rippled_record(1e-3)
    short = record.between(0.0, 2.0)
    method = replace(IDIM, decimation=20)
    with pytest.raises(didim.InputError, match="validation records"):
        held_out(Structure(start, method), [short], [])


def test_an_estimate_is_not_lost_where_nothing_can_be_held_out(monkeypatch):
    start, record = rippled_record()
    named(monkeypatch, suspect("ripple1", Remedy.EFFECT, effect="ripple", shapes={"order": 8.0}))
    found = didim.improve(start, record.between(0.0, 2.0), replace(IDIM, decimation=10))
    assert found.ending is Ending.TOO_SHORT
    assert found.estimate.names
    assert not found.steps


def test_positions_alone_are_enough():
    """Without any torque, positions that the fit did not see decide."""
    kp, kv = np.array([10.0, 25.0]), np.array([144.0, 6.4])
    true, assumed = (
        didim.PD(kp=kp * [factor, 1.0], kv=kv, velocity_reference=1.0) for factor in (1.05, 1.0)
    )
    trajectory = didim.Fourier.random(model().robot, 1, period=8.0, periods=1)
    log, _ = didim.virtual_experiment(
        model(), model().nominal, true, trajectory, rate=200, encoder=1e-4
    )
    record = didim.Experiment(t=log.t, q_ref=log.q_ref, q=log.q)
    method = didim.OutputError(controller=assumed, output="position", decimation=4)
    found = didim.improve(model(), record, method)
    assert [step.label for step in found.kept] == ["kp1"]
    assert found.errors[-1] < 0.7 * found.errors[0]
    assert found.estimate.gains["kp1"][0] == pytest.approx(10.5, rel=0.01)
    assert str(found).endswith("% of the position.")
