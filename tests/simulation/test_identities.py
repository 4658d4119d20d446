"""What holds for every simulated motion: tau = W phi, slip within its limits, sticking without
creep, no module state.
"""

from __future__ import annotations

import numpy as np
import pytest

import didim

T = np.arange(2001) / 1000


def motion_of(name: str, effects=None, **settings):
    model = didim.DynamicModel(didim.load_robot(name), effects)
    reference = didim.Fourier.random(model.robot, 3, period=2.0, harmonics=3, share=0.5)
    loop = didim.PD(
        natural_frequency=40.0,
        **{key: settings.pop(key) for key in ("rate", "velocity") if key in settings},
    )
    return model, didim.simulate(model, model.nominal, loop, t=T, q_ref=reference, **settings)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["scara", "double_pendulum", "tx40", "panda"])
@pytest.mark.parametrize(
    "settings",
    [{}, {"rate": 1000}, {"friction": "smooth"}],
    ids=["continuous", "sampled", "smooth"],
)
def test_the_torque_of_the_loop_is_the_torque_of_the_model(name, settings):
    """Eq. 43, at every sample, also where contacts stick; on the TX40 with its coupling.

    Tests (36), (43).
    """
    model, motion = motion_of(name, **settings)
    assert motion.completed
    tau = model.regressor(motion.q, motion.dq, motion.ddq, motion.slip) @ model.nominal
    assert np.abs(tau - motion.tau).max() < 1e-9 * np.abs(motion.tau).max()
    assert np.abs(motion.slip).max() <= 1.0
    beta = model.base.nominal
    again = model.base.regressor(motion.q, motion.dq, motion.ddq, motion.slip) @ beta
    assert np.abs(again - motion.tau).max() < 1e-9 * np.abs(motion.tau).max()


@pytest.mark.parametrize("name", ["scara", "tx40"])
def test_slip_is_the_sign_of_the_velocity_while_sliding(name):
    model, motion = motion_of(name)
    sliding = ~motion.stuck
    assert 0.01 < motion.stuck.mean() < 0.9, "the case must have both"
    assert np.array_equal(
        motion.slip[sliding], np.sign(model.contact_velocities(motion.dq))[sliding]
    )


@pytest.mark.parametrize("name", ["scara", "panda"])
def test_base_parameters_give_the_same_motion(name):
    model = didim.DynamicModel(didim.load_robot(name))
    reference = didim.Fourier.random(model.robot, 5, period=2.0, share=0.4)
    loop = didim.PD(natural_frequency=30.0)
    full = didim.simulate(model, model.nominal, loop, t=T, q_ref=reference)
    base = didim.simulate(model.base, model.base.nominal, loop, t=T, q_ref=reference)
    assert np.allclose(full.q, base.q, atol=1e-7)
    assert np.linalg.norm(full.tau - base.tau) < 1e-5 * np.linalg.norm(full.tau), (
        "rounding moves a stick by a step at most"
    )


def test_a_stuck_joint_holds_what_is_applied_and_does_not_creep():
    """A constant torque below the limit for 10 s: no motion, slip = torque / limit. On the wrist,
    three contacts at once.
    """
    model = didim.DynamicModel(
        didim.load_robot("tx40"), ["rotor", "viscous", "coulomb", "coupling"]
    )
    names = list(model.parameter_names)
    q0 = np.array([0.3, 0.4, -0.5, 0.2, 0.6, 0.1])
    zero = np.zeros((1, 6))
    holding = model.inverse_dynamics(q0[None], zero, zero, model.nominal, slip=np.zeros((1, 7)))[0]
    limits = np.array([model.nominal[names.index(f"Fc{j + 1}")] for j in range(6)])
    share = np.array([0.9, -0.5, 0.3, -0.8, 0.2, -0.1])
    t = np.linspace(0, 10, 101)
    tau = np.broadcast_to(holding + share * limits, (101, 6))
    motion = didim.simulate(model, model.nominal, None, t=t, tau=tau, initial=(q0, np.zeros(6)))
    assert motion.completed
    assert motion.stuck.all()
    assert np.abs(motion.q - q0).max() < 1e-12
    assert np.allclose(motion.slip[:, :4], share[:4], atol=1e-9)


def test_stuck_slip_is_torque_over_limit_in_closed_form():
    """A cart pushed by a slow sine that stays below the friction: it never moves and slip follows
    the force.
    """
    model = didim.DynamicModel(didim.load_robot("emps"), ["coulomb"])
    t = np.linspace(0, 10, 2001)
    force = 15.0 * np.sin(t)
    motion = didim.simulate(model, model.nominal, None, t=t, tau=force)
    assert np.abs(motion.q).max() < 1e-13
    assert np.allclose(motion.slip[:, 0], force / 20.3935, atol=1e-9)


def test_torque_is_fed_through_and_position_is_not():
    """In open loop the torque that comes out is the one that went in, at once; positions follow by
    integration only.

    Tests (26).
    """
    model = didim.DynamicModel(didim.load_robot("double_pendulum"))
    t = np.arange(0, 0.5, 1e-3)
    given = np.column_stack([np.where(t < 0.2, 1.0, -2.0), np.sin(20 * t)])
    runs = [
        didim.simulate(
            model, model.nominal, None, t=t, tau=share * given, initial=([0.3, 0.1], [0.0, 0.0])
        )
        for share in (1, 2)
    ]
    for share, run in zip((1, 2), runs, strict=True):
        np.testing.assert_allclose(run.tau, share * given, atol=1e-12)
    assert np.array_equal(runs[0].q[0], runs[1].q[0])
    assert np.abs(runs[0].q[-1] - runs[1].q[-1]).max() > 1e-3


def test_outputs_do_not_change_the_run():
    """Read at other times, between the steps or rarely, the motion is the same.

    Tests (24).
    """
    model = didim.DynamicModel(didim.load_robot("scara"))
    reference = didim.Fourier.random(model.robot, 1, period=2.0)
    loop = didim.PD(natural_frequency=[6.3, 63.0], rate=500)
    dense = didim.simulate(model, model.nominal, loop, t=np.arange(1001) / 500, q_ref=reference)
    odd = np.sort(
        np.concatenate([np.arange(0, 1001, 7) / 500, np.array([0.0001, 0.00315, 1.23456])])
    )
    sparse = didim.simulate(model, model.nominal, loop, t=odd, q_ref=reference)
    common = np.isin(np.round(odd * 500, 6), np.arange(1001))
    assert np.array_equal(sparse.q[common], dense.q[np.round(odd[common] * 500).astype(int)])
    assert np.array_equal(sparse.tau[common], dense.tau[np.round(odd[common] * 500).astype(int)])
    tau = model.regressor(sparse.q, sparse.dq, sparse.ddq, sparse.slip) @ model.nominal
    assert np.abs(tau - sparse.tau).max() < 1e-9 * np.abs(tau).max()


def test_runs_are_bit_identical():
    _, one = motion_of("tx40")
    _, two = motion_of("tx40")
    assert np.array_equal(one.tau, two.tau)
    assert np.array_equal(one.slip, two.slip)


def test_chunks_leave_no_seam():
    """A run of several chunks of the compiled loop equals its own continuation from the middle."""
    model = didim.DynamicModel(didim.load_robot("scara"), ["viscous"])
    reference = didim.Fourier.random(model.robot, 1, period=12.0)
    t = np.arange(12001) / 1000
    loop = didim.PD(natural_frequency=20.0)
    whole = didim.simulate(model, model.nominal, loop, t=t, q_ref=reference)
    later = didim.simulate(
        model,
        model.nominal,
        loop,
        t=t[6000:],
        q_ref=reference,
        initial=(whole.q[6000], whole.dq[6000]),
    )
    assert np.allclose(later.q, whole.q[6000:], atol=1e-12)


@pytest.mark.slow
def test_memory_grows_with_the_output_only():
    """Ten times the duration, the same eleven outputs: no more memory at the peak than a chunk
    needs.
    """
    import tracemalloc

    model = didim.DynamicModel(didim.load_robot("scara"))
    loop = didim.PD(natural_frequency=20.0)
    peaks = []
    for duration in (10.0, 100.0):
        series = didim.Fourier.random(model.robot, 0, period=10.0, periods=int(duration / 10))
        tracemalloc.start()
        didim.simulate(
            model, model.nominal, loop, t=np.linspace(0, duration, 11), q_ref=series, step=1e-3
        )
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]
