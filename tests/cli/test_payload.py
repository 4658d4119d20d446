"""`didim payload` and studies with drive gains."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import didim
from didim.cli import main
from didim.cli.schema import schema_of
from didim.robot.inertia import about_origin
from support.loads import carrying
from support.studies import study, table, write_csv, write_study
from support.virtual import model

BODY = about_origin(1.5, [0.1, 0.05, 0.0], 0.01 * np.eye(3))
GAINS = np.array([20.0, 8.0])


def columns(body=None, noise=0.01, seed=0, gains=1.0):
    """The signals of the small study, of a robot with a load or without."""
    found, chosen = dict(table()), model()
    q = np.column_stack([found["q1"], found["q2"]])
    trajectory = didim.Fourier.random(chosen.robot, 3, period=8.0, harmonics=5)
    phi = carrying(chosen, np.zeros(10) if body is None else body)
    tau = chosen.inverse_dynamics(q, *trajectory.sample(found["t"])[1:], phi) / gains
    size = noise * np.sqrt(np.mean(tau**2, axis=0))
    tau = tau + size * np.random.default_rng(seed).standard_normal(tau.shape)
    return {**found, "tau1": tau[:, 0], "tau2": tau[:, 1]}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A study, its saved result, and a record with a load."""
    write_csv(tmp_path / "run.csv", columns())
    write_csv(tmp_path / "heavy.csv", columns(BODY, seed=1))
    write_study(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["identify", "study.toml", "--out", "empty.json"]) == 0
    return tmp_path


def test_a_record_is_read_as_that_of_the_empty_robot_was(folder, capsys):
    capsys.readouterr()
    files = ["--out", "heavy.json", "--robot-out", "heavy.toml", "--report", "heavy.html"]
    assert main(["payload", "empty.json", "heavy.csv", "--json", *files, "--project"]) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, schema_of("payload"))
    assert abs(found["mass"] - 1.5) < 4 * found["sigma"]["mass"]
    assert found["mass_interval"][0] < 1.5 < found["mass_interval"][1]
    assert found["seen"]
    assert found["sigma"]["centre"][2] is None  # a SCARA sees no height
    assert len(found["files"]) == 4
    assert didim.load_estimate("heavy.json").values.tolist() == found["estimate"]["values"]
    assert "What does the robot carry?" in (folder / "heavy.html").read_text()


def test_a_study_of_the_loaded_robot(folder, capsys):
    text = (folder / "study.toml").read_text().replace("run.csv", "heavy.csv")
    (folder / "heavy.toml").write_text(text)
    capsys.readouterr()
    assert main(["payload", "empty.json", "heavy.toml", "--hold-friction"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Load at the link of joint 2")
    assert "inertia zz" in out


def test_refusals(folder, capsys):
    other = (folder / "study.toml").read_text().replace('"scara"', '"double_pendulum"')
    (folder / "other.toml").write_text(other)
    (folder / "short.csv").write_text("\n".join((folder / "heavy.csv").read_text().split()[:20]))
    capsys.readouterr()
    for arguments, words in (
        (["empty.json", "other.toml"], "none is common"),
        (["empty.json", "short.csv"], "too short"),
        (["empty.json", "missing.csv"], "missing.csv"),
        (["missing.json", "heavy.csv"], "missing.json"),
        (["empty.json", "heavy.csv", "--link", "wrist"], "wrist"),
        (["empty.json", "heavy.csv", "--set", "method=idim"], "--set"),
        (["empty.json", "heavy.csv", "--out", "empty.json", "--force"], "empty.json"),
    ):
        assert main(["payload", *arguments]) == 2
        error = capsys.readouterr().err
        assert words in error
        assert len(error.strip().splitlines()) == 1


def write_gain_study(folder: Path, **asked) -> None:
    for name, body, seed in (("run.csv", None, 0), ("heavy.csv", BODY, 1)):
        write_csv(folder / name, columns(body, 0.01, seed, GAINS))
    signals = {"t": "t", "control": "tau*", "q": ["q1", "q2"]}
    records = [
        {"file": "run.csv", "columns": signals},
        {"file": "heavy.csv", "columns": signals, "load": True},
    ]
    changed = {"experiment": records, "drive_gains": asked, "idim": {"decimation": 1}}
    write_study(folder, study(**changed))


def test_a_study_finds_the_gains(tmp_path, monkeypatch, capsys):
    write_gain_study(tmp_path, known={"mass": 1.5})
    monkeypatch.chdir(tmp_path)
    assert main(["identify", "study.toml", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, schema_of("identify"))
    gains = np.array(list(found["drive_gains"].values()))
    assert np.all(np.abs(gains[:, 0] - GAINS) < 4 * gains[:, 1])
    assert found["notes"][0].startswith("Drive gains were identified")
    loaded = didim.load_study("study.toml")
    assert len(loaded.experiments) == 1
    np.testing.assert_allclose(loaded.drive_gains.values, gains[:, 0])
    other = loaded.run(method=didim.IDIM(decimation=1))
    assert other.provenance["drive_gains"] == found["drive_gains"]


def test_a_result_with_gains_reads_other_records_in_control_units(tmp_path, monkeypatch, capsys):
    write_gain_study(tmp_path, known={"mass": 1.5})
    write_csv(tmp_path / "other.csv", columns(0.5 * BODY, 0.01, 5, GAINS))
    monkeypatch.chdir(tmp_path)
    assert main(["identify", "study.toml", "--out", "empty.json"]) == 0
    capsys.readouterr()
    assert main(["payload", "empty.json", "other.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert abs(found["mass"] - 0.75) < 4 * found["sigma"]["mass"]
    findings = didim.load_study("study.toml").check()
    assert not [each for each in findings if each.check == "load"]


def test_a_study_without_a_known_number_is_refused(tmp_path, monkeypatch, capsys):
    write_gain_study(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["identify", "study.toml"]) == 2
    assert "No number is known" in capsys.readouterr().err
