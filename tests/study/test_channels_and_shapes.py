"""Columns of logged channels, shapes and own effects in studies; what `didim base` lists."""

from __future__ import annotations

import json

import numpy as np
import pytest

import didim
from didim.cli import main
from didim.robot.write_toml import robot_toml
from support.studies import study, table, write_csv, write_study

WARM = {
    "name": "warm",
    "joint": 1,
    "torque": "c * dq * (warmth - 20)",
    "unknown": {"c": {}},
    "channels": ["warmth"],
}


@pytest.fixture
def folder(tmp_path):
    signals = table()
    warmth = 25 + signals["t"]
    warmth[3] = np.nan  # a row without a value is left out, of all signals
    write_csv(tmp_path / "run.csv", signals | {"T_motor": warmth, "enabled": signals["t"] > 1})
    np.savetxt(tmp_path / "warmth.csv", 25 + signals["t"], header="warmth", comments="")
    return tmp_path


def loaded(folder, *settings, **changes):
    return didim.load_study(write_study(folder, study(**changes)), settings)


def test_a_column_is_read_into_the_channels(folder):
    found = loaded(
        folder, effect=[WARM], experiment__0__columns__warmth="T_motor", experiment__0__gear=2.0
    )
    [record] = found.records
    np.testing.assert_allclose(record.channels["warmth"], 25 + record.t, rtol=1e-11)
    assert record.t.size == table()["t"].size - 1
    assert found.model.parameter_names[-1] == "c_warm"
    part = loaded(
        folder,
        effect=[WARM],
        experiment__0__columns__warmth="T_motor",
        experiment__0__between=[1.0, 2.0],
    )
    assert part.records[0].channels["warmth"].size == part.records[0].t.size


def test_a_column_of_a_channel_s_own_name_needs_no_columns(folder):
    signals = {key.replace("r", "q_ref"): value for key, value in table().items()}
    write_csv(folder / "plain.csv", signals | {"enabled": signals["t"] > 1})
    found = loaded(folder, effects=["viscous", "back_emf"], experiment=[{"file": "plain.csv"}])
    assert set(found.records[0].channels) == {"enabled"}


def test_a_channel_of_a_file_of_its_own(folder):
    signals = table()
    for key in ("tau", "q"):
        write_csv(folder / f"{key}.csv", {f"{key}{j}": signals[f"{key}{j}"] for j in (1, 2)})
    files = {key: f"{key}.csv" for key in ("tau", "q", "warmth")}
    found = loaded(folder, effect=[WARM], experiment=[{"file": files, "rate": 100.0}])
    assert found.records[0].channels["warmth"][0] == 25.0


def test_settings_change_columns_and_shapes(folder):
    setting = 'experiment.columns.temperature="T_motor"'
    found = loaded(
        folder, setting, "shapes.T01=25.0", effects=["viscous", "coulomb", "temperature"]
    )
    assert found.model.shape_values["T01"] == 25.0
    assert found.records[0].channels["temperature"][0] == 25.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"effect": [WARM]},
            "the effect 'warm' needs the channel 'warmth', which experiment 'run'",
        ),
        (
            {"effect": [WARM], "experiment__0__columns__warmt": "T_motor"},
            "unknown key 'experiment.0.columns.warmt'; did you mean 'warmth'?",
        ),
        (
            {"effect": [WARM], "experiment__0__columns__warmth": "T_moto"},
            "no column 'T_moto' for warmth; did you mean 'T_motor'?",
        ),
        (
            {"effect": [WARM], "experiment__0__columns__warmth": ["q1", "q2"]},
            "warmth must be one column, found 2",
        ),
        (
            {"effect": [WARM], "experiment__0__columns__warmth": 1.5},
            "must be a column's name or number",
        ),
        (
            {"effect": [WARM], "experiment__0__units": {"warmth": "K"}},
            "unknown key 'experiment.0.units.warmth'",
        ),
        (
            {"experiment__0__file": {"tau": "run.csv", "warmth": "run.csv"}},
            "unknown key 'experiment.0.file.warmth'",
        ),
    ],
)
def test_channels_that_are_missing_or_wrong(folder, capsys, changes, message):
    assert main(["identify", str(write_study(folder, study(**changes)))]) == 2
    assert message in capsys.readouterr().err


def test_effects_of_the_study_join_those_of_the_robot(folder):
    cable = {"name": "cable", "joint": "joint_2", "torque": "k * q", "unknown": {"k": {}}}
    robot = robot_toml(didim.load_robot("scara"))
    (folder / "arm.toml").write_text(
        robot + '\n[[effect]]\nname = "gas"\njoint = 1\ntorque = "F * sin(q)"\nunknown = {F = {}}\n'
    )
    joined = loaded(folder, robot="arm.toml", effect=[cable]).model
    assert joined.parameter_names[-2:] == ("F_gas", "k_cable")
    chosen = loaded(folder, robot="arm.toml", effect=[cable], effects=["viscous", "cable"]).model
    assert chosen.parameter_names[-2:] == ("Fv2", "k_cable")
    assert "F_gas" not in chosen.parameter_names
    chosen = loaded(folder, robot="arm.toml", effect=[cable], effects=["gas"]).model
    assert chosen.parameter_names[-2:] == ("F_gas", "k_cable")


def test_base_lists_shapes_and_channels(capsys):
    assert main(["base", "scara", "--effects", "coulomb,stribeck,temperature", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["channels"] == ["temperature"]
    assert answer["shapes"][0] == {"name": "vs1", "unit": "rad/s", "value": 0.1, "known": False}
    assert main(["base", "scara", "--effects", "coulomb,stribeck,temperature"]) == 0
    text = capsys.readouterr().out
    assert "vs1" in text
    assert "needs the logged channel 'temperature'" in text


def test_from_a_study_to_a_robot_and_code(folder, capsys):
    """A friction that depends on a logged temperature: identified, reported, exported, read."""
    signals = table()
    t, q = signals["t"], np.column_stack([signals["q1"], signals["q2"]])
    dq = np.gradient(q, t, axis=0)
    warmth = 30 + 8 * np.sin(3 * t)
    tau = np.column_stack([signals["tau1"] + 0.4 * dq[:, 0] * (warmth - 20), signals["tau2"]])
    columns = signals | {"tau1": tau[:, 0], "T_motor": warmth}
    write_csv(folder / "run.csv", columns)
    path = write_study(folder, study(effect=[WARM], experiment__0__columns__warmth="T_motor"))
    names = ["result.json", "report.html", "arm.toml", "arm.urdf", "arm.py"]
    result, report, arm, urdf, code = (str(folder / name) for name in names)
    assert main(["check", str(path)]) == 0
    assert main(["identify", str(path), "--out", result, "--report", report]) == 0
    for file in (arm, urdf, code):
        assert main(["export", result, "--out", file]) == 0
    capsys.readouterr()
    for file in (arm, urdf):
        found = didim.DynamicModel(didim.load_robot(file))
        assert found.parameter_names[-1] == "c_warm"
        assert found.nominal[-1] == pytest.approx(0.4, rel=1e-3)
    space: dict = {}
    exec((folder / "arm.py").read_text(), space)
    torque = space["inverse_dynamics"]([0.1, 0.2], [0.3, 0.4], [0.5, 0.6], [31.0])
    expected = found.inverse_dynamics(
        [[0.1, 0.2]], [[0.3, 0.4]], [[0.5, 0.6]], found.nominal, signals={"warmth": [31.0]}
    )
    np.testing.assert_allclose(torque, expected[0], rtol=1e-8)
