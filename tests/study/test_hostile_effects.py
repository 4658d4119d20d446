"""Hostile tables [[effect]] of studies and robot files: one line on stderr, status 2."""

from __future__ import annotations

import json

import pytest

import didim
from didim.cli import main
from didim.robot.write_toml import robot_toml
from support.studies import study, toml, write_study

CABLE = {
    "name": "cable",
    "joint": 2,
    "torque": "k * (q - q0)",
    "unknown": {"k": {"unit": "N.m/rad"}},
    "fixed": {"q0": 0.2},
}


def cable(**changes):
    return {key: value for key, value in (CABLE | changes).items() if value is not None}


def torque(text, **changes):
    return cable(torque=text, **changes)


EFFECTS = {
    "unknown key": (cable(torqe="k"), "torqe"),
    "unknown key of a parameter": (cable(unknown={"k": {"units": "N"}}), "units"),
    "no name": (cable(name=None), "name"),
    "no torque": (cable(torque=None), "torque"),
    "no unknown": (cable(unknown=None), "unknown"),
    "no joint": (cable(joint=None), "joint"),
    "joint and weights": (cable(weights={"joint_1": 1.0}), "not both"),
    "name of a shipped effect": (cable(name="viscous"), "choose another name"),
    "name of the couplings": (cable(name="coupling"), "choose another name"),
    "name of two words": (cable(name="my cable"), "letters, digits and _"),
    "name is code": (cable(name="__import__('os')"), "letters, digits and _"),
    "name of 1 MB": (cable(name="a" * 1_000_000), "letters, digits and _"),
    "name is a number": (cable(name=3), "name"),
    "call": (torque("system(q) * k"), "'system' is not a function"),
    "import": (torque("__import__('os').system('true') * k"), "cable"),
    "attribute": (torque("k * q.real"), "no attributes"),
    "index": (torque("k * q[0]"), "no indexing"),
    "string": (torque("k * 'a'"), "no strings"),
    "lambda": (torque("(lambda: k)()"), "cable"),
    "comparison": (torque("k * (q > 0)"), "no comparisons"),
    "assignment": (torque("k = 3"), "assignments"),
    "unknown name": (torque("k * (q - q1)"), "unknown name 'q1'"),
    "1 MB of text": (torque("k" + " + k" * 250_000), "2000"),
    "recursion": (torque("(" * 900 + "k" + ")" * 900), "levels are nested"),
    "recursion in let": (cable(let={"a": "b", "b": "a"}, torque="k * a"), "unknown name 'b'"),
    "let of itself": (cable(let={"a": "a + 1"}, torque="k * a"), "unknown name 'a'"),
    "division by zero": (torque("k * q / 0"), "finite"),
    "hidden division by zero": (torque("k / (q0 - 0.2)"), "finite"),
    "constant that is not finite": (torque("k * (1 / 0)"), "finite"),
    "root of a negative number": (torque("k * sqrt(-1 - q^2)"), "finite"),
    "overflow": (torque("k * exp(exp(q^2 + 1000))"), "finite"),
    "symbol called q": (cable(unknown={"q": {}}, torque="q"), "'q' is taken"),
    "symbol called pi": (cable(unknown={"pi": {}}, torque="pi * q"), "'pi'"),
    "symbol called sin": (cable(unknown={"sin": {}}, torque="sin * q"), "'sin'"),
    "symbol twice": (cable(fixed={"k": 1.0}), "'k' is taken"),
    "symbol is no word": (cable(fixed={"a b": 1.0, "q0": 0.2}), "is no symbol"),
    "symbol of 1 MB": (cable(fixed={"a" * 1_000_000: 1.0, "q0": 0.2}), "is no symbol"),
    "channel called tau": (torque("k * tau", channels=["tau"]), "'tau' is taken"),
    "joint 0": (cable(joint=0), "from 1 to 2"),
    "joint 99": (cable(joint=99), "from 1 to 2"),
    "joint -1": (cable(joint=-1), "from 1 to 2"),
    "joint nobody": (cable(joint="nobody"), "found 'nobody'"),
    "joint is a fraction": (cable(joint=1.5), "joint"),
    "joint is true": (cable(joint=True), "joint"),
    "weight of nobody": (cable(joint=None, weights={"nobody": 1.0}), "found 'nobody'"),
    "weight of zero": (cable(joint=None, weights={"joint_1": 0.0}), "not zero"),
    "fixed is a text": (cable(fixed={"q0": "0.2"}), "fixed"),
    "fixed is a list": (cable(fixed=[0.2]), "fixed"),
    "value is a text": (cable(unknown={"k": {"value": "3"}}), "value"),
    "sign": (cable(unknown={"k": {"sign": "negative"}}), "sign"),
    "kind": (cable(unknown={"k": {"kind": "mass"}}), "kind"),
    "direction": (cable(unknown={"k": {"direction": 2}}), "direction"),
    "unit is a number": (cable(unknown={"k": {"unit": 3}}), "unit"),
    "unit of two lines": (cable(unknown={"k": {"unit": "N\nm"}}), "unit"),
    "unknown is a list": (cable(unknown=["k"]), "unknown"),
    "torque is a number": (cable(torque=3.0), "torque"),
    "torque is empty": (cable(torque="()"), "cable"),
    "let is a number": (cable(let={"a": 3.0}), "let"),
    "channels is a text": (cable(channels="temperature"), "channels"),
    "conservative is a text": (cable(conservative="yes"), "conservative"),
    "no factor": (torque("k * q + 3"), "must vanish"),
    "unused parameter": (torque("k * q", unknown={"k": {}, "c": {}}), "does not depend on c"),
    "no start": (torque("k * sin(w * q)", unknown={"k": {}, "w": {}}), "a value to start from"),
    "ddq in a product": (torque("k * ddq * q"), "ddq may only stand"),
    "load without slip": (torque("k * load"), "load may only stand"),
    "slip squared": (torque("k * slip^2"), "proportional to slip"),
    "a thousand symbols": (cable(fixed={f"a{k}": 1.0 for k in range(1000)}), "more than 50"),
}


def error_of(capsys, *arguments):
    assert main([*map(str, arguments)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("didim: error: ")
    assert err.count("\n") == 1
    assert len(err) < 2200
    return err


@pytest.mark.parametrize("case", EFFECTS)
def test_in_a_study(case, tmp_path, capsys):
    table, message = EFFECTS[case]
    path = write_study(tmp_path, study(effect=[table]))
    command = "identify" if len(case) % 2 else "check"
    err = error_of(capsys, command, path)
    assert err.startswith("didim: error: study.toml: ")
    assert message in err


@pytest.mark.parametrize("case", EFFECTS)
def test_in_a_robot_file(case, tmp_path, capsys):
    table, message = EFFECTS[case]
    robot = tmp_path / "arm.toml"
    robot.write_text(
        robot_toml(didim.load_robot("scara")) + "\n[[effect]]\n" + toml(table), encoding="utf-8"
    )
    assert message in error_of(capsys, "base", robot)


@pytest.mark.parametrize(
    ("effects", "message"),
    [
        (CABLE, "must be a list, written [[effect]]"),
        ("cable", "must be a list, written [[effect]]"),
        (["cable"], "effect.0 must be a table"),
        ([CABLE, CABLE], "two effects are called 'cable'"),
        ([{**CABLE, "name": "a"}, {**CABLE, "name": "a", "joint": 1}], "two effects"),
    ],
)
def test_lists(effects, message, tmp_path, capsys):
    path = write_study(tmp_path, study(effect=effects))
    assert message in error_of(capsys, "identify", path)


def test_a_name_that_the_robot_has(tmp_path, capsys):
    text = robot_toml(didim.load_robot("scara")) + "\n[[effect]]\n" + toml(CABLE)
    (tmp_path / "arm.toml").write_text(text)
    path = write_study(tmp_path, study(robot="arm.toml", effect=[CABLE]))
    assert "two effects are called 'cable'" in error_of(capsys, "identify", path)


def test_a_torque_that_is_not_defined_where_the_robot_was(tmp_path, capsys):
    path = write_study(tmp_path, study(effect=[torque("k * log(q)")]))
    assert "not finite at some of these states" in error_of(capsys, "identify", path)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("effect.0.torque=k * q.real", "no attributes"),
        ("effect.0.joint=9", "from 1 to 2"),
        ("effect.0.fixed.q0=two", "fixed"),
        ("shapes.vs1=0.1", "no shape 'vs1'"),
        ("shapes=3", "shapes must be a table of names and numbers"),
        ('shapes={ vs1 = "a" }', "shapes must be a table of names and numbers"),
    ],
)
def test_settings(setting, message, tmp_path, capsys):
    path = write_study(tmp_path, study(effect=[CABLE]))
    assert message in error_of(capsys, "identify", path, "--set", setting)


def test_the_table_itself_is_sound(tmp_path, capsys):
    path = write_study(tmp_path, study(effect=[CABLE], effects=["viscous", "coulomb"]))
    assert main(["identify", str(path), "--json", "--set", "effect.0.fixed.q0=0.3"]) == 0
    assert "k_cable" in json.loads(capsys.readouterr().out)["names"]
