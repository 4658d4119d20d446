"""Estimates: tables, intervals, prediction, validation, saving and loading."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import didim
from support.virtual import loop, model, scara_record


@pytest.fixture(scope="module")
def estimates():
    experiment, _ = scara_record(noise=0.1)
    later, _ = scara_record(noise=0.1, seed=7, period=9.1)
    return {
        "IDIM": didim.identify(model(), experiment, didim.IDIM(), validation=later),
        "DIDIM": didim.identify(
            model(), experiment, didim.DIDIM(controller=loop()), validation=[later, experiment]
        ),
    }, experiment


@pytest.mark.slow
def test_sigma_is_that_of_the_covariance(estimates):
    """Tests (19)."""
    for found in estimates[0].values():
        assert np.allclose(found.sigma**2, np.diag(found.covariance))
        assert np.allclose(found.relative_sigma, 100 * found.sigma / np.abs(found.values))


@pytest.mark.slow
def test_intervals_widen_with_the_level(estimates):
    found = estimates[0]["IDIM"]
    half = [np.diff(found.interval(level), axis=1)[:, 0] / 2 for level in (0.5, 0.95, 0.99)]
    assert np.all(half[0] < half[1])
    assert np.all(half[1] < half[2])
    assert np.allclose(half[1], 1.96 * found.corrected_sigma, rtol=0.01)
    with pytest.raises(didim.InputError, match=r"95 % is 0.95"):
        found.interval(95)


def test_prediction_is_the_torque_and_validation_its_residual(estimates):
    for found in estimates[0].values():
        experiment = estimates[1]
        error = np.asarray(experiment.tau) - found.predict(experiment)
        assert np.linalg.norm(error) / np.linalg.norm(experiment.tau) == pytest.approx(0.1, rel=0.1)
        assert found.validate(experiment).residual == pytest.approx(found.residual, rel=0.1)
        assert found.validation[0].residual < 1.3 * found.residual
        assert found.validation[0].rows > 100


def test_validation_sees_a_wrong_model(estimates):
    found, experiment = estimates[0]["DIDIM"], estimates[1]
    wrong = replace(found, values=found.values * 1.2)
    assert wrong.validate(experiment).residual > 3 * found.residual


def test_the_summary_is_table_1_with_notes(estimates):
    text = estimates[0]["DIDIM"].summary()
    for piece in (
        "DIDIM of scara: converged",
        "ZZ1R",
        "% sigma",
        "2 sigma",
        "95 % interval",
        "residual",
        "condition number",
        "validation",
    ):
        assert piece in text
    assert "zero within the 95 % interval): Fv1" in text


@pytest.mark.slow
def test_the_frame_has_a_row_for_each_parameter(estimates):
    frame = estimates[0]["IDIM"].to_frame()
    assert list(frame.index) == list(estimates[0]["IDIM"].names)
    assert np.allclose(frame["sigma"], estimates[0]["IDIM"].sigma)


@pytest.mark.parametrize("method", ["IDIM", "DIDIM"])
def test_save_and_load_lose_nothing(estimates, method, tmp_path):
    found, experiment = estimates[0][method], estimates[1]
    path = found.save(tmp_path / "a.json")
    again = didim.load_estimate(path)
    assert again.summary() == found.summary()
    assert np.array_equal(again.corrected_covariance, found.corrected_covariance)
    assert np.array_equal(again.predict(experiment), found.predict(experiment))
    assert again.provenance == json.loads(json.dumps(found.provenance))
    assert len(again.history) == len(found.history)
    for one, two in zip(again.history, found.history, strict=True):
        assert np.array_equal(one.parameters, two.parameters)
        assert one.guards == two.guards
    assert repr(again.controller) == repr(found.controller) or method == "DIDIM"


def test_what_is_saved_says_where_it_comes_from(estimates, tmp_path):
    content = json.loads(estimates[0]["DIDIM"].save(tmp_path / "a.json").read_text())
    origin = content["provenance"]
    assert origin["versions"]["didim"] == didim.__version__
    assert len(origin["data"][0]["sha256"]) == 64
    assert "natural_frequency" in origin["settings"]["controller"]
    assert "NaN" not in (tmp_path / "a.json").read_text()


def test_unknown_is_null(tmp_path):
    experiment, _ = scara_record()
    failed = didim.identify(
        model(), experiment, didim.DIDIM(controller=didim.PD(kp=100.0, kv=1e6, rate=200))
    )
    content = json.loads(failed.save(tmp_path / "a.json").read_text())
    assert content["sigma"] == [None] * 8
    assert content["residual"] is None
    assert didim.load_estimate(tmp_path / "a.json").status == "diverged"


def test_nothing_is_written_over(estimates, tmp_path):
    found = estimates[0]["IDIM"]
    found.save(tmp_path / "a.json")
    before = (tmp_path / "a.json").read_bytes()
    with pytest.raises(didim.InputError, match="exists already"):
        found.save(tmp_path / "a.json")
    (tmp_path / "b.npz").write_text("mine")
    with pytest.raises(didim.InputError, match=r"b.npz exists already"):
        found.save(tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == before
    found.save(tmp_path / "a.json", overwrite=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "a.npz", "b.npz"]


def test_broken_files_are_named(estimates, tmp_path):
    found = estimates[0]["IDIM"]
    with pytest.raises(didim.InputError, match=r"ends in \.json"):
        found.save(tmp_path / "a.txt")
    with pytest.raises(didim.InputError, match="cannot be written"):
        found.save(tmp_path / "nowhere" / "a.json")
    with pytest.raises(didim.InputError, match="cannot be read"):
        didim.load_estimate(tmp_path / "none.json")
    (tmp_path / "text.json").write_text("{")
    (tmp_path / "text.npz").write_text("")
    with pytest.raises(didim.InputError, match="is no JSON file"):
        didim.load_estimate(tmp_path / "text.json")
    (tmp_path / "text.json").write_text("{}")
    with pytest.raises(didim.InputError, match="is no saved estimate"):
        didim.load_estimate(tmp_path / "text.json")
    path = found.save(tmp_path / "a.json")
    path.with_suffix(".npz").write_bytes(b"changed")
    with pytest.raises(didim.InputError, match="was changed"):
        didim.load_estimate(path)
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {"didim_estimate": 99}))
    with pytest.raises(didim.InputError, match="format 99"):
        didim.load_estimate(path)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("gains", "x"),
        ("names", [1]),
        ("names", []),
        ("residual", "x"),
        ("freedom", {}),
        ("message", None),
        ("status", 3),
        ("model", {}),
    ],
)
def test_tampered_files_are_named(estimates, tmp_path, field, value):
    path = estimates[0]["IDIM"].save(tmp_path / "a.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {field: value}))
    with pytest.raises(didim.InputError, match="is damaged"):
        didim.load_estimate(path)


def test_a_folder_in_the_way_leaves_nothing_behind(estimates, tmp_path):
    (tmp_path / "a.json").mkdir()
    with pytest.raises(didim.InputError, match="it is a folder"):
        estimates[0]["IDIM"].save(tmp_path / "a.json", overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


LOOPS = [
    didim.PD(kp=1.0, kv=2.0, saturation=[np.inf, 1000.0]),
    didim.PD.parallel(Kp=20.0, Kd=0.6),
    didim.PID(natural_frequency=[20.0, 50.0], integral_time=0.5),
    didim.Cascade(kp=3.0, kv=4.0, kiv=5.0, rate=500, delay=1, saturation=[9.0, 8.0]),
    didim.ComputedTorque(
        natural_frequency=20.0, model=didim.DynamicModel(didim.load_robot("scara"))
    ),
]


@pytest.mark.parametrize("controller", LOOPS, ids=lambda each: type(each).__name__)
def test_controllers_come_back(controller, estimates, tmp_path):
    found = replace(estimates[0]["DIDIM"], controller=controller)
    again = didim.load_estimate(found.save(tmp_path / "a.json")).controller
    assert type(again) is type(controller)
    for name in (
        "natural_frequency",
        "kp",
        "kv",
        "damping",
        "rate",
        "delay",
        "saturation",
        "velocity_reference",
    ):
        one, two = getattr(again, name), getattr(controller, name)
        assert (one is None and two is None) or np.array_equal(np.asarray(one), np.asarray(two))


@pytest.mark.parametrize("robot", didim.shipped_robots())
def test_robots_come_back(robot):
    from didim.robot.serialisation import plain_robot, robot_of

    one = didim.load_robot(robot)
    two = robot_of(json.loads(json.dumps(plain_robot(one))))
    a, b = didim.DynamicModel(one), didim.DynamicModel(two)
    assert a.parameter_names == b.parameter_names
    assert np.array_equal(a.nominal, b.nominal, equal_nan=True)
    q, dq, ddq = np.random.default_rng(0).uniform(-1, 1, (3, 4, one.n))
    on = {name: np.ones(4) for name in a.channels}
    assert np.array_equal(*(each.regressor(q, dq, ddq, signals=on) for each in (a, b)))
    assert np.array_equal(one.drive_gain, two.drive_gain)
    assert np.array_equal(one.position_limits, two.position_limits)
