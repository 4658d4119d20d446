"""The physically consistent set, its barrier, the convex step and the prior."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

import didim
from didim.control.simulated_loop import tuned_inertia
from didim.dynamics.barrier import Problem
from didim.dynamics.consistent import Consistent
from didim.dynamics.prior import generic_links, nearest_consistent, prior_of
from didim.regression.system import LinearSystem, compressed
from didim.robot.inertia import is_consistent
from didim.signals.rows import RowSelection
from didim.simulation.record_set import RecordSet
from support.virtual import loop, model, scara_record


def tx40_set(seed: int = 0) -> tuple[Consistent, np.ndarray]:
    """A set with rotors, friction, offsets and couplings, and a point inside it that is not its
    centre.
    """
    full = model("tx40")
    random = np.random.default_rng(seed)
    prior = np.abs(random.uniform(0.5, 1.5, len(full.parameter_names)))
    for columns in full.layout.link:
        A = random.normal(size=(4, 4))
        prior[columns] = link_of(A @ A.T + 0.1 * np.eye(4))
    consistent = Consistent(full, prior, np.full(prior.size, 2.0))
    point = prior * random.uniform(0.8, 1.2)
    point[consistent.free] = random.normal(size=consistent.free.size)
    return consistent, point


def link_of(P: np.ndarray) -> np.ndarray:
    """Ten parameters of a pseudo-inertia."""
    J = np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3]
    return np.concatenate([J[np.triu_indices(3)], P[:3, 3], [P[3, 3]]])


def test_every_parameter_has_its_place():
    consistent, _ = tx40_set()
    names = np.array(consistent.model.parameter_names)
    assert {"Ia3", "Fv1", "Fc6", "Fcm6"} <= set(names[consistent.positive])
    assert set(names[consistent.free]) == {*(f"off{j}" for j in range(1, 7)), "Iam6", "Fvm6"}


def test_slopes_by_central_differences():
    consistent, point = tx40_set()
    gradient, hessian = consistent.slopes(point)
    for k in range(point.size):
        step = 1e-6 * np.eye(point.size)[k]
        numerical = (consistent.value(point + step) - consistent.value(point - step)) / 2e-6
        assert numerical == pytest.approx(gradient[k], rel=1e-5, abs=1e-5)
        bend = (consistent.slopes(point + step)[0] - consistent.slopes(point - step)[0]) / 2e-6
        np.testing.assert_allclose(bend, hessian[k], rtol=1e-4, atol=1e-4)


def test_smallest_at_the_prior_and_infinite_outside():
    consistent, point = tx40_set()
    centre = consistent.prior.copy()
    centre[consistent.free] = 0.0
    np.testing.assert_allclose(consistent.slopes(centre)[0], 0.0, atol=1e-6)
    assert consistent.value(centre) < consistent.value(point) < np.inf
    for name in ("Fv2", "Ia4", "M3", "ZZ5"):
        outside = point.copy()
        outside[consistent.model.parameter_names.index(name)] = -0.1
        assert consistent.value(outside) == np.inf
        assert not consistent.contains(outside)


def test_the_step_is_the_minimum_that_a_general_solver_finds():
    """On the EMPS, whose problem is small enough for a solver that knows nothing of it."""
    base = model("emps").base
    prior = np.where(base.full.nominal > 0, base.full.nominal, 1.0)
    prior[:10] = [2.0, 0, 0, 2.0, 0, 2.0, 0.1, 0, 0, 50.0]
    consistent = Consistent(base.full, prior, np.full(prior.size, 5.0))
    random = np.random.default_rng(1)
    R = random.normal(size=(6, 5)) * [0.1, 0.01, 0.1, 0.3, 2.0]
    problem = Problem(
        consistent, base.matrix, R, R @ [80.0, 150.0, 15.0, -2.0, 0.3], np.zeros(1), np.array([0.7])
    )
    theta, z = problem.solve(prior, np.zeros(1))
    assert consistent.contains(theta)
    gradient, _ = problem._slopes(
        np.hstack([R[:, :4] @ base.matrix, R[:, 4:]]),
        np.eye(15)[:14, :14],
        np.concatenate([theta, z]),
        13,
    )
    assert np.abs(gradient * np.concatenate([np.abs(theta), [1.0]])).max() < 1e-5
    found = minimize(
        lambda x: problem.value(np.concatenate([theta[:9], x[:4]]), x[4:]),
        np.concatenate([prior[9:], [0.0]]),
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 20000, "maxfev": 20000},
    )
    assert problem.value(theta, z) <= found.fun + 1e-6


@pytest.mark.parametrize("at_once", [50_000, 20, 3])
def test_compression_keeps_the_least_squares_problem(monkeypatch, at_once):
    monkeypatch.setattr("didim.regression.system.FACTORED_ROWS", at_once)
    random = np.random.default_rng(0)
    W, y, weights = random.normal(size=(50, 4)), random.normal(size=50), random.uniform(0.5, 2, 50)
    zeros = np.zeros(50, dtype=int)
    R, target = compressed(
        LinearSystem(W, y, zeros, zeros, np.arange(50), tuple("abcd"), 1, np.ones(1)), weights
    )
    one, two = (
        np.linalg.lstsq(*problem, rcond=None)[0]
        for problem in ((R, target), (W * weights[:, None], y * weights))
    )
    np.testing.assert_allclose(one, two, rtol=1e-10)


def prior_for(base):
    """The prior of a robot for the usual record and loop."""
    experiment, _ = scara_record()
    selection = RowSelection(4, "fir", ends=False)
    records = RecordSet((experiment,), selection, 1.0, None, "cubic")
    inertia = didim.largest_inertias(base.full, generic_links(base))
    return prior_of(base, tuned_inertia(base, loop(), inertia), *records.sizes)


def test_the_prior_is_physically_consistent():
    """Generic where the description lacks a number, else as described; bodies that cannot exist are
    replaced.
    """
    scara = model()
    described = prior_for(scara.base)
    assert described.contains(described.prior)
    np.testing.assert_allclose(described.prior[scara.parameter_names.index("M1")], 8.0)
    joints = list(scara.robot.joints)
    joints[0] = replace(joints[0], link=np.where(np.arange(10) == 5, np.nan, joints[0].link))
    lacking = didim.DynamicModel(replace(scara.robot, joints=tuple(joints)))
    generic = prior_for(lacking.base)
    assert generic.contains(generic.prior)
    np.testing.assert_allclose(generic.prior[scara.parameter_names.index("M1")], 2.0)
    joints[0] = replace(scara.robot.joints[0], link=np.array([0, 0, 0, 0, 0, 1.0, 5.0, 0, 0, 1.0]))
    impossible = didim.DynamicModel(replace(scara.robot, joints=tuple(joints)))
    assert not is_consistent(joints[0].link)
    assert (found := prior_for(impossible.base)).contains(found.prior)


def test_given_base_parameters_are_met_by_a_consistent_robot():
    scara = model()
    prior = prior_for(scara.base)
    wanted = 1.5 * scara.base.nominal
    moved = nearest_consistent(prior, scara.base, wanted)
    assert prior.contains(moved)
    np.testing.assert_allclose(scara.base.matrix @ moved, wanted, rtol=0.05)


@pytest.mark.parametrize("tiny", [1e-300, 5e-324])
def test_a_described_friction_next_to_nothing_gives_a_prior_all_the_same(tiny):
    """The inverse of such a value overflowed, and the eigenvalues with it."""
    robot = didim.load_robot("scara")
    joints = [
        replace(joint, nominal={**joint.nominal, "Fv": tiny, "Fc": tiny}) for joint in robot.joints
    ]
    base = didim.DynamicModel(replace(robot, joints=tuple(joints))).base
    prior = prior_of(base, np.ones(2), np.full(2, 10.0), np.ones(2))
    found = nearest_consistent(prior, base, base.nominal)
    assert prior.contains(found)
    inertial = [k for k, name in enumerate(base.parameter_names) if name[0] in "ZM"]
    np.testing.assert_allclose(
        (base.matrix @ found)[inertial], base.nominal[inertial], rtol=0.1, atol=0.02
    )
