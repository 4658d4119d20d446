"""Estimates of models with own effects and shapes: saved, loaded, written as robots."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import didim
from didim.cli.shared.estimate_answer import estimate_answer
from support.estimates import estimate_at, estimate_of, physical_parameters

CABLE = {"torque": "k * (q - q0)", "unknown": {"k": {"unit": "N.m/rad"}}, "fixed": {"q0": 0.2}}


@pytest.fixture(scope="module")
def estimate():
    robot = didim.load_robot("scara")
    names = ["viscous", "coulomb", "stribeck", "load_friction", "temperature"]
    own = [didim.Effect("cable", joint=2, **CABLE), didim.effects()["spring"].at("joint_1")]
    model = didim.DynamicModel(robot, [*names, *own], {"vs1": 0.3, "qs_spring": 0.1})
    like = estimate_of(didim.DynamicModel(robot))
    return estimate_at(model, physical_parameters(model), like)


def torque(model, parameters):
    rng = np.random.default_rng(2)
    q, dq, ddq = rng.uniform(-2, 2, (3, 20, model.robot.n))
    logged = {name: rng.uniform(20, 40, 20) for name in model.channels}
    return model.inverse_dynamics(q, dq, ddq, parameters, signals=logged)


def test_saved_and_loaded(estimate, tmp_path):
    again = didim.load_estimate(estimate.save(tmp_path / "a.json"))
    assert again.model.full.shape_values == estimate.model.full.shape_values
    assert again.model.full.shape_values["vs1"] == 0.3
    assert [getattr(each, "name", each) for each in again.model.full.effects] == [
        getattr(each, "name", each) for each in estimate.model.full.effects
    ]
    expected = torque(estimate.model, estimate.parameters)
    np.testing.assert_array_equal(torque(again.model, again.parameters), expected)
    answered = estimate_answer(replace(again, shapes={"vs1": (0.3, 0.01)}), []).shapes
    assert answered["vs1"] == [0.3, 0.01]
    assert answered["ds1"] == [2.0, None]
    assert set(answered) == set(estimate.model.full.shape_values)


def test_files_without_shapes_still_load(tmp_path):
    plain = estimate_of(didim.DynamicModel(didim.load_robot("scara")))
    path = plain.save(tmp_path / "a.json")
    data = json.loads(path.read_text())
    del data["model"]["shapes"], data["model"]["robot"]["effects"]
    path.write_text(json.dumps(data))
    assert didim.load_estimate(path).names == plain.names


@pytest.mark.parametrize(
    "change",
    [
        {"effects": [3]},
        {"effects": [{"name": "cable"}]},
        {"effects": [{"name": "a", "joint": 1, "torque": "k.real", "unknown": {"k": {}}}]},
        {"shapes": {"vs1": "fast"}},
        {"shapes": {"vs9": 1.0}},
        {"shapes": [1.0]},
    ],
)
def test_tampered_effects_are_refused(estimate, tmp_path, change):
    path = estimate.save(tmp_path / "a.json")
    data = json.loads(path.read_text())
    data["model"] |= change
    path.write_text(json.dumps(data))
    with pytest.raises(didim.InputError, match=r"a\.json"):
        didim.load_estimate(path)


@pytest.mark.parametrize("ending", ["toml", "urdf"])
def test_the_identified_robot_has_them_with_their_values(estimate, tmp_path, ending):
    estimate.to_robot(tmp_path / f"a.{ending}")
    model = didim.DynamicModel(didim.load_robot(tmp_path / f"a.{ending}"))
    assert model.parameter_names == estimate.model.full.parameter_names
    assert model.shape_values == estimate.model.full.shape_values
    expected = torque(estimate.model, estimate.parameters)
    np.testing.assert_allclose(torque(model, model.nominal), expected, rtol=1e-9, atol=1e-9)
