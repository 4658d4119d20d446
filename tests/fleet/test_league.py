"""`didim league`: every combination is run, every failure counted."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import didim
from didim.cli import main
from didim.cli.league import ScoreAnswer
from didim.cli.schema import schema_of
from didim.fleet.league import Entry, League, load_league
from didim.fleet.league_scores import Score, scores
from didim.fleet.league_table import markdown_table, picture
from didim.fleet.row import FAILED

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
        ("robot.0.values={no_such=1}", "no_such|Known"),
        ("nose=1", "did you mean 'noise'"),
        ("robot.0.robot=none", "none"),
    ],
)
def test_what_is_wrong_is_one_line(file, capsys, change, word):
    assert main(["league", "league.toml", "--set", change]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    with pytest.raises(didim.InputError, match=word):
        load_league(file, [change])
    assert line.startswith("didim: error: ")


def test_the_published_league_is_sound():
    league = load_league(Path(__file__).parents[2] / "cases" / "league.toml", ["seeds=1"])
    assert len(league.tasks) == 3 * 2 * 8
    assert set(league.truth) == {"scara", "tx40", "panda"}
