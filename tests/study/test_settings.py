"""`--set` reaches every key of the schema; the schema has the settings that the classes have."""

from __future__ import annotations

import dataclasses
from typing import Any, get_args

import jsonschema
import pytest
from pydantic import BaseModel

import didim
from didim.cli import main
from didim.cli.schema import schema_of
from didim.study import schema
from didim.study.reading import apply_setting, check_study
from didim.study.record_schema import Files
from support.studies import STUDY, study, write_study


def leaves(table: type[BaseModel], path: str = "") -> list[tuple[str, Any]]:
    """Every key that holds no table, with its JSON schema."""
    found = []
    schemas = table.model_json_schema()["properties"]
    for name, field in table.model_fields.items():
        inner = _tables(field.annotation)
        several = {"list[": ".0", "dict[": ".k"}
        place = (each for start, each in several.items() if str(field.annotation).startswith(start))
        index = next(place, "") if inner else ""
        if inner and inner != [Files]:
            found += leaves(inner[0], f"{path}{name}{index}.")
        else:
            found.append((f"{path}{name}", schemas[name]))
    return found


def _tables(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for each in get_args(annotation) for found in _tables(each)]


def sample(wanted: Any) -> str:
    """A value, as typed after --set, that a JSON schema takes."""
    options = [wanted, *wanted.get("anyOf", []), *wanted.get("oneOf", [])]
    for option in options:
        if "enum" in option:
            return str(option["enum"][-1]).lower()
        if "const" in option:
            return option["const"]
        kind = option.get("type")
        if kind == "array":
            inner = sample(option["items"])
            count = option.get("minItems", 1)
            items = [f"{k + 1}" if inner.isdigit() else inner for k in range(count)]
            return f"[{', '.join(items)}]"
        if kind in ("number", "integer"):
            return "0.7" if option.get("exclusiveMaximum") == 1 else "7"
        if kind == "boolean":
            return "true"
        if kind == "object":
            return f"{{ word = {sample(option['additionalProperties'])} }}"
        if kind == "string":
            return '"word"'
    raise AssertionError(f"no sample for {wanted}")


LEAVES = leaves(schema.StudyFile)


@pytest.mark.parametrize(("key", "wanted"), LEAVES, ids=[key for key, _ in LEAVES])
def test_set_reaches_every_key(key, wanted):
    data = study(effect=[{"name": "cable", "torque": "k * q", "unknown": {"k": {}}}])
    text = sample(wanted)
    apply_setting(data, f"{key}={text}")
    node: Any = check_study(data, "study.toml")
    for part in key.split("."):
        if isinstance(node, list | dict):
            node = node[int(part) if isinstance(node, list) else part]
        else:
            node = getattr(node, part)
    assert node is not None
    assert _bare(str(node)) == _bare(text.replace("true", "True"))


def _bare(text: str) -> str:
    """A value without the signs in which Python and TOML differ."""
    return text.replace(":", "=").translate(str.maketrans("", "", "'\"()[]{} "))


def test_there_are_many_keys():
    assert len(LEAVES) > 80
    assert "experiment.0.reference.units.q_ref" in dict(LEAVES)


@pytest.mark.parametrize(
    ("setting", "path", "value"),
    [
        ("method=didim", ("method",), "didim"),
        ("controller.kp = 80.0", ("controller", "kp"), 80.0),
        (
            'effects=["asymmetric_viscous","asymmetric_coulomb"]',
            ("effects",),
            ["asymmetric_viscous", "asymmetric_coulomb"],
        ),
        ("experiment.0.use=validate", ("experiment", 0, "use"), "validate"),
        ("experiment[0].use=validate", ("experiment", 0, "use"), "validate"),
        ("experiment.between=[0, 3]", ("experiment", 0, "between"), [0, 3]),
        ("experiment.0.columns.tau=[2, 3]", ("experiment", 0, "columns", "tau"), [2, 3]),
        ('"didim"."refine"=true', ("didim", "refine"), True),
        ("experiment.0.file=a b=c.csv", ("experiment", 0, "file"), "a b=c.csv"),
        ("robot=arm.urdf\nmethod=3", ("robot",), "arm.urdf\nmethod=3"),
    ],
)
def test_paths_and_values(setting, path, value):
    data: Any = study()
    apply_setting(data, setting)
    for part in path:
        data = data[part]
    assert data == value


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("method", "--set needs key=value"),
        ("=3", "--set needs key=value"),
        ("a..b=3", "'a..b' is not a dotted path"),
        ("experiment[-1].use=fit", "is not a dotted path"),
        ("a." * 3000 + "b=1", "is not a dotted path"),
        ("experiment.²=1", "unknown key 'experiment.0.²'"),
        ("a.=3", "is not a dotted path"),
        ("didm.refine=true", "unknown key 'didm'; did you mean 'didim'?"),
        ("didim.refin=true", "did you mean 'refine'?"),
        ("experiment.7.use=fit", "there is no 7; the list has 1, counted from 0"),
        ("robot.name=x", "'name' lies below 'scara', which is not a table"),
        ("didim.refine=maybe", "didim.refine must be true or false, found 'maybe'"),
    ],
)
def test_wrong_settings_are_one_line(setting, message, tmp_path, capsys):
    assert main(["identify", str(write_study(tmp_path)), "--set", setting]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    ("table", "owner", "without"),
    [
        (schema.IdimTable, didim.IDIM, {"controller"}),
        (schema.IvTable, didim.IV, {"controller"}),
        (schema.DidimTable, didim.DIDIM, {"controller"}),
        (schema.OutputErrorTable, didim.OutputError, {"controller"}),
    ],
)
def test_methods_have_the_settings_of_their_classes(table, owner, without):
    assert set(table.model_fields) == {field.name for field in dataclasses.fields(owner)} - without


def test_the_controller_has_the_settings_of_all_laws():
    laws = (didim.PD, didim.PID, didim.Cascade, didim.ComputedTorque, didim.Servo)
    known = {field.name for law in laws for field in dataclasses.fields(law)} - {"parameters"}
    assert set(schema.ControllerTable.model_fields) - {"law", "Kp", "Kd", "assumed"} == known


@pytest.mark.slow
def test_the_published_schema_takes_what_the_reader_takes():
    published = schema_of("study")
    jsonschema.Draft202012Validator.check_schema(published)
    jsonschema.validate(STUDY, published)
    for wrong in (
        study(metod="x"),
        study(method="x"),
        study(experiment=[]),
        study(idim__decimation="4"),
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, published)
