"""Plans as files: what other programs and didim itself read back is the trajectory."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import yaml

import didim
from didim.design.files import TOPIC, sampled
from didim.errors import InputError
from support.plans import plan_of


def test_a_csv_is_read_as_a_reference(tmp_path):
    plan = plan_of()
    file = plan.save(tmp_path / "plan.csv", rate=250)
    reference = didim.load_reference(file)
    t = np.linspace(0, plan.duration, 77)
    for found, expected in zip(reference.sample(t), plan.trajectory.sample(t), strict=True):
        np.testing.assert_allclose(found, expected, atol=2e-2)
    np.testing.assert_allclose(reference.sample(t)[0], plan.trajectory.sample(t)[0], atol=1e-6)


@pytest.mark.parametrize("rate", [None, 100, 333.3])
def test_samples_start_and_end_at_rest(rate):
    plan = plan_of()
    t, q, dq, ddq = sampled(plan, rate)
    np.testing.assert_allclose(np.diff(t), 1 / (plan.rate if rate is None else rate))
    assert t[0] == 0.0
    assert plan.duration - 1e-9 <= t[-1] < plan.duration + t[1]
    for ends in (dq[[0, -1]], ddq[[0, -1]]):
        assert np.abs(ends).max() < 1e-9
    np.testing.assert_array_equal(q, plan.trajectory.sample(t)[0])


def test_the_rate_is_the_controllers():
    loop = didim.PD(kp=10.0, kv=5.0, rate=400)
    assert sampled(replace(plan_of(), loop=loop))[0][1] == 1 / 400


def test_json_has_what_the_plan_predicts(tmp_path):
    plan = plan_of()
    content = json.loads(plan.save(tmp_path / "plan.json", rate=50).read_text())
    assert content["joints"] == list(plan.model.robot.joint_names)
    np.testing.assert_allclose(content["sigma"], plan.sigma)
    assert content["margins"] == dict(plan.margins)
    np.testing.assert_allclose(content["samples"]["q"], sampled(plan, 50)[1])


def test_yaml_is_a_joint_trajectory(tmp_path):
    """All numbers are numbers in YAML 1.1, small ones too."""
    plan = plan_of()
    content = yaml.safe_load(plan.save(tmp_path / "plan.yaml", rate=50).read_text())
    assert content["joint_names"] == list(plan.model.robot.joint_names)
    t, *signals = sampled(plan, 50)
    for name, expected in zip(("positions", "velocities", "accelerations"), signals, strict=True):
        np.testing.assert_allclose([each[name] for each in content["points"]], expected, atol=1e-9)
    times = [each["time_from_start"] for each in content["points"]]
    np.testing.assert_allclose([each["sec"] + 1e-9 * each["nanosec"] for each in times], t)


def test_mcap_is_a_joint_trajectory(tmp_path):
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    plan = plan_of()
    file = plan.save(tmp_path / "plan.mcap", rate=50)
    with AnyReader([file], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
        ((connection, _, raw),) = reader.messages()
        assert connection.topic == TOPIC
        message = reader.deserialize(raw, connection.msgtype)
    assert list(message.joint_names) == list(plan.model.robot.joint_names)
    found = np.array([point.positions for point in message.points])
    np.testing.assert_array_equal(found, sampled(plan, 50)[1])
    last = message.points[-1].time_from_start
    assert last.sec + 1e-9 * last.nanosec == pytest.approx(plan.duration)


def test_names_that_are_no_words_stay_names_in_yaml(tmp_path):
    plan = plan_of()
    robot = plan.model.robot
    joints = tuple(replace(joint, name=f"yes: [{k}] 'é\"") for k, joint in enumerate(robot.joints))
    model = didim.DynamicModel(replace(robot, joints=joints), effects=[]).base
    file = replace(plan, model=model).save(tmp_path / "plan.yaml", rate=5)
    assert yaml.safe_load(file.read_text())["joint_names"] == list(model.robot.joint_names)


def test_files_are_not_written_over(tmp_path):
    file = plan_of().save(tmp_path / "plan.csv", rate=10)
    before = file.read_bytes()
    with pytest.raises(InputError, match="exists"):
        plan_of().save(file, rate=20)
    assert file.read_bytes() == before
    plan_of().save(file, rate=20, overwrite=True)
    assert file.read_bytes() != before


@pytest.mark.parametrize(
    ("name", "rate", "why"),
    [
        ("plan.txt", None, r"\.csv"),
        ("plan.csv", 0, "rate"),
        ("plan.csv", float("nan"), "rate"),
        ("plan.csv", "fast", "rate"),
        ("plan.csv", 1e9, "samples"),
        ("no/plan.csv", None, "folder"),
    ],
)
def test_wrong_files_and_rates_are_refused(tmp_path, name, rate, why):
    with pytest.raises(InputError, match=why):
        plan_of().save(tmp_path / name, rate=rate)
