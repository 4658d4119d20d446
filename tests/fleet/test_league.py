"""`didim league`: every combination is run, every failure counted."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import get_args

import jsonschema
import numpy as np
import pytest

import didim
from didim.cli import main
from didim.cli.league import ScoreAnswer
from didim.cli.schema import schema_of
from didim.fleet.league import Entry, League, load_league
from didim.fleet.league_scores import Score, scores
from didim.fleet.league_table import markdown_table, picture, text_table
from didim.fleet.row import FAILED
from didim.study.loop_schema import ControllerTable

LEAGUE = """
seeds = 2
[[robot]]
robot = "scara"
rate = 200.0
loop = [{ law = "pd", natural_frequency = [20.0, 50.0] }]
trajectory = [{ seed = 1, period = 4.0, share = 1.0 }]
[[noise]]
name = "low noise"
torque = 0.02
position = 1e-4
[[method]]
name = "IDIM"
method = "idim"
settings = { decimation = 4, lack_of_fit = false }
[[method]]
name = "too much"
method = "idim"
settings = { decimation = 100000, lack_of_fit = false }
"""

PD = '{ law = "pd", natural_frequency = 20.0 }'
SECOND_ROBOT = """
[[robot]]
robot = "scara"
rate = 200.0
loop = [{ law = "pd", natural_frequency = [20.0, 50.0] }]
trajectory = [{ seed = 1, period = 4.0, share = 1.0 }]
"""
"""That of LEAGUE."""


@pytest.fixture
def file(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "league.toml").write_text(LEAGUE)
    return tmp_path / "league.toml"


@pytest.mark.slow
def test_the_command_counts_what_fails_and_can_be_continued(file, capsys):
    command = ["league", "league.toml", "--jobs", "1", "--json", "--out", "out"]
    assert main([*command, "--set", "seeds=1"]) == 1
    first = json.loads(capsys.readouterr().out)
    assert main(command) == 1
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, schema_of("league"))
    good, bad = found["table"]
    assert (good["failed"], bad["failed"], good["runs"]) == (0, 2, 2)
    assert bad["error"] is None
    assert 0 < good["error"] < 0.1
    assert 0.5 < good["coverage"] <= 1
    assert [each["method"] for each in found["failures"]] == ["too much"] * 2
    assert all(each["reason"] for each in found["failures"])
    assert first["table"][0]["runs"] == 1
    assert Path("out/league.png").read_bytes().startswith(b"\x89PNG")
    assert Path("out/league.md").read_text().count("\n") == 4
    assert main(command[:4]) == 1
    assert "2 failed: " in capsys.readouterr().out


def test_scores_are_what_they_say(file):
    league = load_league(file)
    (row,) = didim.run_many(league.tasks[:1], jobs=1)
    truth = np.array([league.truth["scara"][name] for name in row.names])
    sigma = 0.1 * np.abs(truth)
    off = replace(row, values=truth + 3 * sigma, half_width=2 * sigma, seconds=3.0, held_out=0.5)
    on = replace(off, values=truth, seconds=1.0, held_out=0.1)
    lost = replace(on, status="diverged")
    none = replace(on, status=FAILED)
    small = League("", 4, league.entries[:1] * 4, league.tasks[:1] * 4, league.truth)
    (score,) = scores(small, [off, on, lost, none])
    assert (score.runs, score.failed, score.unconverged) == (4, 1, 1)
    assert score.coverage == 0.5
    assert score.error == pytest.approx(0.15)
    assert (score.torque, score.seconds) == (0.3, 2.0)
    assert "| 1/4 | 1/4 | 15 | 30 | 50 | 2 |" in markdown_table([score])
    assert len(picture([score])) == 4


def test_the_answer_has_every_field_of_a_score():
    entry, score, answer = (
        [each.name for each in fields(kind)] for kind in (Entry, Score, ScoreAnswer)
    )
    assert answer == [*entry, *score[1:]]


def test_noise_and_faults_are_in_the_record_and_not_in_the_held_out_one(file):
    changes = ["noise.position=0.01", 'fault=[{name="scale", torque_scale=0.5, bandwidth=0.2}]']
    league = load_league(file, changes)
    usual = load_league(file, ["noise.torque=0.0", "noise.position=0.0"])
    record, method, held_out = league.tasks[0][0][1:]
    clean = usual.tasks[0][0][1]
    noisy, exact = record(0), clean(0)
    assert np.std(noisy.q - exact.q) == pytest.approx(0.01, rel=0.1)
    assert np.std(noisy.tau) == pytest.approx(1.5 * np.std(exact.tau), rel=0.05)
    assert (record(0).tau == noisy.tau).all()
    assert (record(1).tau != noisy.tau).any()
    assert (held_out(0).tau == held_out(1).tau).all()
    assert isinstance(method, didim.IDIM)
    told = load_league(file, [*changes, "method.1.method=didim", "method.1.settings={}"])
    loop = told.tasks[-1][0][2].controller
    np.testing.assert_allclose(loop.natural_frequency, [24.0, 60.0])


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ("seeds=0", "seeds"),
        ("method.0.settings={no_such=1}", "no_such"),
        ("method.0.robots=['other']", "unknown robot"),
        ("method.0.robots=[]", "robots is empty"),
        ("seeds=true", "seeds"),
        ("robot.0.trajectory.0.harmonics=100000", "harmonics"),
        ("robot.0.values={no_such=1}", "no_such|Known"),
        ("nose=1", "did you mean 'noise'"),
        ("robot.0.robot=none", "none"),
        ("robot.0.rate=1e9", "2e[+]10 numbers"),
        ("robot.0.rate=inf", "inf numbers"),
        ("robot.0.trajectory.0.periods=1000000000", "numbers"),
        ("robot.0.trajectory.0.harmonics=1000000000", "harmonics"),
        ("robot.0.loop.0.rate=1e12", "numbers"),
        ("seeds=1000000000", "1e[+]09 runs"),
        ('method.1.name="IDIM"', r"\[\[method\]\] have the name 'IDIM'"),
        ('noise=[{name="low"}, {name="low"}]', r"\[\[noise\]\] have the name 'low'"),
        ('fault=[{name="none"}, {name="none"}]', r"\[\[fault\]\] have the name 'none'"),
        (f"robot.0.loop=[{PD}, {{name='loop', {PD[1:]}]", "loop of the robot scara .* 'loop'"),
        ("robot.0.trajectory=[{name='x'}, {name='x'}]", "trajectory of the robot scara .* 'x'"),
        (f"robot.0.loop=[{{name='loop 2', {PD[1:]}, {PD}, {PD}]", "'loop 2'"),
    ],
)
def test_what_is_wrong_is_one_line(file, capsys, change, word):
    assert main(["league", "league.toml", "--set", change]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    with pytest.raises(didim.InputError, match=word):
        load_league(file, [change])
    assert line.startswith("didim: error: ")


@pytest.mark.parametrize("other", ["values = { Fc1 = 8.0, Fc2 = 2.0 }", 'effects = ["viscous"]'])
def test_a_robot_that_is_there_twice_is_scored_by_its_own_truth(file, other):
    file.write_text(LEAGUE + SECOND_ROBOT + other)
    league = load_league(file, ["seeds=1"])
    rows = didim.run_many(league.tasks, jobs=1)
    first, lost, second, _ = scores(league, rows)
    assert [first.entry.case, second.entry.case] == ["scara 1, low noise", "scara 2, low noise"]
    assert (first.runs, lost.failed, second.runs) == (1, 1, 1)
    assert first.error < 0.05
    assert second.error < 0.05
    assert league.truth["scara 1"] != league.truth["scara 2"]


def test_robots_loops_and_trajectories_have_names(file):
    file.write_text(LEAGUE + SECOND_ROBOT)
    changes = [
        "robot.1.name=other",
        "robot.1.loop=[{law='pd', kp=9, kv=9}, {name='mine', law='pd', kp=9, kv=9},"
        " {law='pd', kp=7, kv=7}]",
        "robot.1.trajectory=[{seed=1}, {seed=2}]",
        "method.1.robots=['scara']",
    ]
    league = load_league(file, changes)
    cases = list(dict.fromkeys(each.case for each in league.entries))
    expected = [f"{a}, trajectory {k}" for a in ("loop 1", "mine", "loop 2") for k in (1, 2)]
    assert cases == ["scara, low noise", *(f"other, {each}, low noise" for each in expected)]
    assert {each.robot for each in league.entries if each.method == "too much"} == {"scara"}
    assert set(league.truth) == {"scara", "other"}
    gains = [source[1].loop.kp for source, _, _ in league.tasks if source[1].loop.kp is not None]
    assert gains[:4] == gains[4:8] == [9, 9, 9, 9]
    assert gains[8:] == [7, 7, 7, 7]


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        (['noise=[{name="none"}, {name="x"}]', 'fault=[{name="none"}, {name="x"}]'], "scara, x"),
        (['method.1.name="IDIM "'], "scara, low noise, IDIM"),
    ],
    ids=["usual names left out", "space"],
)
def test_rows_that_would_look_the_same_are_refused(file, changes, shown):
    with pytest.raises(didim.InputError, match=f"called '{shown}"):
        load_league(file, changes)


LOOPS = {
    "pd": "natural_frequency=[20.0, 50.0]",
    "pd ": "kp=[10.0, 25.0], kv=[120.0, 10.0]",
    "pd  ": "Kp=[2400.0, 500.0], Kd=[120.0, 10.0]",
    "pid": "natural_frequency=20.0, integral_time=0.5",
    "pid ": "kp=10.0, kv=50.0, ki=80.0",
    "cascade": "natural_frequency=20.0",
    "cascade ": "kp=10.0, kv=50.0, kiv=80.0",
    "computed_torque": "natural_frequency=20.0",
    "computed_torque ": "kp=10.0, kv=40.0",
    "servo": "kp=8.0, kp_unit=0.1, rate=1000.0",
    "unknown": "kp=10.0, kv=50.0",
}


@pytest.mark.parametrize("law", LOOPS)
def test_the_methods_are_told_another_bandwidth_of_every_law(file, law):
    changes = [
        f"robot.0.loop=[{{law='{law.strip()}', {LOOPS[law]}}}]",
        "method=[{name='DIDIM', method='didim'}]",
        "fault=[{name='none'}, {name='off', bandwidth=0.2}]",
        "seeds=1",
    ]
    right, wrong = (source for source, _, _ in load_league(file, changes).tasks)
    J = np.array([3.0, 0.5])
    true, told, other = (
        each.gains(2, np.ones(2), J)
        for each in (wrong[1].loop, right[2].controller, wrong[2].controller)
    )
    if not right[2].controller.by_poles:
        np.testing.assert_array_equal(told.kp * told.kv, true.kp * true.kv)
    np.testing.assert_allclose(other.kp * other.kv, 1.2**2 * told.kp * told.kv)  # omega_n^2 g / J
    np.testing.assert_allclose(other.ki, 1.2**3 * told.ki)
    np.testing.assert_allclose(other.kiv, 1.2**2 * told.kiv)


def test_every_law_of_a_study_has_its_bandwidth_tested():
    laws = get_args(ControllerTable.model_fields["law"].annotation)
    assert {law.strip() for law in LOOPS} == {*laws}


def test_a_law_without_a_bandwidth_is_refused_before_anything_runs(file, capsys, monkeypatch):
    def refuse(self, factor):
        raise didim.InputError(f"no bandwidth factor ({factor:g}) can be applied.")

    monkeypatch.setattr(didim.PD, "faster", refuse)
    assert len(load_league(file).tasks) == 4
    change = "fault=[{name='off', bandwidth=0.2}]"
    assert main(["league", "league.toml", "--out", "out", "--set", change]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "fault off, robot scara, loop: no bandwidth factor (1.2)" in line
    assert not Path("out").exists()


ALL_FAIL = "method.0.settings.decimation=100000"
NONE_CONVERGES = "method=[{name='DIDIM', method='didim', settings={max_iterations=1}}]"


@pytest.mark.parametrize(
    ("change", "status", "failed"), [(ALL_FAIL, 1, 2), (NONE_CONVERGES, 0, 0)], ids=["all", "none"]
)
def test_a_league_of_which_nothing_converged_is_shown_and_written(
    file, capsys, change, status, failed
):
    command = ["league", "league.toml", "--jobs", "1", "--out", "out", "--set", "seeds=1"]
    assert main([*command, "--set", change]) == status
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "scara, low noise  " in shown.out
    assert (f"{failed} failed: " in shown.out) == (failed > 0)
    page = Path("out/league.md").read_text().splitlines()[2:]
    assert all(row.endswith("| - | - | - | - |") for row in page)
    assert len(page) == max(failed, 1)
    assert Path("out/league.png").read_bytes().startswith(b"\x89PNG")
    assert Path("out/table.parquet").exists()


def test_a_picture_that_cannot_be_drawn_costs_nothing_else(file, capsys, monkeypatch):
    def broken(scores):
        raise ValueError("no such axis")

    monkeypatch.setattr("didim.fleet.league_table.picture", broken)
    command = ["league", "league.toml", "--jobs", "1", "--out", "out", "--set", "seeds=1"]
    assert main([*command, "--set", "method.1.settings.decimation=4"]) == 1
    shown = capsys.readouterr()
    assert "scara, low noise  IDIM" in shown.out
    (line,) = shown.err.splitlines()
    assert "league.png was not written" in line
    assert {each.name for each in Path("out").iterdir()} >= {"league.md", "table.parquet"}
    assert not Path("out/league.png").exists()


def test_names_are_shown_as_they_are(tmp_path):
    entry = Entry("_arm", "$\\bad{$", "a|b`c", "two\nli\x00nes", "$x^2$", "$_m$ | *n*")
    score = Score(entry, 2, 0, 1, 0.01, 0.02, 0.9, 0.5)
    axes = picture([score])
    axes[0, 0].figure.savefig(tmp_path / "drawn.png")
    (case,) = axes[0, 0].get_legend().get_texts()
    (method,) = axes[3, 0].get_xticklabels()
    assert case.get_text() == "_arm, $\\bad{$, a|b`c, two li nes, $x^2$"
    assert method.get_text() == "$_m$ | *n*"
    assert not case.get_parse_math()
    assert not method.get_parse_math()
    *_, row = markdown_table([score]).splitlines()
    assert row.startswith(
        r"| \_arm, \$\\bad{\$, a\|b\`c, two li nes, \$x^2\$ | \$\_m\$ \| \*n\* | 0/2 |"
    )
    assert len(text_table([score]).splitlines()) == 2


def test_the_published_league_is_sound():
    league = load_league(Path(__file__).parents[2] / "cases" / "league.toml", ["seeds=1"])
    assert len(league.tasks) == 3 * 2 * 8
    assert set(league.truth) == {"scara", "tx40", "panda"}
