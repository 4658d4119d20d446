"""Machines of one joint with effects against the same machine written in NumPy and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import didim
from support.effects import one_joint

T = np.linspace(0, 3, 1501)
FORCE = 2.0 * np.sin(3.0 * T)


def reference(J, torque, q, dq, t=T):
    """q (N,) of J ddq = 2 sin(3 t) - torque(t, q, dq), by an 8th-order method."""

    def rates(time, y):
        return [y[1], (2.0 * np.sin(3.0 * time) - torque(time, *y)) / J]

    done = solve_ivp(rates, (t[0], t[-1]), [q, dq], "DOP853", t, rtol=1e-11, atol=1e-12)
    return done.y[0]


def simulated(model, phi, q, dq, t=T, **more):
    force = 2.0 * np.sin(3.0 * t)
    options = {"tau": force, "friction": "smooth", "tolerance": 1e-10, "initial": ([q], [dq])}
    return didim.simulate(model, phi, None, t=t, **options, **more).q[:, 0]


def gas_spring_torque(q):
    """By hand: the force of a gas spring along the line between a fixed point, 0.3 m from the axis
    at angle 0, and a point 0.1 m from the axis that turns with the joint; what the drive must give
    against it.
    """
    fixed, moving = np.array([0.3, 0.0]), 0.1 * np.array([np.cos(q), np.sin(q)])
    line = moving - fixed
    length = np.hypot(*line)
    force = 50.0 * (0.3 / (0.3 - 0.4 + length)) ** 1.2 * line / length
    return -(moving[0] * force[1] - moving[1] * force[0])


def ripple_torque(q):
    return 0.5 * np.sin(5 * q) + 0.3 * np.cos(5 * q)


def lubrication_torque(dq):
    return 0.4 * dq * abs(dq) + 0.2 * dq / np.sqrt(abs(dq) + 1e-3)


CASES = {
    "spring": ({"ks1": 3.0}, {"qs1": 0.2}, lambda _t, q, _dq: 3.0 * (q - 0.2)),
    "gas_spring": ({"Fg1": 50.0}, {}, lambda _t, q, _dq: gas_spring_torque(q)),
    "ripple": ({"Rs1": 0.5, "Rc1": 0.3}, {"order1": 5.0}, lambda _t, q, _dq: ripple_torque(q)),
    "counterweight": ({"mg1": 2.0}, {"qw1": 0.3}, lambda _t, q, _dq: 2.0 * np.cos(q - 0.3)),
    "viscous_power": ({"Fvq1": 0.4, "Fvr1": 0.2}, {}, lambda _t, _q, dq: lubrication_torque(dq)),
    "temperature": ({"FvT1": 0.05}, {"T01": 25.0}, lambda t, _q, dq: 0.5 * dq * (t - 0.5)),
}


@pytest.mark.parametrize("effect", CASES)
def test_a_joint_moves_as_its_equation_says(effect):
    """J ddq + s(q, dq) = tau, within the accuracy of the integration."""
    values, shapes, torque = CASES[effect]
    model, phi = one_joint("revolute", [effect], ZZ1=0.5, **values)
    model = model.with_shapes(shapes)
    signals = dict.fromkeys(model.channels, 20 + 10 * T)
    found = simulated(model, phi, 0.4, 0.1, signals=signals)
    expected = reference(0.5, torque, 0.4, 0.1)
    assert np.abs(found - expected).max() < 1e-7 * np.abs(expected).max()
    fixed = simulated(model, phi, 0.4, 0.1, signals=signals, method="fixed")
    assert np.abs(fixed - expected).max() < 1e-5 * np.abs(expected).max()


def test_a_gas_spring_is_the_gradient_of_its_energy():
    """Virtual work: torque dq = -force dl, at 60 positions."""
    model, phi = one_joint("revolute", ["gas_spring"], Fg1=50.0)
    q = np.linspace(-3, 3, 60)
    tau = model.inverse_dynamics(q, 0 * q, 0 * q, phi)[:, 0]
    assert np.allclose(tau, [gas_spring_torque(each) for each in q], rtol=1e-12, atol=1e-12)


def test_a_pendulum_that_slides_under_load_friction():
    """load = J ddq + g MX cos q and tau = load + mu |load| sign(dq), so that under a torque tau the
    load is tau / (1 + mu sign(tau dq)).
    """
    model, phi = one_joint("revolute", ["load_friction"], ZZ1=0.5, MX1=0.2, mu1=0.3)
    t = np.linspace(0, 1.0, 1001)
    torque = np.full(t.size, 2.0)

    def rates(_, y):
        load = 2.0 / (1 + 0.3 * np.sign(2.0 * y[1]))
        return [y[1], (load - 9.81 * 0.2 * np.cos(y[0])) / 0.5]

    for speed in (1.0, -3.0):
        until = t[-1] if speed > 0 else 0.6
        kept = t <= until
        motion = didim.simulate(
            model, phi, None, t=t[kept], tau=torque[kept], initial=([-0.5], [speed])
        )
        assert (np.sign(motion.dq) == np.sign(speed)).all()
        start = [-0.5, speed]
        done = solve_ivp(rates, (0, until), start, "DOP853", t[kept], rtol=1e-11, atol=1e-12)
        assert np.abs(motion.q[:, 0] - done.y[0]).max() < 1e-8
        expected = 2.0 / (1 + 0.3 * np.sign(speed))
        assert np.allclose(motion.signals["load"], expected, rtol=1e-12)


@pytest.mark.parametrize("rate", [None, 1000.0])
def test_drives_that_are_switched_off_leave_a_free_decay(rate):
    """M ddq = -Fv dq once enabled is 0: neither torque nor back-EMF."""
    model, phi = one_joint("prismatic", ["viscous", "back_emf"], M1=2.0, Fv1=3.0, Kb1=8.0)
    t = np.linspace(0, 2, 2001)
    enabled = np.where(t < 1.0, 1.0, 0.0)
    loop = didim.PD(kp=20.0, kv=200.0, drive_gain=1.0, rate=rate)
    motion = didim.simulate(
        model, phi, loop, t=t, q_ref=0.5 * np.sin(3 * t), signals={"enabled": enabled}
    )
    off = t >= 1.0 + (1e-9 if rate is None else 2e-3)
    start = np.flatnonzero(off)[0]
    decay = motion.dq[start, 0] * np.exp(-1.5 * (t[off] - t[start]))
    assert np.abs(motion.dq[start, 0]) > 0.3
    assert np.abs(motion.dq[off, 0] - decay).max() < 1e-9
    assert np.abs(motion.tau[off]).max() == 0.0
    on = t < 0.99
    brake = 2.0 * motion.ddq[on, 0] + (3.0 + 8.0) * motion.dq[on, 0]
    assert np.allclose(brake, motion.tau[on, 0], atol=1e-9)


def test_strong_damping_by_an_expression_is_integrated_as_viscous_friction_is():
    """Kb = 8000 N s/m on 1 kg is faster than the step of 1 ms: both ways of saying it agree."""
    t = np.linspace(0, 0.2, 201)
    found = []
    for effect, symbol, signals in (
        ("viscous", "Fv1", {}),
        ("back_emf", "Kb1", {"enabled": np.ones(201)}),
    ):
        model, phi = one_joint("prismatic", [effect], M1=1.0, **{symbol: 8000.0})
        options = {"tau": 800.0 * np.ones(201), "signals": signals}
        found.append(didim.simulate(model, phi, None, t=t, **options))
    assert [motion.status for motion in found] == ["completed", "completed"]
    assert np.allclose(found[0].q, found[1].q, atol=1e-12)
    assert found[1].dq[-1, 0] == pytest.approx(0.1)
