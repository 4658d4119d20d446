"""A position servo: its law against closed forms, and its sensitivities against differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import didim
from didim.control.simulated_loop import SimulatedLoop, drive_gains, numeric_gains, unknown_offsets
from didim.identification.problem import ClosedLoopProblem, Unknowns
from didim.signals.rows import RowSelection
from didim.simulation.records import record_set

GAIN = 0.6
VALUES = {
    "ZZ1R": 0.0068,
    "ZZ1": 0.0068,
    "MX1": 0.049,
    "Fv1": 0.006,
    "Fc1": 0.01,
    "mu1": 0.3,
    "Kb1": 0.03,
}


def pendulum(effects=("rotor", "viscous", "coulomb", "load_friction", "back_emf")):
    model = didim.DynamicModel(didim.load_robot("xl330"), effects=list(effects)).base
    return model, np.array([VALUES.get(name, 0.0) for name in model.parameter_names])


def servo(**changed):
    return didim.Servo(**{"kp": 2.0, "drive_gain": GAIN, "rate": 1000.0} | changed)


def simulated(loop, t, q_ref, q=0.0, effects=(), **more):
    model, beta = pendulum(effects)
    reference = didim.Reference(t, q_ref, interpolation="linear")
    more |= {"initial": ([q], [0.0]), "check": False}
    return didim.simulate(model, beta, loop, t=t, q_ref=reference, **more)


def test_without_friction_it_is_a_spring():
    """J ddq + m g l sin q = g kp (q_r - q): the energy of gravity and spring stays."""
    t = np.arange(0.0, 1.0, 1e-3)
    found = simulated(servo(rate=20_000.0), t, np.full(t.size, 0.3), effects=["rotor"])
    e = 0.3 - found.q[:, 0]
    energy = 0.5 * 0.0068 * found.dq[:, 0] ** 2 - 0.049 * 9.81 * np.cos(found.q[:, 0])
    energy += 0.5 * GAIN * 2.0 * e**2
    assert np.ptp(energy) < 1e-2 * np.ptp(0.5 * GAIN * 2.0 * e**2)


def test_its_duty_is_limited_and_its_motor_can_be_off():
    t = np.arange(0.0, 1.0, 5e-3)
    on = (t < 0.5).astype(float)
    found = simulated(
        servo(kp=50.0), t, np.sin(3 * t), effects=["back_emf"], signals={"enabled": on}
    )
    assert np.isclose(np.abs(found.tau[on == 1]).max(), GAIN)
    assert not found.tau[t > 0.51].any()


def test_one_unit_of_kp_is_that_of_the_firmware():
    t = np.arange(0.0, 0.5, 5e-3)
    one, other = (simulated(loop, t, np.sin(3 * t)) for loop in (
        servo(kp=400.0, kp_unit=0.005), servo(kp=2.0)
    ))  # fmt: skip
    np.testing.assert_allclose(one.q, other.q, atol=1e-12)


def problem(gains=("drive_gain", "kp"), offsets=("zero", "bias"), effects=None):
    """Two records of a pendulum, one of a gain of its own, one with its motor off at the end."""
    model, beta = pendulum() if effects is None else pendulum(effects)
    t = np.arange(0.0, 1.5, 5e-3)
    channels = {"enabled": (t < 1.0).astype(float)}
    q_ref = 0.8 * np.sin(4 * t) + 0.2 * np.sin(11 * t)
    records = [
        didim.Experiment(t, None, q_ref, 0.1 + 0.0 * t, np.zeros(t.size), "one", channels=channels),
        didim.Experiment(t, None, q_ref, 0.0 * t, np.zeros(t.size), "other",
                         channels={"enabled": np.ones(t.size)}, gains={"kp": 1.2}),
    ]  # fmt: skip
    loop, J = servo(encoder=0.0), np.ones(1)
    found = record_set(model, records, loop, RowSelection(1), 0.0, "measured", ("q",), shifts=True)
    simulated_loop = SimulatedLoop(
        loop, False, numeric_gains(model, loop, J), gains, True, drive_gains(model, loop, gains),
        unknown_offsets(offsets, 1),
    )  # fmt: skip
    return ClosedLoopProblem(model, found, simulated_loop), beta


def test_sensitivities_are_differences():
    """By parameters, drive gain, kp, delay, zero and bias, through saturation and switching."""
    case, beta = problem(gains=("drive_gain",))
    z = np.array([0.05, 0.002, 0.03, 0.01])
    window, x = case.records.first_window, Unknowns(beta, None, z)
    _, system = case.linearise(x, window)
    assert system.names == (*case.base.parameter_names, "drive_gain1", "delay", "zero1", "bias1")

    def error(point):
        moved = Unknowns(point[: beta.size], None, point[beta.size :])
        return case.linearise(moved, window)[1].y

    at = np.concatenate([beta, z])
    for k, name in enumerate(system.names):
        if name == "MY1":
            continue
        step = 1e-5 * max(abs(at[k]), 1e-2) * np.eye(at.size)[k]
        slope = -(error(at + step) - error(at - step)) / (2 * step[k])
        wrong = np.linalg.norm(slope - system.W[:, k]) / np.linalg.norm(slope)
        assert wrong < 0.02, name


def test_what_a_servo_does_not_have():
    for changed in ({"kv": 1.0}, {"rate": None}, {"velocity": "true"}, {"kp": None}):
        with pytest.raises(didim.InputError, match="Servo"):
            servo(**changed)
    with pytest.raises(didim.InputError, match="kp_unit"):
        servo(kp_unit=0.0)
    record = didim.Experiment([0.0, 0.1], None, [0.0, 0.1], [0.0, 0.1], gains={"kv": 2.0})
    with pytest.raises(didim.InputError, match="given by its poles"):
        didim.PD(natural_frequency=5.0).during(record.gains)


def test_it_is_stored_with_its_estimate(tmp_path):
    from didim.results.serialisation import controller_of, plain_controller

    loop = servo(kp=[400.0], kp_unit=0.003, encoder=0.001)
    again = controller_of(plain_controller(loop))
    assert isinstance(again, didim.Servo)
    assert repr(again) == repr(replace(loop, kp=[400.0]))
