"""Plans for robots of other kinds: a slide, one joint, twelve joints; and the arms of
the published case, judged by Pinocchio.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import didim


def chain(joints: int) -> str:
    """A URDF of links in a row; every fourth joint slides."""
    lines = ['<robot name="chain"><link name="base"/>']
    body = (
        '<inertial><origin xyz="0.05 0.02 0.1"/><mass value="1.5"/><inertia ixx="0.02" ixy="0" '
        'ixz="0" iyy="0.02" iyz="0" izz="0.01"/></inertial>'
    )
    for k in range(joints):
        kind = "prismatic" if k % 4 == 2 else "revolute"
        axis = ("0 0 1", "0 1 0", "1 0 0")[k % 3]
        parent = "base" if k == 0 else f"l{k - 1}"
        lines.append(
            f'<link name="l{k}">{body}</link><joint name="j{k}" type="{kind}">'
            f'<parent link="{parent}"/><child link="l{k}"/><origin xyz="0 0 0.15"/>'
            f'<axis xyz="{axis}"/><limit lower="-0.4" upper="0.5" velocity="1.5" effort="400"/>'
            '<dynamics damping="1.0" friction="0.5"/></joint>'
        )
    return "".join([*lines, "</robot>"])


@pytest.mark.parametrize("name", ["emps", "double_pendulum"])
def test_shipped_robots_have_plans(name: str) -> None:
    found = didim.excite(didim.DynamicModel(didim.load_robot(name)), 5.0, effort=0.1)
    assert min(found.margins.values()) >= 0
    assert np.all(np.isfinite(found.sigma))


@pytest.mark.long
def test_twelve_joints_with_slides(tmp_path: Path) -> None:
    file = tmp_path / "chain.urdf"
    file.write_text(chain(12))
    model = didim.DynamicModel(didim.load_robot(file))
    limits = didim.Limits(model.robot, box=[[-3, 3], [-3, 3], [-0.2, 4]])
    found = didim.excite(model, 8.0, limits=limits, effort=0.02, harmonics=6)
    assert len(found.names) == len(model.base.parameter_names)
    assert min(found.margins.values()) >= 0
    assert np.all(np.isfinite(found.sigma))


@pytest.mark.long
@pytest.mark.parametrize("name", ["tx40", "panda"])
def test_plans_of_arms_judged_from_outside(name: str) -> None:
    pytest.importorskip("pinocchio")
    from support.planned import outside_margins, planned

    margins = outside_margins(planned(name, duration=6.0, effort=0.05, seed=3))
    assert min(margins.values()) >= 0
    assert margins["torque"] == pytest.approx(margins["torque of Pinocchio"], abs=2e-3)
