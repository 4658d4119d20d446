"""Commands on a robot that is not physical: refused, projected, or identified as a physical one."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest

import didim
from didim.cli import main
from didim.robot.inertia import is_consistent
from support.studies import table, write_csv, write_study
from support.virtual import model


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """A study whose record is of a SCARA with a negative ZZ2."""
    monkeypatch.chdir(tmp_path)
    write_study(tmp_path)
    scara, columns = model(), dict(table())
    beta = np.where(np.array(scara.base.parameter_names) == "ZZ2", -0.1, scara.base.nominal)
    trajectory = didim.Fourier.random(scara.robot, 3, period=8.0, harmonics=5)
    tau = scara.base.inverse_dynamics(*trajectory.sample(columns["t"]), beta)
    columns |= {"tau1": tau[:, 0], "tau2": tau[:, 1]}
    write_csv(tmp_path / "run.csv", columns)


@pytest.mark.slow
def test_export_refuses_projects_and_says_what_changed(outside, capsys, tmp_path):
    assert main(["identify", "study.toml", "--out", "result.json"]) in (0, 1)
    assert "No physical robot has these base parameters" in capsys.readouterr().out
    assert main(["export", "result.json", "--out", "robot.urdf"]) == 2
    refused = capsys.readouterr().err
    assert "joint 2" in refused
    assert "--project" in refused
    assert refused.count("\n") == 1
    assert not (tmp_path / "robot.urdf").exists()
    assert main(["export", "result.json", "--out", "robot.urdf", "--project"]) in (0, 1)
    told = capsys.readouterr()
    assert "joint 2 (joint_2): ZZ2 -0.1" in told.err
    assert "Armature" in told.out
    robot = didim.load_robot("robot.urdf")
    assert all(is_consistent(joint.link) for joint in robot.joints)


def test_code_is_written_with_a_warning(outside, capsys, tmp_path):
    assert main(["identify", "study.toml", "--out", "result.json"]) in (0, 1)
    assert main(["export", "result.json", "--out", "torque.py"]) in (0, 1)
    assert "no physical robot" in capsys.readouterr().err
    assert "no physical robot" in (tmp_path / "torque.py").read_text()
    assert main(["export", "result.json", "--out", "torque.c", "--project"]) == 2
    assert not (tmp_path / "torque.c").exists()


@pytest.mark.slow
def test_identify_keeps_the_result_and_refuses_the_robot(outside, capsys, tmp_path):
    arguments = ["identify", "study.toml", "--out", "result.json", "--robot-out", "robot.toml"]
    assert main(arguments) == 1
    assert "robot.toml was not written" in capsys.readouterr().err
    assert (tmp_path / "result.json").exists()
    assert not (tmp_path / "robot.toml").exists()
    assert main([*arguments, "--project", "--force"]) in (0, 1)
    assert "ZZ2" in capsys.readouterr().err
    assert (tmp_path / "robot.toml").exists()


def test_consistent_in_a_study_gives_a_robot(outside, capsys, tmp_path):
    """At the border: the robot is written, and what was changed to leave the border is told."""
    consistent = ["--set", "idim.consistent=true", "--robot-out", "robot.toml"]
    main(["identify", "study.toml", *consistent])
    told = capsys.readouterr()
    assert "Plain least squares is not physical" in told.out
    assert "on the border of the physically consistent set" in told.err
    assert all(is_consistent(joint.link) for joint in didim.load_robot("robot.toml").joints)


def test_init_asks_for_a_physical_robot(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "run.csv", table())
    main(["init", "new.toml", "--robot", "scara", "--data", "run.csv"])
    assert tomllib.loads((tmp_path / "new.toml").read_text())["idim"]["consistent"] is True
