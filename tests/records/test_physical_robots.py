"""Measured records: what physical consistency costs, and the exported UR10e in Pinocchio."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import didim
from support.records import DATA, record
from support.semidefinite import semidefinite_solution

EXAMPLES = Path(__file__).parents[2] / "examples"
GAINS = [14.87, 13.26, 11.13, 10.62, 11.03, 11.47]
"""N.m/A, of the UR10e's drives."""


@pytest.fixture(autouse=True)
def _data(monkeypatch):
    monkeypatch.setenv("DIDIM_DATA", str(DATA))


def both(study, *changes):
    """Plain IDIM, and IDIM over the physically consistent set."""
    return [
        didim.load_study(study, ["method=idim", f"idim.consistent={each}", *changes]).run()
        for each in ("false", "true")
    ]


@pytest.fixture(scope="module")
def ur10e(tmp_path_factory):
    """The study of the empty UR10e; its last third is held out."""
    record("ur10e", "ur10e.urdf")
    table = f"""
[[experiment]]
file = "{record("ur10e", "empty.csv.gz")}"
columns = {{ t = 1, q = [2, 3, 4, 5, 6, 7], tau = [14, 15, 16, 17, 18, 19] }}
units = {{ tau = {GAINS} }}
"""
    study = tmp_path_factory.mktemp("ur10e") / "study.toml"
    study.write_text(
        f"""robot = "{record("ur10e", "ur10e.urdf")}"
effects = ["rotor", "viscous", "coulomb", "offset"]
{table}
between = [840.487, 873.9]
{table}
between = [873.9, 890.559]
use = "validate"
[idim]
cutoff = 10.0
decimation = 5
rest_velocity = 0.02
"""
    )
    return both(study)


def assert_optimal(plain, inside):
    """The optimum of a semidefinite solver, from the information matrix of plain least squares."""
    R = np.linalg.inv(np.linalg.cholesky(plain.covariance))
    expected = semidefinite_solution(plain.model, R, R @ plain.values)
    squares = [
        plain.freedom + np.sum((R @ (values - plain.values)) ** 2)
        for values in (inside.values, expected)
    ]
    assert squares[0] == pytest.approx(squares[1], rel=1e-5)
    difference = np.linalg.norm(R @ (inside.values - expected))
    assert difference < 1e-5 * np.linalg.norm(R @ plain.values)


@pytest.mark.slow
def test_the_cost_on_the_ur10e(ur10e):
    plain, inside = ur10e
    assert not plain.consistency.physical
    assert inside.consistency.physical
    assert inside.residual < 1.1 * plain.residual
    assert_optimal(plain, inside)
    assert inside.validation[0].residual < 0.045


@pytest.mark.slow
@pytest.mark.parametrize("index", [0, 1])
def test_the_exported_ur10e_in_pinocchio(ur10e, tmp_path, index):
    """Positive pseudo-inertias, M(q) > 0 with and without armature at 500 poses, and links of
    plausible mass: without --project, plain IDIM is refused.
    """
    pinocchio = pytest.importorskip("pinocchio", reason="Pinocchio is not installed")
    estimate, file = ur10e[index], tmp_path / "ur10e.urdf"
    if index == 0:
        with pytest.raises(didim.InputError, match="not physical"):
            estimate.to_robot(file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", didim.InconsistentRobotWarning)
        robot = estimate.to_robot(file, like=record("ur10e", "ur10e.urdf"), project=index == 0)
    armature = np.array([joint.nominal["Ia"] for joint in robot.joints])
    assert np.all(armature >= 0)
    assert max(joint.link[9] for joint in robot.joints) < 30.0
    model = pinocchio.buildModelFromUrdf(str(file))
    data = model.createData()
    for inertia in list(model.inertias)[1:]:
        assert np.linalg.eigvalsh(inertia.toPseudoInertia().toMatrix())[0] > 0
    for q in np.random.default_rng(0).uniform(-np.pi, np.pi, (500, model.nq)):
        upper = np.triu(pinocchio.crba(model, data, q))
        M = upper + np.triu(upper, 1).T - np.diag(model.armature)
        assert np.linalg.eigvalsh(M)[0] > 0
        assert np.linalg.eigvalsh(M + np.diag(armature))[0] > 0
    again = didim.DynamicModel(didim.load_robot(file), estimate.model.full.effects)
    written = replace(estimate, values=again.base.nominal)
    assert written.validate(estimate.held_out[0]).residual < 0.045


@pytest.mark.long
@pytest.mark.parametrize("name", ["tx40", "double_pendulum"])
def test_the_cost_on_other_robots(name):
    record(name)
    plain, inside = both(EXAMPLES / f"{name}.toml")
    assert not plain.consistency.physical
    assert inside.consistency.physical
    assert inside.residual < 1.1 * plain.residual
    assert_optimal(plain, inside)


def test_nothing_changes_on_the_emps():
    record("emps")
    plain, inside = both(EXAMPLES / "emps.toml")
    np.testing.assert_array_equal(inside.values, plain.values)
    assert plain.consistency.physical
