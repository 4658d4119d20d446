"""The part of a plan in which contacts stick and slip: a motion about a pose, within the limits,
whose torque is that of the loop alone while a joint stands.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import didim
from didim.design.loop_filters import LoopFilters
from didim.design.predict import Prediction
from didim.design.stick_slip import (
    ROOM,
    StickSlip,
    Successive,
    amplitudes,
    balance,
    freeing,
    is_worth_it,
    stick_slip,
)
from didim.design.unknowns import Unknowns

MODEL = didim.DynamicModel(didim.load_robot("scara")).base
LOOP = didim.PD(kp=[6.0, 15.0], kv=[80.0, 12.0])
STIFFNESS = np.array([480.0, 180.0])
POSE = np.array([0.3, -0.4])
LIMITS = didim.Limits(MODEL.robot, position=[[-2.0, 2.0], [-2.5, 2.5]], velocity=[2.0, 4.0])
NAMES = MODEL.parameter_names
FRICTION = MODEL.nominal[[NAMES.index("Fc1"), NAMES.index("Fc2")]]


def small(reach: float, duration: float = 4.0) -> StickSlip:
    return stick_slip(duration, reach * FRICTION / STIFFNESS, LIMITS, seed=0)


def simulated(trajectory: didim.Trajectory) -> didim.Motion:
    t = np.linspace(0.0, trajectory.span[1], 4001)
    return didim.simulate(MODEL, MODEL.nominal, LOOP, t=t, q_ref=trajectory, check=False)


def information(motion: didim.Motion, trajectory: didim.Trajectory) -> np.ndarray:
    unknowns = Unknowns(MODEL, MODEL.nominal, LIMITS.velocity)
    return Prediction(unknowns, LOOP, True, np.ones(2), 1000.0).information(motion, trajectory)


def test_it_starts_and_ends_at_rest_at_its_pose() -> None:
    trajectory = small(2.0).trajectory(POSE)
    q, dq, ddq = trajectory.sample([0.0, 4.0])
    assert np.allclose(q, POSE)
    assert np.allclose([dq, ddq], 0.0, atol=1e-9)


def test_its_samples_are_those_of_its_trajectory() -> None:
    part, t = small(2.0), np.linspace(0.0, 4.0, 801)
    found = part.sampled(t)
    assert np.allclose(found[0] + POSE, part.trajectory(POSE).sample(t)[0])
    for lower, upper in pairwise(found):
        slope = np.gradient(lower, t, axis=0)[2:-2]
        assert np.allclose(slope, upper[2:-2], atol=2e-3 * np.abs(upper).max())


def test_its_amplitude_is_as_asked_or_what_the_limits_leave() -> None:
    t = np.linspace(0.0, 4.0, 4001)
    assert np.allclose(
        np.abs(small(2.0).sampled(t)[0]).max(axis=0), 2 * FRICTION / STIFFNESS, rtol=1e-2
    )
    wide = np.abs(small(1e6).sampled(t)).max(axis=1)
    assert np.all(wide[0] <= ROOM * np.array([2.0, 2.5]) * 1.01)
    for each, limit in zip(
        wide[1:], (LIMITS.velocity, LIMITS.acceleration, LIMITS.jerk), strict=True
    ):
        assert np.all(each <= 0.51 * limit)


def test_two_trajectories_follow_each_other() -> None:
    first = didim.Fourier([[1.0, 0.5], [0.2, 0.3]], [[0.1, 0.3], [0.5, 0.2]], 3.0)
    end = first.sample([3.0])[0][0]
    both = Successive(first, small(2.0).trajectory(end))
    assert both.span == (0.0, 7.0)
    t = np.linspace(0.0, 7.0, 7001)
    q, dq, ddq = both.sample(t)
    assert np.allclose(q[t <= 3.0], first.sample(t[t <= 3.0])[0])
    assert np.allclose(np.gradient(q, t, axis=0)[1:-1], dq[1:-1], atol=1e-4)
    assert np.allclose(np.gradient(dq, t, axis=0)[1:-1], ddq[1:-1], atol=1e-3)
    assert np.allclose(both.sample(np.array([3.0, 7.0]))[0], end)


def test_the_displacement_that_frees_a_joint() -> None:
    assert np.allclose(freeing(MODEL, MODEL.nominal, POSE, STIFFNESS), FRICTION / STIFFNESS)


def test_a_joint_whose_friction_is_small_in_its_loop_takes_no_part() -> None:
    stiffness = FRICTION / np.array([4e-3, 4e-4])
    assert np.allclose(amplitudes(MODEL, MODEL.nominal, POSE, stiffness), [8e-3, 0.0])


def test_a_joint_that_stands_tells_of_the_product_of_its_gains_alone() -> None:
    trajectory = small(0.5).trajectory(POSE)
    motion = simulated(trajectory)
    assert motion.stuck.all()
    found = information(motion, trajectory)
    b = len(NAMES)
    assert np.allclose(found[:b, :b], 0.0, atol=1e-6)
    for j, (kp, kv) in enumerate(zip(LOOP.kp, LOOP.kv, strict=True)):
        expected = np.sum(motion.tau[:, j] ** 2) / np.outer([kp, kv], [kp, kv])
        pair = [b + j, b + 2 + j]
        assert np.allclose(found[np.ix_(pair, pair)], expected, rtol=0.05)


def test_it_is_worth_its_time_where_gains_are_known_worse_by_motion() -> None:
    rng = np.random.default_rng(0)
    W = rng.normal(size=(200, 6))
    W[:, 5] = W[:, 4] + 1e-2 * rng.normal(size=200)  # a gain beside another: nearly one column
    large, small_one = W.T @ W, np.zeros((6, 6))
    assert not is_worth_it(large, small_one, 2)
    small_one[5, 5] = large[5, 5]
    assert is_worth_it(large, small_one, 2)
    assert balance(large + small_one, 2) < balance(large, 2)


def test_gains_of_the_search_have_the_units_of_the_exact_ones() -> None:
    model = didim.DynamicModel(MODEL.robot, ["rotor", "viscous"]).base  # nothing sticks
    trajectory = didim.Fourier.random(model.robot, seed=2, period=4.0, harmonics=8, share=0.6)
    t = np.linspace(0.0, 4.0, 4001)
    motion = didim.simulate(model, model.nominal, LOOP, t=t, q_ref=trajectory, check=False)
    unknowns = Unknowns(model, model.nominal, LIMITS.velocity)
    exact = Prediction(unknowns, LOOP, True, np.ones(2), 1000.0).information(motion, trajectory)
    filters = LoopFilters(model, model.nominal, LOOP, 4.0, 4000, True)
    W = unknowns.regressor(motion.q[:-1], motion.dq[:-1], motion.ddq[:-1], motion.slip[:-1])
    J = filters.columns(W, motion.tau[:-1], motion.dq[:-1]).reshape(8000, -1)
    ratio = np.sqrt(np.diag(J.T @ J) / np.diag(exact))[-4:]
    assert filters.names == ("kp1", "kp2", "kv1", "kv2")
    assert np.all((ratio > 0.2) & (ratio < 2.0)), "relative changes: 4 to 80"


@pytest.mark.parametrize(("gains", "expected"), [(True, 4.0), (False, 2.0)])
def test_a_plan_for_gains_reaches_the_bandwidth_of_its_loop(gains: bool, expected: float) -> None:
    loop = didim.PD(natural_frequency=2 * np.pi * 4.0)
    found = didim.excite(MODEL, 5.0, loop, gains, LIMITS, noise=0.1, effort=0.05)
    trajectory = found.trajectory
    first = trajectory.first if isinstance(trajectory, Successive) else trajectory
    assert isinstance(first, didim.Fourier)
    hertz = first.a.shape[1] / first.period
    assert hertz == pytest.approx(expected)
    assert found.duration == pytest.approx(5.0)
    assert isinstance(trajectory, Successive) == any("stick" in each for each in found.messages)
    assert min(found.margins.values()) >= 0
