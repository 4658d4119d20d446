"""J_j by (51), and the linearised loop against the simulated one."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import didim
from didim.control import linear as linear_loop
from didim.control.tuning import joint_ranges


def test_scara_by_hand():
    """NOTES 3: the maximum over q2 has 2 hypot(LMX2, LMY2), not 2 LMX2.

    Tests (51).
    """
    model = didim.DynamicModel(didim.load_robot("scara"))
    J = didim.largest_inertias(model, model.nominal)
    assert pytest.approx([3.44 + 0.062 + 2 * np.hypot(0.121, 0.007), 0.062], rel=1e-9) == J
    flipped = model.nominal
    flipped[model.parameter_names.index("MX2")] *= -1
    assert didim.largest_inertias(model, flipped) == pytest.approx(J, rel=1e-9)


@pytest.mark.parametrize("name", ["tx40", "panda", "emps", "double_pendulum"])
def test_no_random_configuration_has_more(name):
    model = didim.DynamicModel(didim.load_robot(name))
    J = didim.largest_inertias(model, model.nominal)
    q = np.random.default_rng(0).uniform(*joint_ranges(model), (50_000, model.robot.n))
    found = np.diagonal(model.inertia_matrix(q, model.nominal), axis1=1, axis2=2)
    assert np.all(found.max(axis=0) <= J * (1 + 1e-9))
    assert np.array_equal(J, didim.largest_inertias(model, model.nominal)), "deterministic"


def test_sliding_arms_and_floor():
    joints = (
        didim.Joint("turn", "revolute", link=[0, 0, 0, 0, 0, 1.0, 0, 0, 0, 1.0]),
        didim.Joint(
            "slide",
            "prismatic",
            0,
            rotation=np.array([[0, 0, 1.0], [1.0, 0, 0], [0, 1.0, 0]]),
            link=[0, 0, 0, 0, 0, 0, 0, 0, 0, 2.0],
            position_limits=(0.1, 0.6),
        ),
    )
    model = didim.DynamicModel(didim.Robot("crane", joints))
    assert didim.largest_inertias(model, model.nominal) == pytest.approx([1.0 + 2.0 * 0.6**2, 2.0])
    floored = didim.largest_inertias(model, -model.nominal, previous=np.array([5.0, 6.0]))
    assert floored == pytest.approx([5e-3, 6e-3])


@pytest.mark.parametrize(
    "loop",
    [
        didim.PD(natural_frequency=15.0),
        didim.PID(natural_frequency=15.0),
        didim.Cascade(natural_frequency=15.0, damping=0.7),
        didim.PD(natural_frequency=15.0, rate=200, delay=2),
        didim.PID(natural_frequency=15.0, rate=200, velocity="backward_difference"),
        didim.Cascade(natural_frequency=15.0, rate=200, velocity="mean_difference"),
    ],
    ids=lambda loop: f"{type(loop).__name__}-{loop.rate}",
)
def test_the_slowest_mode_is_that_of_the_simulation(loop):
    """Released off the reference, the robot comes back at the rate of the slowest eigenvalue.

    Tests (52).
    """
    model = didim.DynamicModel(didim.load_robot("emps"), ["viscous"])
    linear = didim.linearise(model, model.nominal, loop, [0.0])
    assert linear.stable
    period = 1 / (loop.rate or 1000)
    decay = (
        np.abs(linear.eigenvalues).max() ** (1 / period)
        if linear.sampled
        else np.exp(linear.eigenvalues.real.max())
    )
    t = np.arange(0, 3, period)
    still = didim.Reference([0.0, 3.0], [[0.0], [0.0]], interpolation="held")
    motion = didim.simulate(model, model.nominal, loop, t=t, q_ref=still, initial=([0.01], [0.0]))
    late, later = (np.abs(motion.q[(t > a) & (t < a + 0.5)]).max() for a in (1.4, 2.4))
    assert np.log(later / late) == pytest.approx(np.log(decay), rel=0.15)


@pytest.mark.parametrize(("J_ratio", "g_ratio"), [(0.8, 1.0), (1.2, 1.0), (1.0, 0.8), (1.0, 1.2)])
def test_a_wrong_inertia_or_drive_gain_moves_the_poles(J_ratio, g_ratio):
    """A priori values over true ones: omega_n and zeta change by sqrt(J_ratio / g_ratio).

    Tests (60).
    """
    model = didim.DynamicModel(didim.load_robot("emps"), [])
    omega, zeta, g = 10.0, 0.7, 35.0
    J = model.nominal[model.parameter_names.index("M1")]
    kv = 2 * zeta * omega * (J_ratio * J) / (g_ratio * g)
    loop = didim.PD(kp=omega / (2 * zeta), kv=kv, drive_gain=g)
    poles = didim.linearise(model, model.nominal, loop, [0.0]).eigenvalues
    factor = np.sqrt(J_ratio / g_ratio)
    assert np.sqrt(np.prod(poles).real) == pytest.approx(factor * omega, rel=1e-12)
    assert -poles.sum().real / 2 == pytest.approx(factor * zeta * factor * omega, rel=1e-12)


def test_an_unstable_loop_is_reported_before_it_is_simulated():
    model = didim.DynamicModel(didim.load_robot("scara"))
    still = didim.Reference([0.0, 1.0], np.zeros((2, 2)), interpolation="held")
    loop = didim.PD(natural_frequency=[5.0, 300.0], rate=100, delay=1)
    with pytest.warns(didim.UnstableLoopWarning, match=r"spectral radius .* joint 2 \(joint_2\)"):
        motion = didim.simulate(model, model.nominal, loop, t=np.linspace(0, 1, 11), q_ref=still)
    assert np.isfinite(motion.q).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        didim.simulate(
            model,
            model.nominal,
            didim.PD(natural_frequency=5.0, rate=100),
            t=[0.0, 0.1],
            q_ref=still,
        )
    assert didim.linearise(model, model.nominal, loop, [0, 0]).spectral_radius > 1


def test_computed_torque_poles():
    """With the exact model the poles are those asked for, whatever the friction; with another they
    move.
    """
    model = didim.DynamicModel(didim.load_robot("emps"), ["viscous"])
    loop = didim.ComputedTorque(natural_frequency=10.0, damping=0.5, model=model)
    found = np.sort_complex(didim.linearise(model, model.nominal, loop, [0.0]).eigenvalues)
    assert np.allclose(found, [-5 - 8.660254j, -5 + 8.660254j], atol=1e-6)
    wrong = model.nominal
    wrong[model.parameter_names.index("Fv1")] *= 30
    loop = didim.ComputedTorque(natural_frequency=10.0, damping=0.5, model=model, parameters=wrong)
    assert not didim.linearise(model, model.nominal, loop, [0.0]).stable


def test_an_unused_integral_is_no_unstable_pole():
    model = didim.DynamicModel(didim.load_robot("scara"))
    loop = didim.PID(kp=[5.0, 5.0], kv=[50.0, 5.0], ki=[10.0, 0.0])
    assert didim.linearise(model, model.nominal, loop, [0, 0]).stable


def test_a_light_robot_under_computed_torque_is_not_stiff():
    model = didim.DynamicModel(didim.load_robot("emps"), ["viscous"])
    phi = model.nominal
    phi[model.parameter_names.index("M1")] = 2e-4
    phi[model.parameter_names.index("Fv1")] = 1e-3
    loop = didim.ComputedTorque(natural_frequency=60.0, model=model, parameters=phi)
    move = didim.PointToPoint([0.0, 1.0], [0.0, 0.3])
    assert didim.simulate(model, phi, loop, t=np.linspace(0, 1, 11), q_ref=move).completed


@pytest.mark.parametrize("samples", [80, 120])
@pytest.mark.parametrize(
    "law",
    [
        lambda delay: didim.PD(natural_frequency=2.0, rate=1000, delay=delay),
        lambda delay: didim.PD(natural_frequency=20.0, rate=1000, delay=delay),
        lambda delay: didim.Cascade(kp=5.0, kv=1.0, kiv=1.0, rate=1000, delay=delay),
        lambda delay: didim.PID(
            kp=5.0, kv=1.0, ki=1.0, rate=500, delay=delay, velocity="mean_difference"
        ),
    ],
    ids=["slow", "fast", "cascade", "pid"],
)
def test_a_long_delay_has_the_slowest_mode_of_the_whole_delay_line(law, samples, monkeypatch):
    """All eigenvalues of a line of 300 samples took minutes during an identification."""
    model = didim.DynamicModel(didim.load_robot("scara")).base
    short = didim.linearise(model, model.nominal, law(samples), [0.3, 0.3])
    assert short.eigenvalues.size < (6 + samples) * 2
    assert short.eigenvalues.size == (6 + linear_loop.MAX_DELAY) * 2
    monkeypatch.setattr(linear_loop, "MAX_DELAY", samples)
    whole = didim.linearise(model, model.nominal, law(samples), [0.3, 0.3])
    assert whole.eigenvalues.size == (6 + samples) * 2
    assert short.stable == whole.stable
    assert short.slowest == pytest.approx(whole.slowest, rel=0.03)
    assert short.worst_joint == whole.worst_joint
