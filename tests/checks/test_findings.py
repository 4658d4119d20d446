"""Each check on a record with the one fault that it is for; a clean record passes them all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import didim
from didim.checks import diagnose
from didim.checks.finding import LEVELS
from support.virtual import loop, model, scara_record


def clean():
    return scara_record(noise=0.02, encoder=1e-5, periods=2)[0]


def levels(record, controller=None, **settings):
    """The worst level of each check."""
    found: dict[str, str] = {}
    for each in diagnose(
        model(), [record], loop() if controller is None else controller, **settings
    ):
        found[each.check] = max(found.get(each.check, "pass"), each.level, key=LEVELS.index)
        assert each.remedy or each.level == "pass", "a finding comes with its remedy"
    return found


def worse(found):
    return {check: level for check, level in found.items() if level != "pass"}


def test_a_clean_record_passes():
    found = levels(clean(), rest_handled="simulated", decimated=10)
    assert worse(found) == {}
    assert {
        "sampling",
        "gaps",
        "movement",
        "rest",
        "saturation",
        "units",
        "torque sign",
        "torque size",
        "lag",
    } <= set(found)
    assert {"decimation", "excitation", "loop", "bandwidth"} <= set(found)


def changed(**signals):
    return replace(clean(), **signals)


def jittering():
    record = clean()
    t = np.asarray(record.t)
    rng = np.random.default_rng(0)
    return replace(
        record,
        t=t + 0.3 * (t[1] - t[0]) * rng.uniform(0, 1, t.size),
        q_ref=record.reference().sample(t)[0],
    )


def with_a_gap():
    record = clean()
    keep = np.ones(np.size(record.t), dtype=bool)
    keep[600:760] = False
    cut = {name: np.asarray(getattr(record, name))[keep] for name in ("t", "tau", "q")}
    return replace(record, **cut)


def standing():
    record = clean()
    q, q_ref = np.array(record.q), record.reference().sample(record.t)[0]
    q[:, 1] = q_ref[:, 1] = 0.3
    return replace(record, q=q, q_ref=q_ref)


def late(seconds):
    record = clean()
    return replace(
        record,
        q_ref=didim.Reference(
            np.asarray(record.t) - seconds, record.reference().sample(record.t)[0]
        ),
    )


def turned(j):
    tau = np.array(clean().tau)
    tau[:, j] *= -1
    return replace(clean(), tau=tau)


def clipped():
    tau = np.array(clean().tau)
    return replace(
        clean(), tau=np.clip(tau, -0.3 * np.abs(tau).max(axis=0), 0.3 * np.abs(tau).max(axis=0))
    )


def held():
    tau = np.array(clean().tau)
    return replace(clean(), tau=np.repeat(tau[::4], 4, axis=0)[: tau.shape[0]])


FAULTS = {
    "jitter": (jittering, "sampling", "warn"),
    "gap": (with_a_gap, "gaps", "warn"),
    "a joint that does not move": (standing, "movement", "fail"),
    "its parameters": (standing, "excitation", "fail"),
    "clipped torque": (clipped, "saturation", "fail"),
    "held torque": (held, "repeats", "warn"),
    "torque turned, joint 1": (lambda: turned(0), "torque sign", "fail"),
    "torque turned, joint 2": (lambda: turned(1), "torque sign", "fail"),
    "degrees": (lambda: changed(q=np.degrees(clean().q)), "units", "fail"),
    "degrees everywhere": (
        lambda: changed(
            q=np.degrees(clean().q), q_ref=np.degrees(clean().reference().sample(clean().t)[0])
        ),
        "units",
        "warn",
    ),
    "position turned": (lambda: changed(q=-np.asarray(clean().q)), "units", "fail"),
    "amperes": (lambda: changed(tau=0.05 * np.asarray(clean().tau)), "torque size", "warn"),
    "late by 50 ms": (lambda: late(0.05), "lag", "warn"),
    "early by 30 ms": (lambda: late(-0.03), "lag", "warn"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_found(name):
    make, check, level = FAULTS[name]
    assert levels(make())[check] == level


def test_rest_is_told_unless_the_method_knows_it():
    record = clean()
    t = np.asarray(record.t)
    pause = np.arange(1, 401) / 200.0 + t[-1]
    waited = {
        name: np.vstack(
            [getattr(record, name), np.repeat(np.asarray(getattr(record, name))[-1:], 400, axis=0)]
        )
        for name in ("tau", "q")
    }
    waiting = replace(record, t=np.concatenate([t, pause]), q_ref=None, **waited)
    assert levels(waiting)["rest"] == "warn"
    assert levels(waiting, rest_handled="rest_velocity leaves them out")["rest"] == "pass"


@pytest.mark.slow
def test_loops():
    record = clean()
    unstable = didim.PD(kp=[500.0, 500.0], kv=[400.0, 400.0], rate=200, delay=2)
    assert levels(record, unstable)["stability"] == "fail"
    soft = didim.PD(natural_frequency=[2.0, 2.0])
    assert levels(record, soft)["bandwidth"] == "warn"
    assert levels(record, assumed=True)["loop"] == "warn"
    unknown = {each.check: each for each in diagnose(model(), [record], None)}
    assert unknown["loop"].level == "warn"
    assert "stability" not in unknown


def test_too_much_decimation():
    assert levels(clean(), decimated=200)["decimation"] == "warn"


def test_records_without_positions_or_reference():
    only_reference = replace(clean(), q=None)
    assert "fail" not in levels(only_reference).values()
    nothing = replace(clean(), q=None, q_ref=None)
    found = levels(nothing)
    assert found["movement"] == found["excitation"] == "fail"


def test_a_robot_without_described_values():
    robot = didim.load_robot("scara")
    bare = replace(
        robot, joints=tuple(replace(j, link=np.full(10, np.nan), nominal={}) for j in robot.joints)
    )
    found = diagnose(didim.DynamicModel(bare), [clean()], loop(), rest_handled="simulated")
    assert [each for each in found if each.level in ("warn", "fail")] == []
    assert {each.check: each.level for each in found}["torque size"] == "unjudged"
    assert "stable" in {each.check: each for each in found}["bandwidth"].found


@pytest.mark.slow
def test_several_records_are_told_apart():
    found = diagnose(model(), [clean(), replace(jittering(), name="second")], loop())
    assert {each.experiment for each in found} == {clean().name, "second", ""}
    with pytest.raises(didim.InputError, match="has 2 joints, robot 'tx40' has 6"):
        diagnose(model("tx40"), [clean()])


def wrapped():
    q = np.array(clean().q)
    q[1000:, 0] += 2 * np.pi
    return replace(clean(), q=q)


def one_wrong_sample():
    q = np.array(clean().q)
    q[1000, 1] += 1.0
    return replace(clean(), q=q)


def silent():
    tau = np.array(clean().tau)
    tau[:, 1] = 0.0
    return replace(clean(), tau=tau)


MORE = {
    "an encoder that wraps": (wrapped, "jumps", "fail"),
    "a wrong sample": (one_wrong_sample, "jumps", "fail"),
    "a silent joint": (silent, "torque size", "fail"),
    "another zero": (
        lambda: changed(q=np.asarray(clean().q) + np.array([0.5, 0.0])),
        "units",
        "warn",
    ),
    "milliseconds": (
        lambda: changed(t=1e3 * np.asarray(clean().t), q_ref=None),
        "sampling",
        "warn",
    ),
}


@pytest.mark.parametrize("name", MORE)
def test_more_faults(name):
    make, check, level = MORE[name]
    assert levels(make())[check] == level


def test_a_gap_is_no_jitter():
    assert levels(with_a_gap())["sampling"] == "pass"


def test_wrong_positions_are_fixed_before_the_torque_is_judged():
    """A turned position also looks like a turned torque; two remedies for one fault would make a
    second.
    """
    found = diagnose(model(), [changed(q=-np.asarray(clean().q))], loop())
    sign = {each.check: each for each in found}["torque sign"]
    assert sign.level == "unjudged"
    assert "fix them first" in sign.remedy


@pytest.mark.slow
def test_friction_belongs_to_the_lag_of_a_loop():
    """A wrist whose friction is as large as its velocity gain lags by more than 1/kp, in time with
    its reference.
    """
    arm = model("tx40")
    trajectory = didim.Fourier.random(arm.robot, 1, period=5.0)
    slow = didim.PD(natural_frequency=50.0)
    record, _ = didim.virtual_experiment(
        arm, arm.nominal, slow, trajectory, rate=200, noise=0.02, encoder=1e-5
    )
    found = {each.check: each for each in diagnose(arm, [record], slow, rest_handled="simulated")}
    assert found["lag"].level == "pass"


def test_what_cannot_be_judged_is_not_passed():
    tau = -np.asarray(clean().tau)
    found = diagnose(
        didim.DynamicModel(didim.load_robot("scara"), []), [replace(clean(), tau=tau)], loop()
    )
    assert {each.check: each.level for each in found}["torque sign"] == "unjudged"
    with pytest.raises(didim.InputError, match="no experiment to check"):
        diagnose(model(), [])


def test_close_stamps_are_no_jump_and_held_torques_no_saturation():
    record = clean()
    t = np.array(record.t)
    t[1000] = t[1001] - 3e-5
    assert levels(replace(record, t=t, q_ref=None))["jumps"] == "pass"
    tau = np.repeat(np.asarray(record.tau)[::10], 10, axis=0)[: t.size]
    assert levels(replace(record, tau=tau))["saturation"] == "pass"


@pytest.mark.slow
@pytest.mark.parametrize("law", [didim.PID, didim.Cascade])
def test_integral_action_does_not_pass_for_a_shifted_clock(law):
    """An integral hides the lag of slow motion only; at the motion's own frequency the loop still
    lags.
    """
    arm = model("tx40")
    trajectory = didim.Fourier.random(arm.robot, 1, period=5.0)
    controller = law(natural_frequency=50.0)
    record, _ = didim.virtual_experiment(
        arm, arm.nominal, controller, trajectory, rate=500, noise=0.02, encoder=1e-5
    )
    found = {
        each.check: each for each in diagnose(arm, [record], controller, rest_handled="simulated")
    }
    assert found["lag"].level == "pass"
    shifted = replace(
        record, q_ref=didim.Reference(np.asarray(record.t) - 0.08, trajectory.sample(record.t)[0])
    )
    assert {each.check: each.level for each in diagnose(arm, [shifted], controller)}[
        "lag"
    ] == "warn"


def test_amperes_are_seen_where_only_rotor_and_offset_are_unknown():
    robot = didim.load_robot("scara")
    partly = replace(robot, joints=tuple(replace(j, nominal={}) for j in robot.joints))
    arm = didim.DynamicModel(partly, ["rotor", "viscous", "coulomb", "offset"])
    found = diagnose(arm, [changed(tau=0.02 * np.asarray(clean().tau))], loop())
    assert {each.check: each.level for each in found}["torque size"] == "warn"


def bare(nominal: bool) -> didim.DynamicModel:
    """The SCARA without described effects, and without links unless `nominal`."""
    robot = didim.load_robot("scara")
    link = {} if nominal else {"link": np.full(10, np.nan)}
    return didim.DynamicModel(
        replace(robot, joints=tuple(replace(j, nominal={}, **link) for j in robot.joints))
    )


def found_by(arm, record, controller=None):
    return {each.check: each for each in diagnose(arm, [record], controller)}


@pytest.mark.slow
def test_the_lag_of_a_loop_needs_a_positive_inertia():
    """Turned torques give a quick fit with negative inertias, and these no lag."""
    right = found_by(bare(False), clean(), loop())["lag"]
    assert right.level == "pass"
    turned = found_by(bare(False), changed(tau=-np.asarray(clean().tau)), loop())["lag"]
    assert turned.level == "unjudged"
    assert "not positive" in turned.found


@pytest.mark.slow
def test_a_motion_that_does_not_follow_its_reference():
    """The reference of another record, or one that comes later, also without a controller."""
    record = clean()
    other = didim.Fourier.random(model().robot, 5, period=7.3, periods=2).sample(record.t)[0]
    other = record.reference().sample(record.t)[0] + 0.7 * (other - other.mean(axis=0))
    for controller in (None, loop()):
        lag = found_by(model(), changed(q_ref=other), controller)["lag"]
        assert lag.level == "warn"
        assert "does not follow" in lag.found
    assert found_by(model(), record)["lag"].level == "pass"
    assert found_by(model(), late(-0.143))["lag"].level == "warn", "the motion is ahead"


def test_a_sign_that_a_part_of_the_record_overturns_is_not_called_wrong():
    record = clean()
    tau = np.array(record.tau)
    tau[tau.shape[0] // 2 :, 1] *= -2
    findings = [
        each
        for each in diagnose(model(), [replace(record, tau=tau)], loop())
        if each.check == "torque sign"
    ]
    assert [each.level for each in findings] == ["warn"]
    assert "not certain" in findings[0].found


@pytest.mark.parametrize(("joints", "level"), [([0, 1], "warn"), ([1], "unjudged")])
def test_a_torque_of_many_times_the_description_does_not_pass(joints, level):
    """Friction that is not described may be most of one joint's torque, not of every joint's."""
    tau = np.array(clean().tau)
    tau[:, joints] *= 1.7e4
    size = found_by(bare(True), replace(clean(), tau=tau))["torque size"]
    assert size.level == level
    assert "e+04" in size.found


@pytest.mark.parametrize("samples", [5, 12, 60])
def test_records_of_a_few_samples_are_judged_without_failing(samples):
    t = 0.01 * np.arange(samples)
    q = np.column_stack([np.sin(5 * t), np.cos(7 * t)])
    found = diagnose(model(), [didim.Experiment(t=t, tau=3 * q, q_ref=None, q=q)])
    assert {each.level for each in found} & {"warn", "fail"}
