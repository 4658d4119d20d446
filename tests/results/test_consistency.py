"""`Estimate.consistency` names the link that forbids a physical robot, and `to_robot` refuses or
projects what is not physical.
"""

from __future__ import annotations

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest

import didim
from didim.report.sections.parameters import parameter_rows
from didim.results.consistency import consistency_of
from didim.results.estimate_data import estimate_data
from didim.results.physical import physical_robot
from didim.robot.armature import armature_note
from didim.robot.inertia import is_consistent
from support.estimates import estimate_of

SCARA = didim.DynamicModel(didim.load_robot("scara"))


def changed(estimate, **values):
    """The estimate with other values of some parameters."""
    found = [values.get(n, v) for n, v in zip(estimate.names, estimate.values, strict=True)]
    return replace(estimate, values=np.array(found))


@pytest.fixture(scope="module")
def estimate():
    return estimate_of(SCARA)


def test_a_physical_estimate(estimate):
    found = estimate.consistency
    assert found.physical
    assert all(each.physical and each.lack == 0 for each in found.links)
    assert not found.negative
    assert estimate.consistency is found


def test_the_link_that_forbids_it_is_named(estimate):
    """ZZ2 below MX2^2 / M2 for any mass M2 that ZZ1R leaves room for."""
    found = changed(estimate, ZZ2=-0.1).consistency
    assert [each.physical for each in found.links] == [True, False]
    assert found.links[1].joint in found.reason
    assert found.links[1].lacking_mass > 0
    assert "not physical" in str(found)
    worse = changed(estimate, ZZ2=-0.2).consistency
    assert worse.links[1].lack > found.links[1].lack


def test_negative_friction_and_rotors_are_named(estimate):
    found = changed(estimate, Fv1=-0.3, Fc2=-0.1).consistency
    assert found.negative == pytest.approx({"Fv1": -0.3, "Fc2": -0.1})
    assert all(each.physical for each in found.links)
    tx40 = didim.DynamicModel(didim.load_robot("tx40"))
    beta = tx40.base.nominal
    beta[tx40.base.parameter_names.index("Ia4")] = -0.01
    assert consistency_of(tx40.base, beta).negative == pytest.approx({"Ia4": -0.01})


def test_rounding_is_no_negative_friction(estimate):
    assert changed(estimate, Fv1=-1e-14, Fc2=0.0).consistency.physical


def test_a_note_and_json_say_so(estimate):
    wrong = changed(estimate, ZZ2=-0.1)
    assert wrong.consistency.reason in wrong.summary()
    data = json.loads(json.dumps(estimate_data(wrong)))["consistency"]
    assert data["physical"] is False
    assert data["links"][1]["lack"] > 0
    assert estimate_data(estimate)["consistency"]["physical"] is True


def test_intervals_at_the_border_are_marked(estimate):
    marked = replace(estimate, at_border=("ZZ2",))
    assert [row.name for row in parameter_rows(marked) if row.border] == ["ZZ2"]
    assert marked.summary().count("does not hold") == 1


def test_what_is_not_finite_is_not_physical(estimate):
    found = replace(estimate, values=estimate.values * np.inf).consistency
    assert not found.physical
    assert "not finite" in found.reason


def test_what_is_not_physical_is_refused_with_the_remedy(estimate, tmp_path):
    wrong = changed(estimate, ZZ2=-0.1, Fc1=-1.0)
    with pytest.raises(didim.InputError, match=r"joint 2 .*Fc1.*--project.*project=True"):
        wrong.to_robot(tmp_path / "robot.urdf")
    assert not (tmp_path / "robot.urdf").exists()


@pytest.mark.parametrize("ending", ["urdf", "toml"])
def test_projection_writes_a_physical_robot_and_says_what_changed(estimate, tmp_path, ending):
    wrong = changed(estimate, ZZ2=-0.1, Fc1=-1.0)
    with pytest.warns(didim.InconsistentRobotWarning, match=r"ZZ2 -0\.1 -> .*residual"):
        wrong.to_robot(tmp_path / f"robot.{ending}", project=True)
    robot = didim.load_robot(tmp_path / f"robot.{ending}")
    again = didim.DynamicModel(robot)
    assert all(is_consistent(joint.link) for joint in robot.joints)
    assert consistency_of(again.base, again.base.nominal).physical
    assert robot.joints[0].nominal["Fc"] >= 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimate.to_robot(tmp_path / f"same.{ending}", project=True)


def test_the_projection_is_nearest_in_predicted_torque(estimate):
    """A parameter that is known well hardly moves, one that is not moves instead."""
    wrong = changed(estimate, ZZ2=0.0)
    moved = {}
    for name in ("MX2", "ZZ2"):
        sigma = np.where(np.array(estimate.names) == name, 1e-4, 0.1)
        known = replace(wrong, covariance=np.diag(sigma**2))
        found = SCARA.base.matrix @ physical_robot(known, project=True).values
        moved[name] = np.abs(found - wrong.values)[estimate.names.index(name)]
        assert moved[name] < 5e-3
    other = estimate.names.index("ZZ2")
    sigma = np.where(np.array(estimate.names) == "MX2", 1e-4, 0.1)
    found = (
        SCARA.base.matrix
        @ physical_robot(replace(wrong, covariance=np.diag(sigma**2)), project=True).values
    )
    assert found[other] > 1e-2


def test_parameters_without_variance_do_not_stop_a_projection(estimate):
    wrong = changed(estimate, ZZ2=-0.1)
    unknown = replace(wrong, covariance=np.diag(np.full(wrong.values.size, np.inf)))
    values = physical_robot(unknown, project=True).values
    assert consistency_of(SCARA.base, SCARA.base.matrix @ values).physical


def test_armature_is_told_in_words(estimate):
    robot = replace(
        SCARA.robot, joints=tuple(replace(j, nominal={"Ia": 1.25}) for j in SCARA.robot.joints)
    )
    assert armature_note(robot).count("1.25") == 2
    assert armature_note(didim.load_robot("double_pendulum")) == ""


def test_code_of_what_is_not_physical_says_what_it_is_for(estimate):
    wrong = changed(estimate, ZZ2=-0.1)
    for language in ("python", "c"):
        assert "no physical robot" in didim.inverse_dynamics_code(wrong, language)
        assert "no physical robot" not in didim.inverse_dynamics_code(estimate, language)
