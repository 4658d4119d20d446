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


def test_zeros_that_were_unknowns_are_not_tested_and_it_says_so():
    reason = found(LOOP, estimate_offsets=["bias1"]).lack.reason
    assert reason == "zeros or biases of the joints were unknowns"


@pytest.mark.long
def test_how_often_something_is_named_where_nothing_is_wrong():
    """At the level of 1 %; encoder steps are no white noise."""
    assert sum(not found(LOOP, seed).lack.quiet for seed in range(40)) <= 2
