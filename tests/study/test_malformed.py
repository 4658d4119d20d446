"""Malformed studies and data files: each is one line that names the place and what to do, status 2,
nothing on stdout.
"""

from __future__ import annotations

import numpy as np
import pytest

from didim.cli import main
from support.studies import study, table, toml, write_csv, write_study

STUDIES = {
    "no robot": (study(robot=None), "the key 'robot' is missing"),
    "no method": (study(method=None), "the key 'method' is missing"),
    "no experiment": (study(experiment=None), "the key 'experiment' is missing"),
    "empty experiments": (study(experiment=[]), "describe each record in a table [[experiment]]"),
    "experiment is a table": (
        study(experiment={"file": "run.csv"}),
        "must be a list, written [[experiment]]",
    ),
    "experiment is a number": (study(experiment=[5]), "experiment.0 must be a table, found 5"),
    "unknown key": (study(robt="scara"), "unknown key 'robt'; did you mean 'robot'?"),
    "unknown key below": (
        study(experiment__0__colums={}),
        "unknown key 'experiment.0.colums'; did you mean 'columns'?",
    ),
    "unknown setting": (study(idim__cutof=3.0), "unknown key 'idim.cutof'; did you mean 'cutoff'?"),
    "unknown gain": (
        study(controller__kpp=3.0),
        "unknown key 'controller.kpp'; did you mean 'kp'?",
    ),
    "unknown signal": (
        study(experiment__0__columns__torque="a"),
        "unknown key 'experiment.0.columns.torque'",
    ),
    "unknown method": (study(method="didm"), "method: unknown 'didm'; did you mean 'didim'?"),
    "unknown law": (
        study(controller__law="pdd"),
        "controller.law: unknown 'pdd'; did you mean 'pd'?",
    ),
    "unknown use": (
        study(experiment__0__use="fitt"),
        "experiment.0.use: unknown 'fitt'; did you mean 'fit'?",
    ),
    "unknown effect": (
        study(effects=["viscos"]),
        "unknown effect 'viscos'; did you mean 'viscous'?",
    ),
    "exclusive effects": (study(effects=["offset", "asymmetric_coulomb"]), "exclude each other"),
    "unknown robot": (study(robot="scaro"), "did you mean 'scara'?"),
    "missing robot file": (study(robot="arm.urdf"), "robot: "),
    "robot is a number": (study(robot=3), "robot must be a text, found 3"),
    "missing file": (study(experiment__0__file="rum.csv"), "experiment.0.file: "),
    "another variable": (
        study(experiment__0__file="${HOME}/run.csv"),
        "Only ${DIDIM_DATA} is expanded",
    ),
    "file is a folder": (study(experiment__0__file="."), "is a folder"),
    "file is a number": (study(experiment__0__file=7), "experiment.0.file must be a text, found 7"),
    "empty table of files": (study(experiment__0__file={}), "give a file for each signal"),
    "file of an unknown kind": (
        study(experiment__0__file="study.toml"),
        "the ending '.toml' is not known",
    ),
    "missing column": (
        study(experiment__0__columns__tau=["tau1", "tau_2"]),
        "no column 'tau_2' for tau; did you mean 'tau2'?",
    ),
    "column number": (study(experiment__0__columns__t=99), "there is no column 99 for t"),
    "too few columns": (
        study(experiment__0__columns__tau="tau1"),
        "tau has 1 columns, the robot has 2 joints",
    ),
    "column is a float": (
        study(experiment__0__columns__t=1.5),
        "must be a column's name or number",
    ),
    "no torque": (
        study(experiment__0__columns__tau=None),
        "has no torque, which this method needs",
    ),
    "between backwards": (
        study(experiment__0__between=[3.0, 1.0]),
        "start and end in s, the end later",
    ),
    "between outside": (study(experiment__0__between=[50.0, 60.0]), "it has 0 to 7.99 s"),
    "unit": (
        study(experiment__0__units={"q": "degree"}),
        "unknown unit 'degree' of q; did you mean 'deg'?",
    ),
    "amperes": (study(experiment__0__units={"tau": "A"}), "give the torque constant"),
    "gear of no robot": (study(experiment__0__gear="robot"), "describes no gears"),
    "gear": (study(experiment__0__gear=[1.0, 2.0, 3.0]), "gear must be one number, 2 or 2 x 2"),
    "control without a gain": (
        study(experiment__0__columns__tau=None, experiment__0__columns__control="tau*"),
        "control needs drive_gain",
    ),
    "rate and time": (study(experiment__0__rate=100.0), "the time is given twice"),
    "two references": (
        study(experiment__0__reference={"measured_cutoff": 5.0}),
        "from several places",
    ),
    "align and shift": (
        study(experiment__0__reference={"align": True, "shift": 0.1}),
        "either align or shift",
    ),
    "nothing to fit": (study(experiment__0__use="validate"), 'no experiment has use = "fit"'),
    "didim without a loop": (
        study(method="didim", controller=None),
        "describe it in a table [controller]",
    ),
    "negative gain": (
        study(method="didim", controller={"law": "pd", "kp": -1.0, "kv": 1.0}),
        "kp must be positive",
    ),
    "half the gains": (
        study(method="didim", controller={"law": "pd", "kp": 1.0}),
        "needs both kp and kv",
    ),
    "gain of another law": (study(controller__ki=1.0), "the law 'pd' has no ki"),
    "parallel pid": (
        study(controller={"law": "pid", "Kp": 1.0, "Kd": 1.0}),
        "Kp and Kd belong together",
    ),
    "gains of three joints": (
        study(method="didim", controller__natural_frequency=[1.0, 2.0, 3.0]),
        "natural_frequency",
    ),
    "decimation is a text": (
        study(idim__decimation="4"),
        "idim.decimation must be a whole number, found '4'",
    ),
    "decimation is zero": (study(idim__decimation=0), "at least 1"),
    "cutoff beyond Nyquist": (study(idim__cutoff=80.0), "half the sampling rate"),
    "trim": (study(idim__trim=[1, 2, 3]), "two whole numbers"),
    "initial of the wrong length": (study(method="didim", didim__initial=[1.0, 2.0]), "8"),
    "initial that is missing": (study(method="didim", didim__initial="old.json"), "no such file"),
    "gravity": (study(gravity=[0.0, 9.81]), "gravity must be a list of three numbers"),
    "output of the wrong kind": (study(output={"result": "result.txt"}), "must end in .json"),
    "output in no folder": (study(output={"robot": "none/arm.urdf"}), "there is no folder"),
    "result over a file": (
        study(output={"result": "run.json"}),
        "exists already; give another name, or --force",
    ),
}

FILES = {
    "empty": (b"", "the file is empty"),
    "header only": (b"t,tau1,tau2,q1,q2,r1,r2\n", "no row of numbers"),
    "words": (b"t,tau1,tau2,q1,q2,r1,r2\n0,1,2,3,4,5,oops\n", "no row of numbers; line 2 is"),
    "ragged": (
        b"t,tau1,tau2,q1,q2,r1,r2\n0,1,2,3,4,5,6\n1,2\n",
        "1 line is damaged (line 3",
    ),
    "decimal commas": (b"t;tau1;tau2;q1;q2;r1;r2\n0,0;1;2;3;4;5;6\n", "one row only"),
    "binary": (bytes(range(256)) * 4, "holds binary data"),
    "one row": (b"t,tau1,tau2,q1,q2,r1,r2\n0,1,2,3,4,5,6\n", "one row only"),
    "time backwards": (
        b"t,tau1,tau2,q1,q2,r1,r2\n0,1,2,3,4,5,6\n2,1,2,3,4,5,6\n1,1,2,3,4,5,6\n",
        "must rise",
    ),
    "nan": (
        b"t,tau1,tau2,q1,q2,r1,r2\n0,1,2,3,4,5,6\n1,nan,2,3,4,5,6\n",
        "no value of tau (row 2)",
    ),
    "too short": (b"t,tau1,tau2,q1,q2,r1,r2\n0,1,2,3,4,5,6\n0.01,1,2,3,4,5,6\n", "too short"),
}

TEXTS = {
    "no TOML": ("robot = ", "not a TOML file"),
    "a key twice": ('robot = "a"\nrobot = "b"\n', "not a TOML file"),
    "empty": ("", "the key 'robot' is missing"),
    "nested": ("robot = " + "[" * 3000 + "]" * 3000, "study.toml"),
}


def refused(folder, capsys, message):
    (folder / "run.json").write_text("{}")
    assert main(["identify", str(folder / "study.toml")]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert "internal error" not in captured.err


@pytest.mark.parametrize("name", STUDIES)
def test_studies(name, tmp_path, capsys):
    data, message = STUDIES[name]
    write_study(tmp_path, data)
    refused(tmp_path, capsys, message)


@pytest.mark.parametrize("name", FILES)
def test_files(name, tmp_path, capsys):
    content, message = FILES[name]
    write_study(tmp_path)
    (tmp_path / "run.csv").write_bytes(content)
    refused(tmp_path, capsys, message)


@pytest.mark.parametrize("name", TEXTS)
def test_texts(name, tmp_path, capsys):
    text, message = TEXTS[name]
    (tmp_path / "study.toml").write_text(text)
    refused(tmp_path, capsys, message)


def test_data_folder_that_is_not_set(tmp_path, capsys, monkeypatch):
    """No folder is guessed, not even where one lies beside the study's."""
    folder, beside = tmp_path / "mine", tmp_path / "shared" / "data"
    folder.mkdir()
    beside.mkdir(parents=True)
    write_study(folder, study(experiment__0__file="${DIDIM_DATA}/run.csv"))
    (folder / "run.csv").rename(beside / "run.csv")
    monkeypatch.chdir(folder)
    monkeypatch.delenv("DIDIM_DATA", raising=False)
    refused(folder, capsys, "experiment.0.file: the environment variable DIDIM_DATA has no value")
    monkeypatch.setenv("DIDIM_DATA", "")
    refused(folder, capsys, "nonlinearbenchmark.org")
    monkeypatch.setenv("DIDIM_DATA", str(beside))
    assert main(["identify", "study.toml"]) == 0


def test_a_silent_joint_and_a_folder(tmp_path, capsys):
    write_csv(tmp_path / "run.csv", {**table(), "tau2": np.zeros(800)})
    write_study(tmp_path)
    refused(tmp_path, capsys, "the torque of joint 2 (joint_2) is zero throughout")
    assert main(["check", str(tmp_path)]) == 2
    assert "is a folder" in capsys.readouterr().err


def test_the_study_itself_is_fine(tmp_path, capsys):
    """The table above breaks one thing each: unbroken, it runs."""
    assert main(["identify", str(write_study(tmp_path))]) == 0
    assert "ZZ1R" in capsys.readouterr().out
    assert toml({"a": [1, {"b": 2.0}]}) == '"a" = [1, { "b" = 2.0 }]\n'
