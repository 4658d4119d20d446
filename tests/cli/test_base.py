"""`didim base ROBOT` as a person types it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from didim.cli import main
from support.files import ARM_URDF


def test_prints_names_values_and_formulas(capsys):
    assert main(["base", "scara"]) == 0
    out = capsys.readouterr().out
    assert "8 base parameters" in out
    assert "ZZ1 + Ia1 + 0.25*M2" in out
    assert "3.44" in out


def test_json_is_one_object(capsys):
    assert main(["base", "tx40", "--effects", "rotor,viscous,coulomb", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["robot"] == "tx40"
    assert len(found["parameters"]) == 52
    assert {"name", "formula", "nominal"} == set(found["parameters"][0])


def test_no_effects_at_all(capsys):
    assert main(["base", "--effects", "none", "panda"]) == 0
    assert "43 base parameters" in capsys.readouterr().out


def test_unknown_values_are_dashes_and_null(capsys, tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM_URDF)
    assert main(["base", str(path), "--effects", "rotor", "--json"]) == 0
    values = {
        row["name"]: row["nominal"] for row in json.loads(capsys.readouterr().out)["parameters"]
    }
    assert None in values.values()


def test_a_rounded_file_is_told(capsys, tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(
        ARM_URDF.replace('<origin xyz="0.4 0 0"/>', '<origin xyz="0.4 0 0" rpy="1.5708 0 0"/>')
    )
    assert main(["base", str(path)]) == 0
    assert "look rounded" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["base", "scarra"], "did you mean 'scara'"),
        (["base", "none.urdf"], "no such file"),
        (["base", "scara", "--effects", "friction"], "unknown effect 'friction'"),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments, message, capsys):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments", [[], ["bse", "scara"], ["base"], ["base", "scara", "--colour"]]
)
def test_wrong_usage_is_one_line_and_status_2(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_debug_shows_the_traceback_and_keeps_the_status(capsys):
    for arguments in (["--debug", "base", "scarra"], ["base", "scarra", "--debug"]):
        assert main(arguments) == 2
        assert "Traceback" in capsys.readouterr().err


def test_a_link_that_no_body_can_have_is_told(capsys, tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM_URDF.replace('ixx="0.01"', 'ixx="5.0"'))
    assert main(["base", str(path)]) == 0
    assert "are not physically consistent" in capsys.readouterr().out


def test_help_imports_nothing_heavy_and_module_is_the_command():
    result = subprocess.run(
        [sys.executable, "-m", "didim", "--help"], capture_output=True, text=True, check=True
    )
    assert "base" in result.stdout
    loaded = (
        "import sys, didim.cli\n"
        "from didim.cli.parser import COMMANDS\n"
        "for words in ([], *([name] for name in COMMANDS)):\n"
        "    try: didim.cli.main([*words, '--help'])\n"
        "    except SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    found = subprocess.run(
        [sys.executable, "-c", loaded], capture_output=True, text=True, check=True
    )
    assert found.stdout.startswith(result.stdout)
    assert not {"numpy", "numba", "scipy", "pydantic", "matplotlib"} & {*found.stderr.split()}
