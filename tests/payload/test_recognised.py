"""A record that carries a load the model does not have is recognised, and said first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import didim
from didim.checks.diagnose import diagnose
from didim.results.judgement import judge
from support.loads import BODY, carrying, exact, motion_record, pendulum


def records(noise=0.02):
    chosen = pendulum()
    plain = np.nan_to_num(chosen.nominal)
    empty = motion_record(chosen, plain, 0, noise=noise, name="empty")
    other = motion_record(chosen, plain, 1, noise=noise, name="other")
    heavy = motion_record(chosen, carrying(chosen, BODY), 2, noise=noise, name="heavy")
    return empty, other, heavy


def test_validation_names_the_load_first():
    empty, _, heavy = records()
    estimate = didim.identify(pendulum(), empty, exact(), heavy)
    seen = estimate.validation[0].load
    assert seen is not None
    assert abs(seen.mass - BODY[9]) < 0.1
    line = estimate.summary().splitlines()[0]
    assert line.startswith("Record 'heavy' carries a load of about 0.")
    assert "didim payload RESULT FILE" in line
    assert judge(estimate).headline == line
    assert estimate.validate(heavy).load is not None


def test_a_model_with_the_load_misses_it_elsewhere():
    empty, _, heavy = records()
    estimate = didim.identify(pendulum(), heavy, exact(), empty)
    seen = estimate.validation[0].load
    assert seen is not None
    assert seen.mass < 0
    assert "does not carry" in judge(estimate).headline


def test_a_record_without_load_is_left_alone(tmp_path):
    empty, other, heavy = records()
    estimate = didim.identify(pendulum(), empty, exact(), other)
    assert estimate.validation[0].load is None
    assert not judge(estimate).headline
    loaded = didim.identify(pendulum(), empty, exact(), heavy)
    again = didim.load_estimate(loaded.save(tmp_path / "x.json"))
    assert again.validation[0].load == loaded.validation[0].load


def test_check_says_it_first():
    empty, other, heavy = records()
    found = diagnose(pendulum(), [empty, other, heavy])
    assert found[0].check == "load"
    assert found[0].experiment == "heavy"
    assert "carries a load of about 0." in found[0].found
    assert "didim payload" in found[0].remedy
    assert not [each for each in diagnose(pendulum(), [empty, other]) if each.check == "load"]


def test_wrong_factors_on_the_torques_are_no_load():
    empty, other, _ = records()
    wrong = replace(other, tau=np.asarray(other.tau) * [1.4, 1.3])
    estimate = didim.identify(pendulum(), empty, exact(), wrong)
    assert estimate.validation[0].residual > 0.1
    assert estimate.validation[0].load is None
