"""What is missing, as a person sees it: in the report, in a notebook, in `didim compare`."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import jsonschema
import numpy as np
import pytest

import didim
from didim import report
from didim.cli import main
from didim.cli.schema import schema_of
from didim.report.data import report_data
from didim.report.sections.lack import Lack
from didim.results.lack_of_fit import NOT_TESTED
from support.studies import study, table, write_csv, write_study
from support.virtual import inverse_record, model

SPRING = 1.0
"""N m/rad, at the second joint."""


@cache
def estimate(spring: float = SPRING, lack_of_fit: bool = True) -> didim.Estimate:
    """IDIM without a spring, of a record with one."""
    record = inverse_record(model(), model().nominal, noise=0.05)
    torque = spring * (np.asarray(record.q)[:, 1] - np.mean(record.q, axis=0)[1])
    given = replace(record, tau=np.asarray(record.tau) + np.column_stack([0 * torque, torque]))
    return didim.identify(model(), given, didim.IDIM(decimation=4, lack_of_fit=lack_of_fit))


def test_the_section_names_what_is_missing():
    found = estimate()
    assert found.lack.found[0].name == "ks2"
    content = Lack().content(report_data(found))
    assert content["sentence"].startswith(found.lack.note)
    named, name, value, _, unit, _, _, setting = content["rows"][0]
    assert (named, name, unit) == (True, found.lack.found[0].label, "N m/rad")
    assert float(value) == pytest.approx(SPRING, rel=0.2)
    assert setting == found.lack.found[0].setting
    picture = content["picture"]
    assert len(picture.names) == len(content["rows"]) == min(12, len(found.lack.rows))
    assert [color == "c1" for color in picture.colors] == [
        row.found for row in found.lack.rows[:12]
    ]
    assert picture.keys[0] == ("named", "c1")


def test_a_quiet_section_says_so():
    found = estimate(0.0)
    content = Lack().content(report_data(found))
    assert "quiet" in content["sentence"]
    assert content["picture"].keys == (("not sure", "c0"),)


def test_a_section_without_tests_says_why(tmp_path):
    assert NOT_TESTED.reason in Lack().absent(report_data(estimate(0.0, lack_of_fit=False)))
    assert Lack().absent(report_data(estimate(0.0))) == ""


def test_page_and_notebook_have_it(tmp_path):
    page = estimate().report(tmp_path / "lacks.html").read_text(encoding="utf-8")
    assert '<section id="lack">' in page
    assert '"kind":"bars"' in page
    assert estimate().lack.found[0].setting.split('"')[0] in estimate()._repr_html_()


def test_the_picture_has_a_bar_for_each_suspect():
    rows = estimate().lack.rows[:12]
    axes = report.lack_of_fit(estimate())
    assert [each.get_text() for each in axes.get_yticklabels()] == [row.label for row in rows]
    widths = sorted(each.get_width() for each in axes.patches)
    np.testing.assert_allclose(widths, sorted(100 * row.share for row in rows))
    with pytest.raises(didim.InputError, match=NOT_TESTED.reason):
        report.lack_of_fit(estimate(0.0, lack_of_fit=False))


def test_compare_names_it_in_text_and_json(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    signals = dict(table())
    rng = np.random.default_rng(0)
    for j in (1, 2):
        signals[f"tau{j}"] = signals[f"tau{j}"] + 0.05 * rng.standard_normal(signals["t"].size)
    signals["tau2"] = signals["tau2"] + 2.0 * signals["q2"]
    write_csv(tmp_path / "run.csv", signals)
    file = str(write_study(tmp_path, study(controller=None)))
    main(["compare", file, "--json"])
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, schema_of("compare"))
    idim, didim_run, _ = found["methods"]
    assert [each["name"] for each in idim["lacks"]][:1] == ["ks2"]
    assert idim["not_tested"] == ""
    assert didim_run["lacks"] == []
    assert didim_run["not_tested"] == didim_run["message"]
    main(["compare", file])
    out = capsys.readouterr().out
    lacks = next(line for line in out.splitlines() if line.startswith("lacks"))
    assert "ks2" in lacks
    assert "IDIM: The model or its loop lacks something: ks2" in out
