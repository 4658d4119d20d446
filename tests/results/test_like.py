"""`to_robot(..., like=URDF)`: the user's own file with identified values; names, frames, meshes and
comments stay.
"""

from __future__ import annotations

import numpy as np
import pytest

import didim
from support.estimates import estimate_of
from support.pinocchio_peer import Peer
from support.random_urdf import random_urdf

OWN = random_urdf(9, 5).replace(
    "</robot>", "<!-- kept --><gazebo><plugin>p</plugin></gazebo></robot>"
)


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "own.urdf"
    path.write_text(OWN)
    return path


@pytest.mark.parametrize("effects", [None, ["rotor", "viscous", "coulomb", "offset"]])
def test_everything_but_the_values_stays(own, tmp_path, effects):
    estimate = estimate_of(didim.DynamicModel(didim.load_robot(own), effects), 0.01)
    estimate.to_robot(tmp_path / "new.urdf", like=own)
    text = (tmp_path / "new.urdf").read_text()
    for kept in (
        "<!-- kept -->",
        "<plugin>p</plugin>",
        "package://nowhere/link1.stl",
        'name="tool"',
        'name="tool_mount"',
    ):
        assert kept in text
    again = didim.DynamicModel(didim.load_robot(tmp_path / "new.urdf"))
    rng = np.random.default_rng(0)
    q, dq, ddq = rng.uniform(-2, 2, (3, 10, again.robot.n))
    expected = estimate.model.inverse_dynamics(q, dq, ddq, estimate.parameters)
    assert (
        np.abs(again.inverse_dynamics(q, dq, ddq, again.nominal) - expected).max()
        < 1e-9 * np.abs(expected).max()
    )
    rigid = didim.DynamicModel(again.robot, [])
    peer = Peer(text, again.robot)
    torque = np.array([peer.torque(*row) for row in zip(q, dq, ddq, strict=True)])
    assert (
        np.abs(rigid.inverse_dynamics(q, dq, ddq, rigid.nominal) - torque).max()
        < 1e-9 * np.abs(torque).max()
    )


def test_another_robot_or_format_is_refused(own, tmp_path):
    estimate = estimate_of(didim.DynamicModel(didim.load_robot("scara")))
    with pytest.raises(didim.InputError, match="is not the URDF of the identified robot 'scara'"):
        estimate.to_robot(tmp_path / "new.urdf", like=own)
    with pytest.raises(didim.InputError, match="no such file"):
        estimate.to_robot(tmp_path / "new.urdf", like=tmp_path / "none.urdf")
    with pytest.raises(didim.InputError, match=r"ends in \.urdf"):
        estimate.to_robot(tmp_path / "new.toml", like=own)
    assert not (tmp_path / "new.urdf").exists()


def test_elements_that_are_nested_too_deeply_are_refused(own, tmp_path):
    nested = own.read_text().replace("</robot>", "<a>" * 5000 + "</a>" * 5000 + "</robot>")
    (tmp_path / "nested.urdf").write_text(nested)
    estimate = estimate_of(didim.DynamicModel(didim.load_robot(own)))
    with pytest.raises(didim.InputError, match="nested more than 100 deep"):
        estimate.to_robot(tmp_path / "new.urdf", like=tmp_path / "nested.urdf")
    with pytest.raises(didim.InputError, match="nested more than 100 deep"):
        didim.load_robot(tmp_path / "nested.urdf")
