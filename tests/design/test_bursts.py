"""Bursts at the end of a plan for unknown gains: motions about a pose, within the limits, fast or
so small that joints stick, whose torque is then that of the loop alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import didim
from didim.design.burst_search import LEAST_DRAWN, BurstSearch, balance, burst_count
from didim.design.bursts import (
    LEAST_AMPLITUDE,
    ROOM,
    WITHIN,
    Burst,
    BurstFamily,
    Successive,
    freeing,
    joined,
)
from didim.design.criterion import LogDet
from didim.design.feasible import Ending
from didim.design.loop_filters import LoopFilters
from didim.design.predict import Prediction, sigma_of
from didim.design.search import Budget
from didim.design.settings import checked_settings
from didim.design.unknowns import Unknowns
from didim.design.verify import Verification
from didim.threads import cores

MODEL = didim.DynamicModel(didim.load_robot("scara")).base
LOOP = didim.PD(kp=[6.0, 15.0], kv=[80.0, 12.0])
STIFFNESS = np.array([480.0, 180.0])
POSE = np.array([0.3, -0.4])
LIMITS = didim.Limits(MODEL.robot, position=[[-2.0, 2.0], [-2.5, 2.5]], velocity=[2.0, 4.0])
NAMES = MODEL.parameter_names
FRICTION = MODEL.nominal[[NAMES.index("Fc1"), NAMES.index("Fc2")]]
FAMILY = BurstFamily(4.0, LIMITS, 3.0, FRICTION / STIFFNESS, POSE)
CHECKS = Verification(MODEL, MODEL.nominal, LOOP, LIMITS, None)


def drawn(count: int = 8, family: BurstFamily = FAMILY) -> list[Burst]:
    random = np.random.default_rng(0)
    return [family.drawn(random) for _ in range(count)]


def standing(fraction: float) -> Burst:
    """A motion of the reference within the friction of both joints."""
    burst = drawn(1)[0]
    peak = np.abs(burst.sampled(np.zeros(2), np.linspace(0.0, 4.0, 4001))[0]).max(axis=0)
    factors = fraction * FRICTION / STIFFNESS / peak
    return Burst(burst.basis, burst.coefficients * factors[:, None])


def simulated(trajectory: didim.Trajectory) -> didim.Motion:
    t = np.linspace(0.0, trajectory.span[1], 4001)
    return didim.simulate(MODEL, MODEL.nominal, LOOP, t=t, q_ref=trajectory, check=False)


def prediction(loop: didim.PD = LOOP) -> Prediction:
    return Prediction(
        Unknowns(MODEL, MODEL.nominal, LIMITS.velocity), loop, True, np.ones(2), 1000.0
    )


def test_it_starts_and_ends_at_rest_at_its_pose() -> None:
    for burst in drawn():
        q, dq, ddq = burst.trajectory(POSE).sample([0.0, 4.0])
        assert np.allclose(q, POSE)
        assert np.allclose([dq, ddq], 0.0, atol=1e-6)


def test_its_samples_are_those_of_its_trajectory() -> None:
    t = np.linspace(0.0, 4.0, 8001)
    for burst in drawn(3):
        found = burst.sampled(POSE, t)
        assert np.allclose(found[0], burst.trajectory(POSE).sample(t)[0])
        for lower, upper in pairwise(found):
            slope = np.gradient(lower, t, axis=0)[2:-2]
            assert np.allclose(slope, upper[2:-2], atol=2e-3 * np.abs(upper).max())


def test_every_joint_stays_within_its_limits_and_some_come_near_them() -> None:
    t = np.linspace(0.0, 4.0, 8001)
    peaks = np.array([np.abs(each.sampled(np.zeros(2), t)).max(axis=1) for each in drawn(40)])
    assert np.all(peaks[:, 0] <= 1.01 * ROOM * np.array([2.0, 2.5]))
    allowed = np.array([LIMITS.velocity, LIMITS.acceleration, LIMITS.jerk])
    used = (peaks[:, 1:] / allowed).max(axis=1)
    assert np.all(used <= 1.01 * WITHIN)
    assert np.all(used.max(axis=0) > 0.99 * WITHIN)


def test_joints_are_fast_or_small() -> None:
    """About half the joints reach a few times the displacement that frees them, and no more."""
    t = np.linspace(0.0, 4.0, 8001)
    peaks = np.array([np.abs(each.sampled(np.zeros(2), t)[0]).max(axis=0) for each in drawn(100)])
    small = peaks < 4.05 * FAMILY.freeing
    assert np.all(np.abs(small.mean(axis=0) - 0.5) < 0.2)
    assert np.all(peaks >= 0.99 * LEAST_AMPLITUDE)


def test_a_joint_whose_friction_is_small_in_its_loop_is_always_fast() -> None:
    family = BurstFamily(4.0, LIMITS, 3.0, np.array([1e-5, 0.0]), POSE)
    t = np.linspace(0.0, 4.0, 8001)
    peaks = np.array(
        [np.abs(each.sampled(np.zeros(2), t)[2]).max(axis=0) for each in drawn(20, family)]
    )
    assert np.all(peaks > 0.2 * LIMITS.acceleration)


def test_joints_of_several_bursts_are_joined() -> None:
    first, second, third = drawn(3)
    both = joined([first, second, third], np.array([2, 0]))
    assert np.array_equal(both.coefficients[0], third.coefficients[0])
    assert np.array_equal(both.coefficients[1], first.coefficients[1])


def test_two_trajectories_follow_each_other() -> None:
    first = didim.Fourier([[1.0, 0.5], [0.2, 0.3]], [[0.1, 0.3], [0.5, 0.2]], 3.0)
    end = first.sample([3.0])[0][0]
    both = Successive(first, drawn(1)[0].trajectory(end))
    assert both.span == (0.0, 7.0)
    t = np.linspace(0.0, 7.0, 7001)
    q, dq, ddq = both.sample(t)
    assert np.allclose(q[t <= 3.0], first.sample(t[t <= 3.0])[0])
    assert np.allclose(np.gradient(q, t, axis=0)[1:-1], dq[1:-1], atol=1e-4)
    assert np.allclose(np.gradient(dq, t, axis=0)[1:-1], ddq[1:-1], atol=2e-2)
    assert np.allclose(both.sample(np.array([3.0, 7.0]))[0], end)


def test_the_displacement_that_frees_a_joint() -> None:
    assert np.allclose(freeing(MODEL, MODEL.nominal, POSE, STIFFNESS), FRICTION / STIFFNESS)


def test_a_joint_that_stands_tells_of_the_product_of_its_gains_alone() -> None:
    trajectory = standing(0.5).trajectory(POSE)
    motion = simulated(trajectory)
    assert motion.stuck.all()
    found = prediction().information(motion, trajectory, cut=False)
    b = len(NAMES)
    assert np.allclose(found[:b, :b], 0.0, atol=1e-6)
    for j, (kp, kv) in enumerate(zip(LOOP.kp, LOOP.kv, strict=True)):
        expected = np.sum(motion.tau[:, j] ** 2) / np.outer([kp, kv], [kp, kv])
        pair = [b + j, b + 2 + j]
        assert np.allclose(found[np.ix_(pair, pair)], expected, rtol=0.05)


def test_with_a_velocity_reference_a_joint_that_stands_tells_of_both_gains() -> None:
    """tau = kv (kp (q_r - q) + dq_r): two signals, whatever the robot is."""
    loop = didim.PD(kp=LOOP.kp, kv=LOOP.kv, velocity_reference=1.0)
    trajectory = standing(0.3).trajectory(POSE)
    t = np.linspace(0.0, 4.0, 4001)
    motion = didim.simulate(MODEL, MODEL.nominal, loop, t=t, q_ref=trajectory, check=False)
    assert motion.stuck.all()
    found, b = prediction(loop).information(motion, trajectory, cut=False), len(NAMES)
    q, dq, _ = trajectory.sample(t)
    for j, (kp, kv) in enumerate(zip(LOOP.kp, LOOP.kv, strict=True)):
        columns = np.column_stack([kv * (q[:, j] - motion.q[:, j]), motion.tau[:, j] / kv])
        assert np.allclose(motion.tau[:, j], kp * columns[:, 0] + kv * dq[:, j])
        pair = [b + j, b + 2 + j]
        block, expected = found[np.ix_(pair, pair)], columns.T @ columns
        assert np.allclose(block, expected, rtol=0.1)
        assert np.linalg.cond(block / np.sqrt(np.outer(np.diag(block), np.diag(block)))) < 100


def search(seed: int = 0, stop: Callable[[], bool] = lambda: False) -> BurstSearch:
    settings = checked_settings(
        MODEL.robot, duration=8.0, loop=LOOP, gains_unknown=True, limits=LIMITS, seed=seed,
        progress=None, method=None, criterion="logdet", weights=None, rate=1000.0, start=None,
        basis="fourier", harmonics=None, random_plans=0,
    )  # fmt: skip
    filters = LoopFilters(MODEL, MODEL.nominal, LOOP, 1.0, 1, True)
    return BurstSearch(settings, filters, prediction(), CHECKS, LogDet(), 32, stop)


MOTION = didim.Fourier.random(MODEL.robot, seed=3, period=8.0, harmonics=8, share=0.6)


def of_random_motion() -> np.ndarray:
    return prediction().information(CHECKS.along(MOTION), MOTION)


def test_a_chosen_burst_tells_more_than_those_that_were_drawn() -> None:
    known, found = of_random_motion(), search()
    (burst,) = found.chosen(known, POSE, 1)
    (best,) = found._informations([burst], POSE)
    others = found._drawn(POSE, 10)[1]
    assert all(balance(known + best, 4) <= balance(known + each, 4) for each in others)
    assert balance(known + best, 4) < balance(known, 4) - 0.05
    again = search().chosen(known, POSE, 1)[0]
    assert np.array_equal(burst.coefficients, again.coefficients), "the same seed"


@pytest.mark.parametrize(
    ("counted", "simulated"),
    [(True, 0), (True, 5), (True, 32), (False, 0), (False, 5), (False, 32), (False, 40)],
)
def test_a_search_that_is_told_to_stop_ends_at_once_without_bursts(
    counted: bool, simulated: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, made, late = of_random_motion(), [], []
    along, information = Verification.along, Prediction.information

    def seen(*given: Any) -> didim.Motion:
        made.append(1)
        return along(*given)

    def told(*given: Any, **settings: Any) -> np.ndarray:
        late.extend([1] if len(made) >= simulated else [])
        return information(*given, **settings)

    def score(found: np.ndarray) -> np.ndarray:
        late.extend([1] if len(made) >= simulated else [])
        return sigma_of(found)

    monkeypatch.setattr(Verification, "along", seen)
    monkeypatch.setattr(Prediction, "information", told)
    monkeypatch.setattr("didim.design.burst_search.sigma_of", score)
    bursts = search(stop=lambda: len(made) >= simulated)
    if counted:
        nothing = np.zeros_like(known)
        assert bursts.count(nothing, known, POSE) == 0
    else:
        assert bursts.chosen(known, POSE, 2) == []
    assert len(made) <= simulated + cores()
    assert len(late) <= cores(), "those that had begun"


def test_a_plan_that_is_stopped_among_its_bursts_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[float] = []
    along = Verification.along

    def seen(checks: Verification, trajectory: didim.Trajectory) -> didim.Motion:
        made.append(trajectory.span[1])
        return along(checks, trajectory)

    monkeypatch.setattr(Verification, "along", seen)
    lasting = 0.15 * 8.0

    def of_bursts() -> int:
        return sum(seconds == pytest.approx(lasting) for seconds in made)

    found = didim.excite(
        MODEL, 8.0, LOOP, True, LIMITS, noise=0.1, effort=0.2, progress=lambda _: of_bursts() < 3
    )
    assert found.stopped
    assert of_bursts() <= 3 + cores()
    assert isinstance(found.trajectory, didim.Fourier)
    assert found.duration == pytest.approx(8.0)
    assert not any("bursts" in each for each in found.messages)


def test_fewer_bursts_are_drawn_with_little_effort_and_for_many_joints() -> None:
    whole, little = Budget(), Budget().scaled(0.25)
    assert [burst_count(whole.bursts, n) for n in (2, 7, 14)] == [32, 32, 8]
    assert burst_count(little.bursts, 7) == 8
    assert burst_count(Budget().scaled(0.01).bursts, 2) == LEAST_DRAWN


def test_bursts_are_worth_their_time_where_a_motion_tells_little_of_the_gains() -> None:
    of_motion, none = of_random_motion(), np.zeros((len(NAMES) + 4, len(NAMES) + 4))
    assert search().count(none, of_motion, POSE) > 0
    assert search().count(none, 100 * of_motion, POSE) == 0, "a motion that tells all"


def test_bursts_are_shrunk_until_the_whole_meets_every_limit() -> None:
    main = didim.Fourier.random(MODEL.robot, seed=3, period=4.0, harmonics=4, share=0.3)
    margins = CHECKS.reference(partial(_sampled, main), 4.0)
    ending = Ending(main, CHECKS.check(main, margins), CHECKS)
    assert ending.checked.is_feasible
    burst = drawn(1)[0]
    stronger = Burst(burst.basis, burst.coefficients * np.array([[8.0], [1.0]]))
    found = ending.feasible([burst, stronger])
    assert found is not None
    whole, checked = found
    assert checked.is_feasible
    assert whole.span == (0.0, 12.0)
    assert checked.motion.t[-1] == pytest.approx(12.0)
    _, dq, ddq = whole.sample(np.linspace(4.0, 12.0, 8001))
    assert np.all(np.abs(dq) <= LIMITS.velocity)
    assert np.all(np.abs(ddq) <= LIMITS.acceleration)
    assert np.any(np.abs(dq) > 0.01 * LIMITS.velocity), "something is left"
    assert ending.feasible([Burst(burst.basis, 1e6 * burst.coefficients)]) is None


def test_a_joint_that_others_bring_beyond_its_torque_ends_no_search() -> None:
    """Of joint 2 the burst is fast, and joint 1, which stands, has to hold against it."""
    main = didim.Fourier.random(MODEL.robot, seed=3, period=4.0, harmonics=4, share=0.1)
    loop = didim.PD(natural_frequency=[60.0, 100.0])
    limits = didim.Limits(
        MODEL.robot, velocity=[2.0, 6.0], acceleration=[4.0, 300.0], torque=[8.0, np.inf]
    )
    checks = Verification(MODEL, MODEL.nominal, loop, limits, None)
    ending = Ending(main, checks.check(main, {}), checks)
    assert ending.checked.is_feasible
    for burst in drawn(4, BurstFamily(0.6, limits, 8.0, np.zeros(2), POSE)):
        found = ending.feasible([burst])
        assert found is None or found[1].is_feasible


def test_a_joint_that_would_hardly_move_stands() -> None:
    burst = drawn(1)[0]
    t = np.linspace(0.0, 4.0, 8001)
    peak = np.abs(burst.sampled(np.zeros(2), t)[0]).max(axis=0)
    shrunk = burst.scaled(np.array([0.5, 1.8]) * LEAST_AMPLITUDE / peak)
    assert not shrunk.coefficients[0].any()
    assert shrunk.coefficients[1].any()
    assert not shrunk.stands


def test_bursts_in_a_slow_loop_of_a_long_plan_and_beside_a_limit() -> None:
    slow = BurstFamily(6.0, LIMITS, 0.3, FRICTION / STIFFNESS, POSE)
    corner = BurstFamily(4.0, LIMITS, 3.0, FRICTION / STIFFNESS, LIMITS.position[:, 1] - 1e-3)
    for family in (slow, corner):
        t = np.linspace(0.0, family.duration, 4001)
        for burst in drawn(20, family):
            q = burst.sampled(family.pose, t)[0]
            assert np.isfinite(q).all()
            assert np.all((q >= LIMITS.position[:, 0]) & (q <= LIMITS.position[:, 1]))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_plan_whose_bursts_do_not_fit_has_its_whole_duration_without_them(seed: int) -> None:
    model = didim.DynamicModel(MODEL.robot, ["rotor", "viscous"])
    loop = didim.PD(natural_frequency=20.0, velocity_reference=1.0)
    start = [3.1413, -3.1413]
    found = didim.excite(model, 5.0, loop, True, noise=0.1, effort=0.05, start=start, seed=seed)
    has_bursts = isinstance(found.trajectory, Successive)
    assert has_bursts == any("bursts" in each for each in found.messages)
    assert found.duration == pytest.approx(5.0)
    assert min(found.margins.values()) >= 0


def test_a_search_that_is_stopped_at_once_makes_no_bursts() -> None:
    found = didim.excite(MODEL, 8.0, LOOP, True, LIMITS, noise=0.1, progress=lambda _: False)
    assert found.stopped
    assert isinstance(found.trajectory, didim.Fourier)
    assert found.duration == pytest.approx(8.0)


def _sampled(trajectory: didim.Fourier, t: np.ndarray) -> np.ndarray:
    q, dq, ddq = trajectory.sample(t)
    return np.stack([q, dq, ddq, np.gradient(ddq, t, axis=0)])


def test_gains_of_the_search_have_the_units_of_the_exact_ones() -> None:
    model = didim.DynamicModel(MODEL.robot, ["rotor", "viscous"]).base  # nothing sticks
    trajectory = didim.Fourier.random(model.robot, seed=2, period=4.0, harmonics=8, share=0.6)
    t = np.linspace(0.0, 4.0, 4001)
    motion = didim.simulate(model, model.nominal, LOOP, t=t, q_ref=trajectory, check=False)
    unknowns = Unknowns(model, model.nominal, LIMITS.velocity)
    predicted = Prediction(unknowns, LOOP, True, np.ones(2), 1000.0)
    exact = predicted.information(motion, trajectory, cut=False)
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
    first = trajectory
    while isinstance(first, Successive):
        first = first.first
    assert isinstance(first, didim.Fourier)
    assert first.a.shape[1] / found.duration == pytest.approx(expected)
    assert found.duration == pytest.approx(5.0)
    assert isinstance(trajectory, Successive) == any("bursts" in each for each in found.messages)
    assert min(found.margins.values()) >= 0
