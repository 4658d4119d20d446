"""Limits and settings that cannot be met: one clear line each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import didim

SCARA = didim.load_robot("scara")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"position": [[1.0, -1.0], [-1.0, 1.0]]}, "below the upper"),
        ({"position": [[1.0, 1.0], [-1.0, 1.0]]}, "below the upper"),
        ({"position": []}, "shape"),
        ({"velocity": 0.0}, "positive"),
        ({"velocity": [1.0, np.nan]}, "positive"),
        ({"acceleration": [1.0, 1.0, 1.0]}, "shape"),
        ({"torque": -3.0}, "positive"),
        ({"box": [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]}, "box"),
        ({"self_collision": -0.1}, "self_collision"),
        ({"torque_reserve": 1.0}, "below 1"),
        ({"floor": "ground"}, "floor"),
    ],
)
def test_limits_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(didim.InputError, match=words) as refusal:
        didim.Limits(SCARA, **given)
    assert "\n" not in str(refusal.value)


def test_limits_come_from_the_robot_and_say_which_are_defaults() -> None:
    robot = didim.load_robot("panda")
    limits = didim.Limits(robot, velocity=1.5, acceleration=np.arange(1.0, 8.0))
    assert np.array_equal(limits.position, robot.position_limits)
    assert np.array_equal(limits.torque, robot.torque_limits)
    assert np.array_equal(limits.velocity, np.full(7, 1.5))
    assert limits.jerk[2] == pytest.approx(3.0 / 0.02)
    assert limits.defaults == tuple(f"jerk of {name}" for name in robot.joint_names)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"duration": 0.2}, "at least 1 s"),
        ({"limits": {"velocity": 2.0, "acceleration": 0.2}}, "too short"),
        ({"duration": -1.0}, "duration"),
        ({"limits": {"torque": 1e-3}}, "against gravity and friction"),
        ({"start": [9.0, 0.0]}, "start is not within"),
        ({"start": [0, 0], "limits": {"box": [[-1, 0.2], [-1, 1], [-1, 1]]}}, "box x max"),
        ({"limits": {"box": [[5.0, 6.0], [5.0, 6.0], [5.0, 6.0]]}}, "No pose"),
        ({"method": "didim"}, "loop"),
        ({"gains_unknown": True}, "gains_unknown"),
        ({"loop": 3.0}, "loop"),
        ({"criterion": "best"}, "criterion"),
        ({"criterion": "sigma", "weights": {"Fx": 1.0}}, "Fx"),
        ({"weights": {"Fc": 1.0}}, "sigma"),
        ({"after": 3.0}, "after"),
        ({"noise": 0.0}, "noise"),
        ({"noise": 1e-300}, "noise must be positive"),
        ({"noise": [0.1, 1e20]}, "noise must be positive"),
        ({"duration": 1e9}, "at most 1000 s"),
        ({"harmonics": 20_000}, "at most 100 in 4 s"),
        ({"harmonics": 21, "rate": 10.0}, "at most 20 in 4 s"),
        ({"harmonics": 21, "loop": didim.PD(kp=5.0, kv=50.0, rate=10)}, "at most 20 in 4 s"),
        ({"harmonics": 600, "duration": 40.0}, "at most 500 in 40 s"),
        ({"rate": 1e9}, "rate must be from 10"),
        ({"rate": 1e-9}, "rate must be from 10"),
        ({"seed": -1}, "seed"),
        ({"basis": "bezier"}, "basis"),
    ],
)
def test_settings_are_refused(settings: dict[str, Any], words: str) -> None:
    model, reports = didim.DynamicModel(SCARA), []
    given = {"duration": 4.0, "effort": 0.05, **settings}
    limits = didim.Limits(SCARA, **given.pop("limits", {}))
    with pytest.raises(didim.InputError, match=words) as refusal:
        didim.excite(model, limits=limits, progress=reports.append, **given)
    assert "\n" not in str(refusal.value)
    assert reports == [], "before anything is searched"


def test_limits_of_another_robot_are_refused() -> None:
    with pytest.raises(didim.InputError, match="2 joints"):
        didim.excite(didim.DynamicModel(SCARA), limits=didim.Limits(didim.load_robot("panda")))


def test_a_model_that_needs_a_channel_is_refused() -> None:
    effect = didim.Effect(
        "heat",
        joint="joint_1",
        torque="k * temperature",
        unknown={"k": {}},
        channels=("temperature",),
    )
    model = didim.DynamicModel(SCARA, effects=["viscous", effect])
    with pytest.raises(didim.InputError, match="temperature"):
        didim.excite(model, duration=4.0)


def test_a_start_in_collision_is_refused() -> None:
    robot = didim.load_robot("panda")
    limits = didim.Limits(robot, floor=0.0, self_collision=0.02)
    start = [0.0, 0.0, 0.0, -3.0, 0.0, 0.5, 0.0]
    with pytest.raises(didim.InputError, match="link 1 - link 7 is closer"):
        didim.excite(didim.DynamicModel(robot), limits=limits, start=start)


PLAIN = didim.DynamicModel(SCARA)
SLUGGISH = didim.DynamicModel(
    replace(SCARA, joints=tuple(replace(j, nominal={"Fv": 2.0, "Fc": 20.0}) for j in SCARA.joints))
)
"""With so much dry friction that an unstable loop only trembles."""


@pytest.mark.parametrize(
    ("model", "loop", "words"),
    [
        (PLAIN, didim.PD(kp=10.0, kv=[3000.0, 300.0], rate=100), "unstable: spectral radius"),
        (SLUGGISH, didim.PD(natural_frequency=20.0, rate=500, delay=40), "joint_"),
        (
            SLUGGISH,
            didim.PD(natural_frequency=20.0, rate=500, delay=40, saturation=30.0),
            "unstable: spectral radius",
        ),
        (PLAIN, didim.PID(kp=2.0, kv=50.0, ki=3000.0, rate=None), "unstable: a pole at"),
    ],
)
def test_an_unstable_loop_is_refused_before_anything_is_searched(
    model: didim.DynamicModel, loop: didim.PD, words: str
) -> None:
    reports: list[float] = []
    with pytest.raises(didim.InputError, match=words) as refusal:
        didim.excite(model, 4.0, loop, progress=reports.append, noise=0.1)
    assert "cannot follow any plan" in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert reports == []


@didim.control_law
def pushing_away(t, n, q_ref, dq_ref, ddq_ref, q, dq, memory, v):
    for j in range(n):
        v[j] = 1000.0 * (q[j] - q_ref[j]) + 1000.0 * dq[j]


def test_a_law_without_a_linear_model_is_judged_by_its_simulation() -> None:
    with pytest.raises(didim.InputError, match="cannot follow any plan"):
        didim.excite(PLAIN, 4.0, didim.OwnLaw(law=pushing_away, rate=500), noise=0.1)
