"""`didim excite`: files, exit status, and one clear line for what is wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import didim
from didim.cli import main
from didim.cli.schema import schema_of
from support.plans import plan_of
from support.studies import write_csv, write_study

STUDY = """
robot = "scara"
method = "didim"
[controller]
law = "pd"
natural_frequency = [20.0, 50.0]
rate = 500
[excite]
duration = 3.0
seed = 4
[limits]
velocity = [2.0, 2.0]
floor = -0.5
self_collision = 0.01
"""


@pytest.fixture
def asked(monkeypatch, tmp_path) -> dict:
    """What `excite` was asked for; it returns a plan that needs no search."""
    seen: dict = {"calls": []}

    def planned(model, **settings):
        seen.update(settings, model=model)
        seen["calls"].append({"after": None, **settings})
        messages = ("a message",)
        return replace(plan_of("scara"), stopped=seen.get("stop", False), messages=messages)

    monkeypatch.setattr("didim.excite", planned)
    monkeypatch.setattr("didim.study.planned.excite", planned)
    monkeypatch.chdir(tmp_path)
    Path("plan.toml").write_text(STUDY)
    return seen


def test_a_robot_gives_files_and_json(asked, capsys):
    files = ["--out", "plan.csv", "--report", "plan.html"]
    assert main(["excite", "scara", "--duration", "4", "--floor", "-1", "--json", *files]) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, schema_of("excite"))
    assert found["files"] == ["plan.csv", "plan.html"]
    assert didim.load_reference("plan.csv").sample([0.0])[0].shape == (1, 2)
    assert asked["duration"] == 4
    assert asked["limits"].floor == -1
    assert asked["limits"].self_collision is None
    assert asked["random_plans"] == 20
    assert any("Self-collision" in each for each in found["messages"])


def test_a_robot_with_shapes_is_kept_from_collisions(asked):
    assert main(["excite", "panda"]) == 0
    assert asked["limits"].self_collision == 0.01
    assert "random_plans" not in asked


def test_a_study_gives_loop_limits_and_settings(asked, capsys):
    assert main(["excite", "plan.toml", "--set", "limits.velocity=1.5"]) == 0
    assert isinstance(asked["loop"], didim.PD)
    assert (asked["duration"], asked["seed"], asked["method"]) == (3.0, 4, "didim")
    assert asked["rate"] == 500
    np.testing.assert_array_equal(asked["limits"].velocity, 1.5)
    assert asked["limits"].floor == -0.5
    assert "gains_unknown" not in asked
    assert "every limit is met" in capsys.readouterr().out
    options = ["--gains-unknown", "--seed", "7", "--floor", "-2", "--duration", "5"]
    assert main(["excite", "plan.toml", *options]) == 0
    assert (asked["duration"], asked["seed"], asked["limits"].floor) == (5.0, 7, -2)
    assert asked["gains_unknown"] is True


def test_gains_that_a_study_estimates_are_unknown(asked):
    assert main(["excite", "plan.toml", "--set", "didim.estimate_gains=true"]) == 0
    assert asked["gains_unknown"] is True


def test_records_and_results_are_known_already(asked, monkeypatch):
    write_csv(Path("run.csv"))
    write_study(Path.cwd())
    assert main(["identify", "study.toml", "--out", "known.json"]) == 0
    assert main(["excite", "study.toml", "--after", "known.json"]) == 0
    assert [type(each) for each in asked["after"]] == [didim.Estimate]
    after = 'excite.after=["records", "known.json"]'
    assert main(["excite", "study.toml", "--set", after]) == 0
    assert [type(each) for each in asked["after"]] == [didim.Experiment, didim.Estimate]


def test_several_trajectories_are_planned_one_after_the_other(asked, capsys):
    calls = asked["calls"]
    files = ["--out", "plan.csv", "--report", "plan.html"]
    assert main(["excite", "plan.toml", "--trajectories", "3", "--json", *files]) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, schema_of("excite"))
    names = [f"plan-{k}.{ending}" for k in (1, 2, 3) for ending in ("csv", "html")]
    assert found["files"] == names
    assert all(Path(each).exists() for each in names)
    assert [each["seed"] for each in calls] == [4, 5, 6]
    assert [len(each["after"] or ()) for each in calls] == [0, 1, 2]
    assert len(found["earlier"]) == 2
    assert "files" not in found["earlier"][0]


def test_a_study_says_how_many_trajectories(asked, capsys):
    assert main(["excite", "plan.toml", "--set", "excite.trajectories=2"]) == 0
    assert len(asked["calls"]) == 2
    text = capsys.readouterr().out
    assert text.startswith("trajectory 1 of 2\n")
    assert text.count("note: a message") == 1
    assert main(["excite", "plan.toml", "--set", "excite.trajectories=2", "--trajectories=1"]) == 0
    assert len(asked["calls"]) == 3
    assert not capsys.readouterr().out.startswith("trajectory")


def test_no_trajectory_is_planned_after_one_that_was_stopped(asked, capsys):
    asked["stop"] = True
    assert main(["excite", "scara", "--trajectories", "3", "--out", "plan.csv"]) == 1
    assert len(asked["calls"]) == 1
    assert Path("plan-1.csv").exists()
    assert not Path("plan-2.csv").exists()


def test_one_existing_file_of_several_is_refused_before_any_work(asked, capsys):
    Path("plan-3.csv").write_text("mine")
    assert main(["excite", "scara", "--trajectories", "3", "--out", "plan.csv"]) == 2
    assert not asked["calls"]
    assert "plan-3.csv" in capsys.readouterr().err


def test_a_stopped_plan_is_written_and_says_so(asked, capsys):
    asked["stop"] = True
    assert main(["excite", "scara", "--out", "plan.yaml", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["stopped"]
    assert Path("plan.yaml").exists()


def test_existing_files_and_inputs_are_not_written_over(asked, capsys):
    Path("plan.csv").write_text("mine")
    assert main(["excite", "scara", "--out", "plan.csv"]) == 2
    assert Path("plan.csv").read_text() == "mine"
    assert "model" not in asked  # refused before any work
    assert main(["excite", "scara", "--out", "plan.csv", "--force"]) == 0
    assert Path("plan.csv").read_text() != "mine"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["absent.urdf"], "no such file"),
        (["absent.toml"], "no such file"),
        (["absent"], "No shipped robot"),
        (["scara", "--out", "plan.doc"], ".csv"),
        (["scara", "--report", "plan.pdf"], ".html"),
        (["scara", "--set", "excite.seed=1"], "is a robot"),
        (["scara", "--gains-unknown"], "needs a loop"),
        (["scara", "--self-collision", "-1"], "self_collision"),
        (["scara", "--floor", "nan"], "floor"),
        (["scara", "--trajectories", "0"], "trajectories must be a whole number of at least 1"),
        (["scara", "--trajectories", "1000000"], "at most 100"),
        (["scara", "--after", "absent.json"], "absent.json"),
        (["plan.toml", "--joints", "a"], "keys for them"),
        (["plan.toml", "--set", "limits.velocity=-1"], "velocity"),
        (["plan.toml", "--set", "limits.position=[[1, 0], [0, 1]]"], "below"),
        (["plan.toml", "--set", "limits.velocity=[1, 2, 3]"], "velocity"),
        (["plan.toml", "--set", "limits.box=[1]"], "limits.box"),
        (["plan.toml", "--set", "limits.speed=1"], "speed"),
        (["plan.toml", "--set", "excite.basis=sinus"], "basis"),
        (["plan.toml", "--set", 'excite.after=["absent.json"]'], "absent.json"),
    ],
)
def test_what_is_wrong_is_one_line(asked, capsys, arguments, why):
    assert main(["excite", *arguments]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert why in lines[0]


def test_the_loop_of_the_method_is_needed(asked, capsys):
    Path("plan.toml").write_text('robot = "scara"\nmethod = "didim"\n[excite]\n')
    assert main(["excite", "plan.toml"]) == 2
    assert "[controller]" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["identify", "check", "simulate", "compare", "improve"])
def test_a_study_that_only_plans_says_so_to_other_commands(asked, capsys, command):
    assert main([command, "plan.toml"]) == 2
    assert "didim excite plan.toml" in capsys.readouterr().err


@pytest.mark.slow
def test_a_study_is_planned(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("plan.toml").write_text(STUDY.replace("floor = -0.5\nself_collision = 0.01\n", ""))
    assert main(["excite", "plan.toml", "--out", "plan.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["method"] == "DIDIM"
    assert min(found["margins"].values()) >= 0
    dq = didim.load_reference("plan.csv").sample(np.linspace(0, 3, 3001))[1]
    assert np.abs(dq).max() <= 2.0
