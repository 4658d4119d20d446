"""What a study makes of its records: gains, references, several files, and keys that would do
nothing.
"""

from __future__ import annotations

import numpy as np
import pytest

import didim
from didim.signals.readers.table import Table
from didim.study.guess import guess
from didim.study.names import guessed_columns, guessed_units
from didim.study.template import data_template
from support.files import write_table
from support.studies import study, table, write_csv, write_study


def load(tmp_path, **changes):
    return didim.load_study(write_study(tmp_path, study(**changes)))


@pytest.mark.parametrize("named", [True, False])
def test_control_takes_the_gain_of_the_record_the_loop_or_the_robot(tmp_path, named):
    """Whether the columns are named or found by their usual names."""
    own = {"t": "t", "control1": "tau1", "control2": "tau2", "q1": "q1", "q2": "q2"}
    write_csv(tmp_path / "run.csv", {name: table()[key] for name, key in own.items()})
    columns = {"t": "t", "control": "control*", "q": "q*"}
    record = {"file": "run.csv", **({"columns": columns} if named else {})}
    loop = {"law": "pd", "natural_frequency": 20.0, "drive_gain": [2.0, 3.0]}
    tau = np.column_stack([table()["tau1"], table()["tau2"]])
    found = load(tmp_path, experiment=[record], controller=loop).records[0].tau
    np.testing.assert_allclose(found, tau * [2, 3], rtol=1e-9)
    found = (
        load(tmp_path, experiment=[{**record, "drive_gain": 5.0}], controller=loop).records[0].tau
    )
    np.testing.assert_allclose(found, tau * 5, rtol=1e-9)
    with pytest.raises(didim.InputError, match="control needs drive_gain"):
        _ = load(
            tmp_path, experiment=[record], controller={"law": "pd", "natural_frequency": 20.0}
        ).records


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (
            {"units": {"q_ref": "deg"}},
            "reference.units belongs to a reference with a file of its own",
        ),
        ({"gear": 50.0}, "reference.gear belongs"),
        ({"columns": {"q_ref": "r1"}}, "reference.columns belongs"),
        ({"file": "run.csv"}, "from several places"),
    ],
)
def test_keys_of_a_reference_that_would_do_nothing_are_refused(tmp_path, reference, message):
    with pytest.raises(didim.InputError, match=message):
        _ = load(tmp_path, experiment__0__reference=reference).records


def test_references_from_a_file_the_motion_or_a_column(tmp_path):
    by_column = load(tmp_path, experiment__0__reference={"interpolation": "linear"}).records[0]
    assert by_column.q_ref.interpolation == "linear"
    columns = {"t": "t", "tau": "tau*", "q": "q*"}
    own = {"file": "run.csv", "columns": {"t": "t", "q_ref": "r*"}, "shift": 0.25}
    from_file = load(
        tmp_path, experiment=[{"file": "run.csv", "columns": columns, "reference": own}]
    ).records[0]
    assert from_file.q_ref.span[0] == 0.25
    moved = {"file": "run.csv", "columns": columns, "reference": {"measured_cutoff": 8.0}}
    measured = load(tmp_path, experiment=[moved]).records[0]
    assert "low-passed at 8 Hz" in measured.notes[-1]
    np.testing.assert_allclose(measured.reference().sample(measured.t)[0], measured.q, atol=2e-3)


def test_alignment_finds_what_was_shifted(tmp_path):
    late = {**table(), "t": table()["t"] + 0.05}
    write_table(tmp_path / "late.csv", late)
    own = {"file": "run.csv", "columns": {"t": "t", "q_ref": "r*"}, "align": True}
    record = {"file": "late.csv", "columns": {"t": "t", "tau": "tau*", "q": "q*"}, "reference": own}
    found = load(tmp_path, experiment=[record], controller=None).records[0]
    assert any("The record lags behind its reference by 50 ms" in note for note in found.notes)


def test_a_loop_lags_by_its_gains_and_its_friction():
    """On a ramp g kv (kp e - (1 - ff) dq_r) = Fv dq_r; the simulated lag says the same."""
    from didim.simulation.prepare import loop_lag

    axis = didim.DynamicModel(didim.load_robot("emps"), ["viscous"])
    t = np.arange(0, 2, 0.001)
    for share in (0.0, 0.5, 1.0):
        loop = didim.PD(kp=20.0, kv=50.0, drive_gain=35.0, velocity_reference=share)
        motion = didim.simulate(axis.base, axis.base.nominal, loop, t=t, q_ref=0.1 * t[:, None])
        lag = (0.1 * t[-1] - motion.q[-1, 0]) / 0.1
        np.testing.assert_allclose(loop_lag(axis.base, axis.base.nominal, loop), lag, rtol=1e-3)


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (
            ["time", "desired_position_1", "desired_position_2", "tau1", "tau2"],
            {"q_ref": ["desired_position_1", "desired_position_2"]},
        ),
        (
            ["t", "q_reference1", "q_reference2", "u1", "u2"],
            {"q_ref": ["q_reference1", "q_reference2"], "tau": ["u1", "u2"]},
        ),
        (
            ["stamp", "pos_commanded1", "pos_commanded2"],
            {"q_ref": ["pos_commanded1", "pos_commanded2"]},
        ),
        (["t", "elbow_effort", "shoulder_effort"], {"tau": ["shoulder_effort", "elbow_effort"]}),
        (
            ["Time [s]", "Joint Torque 1 [Nm]", "Joint Torque 2 [Nm]"],
            {"tau": ["Joint Torque 1 [Nm]", "Joint Torque 2 [Nm]"]},
        ),
        (
            ["t", "current1", "current2", "vel1", "vel2"],
            {"control": ["current1", "current2"], "dq": ["vel1", "vel2"]},
        ),
        (["t", "tau1", "tau2", "q2", "q3"], {"tau": ["tau1", "tau2"]}),
        (
            ["time", "elbow.position", "shoulder.position", "elbow.effort", "shoulder.effort"],
            {
                "q": ["shoulder.position", "elbow.position"],
                "tau": ["shoulder.effort", "elbow.effort"],
            },
        ),
    ],
)
def test_columns_are_guessed_from_the_names_that_people_give(names, found):
    guessed = guessed_columns({name: np.zeros(3) for name in names}, ("shoulder", "elbow"))
    assert guessed.pop("t") == names[0]
    assert {key: guessed[key] for key in found} == found


def test_names_of_a_log_cannot_write_keys(tmp_path):
    """A name with a line break stays within its comment."""
    import tomllib

    evil = 'x\n[output]\nresult = "evil.json"\n#'
    model = didim.DynamicModel(didim.load_robot("scara"))
    columns = {"t": np.zeros(3), "tau": np.zeros((3, 2)), "q": np.zeros((3, 2)), evil: np.zeros(3)}
    text = (
        data_template(tmp_path / "s.toml", "scara", model, "run.npz", Table(columns))
        .files[tmp_path / "s.toml"]
        .decode()
    )
    assert "output" not in tomllib.loads(text)


@pytest.mark.parametrize(
    ("names", "units"),
    [
        (
            ["time_ms", "shoulder_pos_deg", "elbow_pos_deg", "shoulder_cmd_deg", "elbow_cmd_deg"],
            {"t": "ms", "q": "deg", "q_ref": "deg"},
        ),
        (["t [s]", "q1 [rad]", "q2 [rad]", "vel1 (deg/s)", "vel2 (deg/s)"], {"dq": "deg/s"}),
        (["time", "pos_1", "pos_2"], {}),
    ],
)
def test_units_are_guessed_from_the_ends_of_names(names, units):
    guessed = guessed_columns({name: np.zeros(3) for name in names}, ("shoulder", "elbow"))
    assert guessed["t"] == names[0]
    assert guessed_units(guessed) == units
    assert ("q_ref" in guessed) == any("cmd" in name for name in names)


def test_names_of_columns_may_have_the_joints_without_their_common_ends():
    joints = ("arm_shoulder_joint", "arm_elbow_joint")
    names = ["time", "elbow_pos", "shoulder_pos", "elbow_torque", "shoulder_torque"]
    guessed = guessed_columns({name: np.zeros(3) for name in names}, joints)
    assert guessed["q"] == ["shoulder_pos", "elbow_pos"]
    assert guessed["tau"] == ["shoulder_torque", "elbow_torque"]


def columns_without_names(*parts) -> Table:
    columns = [column for part in parts for column in np.atleast_2d(np.asarray(part).T)]
    return Table({str(k + 1): column for k, column in enumerate(columns)}, headed=False)


def motion(count=800, rate=100.0):
    t = np.arange(count) / rate
    q = np.column_stack([np.sin(2 * t), np.cos(3 * t) + 0.3 * np.sin(t)])
    return t, q, np.gradient(q, t, axis=0)


def test_columns_without_names_are_guessed_by_what_they_hold():
    t, q, dq = motion()
    rng = np.random.default_rng(0)
    tau, current = rng.standard_normal((2, t.size, 2))
    found = guess(columns_without_names(t, q, dq, tau), ("a", "b"))
    assert found.columns == {"t": 1, "q": "2-3", "dq": "4-5", "tau": "6-7"}
    assert found.missing == []
    found = guess(columns_without_names(tau, dq, q, t, current), ("a", "b"))
    assert found.columns == {"t": 7, "q": "5-6", "dq": "3-4"}
    assert found.missing == ["tau"]
    assert any('"1-2" (up to' in remark and '"8-9" (up to' in remark for remark in found.remarks)


def test_columns_joint_by_joint_in_milliseconds_with_a_reference():
    t, q, dq = motion()
    rough = q + 1e-4 * np.random.default_rng(0).standard_normal(q.shape)
    tau = np.random.default_rng(1).standard_normal(q.shape)
    joint = [np.column_stack([q[:, j], rough[:, j], dq[:, j], tau[:, j]]) for j in (0, 1)]
    found = guess(columns_without_names(np.arange(t.size), 1e3 * t, *joint), ("a", "b"))
    assert found.units == {"t": "ms"}
    assert found.columns == {"t": 2, "q": [4, 8], "dq": [5, 9], "q_ref": [3, 7], "tau": [6, 10]}


def test_columns_that_hold_nothing_of_the_kind_are_asked_for():
    noise = np.random.default_rng(0).standard_normal((500, 5))
    assert guess(columns_without_names(noise), ("a", "b")).missing == ["t", "tau", "q"]
    assert guess(columns_without_names(np.zeros((5, 5))), ("a", "b")).missing == ["t", "tau", "q"]


def test_the_last_part_of_a_record_is_held_out(tmp_path):
    parts = load(tmp_path, experiment__0__hold_out=0.25)
    whole = load(tmp_path).records[0]
    (fit,), (held,) = parts.experiments, parts.validation
    assert fit.t.size + held.t.size == whole.t.size
    assert fit.t[-1] < held.t[0]
    assert held.t.size == round(0.25 * whole.t.size)
    assert held.name == "run (last 25 %)"
    with pytest.raises(didim.InputError, match="belongs to use"):
        _ = load(tmp_path, experiment__0__hold_out=0.25, experiment__0__use="validate").validation


def test_rows_and_the_delay_of_the_torque_are_keys(tmp_path):
    whole = load(tmp_path).records[0]
    part = load(tmp_path, experiment__0__rows=[11, 200], experiment__0__torque_delay=0.02).records[
        0
    ]
    step = float(whole.t[1] - whole.t[0])
    shift = round(0.02 / step)
    np.testing.assert_allclose(part.t, whole.t[10 : 200 - shift])
    np.testing.assert_allclose(part.tau, whole.tau[10 + shift : 200], atol=1e-9)


def test_files_of_each_joint_are_keys(tmp_path):
    for name in ("t", "tau1", "tau2", "q1", "q2"):
        write_csv(tmp_path / f"{name}.csv", {name: table()[name]})
    file = {"t": "t.csv", "tau": ["tau1.csv", "tau2.csv"], "q": ["q1.csv", "q2.csv"]}
    found = load(tmp_path, experiment=[{"file": file, "name": "joints"}])
    assert found.records[0].n == 2
    np.testing.assert_allclose(found.records[0].q[:, 1], table()["q2"], rtol=1e-9)


@pytest.mark.parametrize(("factor", "unit"), [(1.0, {}), (1e3, {"t": "ms"}), (1e6, {"t": "us"})])
def test_a_time_that_is_not_in_seconds_is_seen_by_its_steps(factor, unit):
    t = np.arange(100) / 100.0
    log = Table({"t": factor * t, "tau1": t, "tau2": t, "q1": t, "q2": t})
    assert guess(log, ("a", "b")).units == unit
    assert guess(columns_without_names(factor * t, t % 0.1), ("a",)).units == unit
