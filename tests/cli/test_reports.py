"""`--report` and `[output] report`, as a person asks for them."""

from __future__ import annotations

import hashlib
import html
import json
from functools import cache

import pytest

from didim.cli import main
from didim.demo import demo
from support.studies import study, write_study
from support.virtual import share_paper


@pytest.fixture(autouse=True)
def in_tmp(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_report_of_a_study(tmp_path, capsys):
    write_study(tmp_path, study())
    assert (
        main(
            [
                "identify",
                "study.toml",
                "--report",
                "out.html",
                "--set",
                "idim.decimation=5",
                "--json",
            ]
        )
        == 0
    )
    answer = json.loads(capsys.readouterr().out)
    assert answer["files"] == ["out.html"]
    assert answer["judgement"]["level"] in ("yes", "care")
    text = html.unescape((tmp_path / "out.html").read_text(encoding="utf-8"))
    assert "didim identify study.toml --report out.html --set idim.decimation=5 --json" in text
    for name in ("study.toml", "run.csv"):
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() in text
    assert '"decimation": 5' in text


def test_the_study_may_ask_for_it(tmp_path, capsys):
    write_study(tmp_path, study(output={"report": "asked.html", "result": "x.json"}))
    assert main(["identify", "study.toml"]) == 0
    assert "Written: x.json, x.npz, asked.html" in capsys.readouterr().out
    assert main(["identify", "study.toml"]) == 2, "nothing is written over"
    assert main(["identify", "study.toml", "--force"]) == 0


@pytest.mark.parametrize(
    ("name", "message"),
    [("mine.html", "exists already"), ("x.pdf", "must end in .html"), ("no/x.html", "no folder")],
)
def test_a_name_that_cannot_be_written_is_refused_before_the_work(tmp_path, capsys, name, message):
    (tmp_path / "mine.html").write_text("mine")
    write_study(tmp_path, study(experiment__0__file="nothing-there.csv"))
    assert main(["identify", "study.toml", "--report", name]) == 2
    assert message in capsys.readouterr().err
    assert (tmp_path / "mine.html").read_text() == "mine"


def test_a_result_that_is_no_good_is_reported_too(tmp_path, capsys):
    changes = {
        "method": "didim",
        "didim__max_iterations": 1,
        "controller__natural_frequency": [2.0, 5.0],
    }
    write_study(tmp_path, study(**changes))
    assert main(["identify", "study.toml", "--report", "out.html"]) == 1
    assert "Do not use this model." in capsys.readouterr().out
    assert "Do not use this model." in (tmp_path / "out.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_demo_writes_its_report_again_but_not_over_others(tmp_path, capsys, monkeypatch):
    share_paper(monkeypatch)
    monkeypatch.setattr("didim.demo.demo", cache(demo))
    (tmp_path / "mine.html").write_text("mine")
    assert main(["demo", "--report", "mine.html"]) == 2
    assert "was not made by didim" in capsys.readouterr().err
    assert (tmp_path / "mine.html").read_text() == "mine"
    for _ in range(2):
        assert main(["demo"]) == 0
        assert "didim-demo.html" in capsys.readouterr().out
