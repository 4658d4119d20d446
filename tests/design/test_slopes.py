"""The slope of the search: against differences, for every criterion, with and without a loop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import didim
from didim.design.basis import FourierBasis, MotionBasis, SplineBasis
from didim.design.clearance import clearances
from didim.design.criterion import Condition, LogDet, WeightedSigma, WorstRelative
from didim.design.loop_filters import LoopFilters
from didim.design.motions import Motions
from didim.design.objective import Objective
from didim.design.penalty import Penalty
from didim.design.unknowns import Unknowns


def objective(gains: bool, start: bool = False, fixed: bool = False) -> Objective:
    robot = didim.load_robot("scara")
    model = didim.DynamicModel(robot, fixed={"Fv1": 2.0} if fixed else None).base
    limits = didim.Limits(robot, position=[[-1.0, 1.0], [-2.0, 2.0]], self_collision=0.05)
    begin = np.array([0.2, 0.3]) if start else None
    motions = Motions(FourierBasis(4.0, 5), limits, begin)
    unknowns = Unknowns(model, model.nominal, limits.velocity)
    filters = None
    if gains:
        loop = didim.PID(natural_frequency=20.0, velocity_reference=0.5)
        filters = LoopFilters(model, model.nominal, loop, 4.0, motions.t.size, True)
    count = len(unknowns.names) + (len(filters.names) if filters else 0)
    penalty = Penalty(limits, clearances(robot, limits))
    known = 0.1 * np.eye(count)
    return Objective(motions, unknowns, filters, LogDet(), penalty, np.ones(2), known, 400.0)


def difference(found: Objective, x: np.ndarray, along: np.ndarray) -> tuple[float, float]:
    step = 1e-5
    ahead, behind = (found.value(x + s * step * along, 7.0)[0] for s in (1, -1))
    return float(found.value(x, 7.0)[1] @ along), (ahead - behind) / (2 * step)


@pytest.mark.parametrize("gains", [False, True])
@pytest.mark.parametrize("criterion", ["logdet", "sigma", "worst", "condition"])
def test_slope_is_that_of_differences(gains: bool, criterion: str) -> None:
    found = objective(gains)
    k = found.known.shape[0]
    made = {
        "logdet": LogDet(),
        "sigma": WeightedSigma(np.arange(1.0, k + 1)),
        "worst": WorstRelative(np.linspace(0.0, 2.0, k)),
        "condition": Condition(),
    }
    random = np.random.default_rng(3)
    x, along = 0.4 * random.normal(size=(2, found.motions.size))
    slope, expected = difference(replace(found, criterion=made[criterion]), x, along)
    assert slope == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize("options", [{"start": True}, {"fixed": True}])
def test_slope_with_a_start_and_with_known_parameters(options: dict[str, bool]) -> None:
    found = objective(True, **options)
    random = np.random.default_rng(4)
    x, along = 0.4 * random.normal(size=(2, found.motions.size))
    slope, expected = difference(found, x, along)
    assert slope == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize("basis", [FourierBasis(4.0, 5), SplineBasis(4.0, 9)])
def test_shapes_are_those_of_the_trajectory_and_rest_at_both_ends(basis: MotionBasis) -> None:
    random = np.random.default_rng(0)
    coefficients, offset = random.normal(size=(2, basis.count)), np.array([0.5, -1.0])
    trajectory = basis.trajectory(coefficients, offset)
    t = np.linspace(0.0, 4.0, 4001)
    q, dq, ddq, dddq = basis.shapes(t) @ coefficients.T
    expected = trajectory.sample(t)
    for mine, theirs in zip((q + offset, dq, ddq), expected, strict=True):
        assert np.allclose(mine, theirs, atol=1e-12)
    assert np.allclose(
        np.gradient(ddq, t, axis=0)[2:-2], dddq[2:-2], atol=1e-3 * np.abs(dddq).max()
    )
    assert np.allclose(dq[[0, -1]], 0.0, atol=1e-12)
    assert np.allclose(ddq[[0, -1]], 0.0, atol=1e-9)


def test_a_motion_shrinks_towards_a_pose() -> None:
    motions = objective(False).motions
    x, pose = np.random.default_rng(1).normal(size=motions.size), np.array([0.3, -0.2])
    whole, part = motions.at(x), motions.at(motions.towards(x, pose, 0.25))
    assert np.allclose(part.q, pose + 0.25 * (whole.q - pose))
    assert np.allclose(part.dddq, 0.25 * whole.dddq)
