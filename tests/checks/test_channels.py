"""Channels and clocks of a log that are not what they seem: held samples, dead channels, a torque
that was logged late, a rate that only most steps have.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import didim
from didim.checks import diagnose
from didim.signals.channels import dead_channels, held_samples
from didim.signals.resample import mean_rate, regular
from support.virtual import model, scara_record


def clean() -> didim.Experiment:
    return replace(scara_record(noise=0.02, encoder=1e-5, periods=2)[0], name="run")


def found(record: didim.Experiment, check: str, **settings):
    return [each for each in diagnose(model(), [record], **settings) if each.check == check]


def held(every: int) -> didim.Experiment:
    """One sample in so many repeats the one before."""
    record = clean()
    at = np.arange(record.t.size)
    at[every::every] -= 1
    return replace(record, tau=record.tau[at], q=record.q[at])


def test_held_samples_are_counted_and_kept():
    record = held(20)
    count = record.t.size // 20
    assert held_samples(record) == pytest.approx(count, abs=1)
    assert regular(record).t.size == record.t.size
    assert any("repeat the one before in every value" in each for each in regular(record).notes)
    (finding,) = found(record, "repeats")
    assert finding.level == "warn"
    assert finding.experiment == "run"
    assert held_samples(clean()) == 0


def test_a_robot_at_rest_is_not_a_held_sample():
    t = np.arange(1000) / 100.0
    tau = np.where(t < 5, 1.0, np.sin(t))
    assert held_samples(didim.Experiment(t, tau, None, q=tau)) == 0


def test_decimation_that_is_slow_enough_is_not_advised():
    record = clean()
    record = replace(record, tau=np.repeat(record.tau[::4], 4, axis=0)[: record.t.size])
    assert [each.level for each in found(record, "repeats")] == ["warn"]
    assert [each.level for each in found(record, "repeats", decimated=10)] == ["pass"]


def test_dead_channels_are_named():
    record = clean()
    tau = record.tau.copy()
    tau[: int(0.6 * len(tau)), 1] = 0.0
    dead = replace(record, tau=tau)
    (channel,) = dead_channels(dead)
    assert (channel.signal, channel.joint, channel.value) == ("tau", 1, 0.0)
    assert channel.fraction == pytest.approx(0.6, abs=0.01)
    assert "tau of joint 2 is exactly zero in 60 % of the samples." in regular(dead).notes
    assert [each.level for each in found(dead, "channels")] == ["warn"]
    assert [each.level for each in found(clean(), "channels")] == ["pass"]
    (still,) = dead_channels(replace(record, dq=np.zeros_like(record.q)))[:1]
    assert still.signal == "dq"
    assert dead_channels(record) == []


def test_a_constant_torque_fails():
    record = clean()
    tau = np.column_stack([record.tau[:, 0], np.full(record.t.size, 3.0)])
    assert [each.level for each in found(replace(record, tau=tau), "channels")] == ["fail"]


@pytest.mark.parametrize("delay", [0.03, -0.02])
def test_a_shifted_torque_is_estimated(delay):
    record = clean()
    late = record.torque_advanced(-delay)
    (finding,) = found(late, "torque delay")
    assert finding.level == "warn"
    assert ("late" if delay > 0 else "early") in finding.found
    (finding,) = found(late.torque_advanced(delay), "torque delay")
    assert finding.level == "pass", "advice that is followed is not given again"
    assert [each.level for each in found(record, "torque delay")] == ["pass"]


def test_the_rate_is_that_of_all_steps():
    """Most steps are 10 ms, and yet there are 93.9 samples in a second."""
    steps = np.where(np.arange(2000) % 3 == 0, 0.01195, 0.01)
    t = np.cumsum(steps)
    assert mean_rate(t) == pytest.approx(93.9, abs=0.1)
    tau = np.column_stack([np.sin(t), np.cos(t)])
    record = didim.Experiment(t, tau, None, q=tau)
    (finding,) = found(record, "sampling")
    assert "93.9" in finding.found
    assert "93.9 Hz on average" in regular(record).notes[0]


def test_notes_of_the_reader_reach_the_check():
    record = replace(clean(), notes=("3 lines are damaged: left out.",))
    (finding,) = found(record, "reading")
    assert finding.found == "3 lines are damaged: left out."


@pytest.mark.slow
def test_settings_that_are_on_are_not_advised():
    slow = didim.PD(natural_frequency=1.0)
    for followed, level in (((), "warn"), (("refine",), "pass")):
        findings = diagnose(model(), [clean()], slow, followed=followed)
        assert [each.level for each in findings if each.check == "bandwidth"] == [level]


@pytest.mark.parametrize(
    "method", [didim.IDIM(cutoff=20.0), didim.DIDIM(controller=didim.PD(natural_frequency=20.0))]
)
def test_errors_about_a_record_name_it(method):
    short = clean().between(0.0, 0.05)
    with pytest.raises(didim.InputError, match="Experiment 'run': The record is too short"):
        didim.identify(model(), short, method)


@pytest.mark.parametrize("seed", range(5))
def test_dead_channels_are_those_with_one_value_in_more_than_half_of_the_samples(seed: int):
    rng = np.random.default_rng(seed)
    tau = rng.integers(0, 2 + seed, (401, 6)).astype(float)
    tau[:: 2 + seed % 2] = 1.0
    record = didim.Experiment(np.arange(401) / 100.0, tau, None)
    expected = []
    for j, column in enumerate(tau.T):
        values, counts = np.unique(column, return_counts=True)
        if (fraction := counts.max() / 401) > 0.5:
            expected.append((j, values[counts.argmax()], fraction))
    assert [(each.joint, each.value, each.fraction) for each in dead_channels(record)] == expected
    assert expected or seed % 2
