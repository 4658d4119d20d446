"""`didim fleet`: the robot that differs and the one that drifts are found, and no other."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from didim.cli import main
from didim.cli.schema import schema_of
from didim.fleet.analysis import Fleet, fleet_of
from didim.fleet.finding import Kind
from didim.fleet.members import Member
from didim.fleet.outliers import centre, compared
from didim.fleet.page import fleet_page
from didim.fleet.pictures import over_robots, over_time
from didim.fleet.row import Row
from didim.fleet.trend import Series, line
from support import many
from support.studies import write_csv

STUDY = """
robot = "scara"
method = "idim"
[[experiment]]
file = "missing.csv"
columns = { t = "t", tau = "tau{j}", q = "q{j}", q_ref = "q{j}" }
[idim]
decimation = 4
lack_of_fit = false
"""


@pytest.mark.slow
def test_the_one_that_differs_and_the_one_that_drifts_are_found_and_no_other():
    good = 0
    for seed in range(10):
        found = many.virtual_fleet(seed, odd=0.3, drift=0.04).findings
        kinds = {(each.robot, each.parameter, each.kind) for each in found}
        wanted = {("arm3", "Fc2", Kind.DIFFERS), ("arm7", "Fc1", Kind.DRIFTS)}
        good += wanted <= kinds and {each.robot for each in found} == {"arm3", "arm7"}
    assert good >= 9


@pytest.mark.slow
def test_a_fleet_without_fault_has_no_finding():
    assert sum(bool(many.virtual_fleet(seed).findings) for seed in range(20, 30)) == 0


def test_levels_and_slopes_are_those_of_generalised_least_squares():
    """Against the solution of the whole linear system, whitened by Cholesky."""
    rng = np.random.default_rng(1)
    m, b = 6, 3
    times = np.array([0.0, 1, 2, 4, 5, 9])
    roots = rng.standard_normal((m, b, b))
    covariances = roots @ roots.transpose(0, 2, 1) + np.eye(b)
    values = rng.standard_normal((m, b))
    factor = np.array([1.0, 2.0, 1.5])
    found = line(Series(times, values, covariances), factor)
    rows, right = [], []
    for t, x, c in zip(times - times.mean(), values, covariances, strict=True):
        whiten = np.linalg.inv(np.linalg.cholesky(np.diag(factor) @ c @ np.diag(factor)))
        rows.append(np.hstack([whiten, t * whiten]))
        right.append(whiten @ x)
    system = np.vstack(rows)
    wanted = np.linalg.lstsq(system, np.concatenate(right), rcond=None)[0]
    variances = np.diag(np.linalg.inv(system.T @ system))
    np.testing.assert_allclose([*found.level, *found.slope], wanted, rtol=1e-9)
    np.testing.assert_allclose([*found.level_variance, *found.slope_variance], variances, rtol=1e-9)


def in_units(fleet: Fleet, scale: np.ndarray, per_day: float, start: float) -> Fleet:
    """The same fleet with other units of its parameters and times."""
    members = [replace(each, time=per_day * each.time + start) for each in fleet.members]
    rows = [
        replace(
            row,
            values=row.values * scale,
            sigma=row.sigma * scale,
            covariance=row.covariance * np.outer(scale, scale),
        )
        for row in fleet.rows
    ]
    return fleet_of(members, rows)


@pytest.mark.parametrize(
    ("per_day", "start"), [(86400.0, 1.77e9), (86400e9, 1.77e18), (1.0, 20000.0), (1 / 365.25, 0.0)]
)
def test_findings_are_the_same_in_all_units(per_day, start):
    fleet = many.virtual_fleet(0, odd=0.4, drift=0.04)
    scale = 10.0 ** np.random.default_rng(0).choice([-6.0, 0.0, 6.0], len(fleet.names))
    other = in_units(fleet, scale, per_day, start)
    close = {"rtol": 1e-9, "atol": 0.0}
    for robot, wanted in fleet.lines.items():
        found = other.lines[robot]
        np.testing.assert_allclose(found.level / scale, wanted.level, **close)
        np.testing.assert_allclose(found.level_variance / scale**2, wanted.level_variance, **close)
        slope = found.slope / scale * per_day
        error = np.abs(slope - wanted.slope) / np.sqrt(wanted.slope_variance)
        assert error.max() < 1e-9
        variance = found.slope_variance / scale**2 * per_day**2
        np.testing.assert_allclose(variance, wanted.slope_variance, **close)
    np.testing.assert_allclose(other.scatter, fleet.scatter, **close)
    for name in ("difference_found_from", "drift_found_from"):
        np.testing.assert_allclose(getattr(other, name), getattr(fleet, name), **close)
    assert {each.kind for each in fleet.findings} == {Kind.DIFFERS, Kind.DRIFTS}
    assert len(other.findings) == len(fleet.findings)
    for found, wanted in zip(other.findings, fleet.findings, strict=True):
        unit = scale[fleet.names.index(wanted.parameter)]
        unit /= per_day if wanted.kind is Kind.DRIFTS else 1.0
        assert (found.kind, found.robot, found.parameter) == (
            wanted.kind,
            wanted.robot,
            wanted.parameter,
        )
        for name in ("value", "sigma", "usual"):
            assert getattr(found, name) / unit == pytest.approx(getattr(wanted, name), rel=1e-9)
        assert found.change == pytest.approx(wanted.change, rel=1e-9)
        assert found.p_value == pytest.approx(wanted.p_value, rel=1e-8)


def test_a_level_is_right_where_the_covariance_is_singular():
    """Two values that vary together by their covariance, but do not; with equal covariances, the
    level is their mean.
    """
    sigma = np.array([1e-8, 1e4])
    values = 3.0 * sigma + sigma * np.random.default_rng(0).standard_normal((6, 2))
    covariances = np.array([np.outer(sigma, sigma)] * 6)
    found = line(Series(np.full(6, np.nan), values, covariances), np.ones(2))
    assert np.abs((found.level - values.mean(axis=0)) / sigma).max() < 1e-5
    np.testing.assert_allclose(found.level_variance, sigma**2 / 6, rtol=1e-6)


def test_the_change_of_a_drift_is_from_the_first_to_the_last_time():
    """With times that are dense at the end: the mean time is not the middle."""
    times = [0.0, 70.0, 80.0, 90.0, 95.0, 100.0]
    row = Row("", "", "{}", 0, status="converged", names=("a",))
    one = {"sigma": np.array([0.001]), "covariance": np.array([[1e-6]])}
    members = [Member(f"{t}", "arm", t) for t in times]
    rows = [replace(row, values=np.array([2.0 + 0.01 * t]), **one) for t in times]
    (found,) = fleet_of(members, rows).findings
    assert found.kind is Kind.DRIFTS
    assert found.value == pytest.approx(0.01, rel=1e-9)
    assert found.change == pytest.approx(0.5, rel=1e-9)


def test_scatter_beyond_the_intervals_is_found_and_makes_trends_less_sure():
    quiet = many.virtual_fleet(0, drift=0.04)
    rng = np.random.default_rng(0)
    rows = [
        replace(row, values=row.values + 3 * row.sigma * rng.standard_normal(row.values.size))
        for row in quiet.rows
    ]
    loud = fleet_of(quiet.members, rows)
    assert np.all(loud.scatter > 2)
    assert np.all(quiet.scatter < 1.5)
    wider = loud.lines["arm1"].slope_variance / quiet.lines["arm1"].slope_variance
    np.testing.assert_allclose(wider, (loud.scatter / quiet.scatter) ** 2, rtol=0.6)


def test_outliers_do_not_hide_each_other():
    x = np.array([1.0, 1.02, 0.98, 1.01, 0.99, 1.0, 1.03, 0.97, 1.0, 1.01, 1.5, 1.52])
    found = compared(x, np.full(12, 1e-4), 1e-3)
    assert set(np.flatnonzero(found.p_values < 1e-3)) == {10, 11}
    assert found.common.count == 10
    assert found.common.mean == pytest.approx(1.0, abs=0.01)


def test_what_a_fleet_would_find_is_what_it_finds():
    """A robot that is moved by a little less is not found, by a little more it is."""
    x, variance = np.array([1.0, 1.02, 0.98, 1.01, 0.99, 1.0]), np.full(6, 1e-4)
    mean = x[1:].mean()
    quiet = compared(np.array([mean, *x[1:]]), variance, 1e-3)
    for factor, is_found in ((0.9, False), (1.1, True)):
        moved = np.array([mean + factor * quiet.found_from, *x[1:]])
        assert (compared(moved, variance, 1e-3).p_values[0] < 1e-3) == is_found
    assert np.isnan(compared(x[:4], variance[:4], 1e-3).found_from)


@pytest.mark.slow
def test_a_fleet_without_finding_says_how_large_a_fault_must_be():
    fleet = many.virtual_fleet(20)
    assert not fleet.findings
    assert [note.split(" by ")[0] for note in fleet.notes] == [
        "To be found, a robot must differ from the others",
        "To be found, a value must drift",
    ]
    k = fleet.names.index("Fc2")
    enough = many.virtual_fleet(20, odd=1.3 * fleet.difference_found_from[k])
    assert ("arm3", "Fc2") in {(each.robot, each.parameter) for each in enough.findings}
    drift = fleet.drift_found_from[fleet.names.index("Fc1")] / 9
    assert any(
        each.kind is Kind.DRIFTS for each in many.virtual_fleet(20, drift=1.5 * drift).findings
    )
    assert not many.virtual_fleet(20, drift=0.3 * drift).findings


def test_the_variance_between_robots_is_what_the_intervals_do_not_explain():
    rng = np.random.default_rng(2)
    variance = np.full(4000, 0.04)
    x = rng.standard_normal(4000) * np.sqrt(variance + 0.25)
    assert centre(x, variance).between == pytest.approx(0.25, rel=0.1)
    assert centre(x * 0.1, variance).between == 0.0


@pytest.mark.parametrize("count", [2, 3, 4])
def test_few_robots_with_short_intervals_have_a_variance_between_them(count):
    for seed in range(50):
        x = np.random.default_rng(seed).standard_normal(count)
        found = centre(x, np.full(count, 1e-30)).between
        assert found == pytest.approx(x.var(ddof=1), rel=1e-9)


def test_few_robots_and_failures_are_told():
    fleet = many.virtual_fleet(0)
    few = fleet_of(fleet.members[:20], fleet.rows[:20])
    assert any("5 robots" in note for note in few.notes)
    one = fleet_of(fleet.members[:3], fleet.rows[:3])
    assert (one.tests, one.findings, len(one.notes)) == (0, (), 2)
    assert b"Nothing could be compared" in fleet_page(one, [""] * 3)
    failed = replace(many.estimated(), status="failed")
    none = fleet_of(fleet.members[:2], [failed, failed])
    assert none.findings == ()
    assert b"No identification can be used" in fleet_page(none, ["", ""])


@pytest.mark.parametrize("second", [{"names": ("b",)}, {"covariance": np.full((1, 1), np.nan)}])
def test_robots_without_common_parameters_are_not_compared(second):
    """Another name, or no interval."""
    row = Row("", "", "{}", 0, status="converged", names=("a",), values=np.ones(1))
    row = replace(row, sigma=np.ones(1), covariance=np.eye(1))
    members = [Member(f"arm{k}_{t}", f"arm{k}", float(t)) for k in range(6) for t in range(5)]
    rows = [row] * 29 + [replace(row, **second)]
    fleet = fleet_of(members, rows)
    assert (fleet.names, fleet.tests, fleet.findings) == ((), 0, ())
    assert over_robots(fleet) == over_time(fleet) == []
    assert [note.split(":")[0] for note in fleet.notes] == ["Nothing can be compared"]
    page = fleet_page(fleet, [""] * len(rows))
    assert b"Nothing can be compared" in page
    assert b'class="banner care"' in page


def test_large_numbers_of_times_are_told_apart_in_the_page():
    row = many.estimated()
    times = [1772323200.0, 1772409600.0]
    fleet = fleet_of([Member(f"{t}", "arm", t) for t in times], [row, row])
    page = fleet_page(fleet, ["", ""]).decode()
    assert all(f"<td>{t:.0f}</td>" in page for t in times)


def test_names_in_the_page_are_escaped():
    fleet = many.virtual_fleet(1, odd=0.5)
    members = [replace(each, robot=f"<b>{each.robot}") for each in fleet.members]
    page = fleet_page(fleet_of(members, fleet.rows), ["a.html"] * len(members)).decode()
    assert "<b>arm3" not in page
    assert "&lt;b&gt;arm3" in page
    assert 'href="a.html"' in page


@pytest.fixture
def logs(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.toml").write_text(STUDY)
    for seed in range(3):
        record = many.record(seed)
        columns = {"t": record.t}
        for j in range(2):
            columns |= {f"tau{j + 1}": record.tau[:, j], f"q{j + 1}": record.q[:, j]}
        write_csv(tmp_path / f"arm{seed}_day1.csv", columns)
    (tmp_path / "arm3_day1.csv").write_text("t,tau1\n1,2\n")
    return tmp_path


@pytest.mark.slow
def test_the_command_writes_a_page_that_links_to_the_single_ones(logs, capsys):
    command = ["fleet", "arm.toml", "--logs", "arm?_*.csv", "--jobs", "1"]
    assert main([*command, "--name", "{robot}_day{time}", "--out", "out", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, schema_of("fleet"))
    assert found["robots"] == ["arm0", "arm1", "arm2"]
    assert [each["status"] == "converged" for each in found["members"]] == [True] * 3 + [False]
    assert "arm3_day1.csv" in found["members"][3]["reason"]
    assert found["files"][0] == "out/fleet.html"
    page = Path("out/fleet.html").read_text()
    links = [each.split('"')[0] for each in page.split('href="')[1:] if each[0] == "r"]
    assert len(links) == 3
    assert all((Path("out") / link).exists() for link in links)
    assert main([*command, "--out", "out"]) == 1  # nothing is missing, robots by their names
    assert "3 of 4 identifications used" in capsys.readouterr().out


@pytest.mark.slow
def test_a_page_that_fails_does_not_cost_the_text(logs, capsys, monkeypatch):
    def broken(*_: object) -> bytes:
        raise KeyError("emps")

    monkeypatch.setattr("didim.fleet.page.fleet_page", broken)
    command = ["fleet", "arm.toml", "--logs", "arm0_*.csv", "--jobs", "1", "--out", "out"]
    assert main(command) == 1
    printed = capsys.readouterr()
    assert "1 of 1 identifications used" in printed.out
    assert "out/table.parquet" in printed.out
    assert "fleet.html" not in printed.out
    assert len(printed.err.splitlines()) == 1
    assert "fleet.html was not written" in printed.err


@pytest.mark.slow
def test_names_that_are_not_utf8_and_logs_that_are_given_twice_are_in_the_answer(logs, capsys):
    name = "bad\udcff_2026-03-04.csv"
    try:
        Path("arm0_day1.csv").rename(name)
    except OSError:
        pytest.skip("file names are UTF-8 here")
    command = ["fleet", "arm.toml", "--logs", "bad*", "--logs", str(logs / name), "--jobs", "1"]
    assert main([*command, "--out", "out", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, schema_of("fleet"))
    assert found["robots"] == [r"bad\udcff"]
    assert [each["robot"] for each in found["members"]] == found["robots"]
    assert any(r"bad\udcff_2026-03-04.csv" in note for note in found["notes"])


def test_wrong_use_is_one_line(logs, capsys):
    (logs / "folder").mkdir()
    for arguments in (
        ["."],
        ["/"],
        [""],
        ["folder"],
        ["arm.toml", "--logs", ""],
        ["arm.toml", "--logs", "/"],
        ["arm.toml", "--logs", "folder/.."],
        ["arm.toml", "--logs", "a**.csv"],
        ["arm.toml", "--logs", "*.csv", "--name", "{robot}{robot}"],
        ["arm.toml", "arm.toml", "--logs", "*.csv"],
        ["arm.toml", "--logs", "none*.csv"],
        ["arm.toml", "--scheduler", "tcp://127.0.0.1:1"],
        ["arm.toml", "--logs", "*.csv", "--name", "{x}"],
    ):
        assert main(["fleet", *arguments, "--jobs", "1"]) == 2
        error = capsys.readouterr().err
        assert len(error.splitlines()) == 1
        assert "internal error" not in error
