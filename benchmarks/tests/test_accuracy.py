"""The accuracy side of every row of the benchmarks; their times stay out of the tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks import growth, identification, signals, simulation
from benchmarks.dynamics import pairs
from benchmarks.straight_line import StraightLine
from benchmarks.timing import Row, installed, missing, table

import didim
from didim.signals.decimation import Decimation

LOOP = simulation.Loop(1.0)
peer = pytest.mark.filterwarnings("ignore")  # of theirs


@pytest.fixture(scope="module")
def truth():
    """Torques of the first second, converged."""
    return {kind: LOOP.converged(kind) for kind in ("exact", "smooth")}


@peer
@pytest.mark.parametrize("robot", ["tx40", "panda"])
@pytest.mark.parametrize("k", range(5))
def test_dynamics_agree_with_the_peer(robot, k):
    pair = pairs(robot, samples=50)[k]
    if pair.other is None:
        pytest.skip(f"{pair.peer.split()[0]} is not installed here; make bench installs it")
    assert pair.difference < 1e-9


def test_decimation_is_that_of_scipy():
    X = signals.columns(3000)
    assert signals.difference(X, Decimation(signals.N_D, "scipy")) < 1e-12
    assert signals.difference(X, Decimation(signals.N_D, "fir")) < 0.05, (
        "another filter of the same band"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "settings", "most"),
    [
        ("exact", {}, 1e-3),
        ("smooth", {**simulation.SMOOTH, "method": "fixed"}, 1e-4),
        ("smooth", {**simulation.SMOOTH, "tolerance": 1e-6}, 1e-4),
    ],
)
def test_simulations_are_as_accurate_as_the_table_says(truth, kind, settings, most):
    assert simulation.torque_error(LOOP.own(**settings), truth[kind]) < most


@pytest.mark.slow
@peer
@pytest.mark.parametrize("method", ["LSODA", "RK45", "DOP853"])
def test_scipy_around_pinocchio_simulates_the_same(truth, method):
    if not installed("pin"):
        pytest.skip("Pinocchio is not installed")
    assert simulation.torque_error(LOOP.by_scipy(method), truth["smooth"]) < 1e-3


@pytest.mark.slow
def test_straight_line_c_simulates_the_same(truth):
    """With the same steps: the error against shorter ones is the same too."""
    if not StraightLine.available:
        pytest.skip("there is no C compiler")
    assert simulation.torque_error(LOOP.by_c()(), truth["smooth"][:-1]) < 1e-4
    assert (
        simulation.torque_error(LOOP.by_c()(), LOOP.own(**simulation.SMOOTH, method="fixed")[:-1])
        < 1e-6
    )


@peer
def test_mujoco_simulates_the_same(truth):
    if not installed("mujoco"):
        pytest.skip("MuJoCo is not installed here; make bench installs it")
    assert simulation.torque_error(LOOP.by_mujoco(), truth["smooth"]) < 1e-2


@pytest.mark.slow
def test_the_didim_that_is_timed_finds_the_robot():
    case, experiment, _ = identification.record()
    found = didim.identify(
        case.model, experiment, identification.didim_settings(0.95 * case.model.nominal)
    )
    assert np.max(np.abs(found.values - case.model.base.nominal) / found.corrected_sigma) < 6


def test_the_idim_that_is_timed_predicts_the_torque():
    model, experiment = identification.long_record(6000)
    found = didim.identify(
        model, experiment, didim.IDIM(cutoff=20.0, decimation=identification.N_D)
    )
    assert found.residual < 0.02


def test_exponents_are_slopes():
    assert growth.Growth("cubic", (1, 2, 4), (1.0, 8.0, 64.0), 3.0).exponent == pytest.approx(3.0)
    model = growth.chain(3)
    assert model.robot.n == 3
    assert "missed" in growth.text(
        [growth.Growth("x", (1, 2), (1.0, 16.0), 3.0)], {"IDIM": (3.0, 1.0, "converged")}, {}
    )


def test_targets_are_judged_and_missing_peers_are_rows():
    fast = Row("a", 1.0, "peer", 7.0, 0.0, ">= 6")
    assert fast.reached
    assert not Row("a", 1.0, "peer", 5.0, 0.0, ">= 6").reached
    assert Row("a", 2.0, "peer", 1.0, 0.0, "<= 2.5").reached
    assert not Row("a", 3.0, "peer", 1.0, 0.0, "<= 2.5").reached
    none = missing("a", "figaroh", ">= 12")
    assert none.reached is None
    assert math.isnan(none.ratio)
    assert "figaroh: not installed" in table([fast, none])
