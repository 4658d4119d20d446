"""Faults that users met with logs of their own, each by the command or the public name that showed
it.
"""

from __future__ import annotations

import json
import resource
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import didim
from didim.checks import diagnose
from didim.cli import main
from didim.results.judgement import judge
from support.estimates import estimate_of
from support.files import ARM_URDF
from support.studies import study, table, write_csv, write_study
from support.virtual import model, scara_record


def record() -> didim.Experiment:
    return replace(scara_record(noise=0.02, encoder=1e-5, periods=2)[0], name="run")


def level(changed: didim.Experiment, check: str) -> str:
    """The worst level of a check; "" where there is none."""
    found = {each.level for each in diagnose(model(), [changed]) if each.check == check}
    return next((each for each in ("fail", "warn", "unjudged", "pass") if each in found), "")


def test_a_name_cannot_declare_an_encoding(tmp_path, monkeypatch):
    """Python honours a coding cookie in the first two lines, and a name stood in the first."""
    monkeypatch.chdir(tmp_path)
    name = "coding:unicode_escape \\nopen('PWNED','w')#"
    Path("arm.urdf").write_text(ARM_URDF.replace('name="arm"', f'name="{name}"'))
    robot = didim.load_robot("arm.urdf")
    assert robot.name == name
    estimate_of(didim.DynamicModel(robot, [])).save("r.json")
    assert main(["export", "r.json", "--out", "torque.py"]) in (0, 1)
    exec(compile(Path("torque.py").read_bytes(), "torque.py", "exec"), {})
    assert not Path("PWNED").exists()


def test_a_disk_without_room_does_not_cost_the_result(tmp_path, monkeypatch, capsys):
    """Files of 100 bytes at most, everywhere."""
    monkeypatch.chdir(tmp_path)
    write_study(tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        status = main(["identify", "study.toml", "--out", "r.json"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert status == 1
    assert "ZZ1R" in capsys.readouterr().out


class Killed(BaseException):
    """What ends a process."""


def test_a_kill_leaves_the_old_or_the_new_result_and_nothing_else(tmp_path, monkeypatch):
    """Between the moves of the two files of a result; nothing is tidied up."""
    path = tmp_path / "a.json"
    first, second = (estimate_of(model("emps"), seed=seed) for seed in (0, 1))
    first.save(path)
    move, moved = Path.replace, []

    def one(source, target):
        if moved:
            raise Killed
        moved.append(target)
        return move(source, target)

    monkeypatch.setattr(Path, "replace", one)
    monkeypatch.setattr(Path, "unlink", lambda *_, **__: None)
    with pytest.raises(Killed):
        second.save(path, overwrite=True)
    monkeypatch.undo()
    assert len([*tmp_path.iterdir()]) > 2
    found = didim.load_estimate(path)
    np.testing.assert_array_equal(found.values, second.values)
    np.testing.assert_array_equal(found.covariance, second.covariance)
    first.save(path, overwrite=True)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.json", "a.npz"]


@pytest.mark.parametrize("key", ["idim.weights", "controller.law", "experiment.use", "robot"])
def test_a_number_of_thousands_of_digits_is_one_line(key, tmp_path, capsys):
    """Python reads it in hexadecimal, and refuses to print it in an error message."""
    file = str(write_study(tmp_path))
    assert main(["check", file, "--set", f"{key}=0x{'9' * 5000}"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "internal error" not in told


def test_columns_without_names_are_guessed(tmp_path, monkeypatch, capsys):
    """By what they hold, counted from 1; those that are left are listed in natural order."""
    monkeypatch.chdir(tmp_path)
    signals = table()
    t = signals["t"]
    q = np.column_stack([signals["q1"], signals["q2"]])
    rest = np.random.default_rng(0).standard_normal((t.size, 8))
    np.savetxt("log.csv", np.column_stack([t, q, np.gradient(q, t, axis=0), rest]), delimiter=",")
    assert main(["init", "--robot", "scara", "--data", "log.csv"]) == 1
    told = capsys.readouterr().out
    assert "not used: 6, 7, 8, 9, 10, 11, 12, 13" in told
    columns = tomllib.loads(Path("study.toml").read_text())["experiment"][0]["columns"]
    assert columns == {"t": 1, "q": "2-3", "dq": "4-5"}


def test_names_of_columns_may_contain_those_of_joints(tmp_path, monkeypatch):
    """Without what all joints begin and end with."""
    monkeypatch.chdir(tmp_path)
    text = ARM_URDF.replace('"shoulder"', '"arm_shoulder_joint"')
    Path("arm.urdf").write_text(text.replace('"elbow"', '"arm_elbow_joint"'))
    signals = table()
    names = ["time", "elbow_pos", "shoulder_pos", "elbow_torque", "shoulder_torque"]
    content = [signals[name] for name in ("t", "q2", "q1", "tau2", "tau1")]
    write_csv(tmp_path / "log.csv", dict(zip(names, content, strict=True)))
    assert main(["init", "--robot", "arm.urdf", "--data", "log.csv"]) == 0
    columns = tomllib.loads(Path("study.toml").read_text())["experiment"][0]["columns"]
    assert columns["q"] == ["shoulder_pos", "elbow_pos"]
    assert columns["tau"] == ["shoulder_torque", "elbow_torque"]


def test_held_samples_are_told():
    right = record()
    at = np.arange(right.t.size)
    at[20::20] -= 1
    assert level(replace(right, tau=right.tau[at], q=right.q[at]), "repeats") == "warn"
    assert level(right, "repeats") in ("", "pass")


def test_a_dead_channel_is_told():
    tau = record().tau.copy()
    tau[: int(0.6 * len(tau)), 1] = 0.0
    assert level(replace(record(), tau=tau), "channels") == "warn"


def test_a_torque_that_was_logged_late_is_told():
    right, samples = record(), 6
    late = replace(
        right.between(right.t[samples], right.t[-1]), tau=np.asarray(right.tau)[:-samples]
    )
    assert level(late, "torque delay") == "warn"
    assert level(right, "torque delay") == "pass"


def test_the_rate_of_a_jittering_record():
    """Most steps are 10 ms; there are 93.9 samples in a second."""
    t = np.cumsum(np.where(np.arange(2000) % 3 == 0, 0.01195, 0.01))
    q = np.column_stack([np.sin(t), np.cos(t)])
    found = diagnose(model(), [didim.Experiment(t, q, None, q=q)])
    assert any("93.9" in each.found for each in found if each.check == "sampling")


def one_torque(right: didim.Experiment) -> didim.Experiment:
    tau = np.array(right.tau)
    tau[:, 1] *= 1.2
    return replace(right, tau=tau)


SCALES = {
    "torques": lambda right: replace(right, tau=1.2 * np.asarray(right.tau)),
    "clock": lambda right: replace(right, t=1.2 * np.asarray(right.t)),
    "one torque": one_torque,
    "zero": lambda right: replace(right, q=np.asarray(right.q) + np.radians([0.0, 15.0])),
}


@pytest.mark.parametrize("name", SCALES)
def test_scales_that_leave_no_residual_are_doubted(name):
    """By the described masses or inertias; the right record is not doubted."""
    arm = model("scara" if name == "clock" else "double_pendulum")
    t = np.arange(0.0, 10.0, 0.01)
    q, dq, ddq = didim.Fourier.random(arm.robot, 1, period=5.0, periods=2).sample(t)
    tau = arm.inverse_dynamics(q, dq, ddq, arm.nominal)
    tau += 0.01 * tau.std(axis=0) * np.random.default_rng(0).standard_normal(tau.shape)
    right = didim.Experiment(t=t, tau=tau, q_ref=None, q=q)
    method = didim.IDIM(cutoff=None, decimation=1)
    assert didim.identify(arm, right, method).notes == ()
    notes = didim.identify(arm, SCALES[name](right), method).notes
    assert any("described" in note or "disagree" in note for note in notes), notes


def test_a_copy_with_rounding_is_not_held_out():
    """The fit had the first half; the whole record, with 1e-12 added, tries it."""
    whole = record()
    half = whole.between(0.0, float(whole.t[-1]) / 2)
    copied = replace(whole, tau=whole.tau + 1e-12, name="another")
    assert judge(didim.identify(model(), half, didim.IDIM(), copied)).other.level == "care"


def test_rows_at_rest_do_not_make_a_model_look_better():
    """What rest_velocity leaves out is stated beside the figures of fit and held-out record."""
    right = record()
    middle = float(right.t[-1]) / 2
    halves = right.between(0.0, middle), right.between(middle, 2 * middle)
    summary = didim.identify(model(), halves[0], didim.IDIM(rest_velocity=0.5), halves[1]).summary()
    assert summary.count("below rest_velocity") >= 2


def test_single_values_of_a_model_that_leaves_more_than_noise():
    """A torque ripple that the model lacks, five times the noise: the values may be biased, however
    small the residual and their sigma.
    """
    arm, t = model("scara", ("viscous", "coulomb")), np.arange(0.0, 20.0, 0.01)
    q, dq, ddq = didim.Fourier.random(arm.robot, 1, period=3.3, periods=6, share=1.0).sample(t)
    tau = arm.inverse_dynamics(q, dq, ddq, arm.nominal)
    noise = 0.002 * np.random.default_rng(0).standard_normal(tau.shape)
    tau = tau + tau.std(axis=0) * (noise + 0.01 * np.sin(20 * q))
    rippled = didim.Experiment(t=t, tau=tau, q_ref=None, q=q)
    judged = judge(didim.identify(arm, rippled, didim.IDIM(cutoff=20.0, decimation=4)))
    assert judged.recorded.level == "yes"
    assert judged.values.level == "care"


def test_a_record_of_another_robot_is_the_first_line(tmp_path, monkeypatch, capsys):
    """And the exit status is that of a failure."""
    monkeypatch.chdir(tmp_path)
    heavy = {name: (3.0 if name == "tau2" else 1.0) * each for name, each in table().items()}
    write_csv(tmp_path / "heavy.csv", heavy)
    both = study()["experiment"]
    both.append({**both[0], "file": "heavy.csv", "name": "heavy", "use": "validate"})
    status = main(["identify", str(write_study(tmp_path, study(experiment=both)))])
    assert capsys.readouterr().out.startswith("Record 'heavy' is predicted")
    assert status == 1


def test_compare_has_the_same_rows_for_every_method(tmp_path, capsys):
    """Residuals of the methods' own rows are not to be compared."""
    described = study(controller=None, idim__rest_velocity=0.5)
    main(["compare", str(write_study(tmp_path, described)), "--json"])
    (row,) = json.loads(capsys.readouterr().out)["same_rows"]
    assert len(row["residual"]) == 1, "of the methods that ran"
    assert row["use"] == "fit"
