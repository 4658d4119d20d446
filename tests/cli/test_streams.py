"""Standard streams as shells and services leave them, and words that are too long to print."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from didim.cli import main
from support.files import ARM_URDF


def shell(command, redirected):
    text = f"{shlex.join([sys.executable, '-m', 'didim', *command])} {redirected}"
    return subprocess.run(["sh", "-c", text], capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "redirected", "status"),
    [
        (["completion", "bash"], "<&- >&-", 0),
        (["base", "scarx"], "2>&-", 2),
        (["schema", "study"], "| head -n 1 >/dev/null", 0),
    ],
)
def test_closed_streams(command, redirected, status):
    found = shell(command, redirected)
    assert (found.returncode, found.stdout, found.stderr) == (status, "", "")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here")
def test_a_full_device():
    found = shell(["completion", "bash"], "> /dev/full")
    assert found.returncode == 2
    assert found.stderr.count("\n") == 1
    assert "No space left" in found.stderr


@pytest.mark.parametrize(
    "command",
    [
        ["base", "x" * 100_000],
        ["base", "scara", "x" * 100_000],
        ["base", "scara", "--effects", "x" * 100_000],
        ["check", "x" * 100_000 + ".toml"],
        ["init", "x" * 100_000 + ".toml"],
        ["export", "x" * 100_000 + ".json", "--out", "a.py"],
    ],
)
def test_a_long_name_gives_a_short_line(command, capsys):
    try:
        status = main(command)
    except SystemExit as stopped:
        status = stopped.code
    told = capsys.readouterr().err
    assert status == 2
    assert told.count("\n") == 1
    assert len(told) < 2200


def test_a_robot_with_a_long_name(tmp_path, capsys):
    (tmp_path / "arm.urdf").write_text(ARM_URDF.replace('"elbow"', f'"{"x" * 100_000}"'))
    (tmp_path / "other.urdf").write_text(
        ARM_URDF.replace('"elbow"', f'"{"x" * 100_000}"').replace('"lower"', '"none"', 1)
    )
    assert main(["base", str(tmp_path / "other.urdf")]) == 2
    assert len(capsys.readouterr().err) < 2200


@pytest.mark.parametrize("name", ["a\nb.toml", "a\udcffb.toml", "\x1b[2J.toml"])
def test_a_study_has_a_printable_name(name, tmp_path, capsys):
    assert main(["init", str(tmp_path / name)]) == 2
    assert "choose another name" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_log_whose_name_is_no_text(tmp_path, capsys):
    log = tmp_path / "a\udcff.csv"
    log.write_text("t,tau1,tau2,q1,q2\n0,0,0,0,0\n1,0,0,0,0\n")
    assert main(["init", str(tmp_path / "a.toml"), "--data", str(log)]) == 2
    assert "the name is not UTF-8" in capsys.readouterr().err
