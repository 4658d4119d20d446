"""init, check, identify, compare, simulate and export, as a person types them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import didim
from didim.cli import main, parser
from didim.cli.schema import ANSWERS, schema_of
from support.files import ARM_URDF
from support.studies import study, table, write_csv, write_study
from support.virtual import model


@pytest.fixture(autouse=True)
def in_tmp(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def answer(capsys, arguments, status=0):
    """The JSON of a command, valid by its own published schema."""
    assert main([*arguments, "--json"]) == status
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, schema_of(arguments[0]))
    return found


def test_a_part_of_a_robot(tmp_path, capsys):
    """A gripper's mimic joint follows, or is held from `init` on; the study says so, and a log has
    no columns for it.
    """
    axis = '<axis xyz="0 0 -1"/>'
    (tmp_path / "arm.urdf").write_text(ARM_URDF.replace(axis, f'{axis}<mimic joint="shoulder"/>'))
    assert main(["init", "tied.toml", "--robot", "arm.urdf"]) == 0
    tied = didim.load_study("tied.toml")
    assert tied.model.robot.joint_names == ("shoulder",)
    assert len(tied.model.robot.joints) == 2
    assert tied.records[0].n == 1
    assert main(["identify", "tied.toml", "--out", "tied.json"]) == 0
    assert didim.load_estimate("tied.json").model.robot.joints[1].mimic.joint == "shoulder"
    assert main(["init", "arm.toml", "--robot", "arm.urdf", "--lock", "elbow=90 deg"]) == 0
    study = didim.load_study("arm.toml")
    assert study.model.robot.joint_names == ("shoulder",)
    assert study.model.robot.locked == {"elbow": np.pi / 2}
    assert study.records[0].n == 1
    assert answer(capsys_cleared(capsys), ["base", "arm.urdf", "--lock", "elbow=0"])["parameters"]
    assert answer(capsys, ["base", "tx40", "--joints", "joint_1, joint_2"])["parameters"]
    assert main(["base", "arm.urdf", "--lock", "elbow"]) == 2


def test_what_check_does_not_judge_is_not_passed(tmp_path, capsys):
    """Without friction in the model, the sign of the torque is not judged: status 0, not passed."""
    file = str(write_study(tmp_path, study(effects=[])))
    found = answer(capsys, ["check", file])
    levels = {each["check"]: each["level"] for each in found["findings"]}
    assert levels["torque sign"] == "unjudged"
    assert main(["check", file]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert f"{[*levels.values()].count('pass')} passed, 1 not judged" in last


@pytest.mark.slow
def test_from_nothing_to_a_robot_and_code(tmp_path, capsys):
    """The whole way on the default robot."""
    assert main(["init"]) == 0
    assert "Next: didim check study.toml" in capsys.readouterr().out
    checked = answer(capsys, ["check", "study.toml"])
    assert checked["passed"]
    assert {each["level"] for each in checked["findings"]} == {"pass"}
    found = answer(
        capsys, ["identify", "study.toml", "--out", "result.json", "--robot-out", "identified.urdf"]
    )
    assert found["status"] == "converged"
    assert found["controller"]["law"] == "PD"
    assert found["files"] == ["result.json", "result.npz", "identified.urdf"]
    scara = didim.DynamicModel(didim.load_robot("scara")).base
    off = np.abs(np.array(found["values"]) - scara.nominal) / np.array(found["sigma"])
    assert np.all(off < 5)
    again = didim.DynamicModel(didim.load_robot("identified.urdf")).base
    np.testing.assert_allclose(again.nominal, found["values"], rtol=1e-9, atol=1e-12)
    assert main(["export", "result.json", "--out", "model.py"]) == 0
    assert main(["export", "result.json", "--out", "model.c"]) == 0
    assert main(["export", "result.json", "--out", "model.toml"]) == 0
    simulated = answer(
        capsys_cleared(capsys),
        ["simulate", "study.toml", "--with", "result.json", "--out", "motion.csv"],
    )
    assert simulated["motions"][0]["completed"]
    motion, record = didim.load_experiment("motion.csv"), didim.load_experiment("study-record.csv")
    assert (
        np.abs(np.asarray(motion.tau) - np.asarray(record.tau)).std()
        < 0.1 * np.asarray(record.tau).std()
    )


def capsys_cleared(capsys):
    capsys.readouterr()
    return capsys


@pytest.mark.slow
@pytest.mark.parametrize(("robot", "text"), [("arm.urdf", ARM_URDF), ("emps", None)])
def test_init_runs_as_it_is_for_any_robot(tmp_path, capsys, robot, text):
    if text is not None:
        (tmp_path / robot).write_text(text)
    assert main(["init", "new.toml", "--robot", robot]) == 0
    assert main(["identify", "new.toml"]) == 0
    assert "converged" in capsys.readouterr().out
    assert main(["check", "new.toml"]) == 0


def test_init_with_ones_own_log(tmp_path, capsys):
    """The columns of a log are guessed from their names, and the study runs."""
    (tmp_path / "logs").mkdir()
    names = {
        "t": "Time [s]",
        "tau1": "torque_1",
        "tau2": "torque_2",
        "q1": "pos_1",
        "q2": "pos_2",
        "r1": "pos_cmd_1",
        "r2": "pos_cmd_2",
    }
    write_csv(tmp_path / "logs" / "run.csv", {names[key]: value for key, value in table().items()})
    assert main(["init", "own.toml", "--robot", "scara", "--data", "logs/run.csv"]) == 0
    text = (tmp_path / "own.toml").read_text()
    assert 'file = "logs/run.csv"' in text
    assert '"q_ref": ["pos_cmd_1", "pos_cmd_2"]'.replace('"q_ref":', "q_ref =") in text
    assert main(["identify", "own.toml"]) == 0
    assert "IDIM of scara: converged" in capsys.readouterr().out


def test_init_says_what_is_missing(tmp_path, capsys):
    write_csv(tmp_path / "run.csv", {"t": np.arange(9.0), "a": np.arange(9.0), "b": np.arange(9.0)})
    assert main(["init", "--data", "run.csv"]) == 1
    assert "To be filled in, in columns: tau, q" in capsys.readouterr().out
    assert main(["identify", "study.toml"]) == 2
    assert "give either tau or control" in capsys.readouterr().err


def test_nothing_is_overwritten(tmp_path, capsys):
    write_study(tmp_path)
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    (tmp_path / "kept.npz").write_text("mine")
    for arguments in (
        ["init"],
        ["identify", "study.toml", "--out", "kept.json"],
        ["identify", "study.toml", "--set", "output.robot=study.toml"],
        ["simulate", "study.toml", "--out", "run.csv"],
    ):
        assert main(arguments) == 2
        assert "exists already; give another name, or --force" in capsys.readouterr().err
    assert {file: file.read_bytes() for file in before} == before
    assert (tmp_path / "kept.npz").read_text() == "mine"
    assert main(["identify", "study.toml", "--out", "kept.json", "--force"]) == 0
    assert main(["export", "kept.json", "--out", "run.csv"]) == 2
    assert main(["export", "kept.json", "--out", "robot.toml"]) == 0
    assert main(["export", "kept.json", "--out", "robot.toml"]) == 2


@pytest.mark.slow
def test_compare_runs_what_can_run(tmp_path, capsys):
    assert main(["init"]) == 0
    found = answer(capsys_cleared(capsys), ["compare", "study.toml"])
    labels = [each["label"] for each in found["methods"]]
    assert labels == ["IDIM", "IV", "DIDIM", "DIDIM refined"]
    assert {each["status"] for each in found["methods"]} == {"converged"}
    assert found["disagreements"] == []
    test = found["methods"][0]["tests"]["durbin_wu_hausman"]
    assert found["preferred"] == ("IV" if test["p_value"] < 0.05 else "IDIM")
    assert test["meaning"] in found["advice"]
    only = answer(
        capsys, ["compare", str(write_study(tmp_path, study(controller=None), "idim.toml"))]
    )
    assert [each["status"] for each in only["methods"]] == ["converged", "not run", "not run"]
    assert "describe it in a table [controller]" in only["methods"][1]["message"]


@pytest.mark.long
def test_disagreement_is_flagged(tmp_path, capsys):
    """A loop that is not the true one biases DIDIM; IDIM does not use it."""
    assert main(["init"]) == 0
    capsys.readouterr()
    main(
        [
            "compare",
            "study.toml",
            "--set",
            "controller.natural_frequency=30.0",
            "--set",
            "didim.max_iterations=5",
        ]
    )
    out = capsys.readouterr().out
    assert "sigma: IDIM / DIDIM" in out or "stopped" in out or "diverged" in out


@pytest.mark.slow
def test_iv_is_a_method_of_a_study(tmp_path, capsys):
    """With the rows of [idim] and its own settings; without a loop or positions it is refused."""
    file = str(write_study(tmp_path, study(method="iv", idim__cutoff=20.0)))
    found = answer(capsys, ["identify", file, "--set", "iv.weights=ols", "--out", "iv.json"])
    assert found["method"] == "IV"
    assert found["controller"] is not None
    assert {"durbin_wu_hausman", "instruments", "whiteness_1"} <= set(found["tests"])
    kept = didim.load_estimate("iv.json")
    assert kept.preprocessing.cutoff == 20.0
    assert kept.provenance["settings"]["weights"] == "ols"
    page = kept.report("iv.html").read_text()
    assert "Do the assumptions hold?" in page
    assert "durbin wu hausman" in page
    assert main(["identify", file, "--set", "iv.weights=irls"]) == 2
    assert "iv.weights" in capsys.readouterr().err
    assert main(["identify", str(write_study(tmp_path, study(method="iv", controller=None)))]) == 2
    assert "[controller]" in capsys.readouterr().err


@pytest.mark.long
def test_compare_prefers_instruments_where_the_positions_bias_idim(tmp_path, capsys):
    """Noise of the positions at the full rate, unfiltered."""
    noisy, random = dict(table()), np.random.default_rng(0)
    for j in (1, 2):
        noisy[f"q{j}"] = noisy[f"q{j}"] + 1e-3 * random.standard_normal(noisy["t"].size)
        noisy[f"tau{j}"] = noisy[f"tau{j}"] + 0.05 * random.standard_normal(noisy["t"].size)
    write_csv(tmp_path / "run.csv", noisy)
    stiff = study(idim__cutoff="none", controller__natural_frequency=[100.0, 100.0])
    main(["compare", str(write_study(tmp_path, stiff)), "--json"])
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, schema_of("compare"))
    assert found["preferred"] == "IV"
    idim, iv = (np.array(found["methods"][k]["values"]) for k in (0, 1))
    truth = model().base.nominal
    assert abs(idim[0] / truth[0] - 1) > 0.1
    assert abs(iv[0] / truth[0] - 1) < 0.05


def test_validation_and_status_one(tmp_path, capsys):
    experiments = [
        {"file": "run.csv", "columns": {"t": "t", "tau": "tau*", "q": "q*"}, "between": [0.0, 5.0]},
        {
            "file": "run.csv",
            "columns": {"t": "t", "tau": "tau*", "q": "q*"},
            "between": [5.0, 8.0],
            "use": "validate",
            "name": "rest",
        },
    ]
    found = answer(capsys, ["identify", str(write_study(tmp_path, study(experiment=experiments)))])
    assert found["validation"][0]["experiment"] == "rest"
    assert found["validation"][0]["residual"] < 0.01
    columns = {**table(), "q2": np.full(800, 0.3), "r2": np.full(800, 0.3)}
    write_csv(tmp_path / "run.csv", columns)
    stuck = answer(capsys, ["identify", "study.toml"], status=1)
    assert stuck["status"] == "unexcited"
    assert None in stuck["sigma"]


def test_paths_are_relative_to_the_file(tmp_path, capsys, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    write_study(tmp_path / "a")
    monkeypatch.chdir(tmp_path / "b")
    assert main(["identify", "../a/study.toml"]) == 0


def test_schemas_are_those_that_are_published():
    for what in ("study", *ANSWERS):
        file = Path(__file__).parents[2] / "docs" / "schema" / f"{what}.schema.json"
        assert json.loads(file.read_text()) == schema_of(what), f"run: didim schema {what} > {file}"


def test_base_by_its_schema(capsys):
    assert answer(capsys, ["base", "scara"])["robot"] == "scara"


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion(capsys, shell):
    assert main(["completion", shell]) == 0
    assert "identify" in capsys.readouterr().out


def test_every_command_is_a_file_with_examples(capsys):
    files = {file.stem for file in Path(parser.__file__).parent.glob("*.py")}
    assert files == {*parser.COMMANDS, "__init__", "main", "parser"}
    for command in parser.COMMANDS:
        with pytest.raises(SystemExit) as stop:
            main([command, "--help"])
        assert stop.value.code == 0
        assert f"examples:\n  didim {command}" in capsys.readouterr().out


def test_a_fault_of_ours_is_one_line(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("didim.load_study", lambda *_: 1 / 0)
    assert main(["check", "x.toml"]) == 2
    err = capsys.readouterr().err
    assert "internal error, please report it with the output of --debug: ZeroDivisionError" in err
    assert err.count("\n") == 1
    monkeypatch.setattr("didim.load_study", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    assert main(["check", "x.toml"]) == 1
    assert "stopped on request" in capsys.readouterr().err


def test_warnings_are_one_line(tmp_path, capsys):
    write_study(tmp_path)
    loop = "controller={ law = 'pd', kp = 500.0, kv = 400.0, rate = 200, delay = 2 }"
    assert main(["simulate", "study.toml", "--set", loop]) in (0, 1)
    err = capsys.readouterr().err
    assert "didim: warning: The assumed loop is unstable" in err
    assert err.count("\n") == 1


@pytest.mark.long
def test_progress_is_shown_at_a_terminal_only(tmp_path, capsys):
    """In a pseudo-terminal a bar is drawn on standard error; nothing is where that is a file."""
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals on this system")
    import os

    write_study(tmp_path)
    arguments = ["identify", "study.toml", "--json"]
    assert main(arguments) == 0
    assert capsys.readouterr().err == ""
    command = [sys.executable, "-m", "didim", *arguments]
    master, slave = pty.openpty()
    shown = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=slave, env={**os.environ, "TERM": "xterm"}
    )
    os.close(slave)
    out, _ = shown.communicate()
    drawn = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:
            break
        if not part:
            break
        drawn += part
    os.close(master)
    assert json.loads(out)["status"] == "converged"
    assert b"identifying scara" in drawn


@pytest.mark.slow
def test_a_validation_that_fails_does_not_undo_the_fit(tmp_path, capsys):
    """A record that the model cannot follow is told; what was found is printed and saved all the
    same.
    """
    assert main(["init"]) == 0
    far = (
        '[{ file = "study-record.csv", columns = { t = "t", tau = "tau{j}", q_ref = "q_ref{j}" } '
        "}, "
    )
    far += '{ file = "study-record.csv", name = "far", use = "validate", units = { q_ref = 1e6 } }]'
    found = answer(
        capsys_cleared(capsys),
        ["identify", "study.toml", "--set", f"experiment={far}", "--out", "kept.json"],
        1,
    )
    assert found["status"] == "converged"
    assert found["validation"][0]["residual"] is None
    assert "cannot be simulated on 'far'" in found["validation"][0]["message"]
    assert "not predicted" in didim.load_estimate("kept.json").summary()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["experiment.use=validate"], 'no experiment has use = "fit"'),
        (["method=didim", "didim.initial=[1.0, 2.0, 3.0]"], "initial must hold 8 values"),
        (
            ["method=didim", "didim.start=[[0.0, 0.0, 0.0], [0.0, 0.0]]"],
            "start, q, must be one number or 2",
        ),
        (["idim.trim=[790, 5]"], "too short"),
        (["method=didim", "controller.kp=3.0"], "either natural_frequency"),
    ],
)
def test_check_fails_where_identify_would_stop(tmp_path, capsys, settings, message):
    options = [word for setting in settings for word in ("--set", setting)]
    write_study(tmp_path)
    status = main(["check", "study.toml", *options])
    captured = capsys.readouterr()
    assert (status, message in captured.out) == (1, True) or (status, message in captured.err) == (
        2,
        True,
    )
    assert main(["identify", "study.toml", *options]) == 2
    assert message in capsys.readouterr().err


def test_compare_of_what_cannot_run_is_bad_input(tmp_path, capsys):
    write_study(tmp_path)
    assert (
        main(["compare", "study.toml", "--set", "experiment.columns={ t = 't', tau = 'tau*' }"])
        == 2
    )
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "No method can run" in captured.err


def test_a_robot_that_cannot_be_written_does_not_undo_the_result(tmp_path, capsys):
    """A carriage of negative mass is no robot; the numbers are printed and saved all the same."""
    t = np.arange(0, 10, 0.01)
    q = 0.1 * np.sin(2 * t) + 0.05 * np.sin(5 * t)
    emps = didim.DynamicModel(didim.load_robot("emps"))
    dq, ddq = np.gradient(q, t), np.gradient(np.gradient(q, t), t)
    tau = -emps.inverse_dynamics(q, dq, ddq, emps.nominal)
    write_csv(tmp_path / "run.csv", {"t": t, "tau": tau[:, 0], "q": q})
    (tmp_path / "s.toml").write_text(
        'robot = "emps"\nmethod = "idim"\n[[experiment]]\nfile = "run.csv"\n[idim]\ndecimation = '
        "2\n"
    )
    assert main(["identify", "s.toml", "--out", "r.JSON", "--robot-out", "r.urdf"]) == 1
    captured = capsys.readouterr()
    assert "M1" in captured.out
    assert "r.urdf was not written" in captured.err
    assert didim.load_estimate("r.JSON").values[0] < 0


@pytest.mark.slow
def test_nothing_agrees_where_nothing_converged(tmp_path, capsys):
    columns = {"t": "t", "tau": "tau*", "q_ref": "r{j}"}
    given = [{"file": "run.csv", "columns": columns}]
    write_study(tmp_path, study(didim__max_iterations=1, experiment=given))
    assert main(["compare", "study.toml"]) == 1
    assert "fewer than two methods converged" in capsys.readouterr().out


def test_a_validation_that_is_much_worse_is_pointed_out(tmp_path, capsys):
    """Another payload in the second record: the fit is fine, and the reader is told that it does
    not hold there.
    """
    heavier = {**table(), "tau1": 1.5 * table()["tau1"]}
    write_csv(tmp_path / "heavy.csv", heavier)
    same = {"columns": {"t": "t", "tau": "tau*", "q": "q*"}}
    both = [{"file": "run.csv", **same}, {"file": "heavy.csv", "use": "validate", **same}]
    file = str(write_study(tmp_path, study(experiment=both)))
    found = answer(capsys, ["identify", file], 1)
    assert found["status"] == "converged"
    assert main(["identify", file]) == 1, "a model that should not be used is no success"
    assert capsys.readouterr().out.startswith("Record 'heavy' is predicted")
    assert any("'heavy' is predicted" in note and "payload" in note for note in found["notes"])


def test_idim_names_the_joint_that_is_not_explained(tmp_path, capsys):
    rng = np.random.default_rng(0)
    write_csv(
        tmp_path / "run.csv",
        {**table(), "tau2": rng.standard_normal(800) * np.abs(table()["tau2"]).max()},
    )
    found = answer(capsys, ["identify", str(write_study(tmp_path))])
    assert any("joint 2 (joint_2): check units, signs, columns" in note for note in found["notes"])
