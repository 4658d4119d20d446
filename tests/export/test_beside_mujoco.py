"""MuJoCo in the loop of an identified robot: it moves as didim's own simulation does."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import didim
from didim.cli import main
from support.mjcf import PANDA, PENDULUM, QUADRUPED

SMOOTH = PENDULUM.replace('frictionloss="0.05"', "")


def record_of(path, loop=None, seconds=2.0, seed=2, effects=None, **more):
    model = didim.DynamicModel(didim.load_robot(path, **more), effects)
    loop = loop or didim.load_controller(path, **more)
    trajectory = didim.Fourier.random(model.robot, seed, period=seconds, periods=1, harmonics=3)
    record, _ = didim.virtual_experiment(
        model, model.nominal, loop, trajectory, rate=200, encoder=5e-5, seed=1, name="v"
    )
    return model, loop, record


@pytest.fixture
def file(tmp_path):
    def written(text):
        (tmp_path / "robot.xml").write_text(text)
        return tmp_path / "robot.xml"

    return written


@pytest.mark.slow
@pytest.mark.parametrize(
    "loop",
    [
        None,
        didim.PD.parallel(Kp=300.0, Kd=25.0),
        didim.PD(kp=12.0, kv=25.0, rate=500.0, delay=2),
        didim.PD(kp=12.0, kv=25.0, rate=200.0, saturation=9.0, velocity_reference=0.5),
    ],
    ids=["servo", "parallel", "delayed", "saturated"],
)
def test_without_friction_both_simulations_are_one(file, tmp_path, loop):
    path = file(SMOOTH)
    model, loop, record = record_of(path, loop)
    estimate = didim.identify(
        model, record, didim.DIDIM(controller=loop, decimation=4, transient=0.3)
    )
    exported = tmp_path / "identified.xml"
    estimate.to_robot(exported, like=path)
    for source in (None, exported):
        found = didim.beside_mujoco(estimate, record, source)
        assert found.difference.max() < 2e-6
        assert found.errors[1] == pytest.approx(found.errors[0], rel=0.05)


@pytest.mark.long
def test_exported_panda_reproduces_the_record(file, tmp_path):
    path = file(PANDA)
    model, loop, record = record_of(path, seconds=3.0, seed=3)
    method = didim.OutputError(controller=loop, output="position", decimation=4, transient=0.3)
    estimate = didim.identify(model, record, method)
    assert estimate.status == "converged"
    estimate.to_robot(tmp_path / "identified.xml", like=path)
    one, other = didim.beside_mujoco(estimate, record, tmp_path / "identified.xml").errors
    assert np.all(other < 1.2 * one)
    estimate.to_robot(tmp_path / "stiff.xml", like=path, stiff_friction=True)
    one, other = didim.beside_mujoco(estimate, record, tmp_path / "stiff.xml").errors
    assert np.all(other < 1.1 * one)


def test_a_robot_whose_base_is_held(file, tmp_path):
    lock = {"base_joint": 0.0}
    path = file(QUADRUPED.replace('frictionloss="0.2"', ""))
    effects = ["rotor", "viscous"]
    model, loop, record = record_of(path, seconds=1.0, effects=effects, lock=lock)
    estimate = didim.identify(model, record, didim.IDIM(controller=loop, cutoff=None))
    values = model.base.matrix @ model.nominal
    estimate = replace(estimate, values=values, controller=loop)
    estimate.to_robot(tmp_path / "identified.xml", like=path)
    for source in (None, tmp_path / "identified.xml"):
        assert didim.beside_mujoco(estimate, record, source).difference.max() < 1e-5


def test_loops_that_are_not_compared_say_so(file):
    path = file(SMOOTH)
    model, loop, record = record_of(path)
    estimate = didim.identify(
        model, record, didim.DIDIM(controller=loop, decimation=4, transient=0.3)
    )
    for other, message in (
        (None, "no loop is known"),
        (didim.PID(kp=5.0, kv=9.0, ki=1.0), "a PID"),
        (didim.PD(kp=5.0, kv=9.0, rate=500.0, encoder=1e-4), "has an encoder"),
    ):
        with pytest.raises(didim.InputError, match=message):
            didim.beside_mujoco(replace(estimate, controller=other), record)
    with pytest.raises(didim.InputError, match="no such file"):
        didim.beside_mujoco(estimate, record, "none.xml")
    with pytest.raises(didim.InputError, match=r"takes a didim.Estimate"):
        didim.beside_mujoco(5, record)


@pytest.mark.slow
def test_command_and_report(file, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["init", "study.toml", "--robot", str(file(PENDULUM))]) == 0
    short = ["--set", "experiment.between=[0,4]"]
    out = ["--out", "result.json", "--robot-out", "identified.xml", "--report", "r.html"]
    assert main(["identify", "study.toml", *short, *out]) == 0
    assert "Does MuJoCo move like this model?" in (tmp_path / "r.html").read_text()
    capsys.readouterr()
    command = [
        "simulate",
        "study.toml",
        *short,
        "--with",
        "result.json",
        "--mujoco",
        "identified.xml",
    ]
    assert main([*command, "--picture", "difference.png", "--json"]) == 0
    (motion,) = json.loads(capsys.readouterr().out)["motions"]
    assert motion["mujoco"]["difference"][0] < 1e-3
    assert (tmp_path / "difference.png").stat().st_size > 10_000
    assert main([*command, "--force"]) == 0
    assert "pivot: difference" in capsys.readouterr().out
    for wrong, message in (
        (["simulate", "study.toml", "--mujoco"], "--with result.json"),
        (["simulate", "study.toml", "--picture", "a.png"], "give --mujoco as well"),
    ):
        assert main([*wrong, "--force"]) == 2
        assert message in capsys.readouterr().err
    assert not (tmp_path / "MUJOCO_LOG.TXT").exists()
