"""`didim improve`: the path, the improved study, and what is never written over."""

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
from didim.improvement.path import Ending, Improvement
from didim.study.improved import improved_study, model_inside
from didim.study.study import UNKNOWN_LAW
from support.studies import table, write_csv, write_study

pytestmark = pytest.mark.lack_of_fit

ORDER, SIZE = 8.0, 0.5


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A study of IDIM whose record has a ripple that its model lacks."""
    columns = dict(table())
    noise = np.random.default_rng(0).standard_normal((2, columns["t"].size))
    columns["tau1"] = columns["tau1"] + SIZE * np.sin(ORDER * columns["q1"]) + 0.05 * noise[0]
    columns["tau2"] = columns["tau2"] + 0.01 * noise[1]
    write_csv(tmp_path / "run.csv", columns)
    write_study(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_improved_study_gives_the_improved_estimate(folder, capsys):
    (folder / "other").mkdir()
    assert main(["improve", "study.toml", "--out", "other/better.toml"]) == 0
    out = capsys.readouterr().out
    assert "ripple1" in out
    assert "kept" in out
    assert main(["identify", "other/better.toml", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    first = didim.load_study("study.toml").improve()
    assert again["values"] == first.estimate.values.tolist()
    assert again["lack_of_fit"]["note"] == ""
    assert any(name.startswith("Rs_ripple1") for name in again["names"])
    text = (folder / "other" / "better.toml").read_text()
    assert "[[effect]]" in text
    assert "../run.csv" in text


def test_json_has_the_path_by_its_schema(folder, capsys):
    assert main(["improve", "study.toml", "--json", "--report", "page.html"]) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, schema_of("improve"))
    assert found["improved"]
    assert found["ending"] == "quiet"
    assert found["steps"][0]["outcome"] == "kept"
    assert found["errors"][-1] < found["errors"][0]
    assert found["estimate"]["residual"] < found["first"]["residual"]
    page = (folder / "page.html").read_text()
    assert "How the model was improved" in page
    assert "Is what the fit did not see predicted better?" in page


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_the_old_study_is_never_written_over(folder, capsys, force):
    before = (folder / "study.toml").read_bytes()
    (folder / "link.toml").symlink_to("study.toml")
    for name in ("study.toml", "./study.toml", "link.toml"):
        assert main(["improve", "study.toml", "--out", name, *force]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert (folder / "study.toml").read_bytes() == before


def test_other_files_are_written_over_by_force_alone(folder, capsys):
    for option, name in (("--out", "better.toml"), ("--report", "page.html")):
        (folder / name).write_text("mine")
        assert main(["improve", "study.toml", option, name]) == 2
        assert "--force" in capsys.readouterr().err
        assert (folder / name).read_text() == "mine"
    assert main(["improve", "study.toml", "--out", "better.toml", "--force"]) == 0
    assert didim.load_study("better.toml").model.parameter_names


@pytest.mark.parametrize(
    "arguments",
    [
        ["nothing.toml"],
        ["study.toml", "--out", "better.json"],
        ["study.toml", "--out", "no/such/folder.toml"],
        ["study.toml", "--report", "page.pdf"],
        ["study.toml", "--set", "controller.law=guess"],
        ["study.toml", "--set", "method=didim", "--set", "controller.natural_frequency=-1"],
    ],
)
def test_hostile_options_are_one_line(folder, capsys, arguments):
    assert main(["improve", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_an_unknown_law_starts_as_a_pd_whose_gains_are_estimated(folder):
    settings = ["method=didim", "controller={law='unknown'}"]
    study = didim.load_study("study.toml", settings)
    assert type(study.controller) is didim.PD
    assert study.method().estimate_gains
    assert not study.method(estimate_gains=False).estimate_gains
    assert study._notes(study.method(), improved=False) == (UNKNOWN_LAW,)
    assert study._notes(study.method(), improved=True) == ()
    known = didim.load_study("study.toml", [*settings, "controller.natural_frequency=20.0"])
    assert not known.method().estimate_gains


def test_a_loop_with_the_identified_model_inside_is_written_with_it(folder):
    study = didim.load_study(
        "study.toml", ["method=didim", "controller.law='unknown'", "controller.rate=100"]
    )
    inside = didim.load_study("study.toml").run()
    values = np.arange(1.0, 1.0 + len(inside.values))
    loop = didim.Cascade(
        kp=[10.0, 20.0], kv=[30.0, 4.0], kiv=[5.0, 6.0], velocity_reference=1.0, delay=2,
        rate=100, saturation=[np.inf, 7.0], model=inside.model, parameters=values,
        model_term="feedforward",
    )  # fmt: skip
    method = replace(study.method(), controller=loop, initial=inside.values, estimate_gains=True)
    found = Improvement(inside, study.model, method, (), Ending.QUIET, "", inside)
    out, model_file = folder / "better.toml", folder / "better-model.json"
    out.write_text(improved_study(study, found, out, model_file))
    saved = model_inside(study, found)
    assert saved is not None
    saved.save(model_file)
    again = didim.load_study(out)
    written = again.controller
    assert type(written) is didim.Cascade
    for name in ("kp", "kv", "kiv", "velocity_reference", "saturation", "parameters"):
        assert np.array_equal(getattr(written, name), getattr(loop, name)), name
    assert (written.delay, written.model_term) == (2, "feedforward")
    assert again.method().estimate_gains
    assert np.array_equal(again.method().initial, inside.values)
