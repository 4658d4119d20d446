"""References and trajectories: what is read between the samples, and that they begin and end at
rest.
"""

from __future__ import annotations

import numpy as np
import pytest

import didim
from didim.signals.trajectory import CachedTrajectory

T = np.linspace(0, 1, 51)


def test_interpolations():
    q = np.sin(3 * T)
    fine = np.linspace(0, 1, 1001)
    cubic, dq, ddq = didim.Reference(T, q).sample(fine)
    assert np.abs(cubic[:, 0] - np.sin(3 * fine)).max() < 1e-6
    assert np.abs(dq[:, 0] - 3 * np.cos(3 * fine)).max() < 1e-3
    assert np.abs(ddq[100:-100, 0] + 9 * np.sin(3 * fine[100:-100])).max() < 0.02
    linear = didim.Reference(T, q, interpolation="linear").sample(fine)[0][:, 0]
    assert np.allclose(linear, np.interp(fine, T, q))
    held, backward, _ = didim.Reference(T, q, interpolation="held").sample(T + 1e-3)
    assert np.array_equal(held[:, 0], q)
    assert np.allclose(backward[1:, 0], np.diff(q) / np.diff(T))
    assert backward[0, 0] == 0.0


def test_given_velocities_are_used():
    reference = didim.Reference(T, T, dq_ref=2 * T, ddq_ref=3 * T, interpolation="linear")
    _, dq, ddq = reference.sample([0.5])
    assert dq[0, 0] == pytest.approx(1.0)
    assert ddq[0, 0] == pytest.approx(1.5)


def test_beyond_the_ends_the_reference_is_held():
    q = didim.Reference(T, T).sample([-1.0, 2.0])[0]
    assert q[:, 0].tolist() == [0.0, 1.0]


@pytest.mark.parametrize("name", didim.shipped_robots())
def test_fourier_series_start_and_end_at_rest_within_limits(name):
    robot = didim.load_robot(name)
    series = didim.Fourier.random(robot, 4, period=5.0, periods=2, share=0.8)
    t = np.linspace(0, 10, 4001)
    q, dq, ddq = series.sample(t)
    for ends in (dq, ddq):
        assert np.abs(ends[[0, 2000, -1]]).max() < 1e-12
    assert np.allclose(np.gradient(q, t, axis=0)[1:-1], dq[1:-1], atol=1e-3)
    assert np.allclose(np.gradient(dq, t, axis=0)[1:-1], ddq[1:-1], atol=1e-2)
    lower, upper = robot.position_limits.T
    assert np.all((q > lower) & (q < upper))
    assert np.all(np.abs(dq).max(axis=0) <= robot.velocity_limits)


def test_point_to_point_rests_in_its_points():
    moves = didim.PointToPoint(
        [0.0, 1.0, 1.5, 3.0], [[0.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0.0, -1.0]]
    )
    q, dq, ddq = moves.sample([0.0, 1.0, 1.25, 1.5, 3.0])
    assert np.allclose(q, [[0, 1], [1, 1], [1, 1], [1, 1], [0, -1]])
    assert np.abs(dq).max() < 1e-12
    assert np.abs(ddq).max() < 1e-9
    t = np.linspace(0, 3, 3001)
    q, dq, _ = moves.sample(t)
    assert np.allclose(np.gradient(q, t, axis=0), dq, atol=2e-3)


def test_a_trajectory_read_by_the_loop_is_exact():
    """The loop reads cubics through exact values: the same motion as from a table at four times the
    rate.
    """
    model = didim.DynamicModel(didim.load_robot("scara"), ["viscous"])
    series = didim.Fourier.random(model.robot, 1, period=1.0)
    fine = np.linspace(0, 1, 4001)
    table = didim.Reference(fine, *series.sample(fine))
    t = np.linspace(0, 1, 101)
    loop = didim.PD(natural_frequency=30.0, velocity_reference=1.0)
    one, two = (
        didim.simulate(model, model.nominal, loop, t=t, q_ref=ref) for ref in (series, table)
    )
    assert np.abs(one.q - two.q).max() < 1e-9


@pytest.mark.parametrize("kind", ["trajectory", "reference"])
def test_a_trajectory_that_is_delayed_and_raised_on_another_clock(kind):
    delay, zero, origin = 0.03, np.array([0.1, -0.2]), 0.5
    own = didim.Fourier.random(didim.load_robot("scara"), 1, period=2.0)
    if kind == "reference":
        t = np.linspace(*own.span, 2001)
        own = didim.Reference(t, *own.sample(t))
    moved = own.delayed(delay).raised(zero).shifted(origin)
    assert moved.span == (own.span[0] - origin, own.span[1] - origin)
    t = np.linspace(0.2, 1.2, 7)
    q, dq, ddq = own.sample(t + origin - delay)
    for found, expected in zip(moved.sample(t), (q + zero, dq, ddq), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(moved.positions(t), q + zero, atol=1e-12)
    cubic = moved.piecewise_cubic(t[0], t[-1], 0.001)
    index = np.searchsorted(cubic.time, t, side="right") - 1
    u = (t - cubic.time[index])[:, None]
    read = np.sum(cubic.value[index] * u[:, :, None] ** np.arange(4), axis=2)
    np.testing.assert_allclose(read, q + zero, atol=1e-8)


def test_experiment_between_and_shapes():
    tau, q = np.random.default_rng(0).standard_normal((2, 51, 2))
    record = didim.Experiment(t=T, tau=tau, q_ref=q, q=q, name="run")
    part = record.between(0.2, 0.4)
    assert np.array_equal(part.tau, tau[10:21])
    assert np.array_equal(part.q_ref, q[10:21])
    assert part.name == "run"
    assert didim.Experiment(t=T, tau=T, q_ref=T).n == 1
    with pytest.raises(didim.InputError, match="'run': no two samples"):
        record.between(5, 6)
    with pytest.raises(didim.InputError, match="q must have 51 rows"):
        didim.Experiment(t=T, tau=tau, q_ref=q, q=q[:-1])
    with pytest.raises(didim.InputError, match="must rise"):
        didim.Experiment(t=T[::-1], tau=tau, q_ref=q)
    with pytest.raises(didim.InputError, match="has no reference"):
        didim.Experiment(t=T, tau=tau, q_ref=None).reference()
    with pytest.raises(didim.InputError, match="q_ref has 1 joints"):
        didim.Experiment(t=T, tau=tau, q_ref=didim.Reference(T, T))


@pytest.mark.parametrize(("seconds", "kept"), [(8.0, True), (4000.0, False)])
def test_cubics_are_kept_where_all_of_them_fit(seconds, kept):
    motion = didim.Fourier([[0.3, -0.3]], [[0.2, -0.1]], period=4.0, periods=round(seconds / 4))
    cached = CachedTrajectory(motion)
    first, second = (cached.piecewise_cubic(0.0, 4.0, 0.001) for _ in range(2))
    assert (first is second) is kept
    np.testing.assert_array_equal(first.value, second.value)
    np.testing.assert_array_equal(first.value, motion.piecewise_cubic(0.0, 4.0, 0.001).value)
