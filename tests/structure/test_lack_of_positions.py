"""What a model lacks, from positions alone: quiet where nothing is wrong, named where something
is.
"""

from __future__ import annotations

import numpy as np
import pytest

import didim
from support.virtual import model

KP, KV = np.array([10.0, 25.0]), np.array([144.0, 6.4])
LOOP = didim.PD(kp=KP, kv=KV, velocity_reference=1.0)


def found(loop: didim.PD, seed: int = 1, **settings) -> didim.Estimate:
    """The SCARA identified from its encoders in LOOP, where it moved in another one."""
    trajectory = didim.Fourier.random(model().robot, seed, period=8.0, periods=1)
    record, _ = didim.virtual_experiment(
        model(), model().nominal, loop, trajectory, rate=200, encoder=1e-4, seed=seed
    )
    method = didim.OutputError(controller=LOOP, output="position", decimation=4, **settings)
    encoders = didim.Experiment(t=record.t, q_ref=record.q_ref, q=record.q)
    return didim.identify(model(), encoders, method)


def test_nothing_is_named_where_nothing_is_wrong():
    lack = found(LOOP).lack
    assert not lack.reason
    assert lack.quiet
    assert {"gains", "stribeck", "delay"} <= lack.groups.keys()


@pytest.mark.parametrize(
    ("true", "name", "value"),
    [
        (didim.PD(kp=KP * [1.05, 1.0], kv=KV, velocity_reference=1.0), "kp1", 5.0),
        (didim.PD(kp=KP, kv=KV, velocity_reference=[0.95, 1.0]), "ff1", -0.05),
    ],
    ids=["gain", "velocity reference"],
)
def test_what_is_wrong_in_the_loop_is_named(true, name, value):
    estimate = found(true)
    first = estimate.lack.found[0]
    assert name in (first.name, *first.alternatives)
    row = next(each for each in estimate.lack.rows if each.name == name)
    assert row.value == pytest.approx(value, abs=0.3 * abs(value))
    assert np.any(np.diff(estimate.interval(robust=True)) > np.diff(estimate.interval()))


def test_next_to_no_residual_is_not_tested():
    """A servo whose log is exact: the same goals, held from one to the next."""
    robot, t = didim.load_robot("xl330"), np.arange(0.0, 2.0, 0.005)
    pendulum = didim.DynamicModel(robot, fixed={"MX1": 0.049, "MY1": 0.0})
    servo = didim.Servo(kp=400, kp_unit=0.00288, rate=500, drive_gain=0.6)
    goal = didim.Reference(t, 0.8 * np.sin(3 * t) + 0.3 * np.sin(8 * t), interpolation="held")
    channels = {"enabled": np.ones(t.size)}
    motion = didim.simulate(
        pendulum,
        pendulum.nominal,
        servo,
        t=t,
        q_ref=goal,
        initial=([0.0], [0.0]),
        check=False,
        signals=channels,
    )
    log = didim.Experiment(t, None, goal, motion.q, motion.dq, channels=channels)
    method = didim.OutputError(controller=servo, start="measured", decimation=2)
    lack = didim.identify(pendulum, log, method).lack
    assert lack.negligible
    assert lack.quiet


def test_zeros_that_were_unknowns_are_not_tested_and_it_says_so():
    reason = found(LOOP, estimate_offsets=["bias1"]).lack.reason
    assert reason == "zeros or biases of the joints were unknowns"


@pytest.mark.long
def test_how_often_something_is_named_where_nothing_is_wrong():
    """At the level of 1 %; encoder steps are no white noise."""
    assert sum(not found(LOOP, seed).lack.quiet for seed in range(40)) <= 2
