"""Cases that once went wrong: Unix times, single samples, own models of other machines, jittering
clocks, moving contacts.
"""

from __future__ import annotations

import dataclasses
from importlib import import_module

import numpy as np
import pytest

import didim

simulation = import_module("didim.simulation.simulate")
EMPS = didim.DynamicModel(didim.load_robot("emps"))
SCARA = didim.DynamicModel(didim.load_robot("scara"))
PENDULUM = didim.DynamicModel(didim.load_robot("double_pendulum"))
MOVE = didim.PointToPoint([0.0, 1.0], [[0.0, 0.0], [0.3, 0.3]])


@pytest.mark.parametrize("rate", [None, 1000])
def test_unix_times_give_the_same_motion(rate):
    t = np.arange(1098) / 1000
    q_ref = 0.05 * np.sin(3 * t)
    loop = didim.PD(kp=20.0, kv=243.0, rate=rate)
    near, far = (
        didim.simulate(EMPS, EMPS.nominal, loop, t=t + origin, q_ref=q_ref)
        for origin in (0.0, 1.7e9)
    )
    assert far.completed
    assert far.t[0] == 1.7e9
    assert np.abs(near.tau - far.tau).max() < 1e-2 * np.abs(near.tau).max(), (
        "Unix times resolve a quarter of a microsecond"
    )


def test_a_users_law_is_told_the_time_of_the_log():
    @didim.control_law
    def clock(t, n, q_ref, dq_ref, ddq_ref, q, dq, memory, v):
        v[0] = t

    t = 100.0 + np.arange(11) / 100
    motion = didim.simulate(
        EMPS, EMPS.nominal, didim.OwnLaw(law=clock, drive_gain=1.0, rate=100), t=t, q_ref=0 * t
    )
    assert np.allclose(motion.tau[:, 0], t)


@pytest.mark.parametrize(
    "settings", [{}, {"friction": "smooth"}, {"friction": "smooth", "method": "fixed"}]
)
@pytest.mark.parametrize("t", [[0.0], [0.0, 0.1 - 5e-10], [0.5]])
def test_few_or_odd_output_times(settings, t):
    motion = didim.simulate(
        SCARA,
        SCARA.nominal,
        didim.PD(natural_frequency=10.0),
        t=t,
        q_ref=MOVE,
        step=1e-4,
        **settings,
    )
    assert motion.completed
    assert motion.t.tolist() == list(t)


def test_the_controllers_model_may_be_another_machine():
    """A controller that believes in weightlessness compensates nothing; one of another size is
    refused.
    """
    weightless = didim.DynamicModel(dataclasses.replace(PENDULUM.robot, gravity=np.zeros(3)))
    held = didim.Reference([0.0, 1.0], np.ones((2, 2)), interpolation="held")
    for own, expected in ((weightless, 0.0), (PENDULUM, None)):
        loop = didim.PD(kp=10.0, kv=1.0, model=own, model_term="gravity")
        motion = didim.simulate(PENDULUM, PENDULUM.nominal, loop, t=[0.0, 0.1], q_ref=held)
        assert (
            np.allclose(motion.tau[0], 0.0)
            if expected == 0.0
            else np.abs(motion.tau[0]).min() > 1.0
        )
    loop = didim.PD(kp=10.0, kv=1.0, model=EMPS, model_term="gravity")
    for check in (True, False):
        with pytest.raises(didim.InputError, match="own model has 1 joints, the robot has 2"):
            didim.simulate(PENDULUM, PENDULUM.nominal, loop, t=[0.0, 0.1], q_ref=held, check=check)


def test_outputs_faster_than_the_controller_are_at_their_own_times():
    loop = didim.PD(kp=50.0, kv=50.0, rate=100)
    trajectory = didim.PointToPoint([0.0, 0.1], [0.0, 0.3])
    t = np.arange(0, 0.1, 4e-5)
    motion = didim.simulate(EMPS, EMPS.nominal, loop, t=t, q_ref=trajectory)
    moving = motion.dq[1:, 0] > 1e-3
    assert moving.sum() > 1000
    assert np.all(np.diff(motion.q[:, 0])[moving] > 0), "no row repeats another"
    changes = t[1:][np.diff(motion.tau[:, 0]) != 0]
    assert np.abs(changes * 100 - np.round(changes * 100)).max() < 1e-3, (
        "commands change at the controller's samples only"
    )
    array = didim.simulate(EMPS, EMPS.nominal, loop, t=t, q_ref=trajectory.sample(t)[0])
    assert np.abs(array.q - motion.q).max() < 1e-3


def test_a_jittering_log_reads_each_command_at_its_own_sample():
    rng = np.random.default_rng(0)
    t = np.arange(500) / 1000
    logged = t + rng.uniform(-2e-5, 2e-5, 500)
    logged[0] = 0.0
    q_ref = 0.05 * np.sin(8 * t)
    loop = didim.PD(kp=20.0, kv=243.0, rate=1000, velocity="backward_difference")
    clean, noisy = (
        didim.simulate(EMPS, EMPS.nominal, loop, t=time, q_ref=q_ref) for time in (t, logged)
    )
    assert np.array_equal(clean.q, noisy.q)
    assert np.abs(clean.tau - noisy.tau).max() < 1e-6 * np.abs(clean.tau).max()
    assert np.array_equal(noisy.t, logged)


@pytest.mark.parametrize("rate", [None, 1000])
def test_a_law_that_gives_nan_stops_the_run(rate):
    @didim.control_law
    def breaks(t, n, q_ref, dq_ref, ddq_ref, q, dq, memory, v):
        v[0] = 0.0 if t < 0.05 else np.nan

    t = np.arange(101) / 1000
    motion = didim.simulate(
        EMPS, EMPS.nominal, didim.OwnLaw(law=breaks, rate=rate), t=t, q_ref=0 * t
    )
    assert motion.status == "diverged"
    assert "0.05 s" in motion.message or "0.049" in motion.message
    assert np.isfinite(motion.tau).all()
    assert 45 < motion.t.size <= 51


def test_nothing_is_recorded_beyond_a_runaway():
    loop = didim.PD(kp=50.0, kv=1e5, rate=200)
    t = np.arange(0, 0.5, 1e-4)
    motion = didim.simulate(SCARA, SCARA.nominal, loop, t=t, q_ref=MOVE, check=False)
    assert motion.status == "diverged"
    assert np.abs(motion.dq).max(initial=0.0) < 1e5
    with pytest.raises(didim.InputError, match="initial dq must be finite"):
        didim.simulate(
            SCARA, SCARA.nominal, loop, t=t, q_ref=MOVE, initial=([0, 2], [1e200, 0]), check=False
        )


def test_slip_follows_the_velocity_on_the_coupled_wrist():
    """Whatever moves slides, with the sign of its velocity; whatever rests sticks; and tau = W phi
    all the same.
    """
    model = didim.DynamicModel(didim.load_robot("tx40"))
    series = didim.Fourier.random(model.robot, 7, period=5.0)
    t = np.arange(5001) / 1000
    motion = didim.simulate(
        model, model.nominal, didim.PD(natural_frequency=30.0), t=t, q_ref=series
    )
    u = model.contact_velocities(motion.dq)
    moving = np.abs(u) > 1e-9
    assert np.array_equal(motion.slip[moving], np.sign(u[moving]))
    assert np.array_equal(motion.stuck, ~moving)
    assert 0.02 < motion.stuck.mean() < 0.9
    tau = model.regressor(motion.q, motion.dq, motion.ddq, motion.slip) @ model.nominal
    assert np.abs(tau - motion.tau).max() < 1e-9 * np.abs(tau).max()


def test_one_sided_friction_sticks_on_its_side():
    model = didim.DynamicModel(EMPS.robot, ["asymmetric_coulomb"])
    phi = np.zeros(len(model.parameter_names))
    for name, value in {"M1": 95.0, "Fcp1": 20.0, "Fcn1": 0.0}.items():
        phi[model.parameter_names.index(name)] = value
    t = np.linspace(0, 3, 31)
    held = didim.simulate(model, phi, None, t=t, tau=np.full(31, 10.0))
    assert np.allclose(held.slip, 0.5)
    assert np.abs(held.q).max() < 1e-13
    free = didim.simulate(model, phi, None, t=t, tau=np.full(31, -10.0))
    assert np.allclose(free.q[:, 0], -0.5 * 10.0 / 95.0 * t**2, atol=1e-9)


@pytest.mark.parametrize(("forward", "backward"), [(20.0, 0.0), (0.0, 20.0), (20.0, 5.0)])
def test_slip_of_one_sided_friction_is_the_sign_of_the_velocity(forward, backward):
    model = didim.DynamicModel(EMPS.robot, ["asymmetric_viscous", "asymmetric_coulomb"])
    phi = np.zeros(len(model.parameter_names))
    for name, value in {
        "M1": 95.0,
        "Fvp1": 200.0,
        "Fvn1": 100.0,
        "Fcp1": forward,
        "Fcn1": backward,
    }.items():
        phi[model.parameter_names.index(name)] = value
    t = np.arange(1000) / 1000
    motion = didim.simulate(model, phi, didim.PD(kp=20.0, kv=50.0), t=t, q_ref=0.1 * np.sin(6 * t))
    moving = np.abs(motion.dq) > 1e-9
    assert np.array_equal(motion.slip[moving], np.sign(motion.dq[moving]))
    tau = model.regressor(motion.q, motion.dq, motion.ddq, motion.slip) @ phi
    assert np.abs(tau - motion.tau).max() < 1e-9 * np.abs(tau).max()


def test_close_outputs_do_not_shorten_the_steps(monkeypatch):
    runs = []
    prepared = simulation.prepared
    monkeypatch.setattr(
        simulation, "prepared", lambda request: runs.append(prepared(request)) or runs[-1]
    )
    trajectory = didim.PointToPoint([0.0, 20.0], [[0.0, 0.0], [1.0, 1.0]])
    burst = np.concatenate([np.arange(50) * 1e-6, [10.0]])
    motion = didim.simulate(
        SCARA, SCARA.nominal, didim.PD(natural_frequency=10.0), t=burst, q_ref=trajectory
    )
    assert motion.completed
    assert runs[0].period / runs[0].substeps == pytest.approx(1e-3)
    assert didim.simulate(
        EMPS, EMPS.nominal, didim.PD(kp=1.0, kv=1.0), t=[0.0, 1e-12], q_ref=[0.0, 0.0]
    ).completed


def test_one_time_with_one_row_of_reference():
    motion = didim.simulate(
        EMPS, EMPS.nominal, didim.PD(natural_frequency=10.0), t=[5.0], q_ref=[[0.1]]
    )
    assert motion.q[0, 0] == 0.1


def test_results_and_loops_keep_their_own_copies():
    t, omega = np.linspace(0, 1, 11), np.array([10.0, 10.0])
    loop = didim.PD(natural_frequency=omega)
    motion = didim.simulate(SCARA, SCARA.nominal, loop, t=t, q_ref=MOVE)
    t[:], omega[:] = 0.0, -5.0
    assert motion.t[-1] == 1.0
    assert np.all(loop.natural_frequency == 10.0)


def test_everything_has_a_short_repr_and_can_be_copied():
    import copy

    t = np.linspace(0, 1, 900)
    table = didim.Reference(t, np.zeros((900, 2)))
    record = didim.Experiment(t=t, tau=np.zeros((900, 2)), q_ref=table, name="run")
    law = didim.OwnLaw(law=copied_law, rate=100)
    for thing in (
        table,
        record,
        didim.PD(natural_frequency=[1.0, 2.0], rate=100),
        law,
        SCARA.robot,
        SCARA,
    ):
        assert len(repr(thing)) < 200
        assert "\n" not in repr(thing)
        assert type(copy.deepcopy(thing)) is type(thing)
    assert (
        repr(didim.PD(natural_frequency=10.0, rate=100)) == "PD(natural_frequency=10.0, rate=100.0)"
    )


@didim.control_law
def copied_law(t, n, q_ref, dq_ref, ddq_ref, q, dq, memory, v):
    v[0] = 0.0


def test_without_friction_or_with_smooth_friction_nothing_sticks():
    model = didim.DynamicModel(EMPS.robot, ["coulomb"])
    phi = model.nominal
    phi[model.parameter_names.index("Fc1")] = 0.0
    t = np.linspace(0, 1, 11)
    assert not didim.simulate(model, phi, None, t=t, tau=np.zeros(11)).stuck.any()
    assert not didim.simulate(
        model, model.nominal, None, t=t, tau=np.zeros(11), friction="smooth"
    ).stuck.any()


def test_an_inverted_drive_makes_no_difference():
    """By poles the gains take the sign of g; saturation and anti-windup must not mind."""
    step = didim.Reference([0.0, 3.0], [[1.0], [1.0]], interpolation="held")
    t = np.linspace(0, 3, 301)
    q = [
        didim.simulate(
            EMPS,
            EMPS.nominal,
            didim.PID(
                natural_frequency=10.0, integral_time=0.5, drive_gain=g, saturation=300.0, rate=1000
            ),
            t=t,
            q_ref=step,
            initial=([0.0], [0.0]),
        ).q
        for g in (1.0, -1.0)
    ]
    assert np.allclose(q[0], q[1], atol=1e-12)


def test_a_tracking_start_has_no_transient():
    """A ramp, cascade without friction: started in its lag, the loop just goes on; from the
    reference it has to fall back.
    """
    model = didim.DynamicModel(EMPS.robot, [])
    t = np.linspace(0, 1, 101)
    loop = didim.Cascade(natural_frequency=20.0)
    for start, limit in (("tracking", 1e-9), (None, None)):
        motion = didim.simulate(model, model.nominal, loop, t=t, q_ref=0.2 * t, initial=start)
        off = np.abs(motion.q[:, 0] - (0.2 * t - 0.2 / 10.0)).max()
        assert off < limit if limit else off > 1e-2
    with pytest.raises(didim.InputError, match="initial must be a pair"):
        didim.simulate(model, model.nominal, loop, t=t, q_ref=0.2 * t, initial="somewhere")


@pytest.mark.slow
def test_memory_does_not_grow_for_a_slow_controller_either():
    import tracemalloc

    peaks = []
    for duration in (10, 100):
        series = didim.Fourier.random(SCARA.robot, 0, period=10.0, periods=duration // 10)
        tracemalloc.start()
        loop = didim.PD(natural_frequency=[1.0, 1.0], rate=20)
        didim.simulate(SCARA, SCARA.nominal, loop, t=np.linspace(0, duration, 5), q_ref=series)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def test_progress_is_the_share_of_the_time():
    told: list[float] = []
    series = didim.Fourier.random(SCARA.robot, 0, period=20.0)
    didim.simulate(
        SCARA,
        SCARA.nominal,
        didim.PD(natural_frequency=10.0),
        t=[0.0, 20.0],
        q_ref=series,
        step=1e-3,
        progress=told.append,
    )
    assert told[0] < 0.3
    assert told[-1] == 1.0
    assert len(told) >= 5


def test_experiments_and_references_keep_their_own_copies():
    t, tau = np.linspace(0, 1, 11), np.zeros((11, 1))
    record, table = didim.Experiment(t=t, tau=tau, q_ref=tau), didim.Reference(t, tau)
    tau[0], t[3] = np.nan, -5.0
    assert np.isfinite(record.tau).all()
    assert np.isfinite(table.sample([0.0])[0]).all()
    assert np.all(np.diff(record.t) > 0)


def test_computed_torque_with_a_heavy_model_on_a_light_robot_is_stepped_finely():
    """The gains act through the controller's own inertia, 76 times the robot's here."""
    base = didim.DynamicModel(didim.load_robot("emps")).base
    trajectory = didim.Fourier.random(base.robot, 3, period=6.1)
    loop = didim.ComputedTorque(
        natural_frequency=40.0, model=base, parameters=[76.0, 0.0, 0.0, 0.0]
    )
    motion = didim.simulate(
        base, [1.0, 0.0, 0.0, 0.0], loop, t=np.arange(0, 3, 0.002), q_ref=trajectory
    )
    assert motion.completed
