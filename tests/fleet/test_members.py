"""The files of a fleet: robots and times by their names, each file once."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

import didim
from didim.fleet.members import member_of, members_of_fleet

STUDY = """
robot = "scara"
method = "idim"
[[experiment]]
file = "missing.csv"
"""

NOON = "2026-03-01T12:00:00+00:00"
TIMED = "2026-03-01T12:30:15+00:00"


def days(text: str) -> float:
    return datetime.fromisoformat(text).timestamp() / 86400


@pytest.mark.parametrize(
    ("name", "robot", "time"),
    [
        ("arm7_2026-03-01.csv", "arm7", "2026-03-01T00:00:00+00:00"),
        ("arm7-20260301.csv", "arm7", "2026-03-01T00:00:00+00:00"),
        ("20260301_arm7.mcap", "arm7", "2026-03-01T00:00:00+00:00"),
        ("2026-03-01.csv", "robot", "2026-03-01T00:00:00+00:00"),
        ("arm7_2026-03-01.csv.gz", "arm7", "2026-03-01T00:00:00+00:00"),
        ("arm7_2026-03-01T12-00.csv", "arm7", NOON),
        ("arm7_2026-03-01_12-00-00.csv", "arm7", NOON),
        ("arm7_2026-03-01-12-30-15.bag", "arm7", TIMED),
        ("arm7_2026-03-01_12-30-15.csv", "arm7", TIMED),
        ("2026-03-01T12:30:15_arm7.csv", "arm7", TIMED),
        ("arm7_20260301_123015.csv", "arm7", TIMED),
        ("arm7_20260301-1200.csv", "arm7", NOON),
        ("arm7_20260301T123015Z.csv", "arm7", TIMED),
        ("arm7_2026-03-01T12:30:15Z.csv", "arm7", TIMED),
        ("arm7_2026-03-01T12-00Z.csv", "arm7", NOON),
        ("arm7_2026-03-01T14:30:15+02:00.csv", "arm7", TIMED),
        ("arm7_2026-03-01T14:00+0200.csv", "arm7", NOON),
        ("arm7_2026-03-01T07:00-05:00.csv", "arm7", NOON),
        ("arm7_2026-03-01_07-30-15-0500.csv", "arm7", TIMED),
        ("arm7_20260301T180015+0530.csv", "arm7", TIMED),
        ("arm7_2026-03-01T12:30:15.250.csv", "arm7", "2026-03-01T12:30:15.250+00:00"),
        # a serial number beside the date, the number of a run, letters after the time
        ("arm20190412_2026-03-01.csv", "arm20190412", "2026-03-01T00:00:00+00:00"),
        ("arm7_2026-03-01_3.csv", "arm7_3", "2026-03-01T00:00:00+00:00"),
        ("arm7_2026-03-01_9999.csv", "arm7_9999", "2026-03-01T00:00:00+00:00"),
        ("arm7_2026-03-01_12-00-007.csv", "arm7-007", NOON),
        ("arm7_2026-03-01_12-00_Zero.csv", "arm7_Zero", NOON),
        ("arm7_1772323200.csv", "arm7_1772323200", None),
        ("arm7_12026-03-011.csv", "arm7_12026-03-011", None),
    ],
)
def test_a_date_in_a_name_is_the_time_and_the_rest_is_the_robot(name, robot, time):
    found = member_of(Path(name))
    assert (found.robot, found.is_date) == (robot, time is not None)
    assert found.time == (None if time is None else pytest.approx(days(time), rel=1e-12))


@pytest.mark.parametrize(
    ("name", "pattern", "robot", "time"),
    [
        ("logs/arm1_day03.csv", "{robot}_day{time}", "arm1", 3.0),
        ("logs/arm1_day03.csv.gz", "{robot}_day{time}", "arm1", 3.0),
        ("logs/arm1/7.5.csv", "{robot}/{time}", "arm1", 7.5),
        ("arm_1_-2e3.csv", "{robot}_{time}", "arm_1", -2000.0),
        ("arm_1_1772323200.csv", "{robot}_{time}", "arm_1", 1772323200.0),
        ("arm1_1970-01-03.csv", None, "arm1", 2.0),
        ("arm_1_1970-01-03_12-00.csv", "{robot}_{time}", "arm_1", 2.5),
        ("arm1_19700103.csv", "{robot}_{time}", "arm1", 2.0),
        ("1970-01-03T12:00_arm1.csv", None, "arm1", 2.5),
        ("arm1.toml", None, "arm1", None),
        ("arm1.toml", "{robot}", "arm1", None),
    ],
)
def test_robot_and_time_by_the_name_of_a_file(name, pattern, robot, time):
    found = member_of(Path(name), pattern)
    assert (found.robot, found.time) == (robot, time)


@pytest.mark.parametrize(
    "pattern", ["{arm}", "no field", "{robot}_day{time}", "x{time}", "{robot}{robot}"]
)
def test_patterns_that_do_not_fit_are_refused(pattern):
    with pytest.raises(didim.InputError, match="--name"):
        member_of(Path("xarm.csv"), pattern)


@pytest.mark.parametrize("pattern", [None, "{robot}_{time}"])
def test_a_day_that_no_month_has_is_refused(pattern):
    with pytest.raises(didim.InputError, match="2026-02-30"):
        member_of(Path("arm_2026-02-30.csv"), pattern)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.toml").write_text(STUDY)
    for day in (1, 2):
        (tmp_path / f"arm_2026-03-0{day}.csv").write_text("t\n")
    return tmp_path


def test_a_log_that_is_given_by_several_paths_counts_once(folder):
    (folder / "a_link_2026-03-03.csv").symlink_to("arm_2026-03-01.csv")
    (folder / "loop.csv").symlink_to("loop.csv")
    patterns = ["*.csv", "arm_*", str(folder / "arm_2026-03-02.csv")]
    found = members_of_fleet(["arm.toml"], patterns, None, [])
    logs = [Path(settings["experiment.0.file"]) for _, settings, _ in found.tasks]
    assert sorted(each.name for each in logs) == [
        "arm_2026-03-01.csv",
        "arm_2026-03-02.csv",
        "loop.csv",
    ]
    assert all(each.is_absolute() for each in logs)
    days_of_arm = {each.time for each in found.members if each.robot == "arm"}
    assert days_of_arm == {days(f"2026-03-0{day}T00:00:00+00:00") for day in (1, 2)}
    assert sorted(found.repeated) == ["a_link_2026-03-03.csv", "arm_2026-03-02.csv"]


def test_a_study_that_is_given_twice_counts_once_but_not_its_link_in_another_folder(folder):
    other = folder / "other"
    other.mkdir()
    (other / "arm.toml").symlink_to("../arm.toml")  # with the log of that folder
    studies = ["arm.toml", str(folder / "arm.toml"), "other/arm.toml"]
    found = members_of_fleet(studies, [], None, [])
    assert [each.name for each in found.members] == ["arm.toml", "other/arm.toml"]
    assert found.repeated == (str(folder / "arm.toml"),)


def test_dates_and_numbers_are_not_mixed(folder):
    (folder / "arm_3.csv").write_text("t\n")
    with pytest.raises(didim.InputError, match=r"arm_2026-03-02\.csv.*arm_3\.csv"):
        members_of_fleet(["arm.toml"], ["*.csv"], "{robot}_{time}", [])


def test_names_that_are_not_utf8_are_printable():
    found = member_of(Path("bad\udcff_2026-03-04.csv"))
    assert (found.name, found.robot) == (r"bad\udcff_2026-03-04.csv", r"bad\udcff")
    assert member_of(Path("bad\udcff_4.csv"), "{robot}_{time}").robot == r"bad\udcff"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("run1e999.csv", "beyond 1e"),
        ("run-1e308.csv", "beyond 1e"),
        ("run9999-12-31T23:59:59.9.csv", "is no date"),
    ],
)
def test_times_beyond_any_clock_are_refused(name, words):
    with pytest.raises(didim.InputError, match=words) as refusal:
        member_of(Path(name), "run{time}")
    assert "\n" not in str(refusal.value)
