"""A robot's own machine code against the kernels that serve every robot."""

from __future__ import annotations

import ctypes
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numba.core.compiler_lock import global_compiler_lock

import didim
from didim.dynamics.codegen.driven_code import driven_code
from didim.dynamics.codegen.motion_code import STAGES, STAGES_PER_PAIR, motion_code
from didim.dynamics.codegen.robot_code import MOST_JOINTS, robot_code
from didim.dynamics.kernels.tree import Tree
from didim.simulation.kernels.plant import recursion
from didim.simulation.prepare import SimulationRequest, prepared
from support.random_urdf import random_urdf

CASE = Path(__file__).parents[2] / "cases" / "tx40.toml"


def models(tmp_path):
    for name in ("double_pendulum", "scara", "emps", "tx40", "panda"):
        yield didim.DynamicModel(didim.load_robot(name), ["rotor"])
    for seed in range(6):  # trees, sliding joints, axes in all directions
        (tmp_path / f"{seed}.urdf").write_text(random_urdf(seed, 3 + seed))
        yield didim.DynamicModel(didim.load_robot(tmp_path / f"{seed}.urdf"), ["rotor"])


def called(model, phi, q, dq):
    """Status, factor of M and forces at one sample."""
    n, values = model.robot.n, model.values(phi)
    code = robot_code(model.tree)
    L, bias = np.zeros((n, n)), np.zeros(n)
    arrays = [
        q,
        np.cos(q),
        np.sin(q),
        dq,
        np.ascontiguousarray(values.link),
        values.armature,
        L,
        bias,
    ]
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * len(arrays))(code.address)
    return function(*(array.ctypes.data for array in arrays)), L, bias


@pytest.mark.slow
def test_factor_and_forces_are_those_of_the_kernels(tmp_path):
    rng = np.random.default_rng(0)
    for model in models(tmp_path):
        n = model.robot.n
        phi = np.where(np.isfinite(model.nominal), model.nominal, 0.1)
        for _ in range(5):
            q, dq = rng.uniform(-2, 2, (2, n))
            status, L, bias = called(model, phi, q, dq)
            M = model.inertia_matrix(q, phi)[0]
            factor = np.tril(L, -1) + np.diag(1 / np.diag(L))
            assert status == -1
            np.testing.assert_allclose(factor @ factor.T, M, atol=1e-12 * np.abs(M).max())
            expected = model.inverse_dynamics(q, dq, np.zeros(n), phi)[0]
            np.testing.assert_allclose(
                bias, expected, atol=1e-12 * max(1.0, np.abs(expected).max())
            )


def call(code, arrays, width):
    """Run code for lanes on arrays, which it may write."""
    kinds = [ctypes.c_void_p] * len(arrays)
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *kinds, ctypes.c_int64)(code.address)
    assert function(*(array.ctypes.data for array in arrays), width) == 0


@pytest.mark.slow
def test_derivatives_and_columns_are_those_of_the_kernels(tmp_path):
    rng = np.random.default_rng(0)
    few = [*models(tmp_path)]
    for model in (*few[:4], *few[5:8]):
        n, p = model.robot.n, len(model.parameter_names)
        phi = np.where(np.isfinite(model.nominal), model.nominal, 0.1)
        values, (q, dq, ddq) = model.values(phi), rng.uniform(-2, 2, (3, n, STAGES))
        by_q, by_dq = np.full((2, STAGES, n, n), np.nan)
        W = np.zeros((STAGES, n, p))
        c = len(model.contacts)
        slope, kp = rng.uniform(0, 2, (n, STAGES)), rng.uniform(1, 2, n)
        code = motion_code(model.tree, model.columns, c, p, np.inf)
        arrays = [np.ascontiguousarray(values.link), values.viscous]
        arrays += [values.viscous_positive, values.viscous_negative, kp]
        slip = np.sign(model.contact_velocities(dq.T)).T.copy()
        arrays += [q, np.cos(q), np.sin(q), dq, ddq, slope, slip, by_q, by_dq, W]
        call(code, arrays, STAGES)
        motion = q.T, dq.T, ddq.T
        law = slope.T[:, :, None] * np.eye(n)  # by velocity, and kp times it by position
        for found, expected in (
            (by_q, model.derivatives(*motion, phi)[0] + kp[:, None] * law),
            (by_dq, model.derivatives(*motion, phi)[1] + law),
            (W, model.regressor(*motion)),
        ):
            atol = 1e-12 * max(1.0, np.abs(expected).max())
            np.testing.assert_allclose(found, expected, atol=atol)


def test_short_runs_and_long_arms_have_no_code_for_derivatives():
    model = didim.DynamicModel(didim.load_robot("tx40"), [])
    assert motion_code(model.tree, model.columns, 0, 64, 36 * STAGES_PER_PAIR - 1) is None
    assert driven_code(MOST_JOINTS + 1) is None


@pytest.mark.parametrize("torque", [True, False])
@pytest.mark.parametrize("n", [1, 4, 9])
def test_accelerations_in_many_directions_solve_the_equations_of_motion(n, torque):
    rng, m = np.random.default_rng(n), 24
    root, by_q, by_dq = rng.normal(size=(3, n, n))
    M = root @ root.T + np.eye(n)
    L = np.linalg.cholesky(M)
    L[np.diag_indices(n)] = 1 / np.diag(L)
    share, W, tau = rng.uniform(1, 2, n), *rng.normal(size=(2, n, m))
    x, K = rng.normal(size=(2 * n, m)), np.full((2 * n, m), np.nan)
    arrays = [by_q, by_dq, share, L, W, tau, x, K] if torque else [by_q, by_dq, L, W, x, K]
    call(driven_code(n, torque), arrays, m)
    tau *= torque
    force = share[:, None] * tau - W - by_q @ x[:n] - by_dq @ x[n:]
    np.testing.assert_array_equal(K[:n], x[n:])
    np.testing.assert_allclose(M @ K[n:], force, atol=1e-12 * np.abs(force).max())


@pytest.mark.parametrize("torque", [True, False])
def test_accelerations_of_a_stage_ahead_are_those_at_its_state(torque):
    rng, n, m = np.random.default_rng(1), 3, 16
    by_q, by_dq, L = rng.normal(size=(3, n, n))
    share, (W, tau, last, before) = rng.uniform(1, 2, n), rng.normal(size=(4, n, m))
    y, (x, K), (ahead_x, ahead_K) = rng.normal(size=(2 * n, m)), *np.zeros((2, 2, 2 * n, m))
    reach = np.array([0.3, 0.1])
    x[n:] = y[n:] + reach[0] * last
    x[:n] = y[:n] + reach[0] * (y[n:] + reach[1] * before)
    pushed, tables = ([share], [W, tau]) if torque else ([], [W])
    arrays = [by_q, by_dq, *pushed, L, *tables, x, K]
    call(driven_code(n, torque), arrays, m)
    call(
        driven_code(n, torque, ahead=True),
        [by_q, by_dq, *pushed, L, reach, *tables, y, last, before, ahead_x, ahead_K],
        m,
    )
    np.testing.assert_allclose(ahead_x, x, atol=1e-14)
    np.testing.assert_allclose(ahead_K[n:], K[n:], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("joint", [0, 2, 5])
def test_the_joint_at_which_m_fails_is_told(joint):
    model = didim.DynamicModel(didim.load_robot("tx40"), ["rotor"])
    phi = np.zeros(len(model.parameter_names))
    names = list(model.parameter_names)
    for j in range(6):
        phi[names.index(f"Ia{j + 1}")] = -1.0 if j == joint else 1.0
    q = np.zeros(6)
    assert called(model, phi, q, q)[0] == joint
    with pytest.raises(didim.InfeasibleError, match=f"joint {joint + 1}"):
        model.direct_dynamics(q, q, q, phi)


def test_values_that_are_no_number_fail_at_the_first_joint():
    model = didim.DynamicModel(didim.load_robot("tx40"), ["rotor"])
    q = np.full(6, np.nan)
    assert called(model, model.nominal, q, q)[0] == 0


@pytest.mark.parametrize("friction", ["exact", "smooth"])
def test_a_simulation_is_the_same_without_it(friction):
    case = didim.load_case(CASE)
    t = np.arange(0.0, 0.5, 1e-3)
    request = SimulationRequest(
        case.model,
        case.model.nominal,
        case.controller,
        t,
        case.reference,
        None,
        friction,
        0.05,
        None,
        None,
        1000,
    )
    torques = []
    for own in (True, False):
        run = prepared(request)
        code = run.plant.code
        assert code.robot != 0
        assert code.recursion == 0
        if not own:
            code = code._replace(robot=0, recursion=recursion.address, rates=code.all_rates)
        run.plant = run.plant._replace(code=code)
        torques.append(run.fixed(None).tau)
    assert np.abs(torques[0] - torques[1]).max() < 1e-9 * np.abs(torques[0]).max()


def test_the_environment_switches_it_off(monkeypatch):
    """DIDIM_GENERIC=1: the generic kernels alone, and the same simulation."""
    case, t, found = didim.load_case(CASE), np.arange(0.0, 0.5, 1e-3), {}
    for value in ("0", "1"):
        monkeypatch.setenv("DIDIM_GENERIC", value)
        code, options = robot_code(case.model.tree), {"t": t, "q_ref": case.reference}
        motion = didim.simulate(case.model, case.model.nominal, case.controller, **options)
        found[value] = code is None, motion.tau
    assert [generic for generic, _ in found.values()] == [False, True]
    own, generic = found["0"][1], found["1"][1]
    assert 0 < np.abs(own - generic).max() < 1e-9 * np.abs(own).max()


def test_code_is_made_once_per_geometry_and_not_for_long_chains():
    tree = didim.DynamicModel(didim.load_robot("scara")).tree
    copied = Tree(*(np.array(part) for part in tree[:5]), 0, 0)
    assert robot_code(tree) is robot_code(copied)
    assert robot_code(tree._replace(gravity=tree.gravity + 1.0)) is not robot_code(tree)
    n = MOST_JOINTS + 1
    chain = Tree(
        np.arange(n) - 1,
        np.zeros(n, int),
        np.tile(np.eye(3), (n, 1, 1)),
        np.ones((n, 3)),
        np.zeros(3),
        0,
        0,
    )
    assert robot_code(chain) is None


def test_code_that_is_there_waits_for_no_compiler():
    tree = didim.DynamicModel(didim.load_robot("scara")).tree
    code = robot_code(tree)
    held, done = threading.Event(), threading.Event()

    def compile_until_done():
        with global_compiler_lock:
            held.set()
            done.wait()

    with ThreadPoolExecutor(2) as pool:
        pool.submit(compile_until_done)
        held.wait()
        try:
            found = pool.submit(robot_code, tree).result(timeout=60)
        finally:
            done.set()
    assert found is code
