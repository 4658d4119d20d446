"""Held-out records: unseen ones alone count, on all rows that move, and along the measured motion
where positions exist.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import didim
from didim.results.common_rows import errors_on_common_rows
from didim.results.doubts import times_the_noise
from didim.results.judgement import judge
from didim.results.validation import seen_fraction
from support.virtual import loop, model, scara_record


@pytest.fixture(scope="module")
def record() -> didim.Experiment:
    return replace(scara_record(noise=0.02, periods=2)[0], name="run")


def shifted(record: didim.Experiment, seconds: float) -> didim.Experiment:
    t = np.asarray(record.t)
    reference = record.reference().sample(t)[0]
    return replace(record, t=t + seconds, q_ref=reference)


SAME = {
    "itself": lambda record: record,
    "a copy with rounding": lambda record: replace(record, tau=record.tau + 1e-12),
    "another zero of the clock": lambda record: shifted(record, 123.0),
    "every other sample": lambda record: replace(
        shifted(record, 0.0),
        t=record.t[::2],
        tau=record.tau[::2],
        q=record.q[::2],
        q_ref=record.reference().sample(record.t[::2])[0],
    ),
}


@pytest.mark.parametrize("how", SAME)
def test_what_the_fit_knew_is_not_held_out(record, how):
    """The fit had the first half: half of the whole record, in whatever disguise, was seen."""
    again = SAME[how](record)
    half = record.between(0.0, float(record.t[-1]) / 2)
    estimate = didim.identify(model(), half, didim.IDIM(), again)
    judged = judge(estimate)
    assert judged.other.level == "care"
    assert seen_fraction(again, [half]) == pytest.approx(0.5, abs=0.01)
    assert estimate.validation[0].seen == pytest.approx(0.5, abs=0.01)
    assert "fitted to, in whole or in part" in judged.other.why


def test_the_other_half_and_a_repetition_are_held_out(record):
    middle = float(record.t[-1]) / 2
    first, second = record.between(0.0, middle), record.between(middle, 2 * middle)
    assert seen_fraction(second, [first]) < 0.001
    repeated = scara_record(noise=0.02, periods=2, seed=3)[0]
    assert seen_fraction(repeated, [record]) == 0.0
    assert judge(didim.identify(model(), first, didim.IDIM(), second)).other.level == "yes"


@pytest.fixture(scope="module")
def wrong_loop() -> didim.Estimate:
    """A robot in a PID loop, taken for a PD of the same gains."""
    scara = model()
    J = didim.largest_inertias(scara, scara.nominal)
    gains = didim.PD(natural_frequency=[20.0, 40.0], inertia=J).gains(2, np.ones(2), J)
    true = didim.PID(kp=gains.kp, kv=gains.kv, ki=3.0 * gains.kp * gains.kv, rate=1000)
    records = []
    for seed in (1, 2):
        motion = didim.Fourier.random(scara.robot, seed, period=8.0, share=0.8)
        options = {"rate": 500.0, "noise": 0.02, "encoder": 1e-5, "seed": seed}
        records.append(didim.virtual_experiment(scara, scara.nominal, true, motion, **options)[0])
    method = didim.DIDIM(controller=didim.PD(kp=gains.kp, kv=gains.kv, rate=1000))
    return didim.identify(scara, records[0], method, records[1])


@pytest.mark.slow
def test_a_wrong_loop_shows_along_the_measured_motion(wrong_loop):
    """The same wrong loop hides on the held-out record what inverse dynamics shows."""
    settled = judge(replace(wrong_loop, status=didim.Status.CONVERGED))
    assert settled.other.level != "yes"
    assert settled.values.level != "yes"
    assert "along the measured motion" in settled.other.why
    tried = wrong_loop.validation[0]
    assert tried.along_motion is not None
    assert tried.along_motion.residual > 1.5 * tried.residual
    assert tried.worst == tried.along_motion.residual
    assert "along the measured motion" in wrong_loop.summary()


@pytest.mark.slow
def test_along_the_measured_motion_a_right_model_leaves_the_noise(record):
    estimate = didim.identify(model(), record, didim.DIDIM(controller=loop()), record)
    along = estimate.along_motion[0]
    assert along.residual < 1.5 * estimate.residual
    assert times_the_noise(estimate)[0] < 1.2
    coarse = scara_record(noise=0.02, periods=2, encoder=0.02)[0]
    slow = replace(record, t=record.t[::200], tau=record.tau[::200], q=record.q[::200])
    assert estimate.validate(coarse).along_motion is None, "positions too noisy"
    assert estimate.predictor.along_motion(slow) is None, "too few positions"


def test_rows_at_rest_are_told_of_fit_and_held_out_record(record):
    """`rest_velocity` may not hide what the model leaves."""
    middle = float(record.t[-1]) / 2
    halves = record.between(0.0, middle), record.between(middle, 2 * middle)
    estimate = didim.identify(model(), halves[0], didim.IDIM(rest_velocity=0.5), halves[1])
    for each in (*estimate.fitted, *estimate.validation):
        assert each.left_out > 0.1
        assert each.selected == pytest.approx(each.residual, rel=0.5)
        assert each.selected != each.residual
        assert "below rest_velocity" in str(each)
    assert estimate.fitted[0].selected == pytest.approx(estimate.residual, rel=1e-9)
    assert estimate.summary().count("below rest_velocity") >= 3
    all_rows = didim.identify(model(), halves[0], didim.IDIM(), halves[1])
    assert all_rows.fitted == ()


def test_notes_of_held_out_records_reach_the_summary(record):
    """And those that a part of the same file shares with the fit are told once."""
    middle = float(record.t[-1]) / 2
    damaged = replace(record, notes=("3 lines are damaged: left out.",))
    halves = damaged.between(0.0, middle), damaged.between(middle, 2 * middle)
    for name, count in (("other", 1), (record.name, 0)):
        tried = replace(halves[1], name=name)
        notes = didim.identify(model(), halves[0], didim.IDIM(), tried).notes
        assert [*notes].count(f"{name}: 3 lines are damaged: left out.") == 1
        assert len([each for each in notes if "damaged" in each]) == 1 + count
    tau = np.array(halves[1].tau)
    tau[: int(0.6 * len(tau)), 1] = 0.0
    dead = replace(halves[1], tau=tau, name="dead", notes=())
    notes = didim.identify(model(), halves[0], didim.IDIM(), dead).notes
    assert any(each.startswith("dead: tau of joint 2 is exactly zero") for each in notes)


def test_methods_are_compared_on_the_same_rows(record):
    """The same parameters leave the same, whatever rows their methods used."""
    plain = didim.identify(model(), record, didim.IDIM())
    picky = replace(
        didim.identify(model(), record, didim.IDIM(rest_velocity=0.5, decimation=10)),
        values=plain.values,
    )
    one, two = errors_on_common_rows([plain, picky], record)
    assert one == pytest.approx(two, rel=1e-12)
    assert plain.validate(record).residual != picky.validate(record).residual


@pytest.mark.slow
def test_all_of_it_is_saved(record, wrong_loop, tmp_path):
    estimate = didim.identify(model(), record, didim.IDIM(rest_velocity=0.5), record)
    for k, each in enumerate((estimate, wrong_loop)):
        again = didim.load_estimate(each.save(tmp_path / f"{k}.json"))
        assert judge(again) == judge(each)
        assert [str(v) for v in again.fitted] == [str(v) for v in each.fitted]
        assert [str(v) for v in again.validation] == [str(v) for v in each.validation]
        assert again.residual_over_noise == pytest.approx(each.residual_over_noise)
