"""Limits and settings that cannot be met: one clear line each."""

from __future__ import annotations

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
        ({"seed": -1}, "seed"),
        ({"basis": "bezier"}, "basis"),
    ],
)
def test_settings_are_refused(settings: dict[str, Any], words: str) -> None:
    model = didim.DynamicModel(SCARA)
    given = {"duration": 4.0, "effort": 0.05, **settings}
    limits = didim.Limits(SCARA, **given.pop("limits", {}))
    with pytest.raises(didim.InputError, match=words) as refusal:
        didim.excite(model, limits=limits, **given)
    assert "\n" not in str(refusal.value)


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


def test_a_loop_that_diverges_is_refused_before_anything_is_searched() -> None:
    reports: list[float] = []
    loop = didim.PD(kp=10.0, kv=[3000.0, 300.0], rate=100)
    with pytest.raises(didim.InputError, match="cannot follow any plan"):
        didim.excite(didim.DynamicModel(SCARA), 4.0, loop, progress=reports.append)
    assert reports == []
