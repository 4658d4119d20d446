"""Errors of scale that leave no residual are doubted where the robot's description tells: factors
on torques and clock, zeros, missing rotors. A factor on one torque shows in the record itself.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import didim
from didim.checks import diagnose
from didim.regression.least_squares import fit
from didim.regression.system import observe
from didim.regression.torque_factors import torque_factors
from didim.results.description import compare, poses, same_for_all
from didim.results.scale_doubts import DoubtKind, scale_doubts
from didim.results.scale_notes import scale_notes
from didim.signals.rows import RowSelection
from didim.signals.states import States
from support.virtual import model

METHOD = didim.IDIM(cutoff=None, decimation=1)


@cache
def record(name: str) -> didim.Experiment:
    """Torques of the described robot on a smooth motion, with noise of 1 %."""
    arm = model(name)
    t = np.arange(0.0, 10.0, 0.01)
    q, dq, ddq = didim.Fourier.random(arm.robot, 1, period=10.0, harmonics=6).sample(t)
    tau = arm.inverse_dynamics(q, dq, ddq, arm.nominal)
    noise = 0.01 * tau.std(axis=0) * np.random.default_rng(0).standard_normal(tau.shape)
    return didim.Experiment(t=t, tau=tau + noise, q_ref=None, q=q)


def doubts(arm: didim.DynamicModel, changed: didim.Experiment):
    """Doubts about an estimate, by kind; its notes say the same."""
    found = didim.identify(arm, changed, METHOD)
    base = arm.base
    values = same_for_all(base, found.parameters, found.corrected_covariance)
    comparison = compare(base, poses([changed]), *values)
    assert set(scale_notes(base, comparison)) <= set(found.notes)
    return {each.kind: each for each in scale_doubts(base, comparison)}


def scales(arm: didim.DynamicModel, changed: didim.Experiment) -> set[str]:
    return {each.level for each in diagnose(arm, [changed]) if each.check == "scale"}


def disagreement(arm: didim.DynamicModel, changed: didim.Experiment) -> list[str]:
    """Notes on torques that disagree with each other."""
    notes = didim.identify(arm, changed, METHOD).notes
    return [note for note in notes if "Torques of the joints disagree" in note]


ROBOTS = ("double_pendulum", "panda", "tx40", "scara", "emps")


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_a_right_record_is_not_doubted(name):
    assert doubts(model(name), record(name)) == {}
    assert disagreement(model(name), record(name)) == []
    assert scales(model(name), record(name)) == {"pass"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["double_pendulum", "panda", "tx40"])
def test_all_torques_by_a_factor(name):
    changed = replace(record(name), tau=1.2 * np.asarray(record(name).tau))
    assert disagreement(model(name), changed) == []
    found = doubts(model(name), changed)
    assert [*found] == [DoubtKind.TORQUES]
    assert found[DoubtKind.TORQUES].values[0] == pytest.approx(1.2, abs=0.02)
    assert scales(model(name), changed) == {"warn"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["panda", "tx40"])
def test_a_clock_by_a_factor(name):
    """Gravity does not change, inertias do with its square."""
    changed = replace(record(name), t=1.2 * np.asarray(record(name).t))
    found = doubts(model(name), changed)
    assert DoubtKind.CLOCK in found
    assert DoubtKind.TORQUES not in found
    assert found[DoubtKind.CLOCK].values[0] == pytest.approx(1.44, abs=0.05)
    assert scales(model(name), changed) == {"warn"}


@pytest.mark.parametrize("name", ["scara", "emps"])
def test_without_gravity_torques_and_clock_look_alike(name):
    for changed in (
        replace(record(name), t=1.2 * np.asarray(record(name).t)),
        replace(record(name), tau=1.44 * np.asarray(record(name).tau)),
    ):
        found = doubts(model(name), changed)
        assert [*found] == [DoubtKind.TORQUES_OR_CLOCK]
        assert found[DoubtKind.TORQUES_OR_CLOCK].values[0] == pytest.approx(1.44, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(("joint", "kind"), [(0, DoubtKind.INERTIA), (1, DoubtKind.TORQUE)])
def test_the_torque_of_one_joint_by_a_factor(joint, kind):
    """The first joint of the Panda is vertical: only its inertia tells."""
    tau = np.array(record("panda").tau)
    tau[:, joint] *= 1.2
    changed = replace(record("panda"), tau=tau)
    found = doubts(model("panda"), changed)
    assert joint in found[kind].joints
    assert found[kind].values[found[kind].joints.index(joint)] == pytest.approx(1.2, abs=0.1)
    assert scales(model("panda"), changed) == {"warn"}


@pytest.mark.parametrize(
    ("name", "joint", "is_described"),
    [
        ("scara", 1, False),
        ("double_pendulum", 1, True),
        ("tx40", 2, True),
        ("tx40", 4, True),
        ("tx40", 5, False),
    ],
)
def test_the_torque_of_one_joint_beside_those_of_the_others(name, joint, is_described):
    """Joints share parameters, so that no description is needed; it alone does not show these, or
    not always.
    """
    arm, right = model(name) if is_described else undescribed(name), record(name)
    tau = np.array(right.tau)
    tau[:, joint] *= 1.2
    (note,) = disagreement(arm, replace(right, tau=tau))
    assert f"that of joint {joint + 1} ({arm.robot.joint_names[joint]}) is 1." in note


def test_the_factor_and_its_sigma():
    """s of the joint that is wrong, beside the truth."""
    arm, tau = model("tx40").base, np.array(record("tx40").tau)
    tau[:, 2] *= 1.2
    motion = record("tx40")
    q, dq, ddq = didim.Fourier.random(arm.robot, 1, period=10.0, harmonics=6).sample(motion.t)
    selection = RowSelection()
    system = observe(arm, States(q, dq, ddq), tau, selection, selection.window(motion.t))
    solution = fit(system, "wls")
    found = torque_factors(system, solution, solution.values, 1.1)
    assert found.value[2] == pytest.approx(1.2, abs=4 * found.sigma[2])
    assert found.sigma[2] < 0.01
    assert found.explained.argmax() == 2


@pytest.mark.slow
@pytest.mark.parametrize(("name", "joint"), [("double_pendulum", 1), ("panda", 2), ("tx40", 1)])
def test_a_zero_that_is_off(name, joint):
    q = np.array(record(name).q)
    q[:, joint] += np.radians(15.0)
    changed = replace(record(name), q=q)
    zero = doubts(model(name), changed)[DoubtKind.ZERO]
    assert joint in zero.joints
    off = zero.values[zero.joints.index(joint)]
    assert np.degrees(off) == pytest.approx(-15.0, abs=3.0)
    assert scales(model(name), changed) == {"warn"}


@pytest.mark.slow
def test_a_rotor_that_the_model_lacks_is_named():
    """A URDF has no rotors; the first link takes the inertia of its own, and has many times the
    described one.
    """
    arm = model("panda")
    bare = didim.DynamicModel(arm.robot, ["viscous", "coulomb"])
    q, t = np.asarray(record("panda").q), np.asarray(record("panda").t)
    tau = np.array(record("panda").tau)
    tau[:, 0] += 1000.0 * np.gradient(np.gradient(q[:, 0], t), t)
    changed = replace(record("panda"), tau=tau)
    found = doubts(bare, changed)[DoubtKind.ROTOR]
    assert found.joints[0] == 0
    assert found.values[0] > 100
    notes = didim.identify(bare, changed, METHOD).notes
    assert any('is a rotor (effect "rotor") missing?' in note for note in notes)


def undescribed(name: str) -> didim.DynamicModel:
    robot = didim.load_robot(name)
    joints = tuple(replace(j, link=np.full(10, np.nan), nominal={}) for j in robot.joints)
    return didim.DynamicModel(replace(robot, joints=joints))


def test_nothing_is_said_without_a_description():
    bare = undescribed("scara")
    assert doubts(bare, record("scara")) == {}
    assert scales(bare, record("scara")) == {"unjudged"}


@pytest.mark.parametrize("size", [0.0, 1e-200, 1e9, 1e100])
def test_absurd_values_are_compared_without_failing(size):
    arm = model("panda").base
    values = size * np.ones(len(arm.parameter_names))
    found = compare(arm, poses([record("panda")]), *same_for_all(arm, values, np.diag(values)))
    assert all(isinstance(note, str) for note in scale_notes(arm, found))
