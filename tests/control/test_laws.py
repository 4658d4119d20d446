"""Every law against its equation, written out by hand on a cart without friction or on the shipped
arms.
"""

from __future__ import annotations

import numpy as np
import pytest

import didim

M, OMEGA = 95.1089, 20.0
T = np.linspace(0, 1.5, 1501)


@pytest.fixture
def cart():
    return didim.DynamicModel(didim.load_robot("emps"), [])


def step_reference(size=0.1):
    return didim.Reference([0.0, 2.0], [[size], [size]], interpolation="held")


def follow(model, loop, reference, initial=([0.0], [0.0]), t=T, **more):
    return didim.simulate(model, model.nominal, loop, t=t, q_ref=reference, initial=initial, **more)


def test_pd_by_poles_has_the_step_response_of_55(cart):
    """H = 1 / (s^2/w^2 + 2 zeta s/w + 1): critically damped and underdamped.

    Tests (53), (55)-(57).
    """
    motion = follow(cart, didim.PD(natural_frequency=OMEGA), step_reference())
    assert np.allclose(motion.q[:, 0], 0.1 * (1 - (1 + OMEGA * T) * np.exp(-OMEGA * T)), atol=1e-8)
    zeta = 0.5
    motion = follow(cart, didim.PD(natural_frequency=OMEGA, damping=zeta), step_reference())
    damped = OMEGA * np.sqrt(1 - zeta**2)
    wave = np.cos(damped * T) + zeta * OMEGA / damped * np.sin(damped * T)
    assert np.allclose(motion.q[:, 0], 0.1 * (1 - np.exp(-zeta * OMEGA * T) * wave), atol=1e-7)


def test_the_drive_gain_of_the_robot_or_of_the_loop_scales_the_gains(cart):
    """By poles the motion is the same whatever g is; by own gains it is not.

    Tests (54).
    """
    one = follow(cart, didim.PD(natural_frequency=OMEGA), step_reference())
    two = follow(cart, didim.PD(natural_frequency=OMEGA, drive_gain=2.0), step_reference())
    assert np.allclose(one.q, two.q, atol=1e-12)
    own = follow(cart, didim.PD(kp=OMEGA / 2, kv=2 * OMEGA * M / 35.15065188), step_reference())
    assert np.allclose(own.q, one.q, atol=1e-9), "the EMPS file has g = 35.15 N/V"


def test_gains_by_poles_use_the_inertia_that_was_assumed(cart):
    """kp = w / (2 zeta), kv = 2 zeta w J / g with J as given, right or wrong.

    Tests (57), (58).
    """
    gains = didim.PD(natural_frequency=[10.0, 40.0], damping=0.7).gains(
        2, np.array([4.0, 5.0]), np.array([2.0, 3.0])
    )
    np.testing.assert_allclose(gains.kp, [10.0 / 1.4, 40.0 / 1.4])
    np.testing.assert_allclose(gains.kv, [1.4 * 10.0 * 2.0 / 4.0, 1.4 * 40.0 * 3.0 / 5.0])
    wrong = follow(cart, didim.PD(natural_frequency=OMEGA, inertia=1.5 * M), step_reference())
    own = follow(
        cart, didim.PD(kp=OMEGA / 2, kv=2 * OMEGA * 1.5 * M / 35.15065188), step_reference()
    )
    assert np.allclose(wrong.q, own.q, atol=1e-9)


def test_parallel_gains_are_kp_e_plus_kd_de(cart):
    loop = didim.PD.parallel(Kp=4000.0, Kd=300.0, drive_gain=1.0)
    reference = didim.PointToPoint([0.0, 2.0], [[0.0], [0.3]])
    motion = follow(cart, loop, reference)
    q_ref, dq_ref, _ = reference.sample(T)
    assert np.allclose(
        motion.tau, 4000.0 * (q_ref - motion.q) + 300.0 * (dq_ref - motion.dq), atol=1e-9
    )


@pytest.mark.parametrize("law", ["pid", "cascade"])
def test_integrals_remove_the_error_of_a_constant_load(law):
    """The double pendulum hangs off the vertical: PD stays off, the integral brings it there; ki
    and kiv by their equation.
    """
    model = didim.DynamicModel(didim.load_robot("double_pendulum"), [])
    reference = didim.Reference([0.0, 8.0], [[0.5, 0.3]] * 2, interpolation="held")
    t = np.linspace(0, 8, 8001)
    loop = {"pid": didim.PID, "cascade": didim.Cascade}[law](
        natural_frequency=20.0, integral_time=0.3
    )
    motion = follow(model, loop, reference, initial=([0.5, 0.3], [0.0, 0.0]), t=t)
    stays_off = follow(
        model, didim.PD(natural_frequency=20.0), reference, initial=([0.5, 0.3], [0.0, 0.0]), t=t
    )
    assert np.abs(motion.q[-1] - [0.5, 0.3]).max() < 1e-6
    assert np.abs(stays_off.q[-1] - [0.5, 0.3]).max() > 1e-2
    gains = loop.gains(2, np.ones(2), didim.largest_inertias(model, model.nominal))
    e = np.array([0.5, 0.3]) - motion.q
    s = gains.kp * e - motion.dq
    integral = (
        np.cumsum(0.5 * ((e + s * 0)[1:] + e[:-1]) * 1e-3, axis=0)
        if law == "pid"
        else (np.cumsum(0.5 * (s[1:] + s[:-1]) * 1e-3, axis=0))
    )
    gain = gains.ki if law == "pid" else gains.kiv
    assert np.allclose(motion.tau[1:], gains.kv * s[1:] + gain * integral, atol=1e-4)


def test_sampled_law_by_hand(cart):
    """Held command, one sample of delay, backward difference: the exact motion of the cart, sample
    by sample.
    """
    T_s, kp, kv = 0.01, 10.0, 2000.0
    loop = didim.PD(kp=kp, kv=kv, drive_gain=1.0, rate=100, delay=1, velocity="backward_difference")
    t = np.arange(101) * T_s
    motion = follow(cart, loop, step_reference(), t=t)
    q, dq, past, waiting = 0.0, 0.0, 0.0, None
    for k in range(101):
        v = kv * (kp * (0.1 - q) - (q - past) / T_s)
        applied = v if waiting is None else waiting
        waiting, past = v, q
        assert motion.tau[k, 0] == pytest.approx(applied, rel=1e-9, abs=1e-9)
        assert motion.q[k, 0] == pytest.approx(q, abs=1e-10)
        q, dq = q + T_s * dq + 0.5 * T_s**2 * applied / M, dq + T_s * applied / M


def test_mean_difference_is_the_difference_of_the_two_tap_mean(cart):
    loop = didim.PD(kp=10.0, kv=500.0, drive_gain=1.0, rate=1000, velocity="mean_difference")
    motion = follow(cart, loop, step_reference())
    q = np.concatenate([[0.0, 0.0], motion.q[:, 0]])
    mean = 0.5 * (q[1:] + q[:-1])
    velocity = np.diff(mean) * 1000
    assert np.allclose(
        motion.tau[:, 0], 500.0 * (10.0 * (0.1 - motion.q[:, 0]) - velocity), atol=1e-8
    )


def test_encoder_steps_are_what_the_controller_sees(cart):
    loop = didim.PD(kp=10.0, kv=500.0, drive_gain=1.0, rate=1000, encoder=1e-3)
    motion = follow(cart, loop, step_reference())
    seen = 1e-3 * np.round(motion.q[:, 0] / 1e-3)
    assert np.allclose(motion.tau[:, 0], 500.0 * (10.0 * (0.1 - seen) - motion.dq[:, 0]), atol=1e-9)


@pytest.mark.parametrize("rate", [None, 1000])
def test_saturation_and_anti_windup(cart, rate):
    """Far from the goal the command is clipped; the integral does not wind up, so the overshoot
    stays small.
    """
    loop = didim.PID(natural_frequency=OMEGA, integral_time=0.1, saturation=6.0, rate=rate)
    free = didim.PID(natural_frequency=OMEGA, integral_time=0.1, rate=rate)
    motion, unlimited = follow(cart, loop, step_reference()), follow(cart, free, step_reference())
    assert np.abs(motion.tau).max() == pytest.approx(6.0 * 35.15065188)
    assert np.abs(unlimited.tau).max() > 10 * np.abs(motion.tau).max()
    assert motion.q.max() < 1.3 * unlimited.q.max()


def test_a_fast_sampled_law_tends_to_the_continuous_one(cart):
    smooth = didim.PointToPoint([0.0, 1.5], [[0.0], [0.3]])
    slow = follow(cart, didim.PID(natural_frequency=OMEGA), smooth)
    errors = [
        np.abs(follow(cart, didim.PID(natural_frequency=OMEGA, rate=rate), smooth).q - slow.q).max()
        for rate in (1000, 4000)
    ]
    assert errors[1] < 0.3 * errors[0] < 0.3 * 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["scara", "panda"])
def test_computed_torque_with_the_true_model_tracks_exactly(name):
    model = didim.DynamicModel(didim.load_robot(name), ["rotor", "viscous"])
    reference = didim.Fourier.random(model.robot, 1, period=2.0, share=0.4)
    loop = didim.ComputedTorque(natural_frequency=30.0, model=model)
    motion = didim.simulate(model, model.nominal, loop, t=np.linspace(0, 2, 2001), q_ref=reference)
    q, dq, _ = reference.sample(motion.t)
    assert np.abs(motion.q - q).max() < 1e-6
    assert np.abs(motion.dq - dq).max() < 1e-4
    assert loop.retuned(np.ones(model.robot.n)) is loop


@pytest.mark.slow
def test_feedforward_and_gravity_compensation():
    model = didim.DynamicModel(didim.load_robot("panda"), ["rotor", "viscous"])
    rest = np.array([0.1, -0.5, 0.2, -1.5, 0.3, 1.2, 0.4])
    held = didim.Reference([0.0, 1.0], [rest, rest], interpolation="held")
    t = np.linspace(0, 1, 101)
    for term in ("gravity", "feedforward", "none"):
        own = {} if term == "none" else {"model": model, "model_term": term}
        motion = didim.simulate(
            model, model.nominal, didim.PD(natural_frequency=20.0, **own), t=t, q_ref=held
        )
        off = np.abs(motion.q[-1] - rest).max()
        assert off < 1e-9 if own else off > 1e-3
    reference = didim.Fourier.random(model.robot, 1, period=2.0, share=0.4)
    loop = didim.PD(
        natural_frequency=20.0, velocity_reference=1.0, model=model, model_term="feedforward"
    )
    motion = didim.simulate(model, model.nominal, loop, t=t, q_ref=reference)
    assert np.abs(motion.q - reference.sample(t)[0]).max() < 1e-6


def test_retuning_59_keeps_kp_and_scales_what_is_torque():
    """Tests (59)."""
    J = np.array([2.0, 3.0])
    poles = didim.PD(natural_frequency=10.0, inertia=[1.0, 1.0])
    gains = poles.retuned(J).gains(2, np.ones(2), J)
    assert np.allclose(gains.kp, 5.0)
    own = didim.PID(kp=5.0, kv=[20.0, 20.0], ki=7.0, inertia=[1.0, 1.0]).retuned(J)
    assert np.allclose(own.kp, 5.0)
    assert np.allclose(own.kv, 20.0 * J)
    assert np.allclose(own.ki, 7.0 * J)
    cascade = didim.Cascade(kp=5.0, kv=[20.0, 20.0], kiv=9.0, inertia=[1.0, 1.0]).retuned(J)
    assert np.allclose(cascade.kiv, 9.0 * J)
    with pytest.raises(didim.InputError, match="give the controller the inertia"):
        didim.PD(kp=1.0, kv=1.0).retuned(J)


@didim.control_law
def my_pd(t, n, q_ref, dq_ref, ddq_ref, q, dq, memory, v):
    for j in range(n):
        v[j] = 3000.0 * (10.0 * (q_ref[j] - q[j]) - dq[j])


@didim.control_law
def my_integrator(t, n, q_ref, dq_ref, ddq_ref, q, dq, memory, v):
    for j in range(n):
        memory[j] += q_ref[j] - q[j]
        v[j] = 3000.0 * (10.0 * (q_ref[j] - q[j]) - dq[j]) + 20.0 * memory[j]


@pytest.mark.parametrize("rate", [None, 500])
def test_a_users_own_law(cart, rate):
    own = follow(cart, didim.OwnLaw(law=my_pd, drive_gain=1.0, rate=rate), step_reference())
    built_in = follow(
        cart, didim.PD(kp=10.0, kv=3000.0, drive_gain=1.0, rate=rate), step_reference()
    )
    assert np.allclose(own.q, built_in.q, atol=1e-12)


def test_a_users_own_law_with_memory(cart):
    own = follow(
        cart, didim.OwnLaw(law=my_integrator, memory=1, drive_gain=1.0, rate=500), step_reference()
    )
    built_in = follow(
        cart,
        didim.PID(kp=10.0, kv=3000.0, ki=20.0 * 500, drive_gain=1.0, rate=500),
        step_reference(),
    )
    assert np.allclose(own.q, built_in.q, atol=1e-12)
