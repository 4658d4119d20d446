"""The UR10e's log without a header: init asks for the torques alone, identify runs as it is."""

from __future__ import annotations

import re
import tomllib

import didim
from didim.cli import main
from support.records import record

GAINS = "[14.87, 13.26, 11.13, 10.62, 11.03, 11.47]"
"""N.m/A, those of the record's author."""


def test_init_asks_for_the_columns_and_identify_runs(tmp_path, monkeypatch, capsys):
    robot, log = (str(record("ur10e", name)) for name in ("ur10e.urdf", "empty.csv.gz"))
    monkeypatch.chdir(tmp_path)
    assert main(["init", "--robot", robot, "--data", log]) == 1
    out = capsys.readouterr().out
    assert "To be filled in, in columns: tau;" in out
    assert 'Not yet named: "14-19" (up to 14.6), "20-25"' in out
    text = (tmp_path / "study.toml").read_text()
    table = tomllib.loads(text)["experiment"][0]
    assert table["columns"] == {"t": 1, "q": "2-7", "dq": "8-13"}
    assert table["hold_out"] == 0.33
    assert 1 < table["rows"][0] <= 195
    assert 4966 <= table["rows"][1] < 5375
    text = text.replace('dq = "8-13" }', 'dq = "8-13", control = "14-19" }')
    (tmp_path / "study.toml").write_text(re.sub("# drive_gain = .*", f"drive_gain = {GAINS}", text))
    estimate = didim.load_study("study.toml").run()
    assert estimate.status == "converged"
    assert estimate.residual < 0.045
    assert [each.residual < 0.045 for each in estimate.validation] == [True]
