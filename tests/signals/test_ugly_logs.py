"""Logs as people send them: each is read as it was meant, with a note of what was done, or refused
in one line that says what to do.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

import didim

N = 400
T = np.arange(N) / 100.0
TAU = np.round(np.column_stack([12.5 + np.sin(3 * T), 1500.0 * np.cos(2 * T)]), 4)
Q = np.round(np.column_stack([np.sin(T), np.cos(T)]), 6)
ROWS = np.column_stack([T, TAU, Q])
NAMES = ["t", "tau1", "tau2", "q1", "q2"]


def text(
    rows=ROWS,
    header: str | None = ",".join(NAMES),
    separator: str = ",",
    end: str = "\n",
    cell: Callable[[float], str] = repr,
) -> str:
    lines = [] if header is None else [header]
    lines += [separator.join(cell(float(value)) for value in row) for row in rows]
    return end.join(lines) + end


def with_line(at: int, line: str) -> str:
    """The usual log with one more line before row `at`."""
    lines = text().splitlines()
    return "\n".join([*lines[: at + 1], line, *lines[at + 1 :]]) + "\n"


def changed(at, column: int, value) -> np.ndarray:
    rows = ROWS.copy()
    rows[at, column] = value
    return rows


def comma(value: float) -> str:
    return repr(value).replace(".", ",")


def grouped(value: float) -> str:
    return f"{value:,.6f}"


@dataclass(frozen=True)
class Log:
    """A log, and what is expected of it."""

    content: str | bytes
    keep: np.ndarray = field(default_factory=lambda: np.arange(N))
    """Rows that are read."""
    note: str = ""
    """A part of the notes."""
    error: str = ""
    """A part of the message, where it is refused."""
    settings: dict = field(default_factory=dict)
    name: str = "log.csv"


NUMBERS = {"t": 1, "tau": "2-3", "q": "4-5"}
NAMED = {"t": "t", "tau": "tau*", "q": "q*"}
BROKEN_LINE = "4.2,1.0,2.0,0"
TIMES = [f"2026-05-01 12:00:{2 + t:09.6f}" for t in T]

LOGS = {
    "locale commas": Log(text(header=";".join(NAMES), separator=";", cell=comma), note="comma"),
    "tabs and locale commas": Log(text(header="\t".join(NAMES), separator="\t", cell=comma)),
    "blanks and locale commas": Log(text(header=" ".join(NAMES), separator="  ", cell=comma)),
    "quoted locale commas": Log(
        text(cell=lambda value: f'"{comma(value)}"'),
        note="comma",
    ),
    "thousands": Log(text(header=";".join(NAMES), separator=";", cell=grouped)),
    "quoted thousands": Log(text(cell=lambda value: f'"{grouped(value)}"')),
    "continental thousands": Log(
        text(
            header=";".join(NAMES),
            separator=";",
            cell=lambda value: grouped(value).translate(str.maketrans(",.", ".,")),
        )
    ),
    "quoted numbers": Log(text(cell=lambda value: f'"{value!r}"')),
    "three lines of header": Log("Robot log, version 2\nsaved 2026-05-01\n" + text()),
    "a row of units": Log("t,tau1,tau2,q1,q2\ns,Nm,Nm,rad,rad\n" + text(header=None)),
    "a row of other units": Log(
        "t,tau1,tau2,q1,q2\n[ms],[Nm],[Nm],[rad],[rad]\n" + text(header=None),
        error='its header gives t in ms; declare it, units = { t = "ms" }',
    ),
    "amperes in the row of units": Log(
        "t,tau1,tau2,q1,q2\ns,A,A,rad,rad\n" + text(header=None),
        error="amperes are not a torque",
    ),
    "a long block of nan": Log(
        text(changed(slice(100, 150), 1, np.nan)),
        error="50 rows have no value of tau (row 101), 12 % of 400 rows; all values must be finite",
    ),
    "a short block of nan": Log(
        text(changed(slice(100, 103), 1, np.nan)),
        keep=np.r_[0:100, 103:N],
        note="3 rows have no value of tau (row 101): left out.",
    ),
    "a column of nan that nobody needs": Log(
        text(np.column_stack([ROWS, np.full(N, np.nan)]), ",".join([*NAMES, "temperature"]))
    ),
    "inf": Log(text(changed(7, 2, np.inf)), keep=np.r_[0:7, 8:N], note="no value of tau (row 8)"),
    "NULL": Log(
        text().replace(text().splitlines()[6], "0.05,NULL,NULL,NULL,NULL"), keep=np.r_[0:5, 6:N]
    ),
    "the header again": Log(with_line(200, ",".join(NAMES)), note="1 line of text among the rows"),
    "an event between rows": Log(with_line(200, "EVENT start of motion"), note="line 202"),
    "times out of order": Log(
        text(ROWS[np.r_[0:100, 101, 100, 102:N]]),
        keep=np.r_[0:100, 101:N],
        note="1 row comes before an earlier time",
    ),
    "times in disorder": Log(
        text(ROWS[np.random.default_rng(0).permutation(N)]), error="sort the log by its time"
    ),
    "a clock that starts again": Log(
        text(np.vstack([ROWS[:150], ROWS[:250]])),
        error="t must rise, but falls at row 151 from 1.49 to 0; was the log started again, or "
        "does its clock wrap around? Take one part of it: rows = [151, 400]",
    ),
    "one part of it": Log(
        text(np.vstack([ROWS[:150], ROWS[:250]])),
        keep=np.arange(250),
        settings={"rows": [151, 400]},
    ),
    "repeated samples": Log(text(np.repeat(ROWS, 2, axis=0)), note="400 samples repeat the time"),
    "a mark of UTF-8": Log(text().encode("utf-8-sig")),
    "UTF-16": Log(text().encode("utf-16")),
    "UTF-16 without a mark": Log(text().encode("utf-16-le")),
    "a degree sign of 1252": Log(text(header="t,tau1,tau2,q1,q2\n" + "#\xb0").encode("cp1252")),
    "semicolons": Log(text(header=";".join(NAMES), separator=";")),
    "semicolons at the end": Log(text(header=";".join(NAMES), separator=";", end=";\n")),
    "commas at the end, not of the header": Log(
        ",".join(NAMES) + "\n" + text(header=None, end=",\n")
    ),
    "tabs": Log(text(header="\t".join(NAMES), separator="\t")),
    "tabs and blanks": Log(text(header="t tau1\ttau2  q1 q2", separator=" \t ")),
    "bars": Log(text(header="|".join(NAMES), separator=" | ")),
    "a header of another separator": Log(
        "# " + ", ".join(NAMES) + "\n" + text(header=None, separator=" ")
    ),
    "line ends of Windows": Log(text(end="\r\n")),
    "line ends of old Macs": Log(text(end="\r")),
    "empty lines": Log(text(end="\n\n")),
    "remarks at the end": Log(text() + "# end of the log\n% bye\n"),
    "a sentence at the end": Log(text() + "end of the log\n", note="'end of the log'"),
    "remarks behind the numbers": Log(text(end=" # ok\n").replace("q2 # ok", "q2")),
    "a last line that is cut off": Log(
        text() + "4.0,12", note="1 line is damaged (line 402, '4.0,12'): left out."
    ),
    "a broken line": Log(with_line(200, BROKEN_LINE), note=f"(line 202, '{BROKEN_LINE}')"),
    "broken lines": Log(
        text() + 5 * f"{BROKEN_LINE}\n",
        error="5 lines are damaged (line 402, '4.2,1.0,2.0,0'), 1.2 % of 405 rows",
    ),
    "broken lines beside the part": Log(
        text() + 5 * f"{BROKEN_LINE}\n", keep=np.arange(399), settings={"rows": [1, 399]}
    ),
    "milliseconds": Log(text(ROWS * [1e3, 1, 1, 1, 1]), settings={"units": {"t": "ms"}}),
    "microseconds, not said": Log(
        text(np.column_stack([T * 1e6, ROWS[:, 1:]])),
        note="A sample comes every 1e+04 s",
        settings={"unit": 1e6},
    ),
    "seconds since 1970": Log(text(ROWS + np.eye(5)[0] * 1.7e9), settings={"origin": 1.7e9}),
    "dates": Log(
        "t,tau1,tau2,q1,q2\n"
        + "\n".join(
            f"{at},{row}"
            for at, row in zip(TIMES, text(ROWS[:, 1:], None).splitlines(), strict=True)
        ),
        settings={"origin": 1777636802.0},
    ),
    "empty columns": Log(
        "\n".join(
            ["t,,tau1,tau2,q1,q2"]
            + [line.replace(",", ",,", 1) for line in text(header=None).splitlines()]
        )
    ),
    "a column of words": Log(
        "\n".join(
            ["t,mode,tau1,tau2,q1,q2"]
            + [line.replace(",", ",AUTO,", 1) for line in text(header=None).splitlines()]
        ),
        note="Columns of words were not read: mode.",
    ),
    "one sample": Log(text(ROWS[:1]), error="there is one row only"),
    "no sample": Log(",".join(NAMES), error="there is no row of numbers"),
    "words only": Log("this is\nnot a log\nat all\n", error="there is no row of numbers"),
    "pandas' numbered columns": Log(
        text(header="0,1,2,3,4"), note="only numbers the columns", settings={"columns": NUMBERS}
    ),
    "pandas' index and numbered columns": Log(
        text(np.column_stack([np.arange(N), ROWS]), header=",0,1,2,3,4"),
        settings={"columns": {"t": 2, "tau": "3-4", "q": "5-6"}},
    ),
    "pandas' index": Log(text(np.column_stack([np.arange(N), ROWS]), "," + ",".join(NAMES))),
    "no header": Log(
        text(header=None), error="there are columns 1 to 5 without names, counted from 1"
    ),
    "no header, by number": Log(text(header=None), settings={"columns": NUMBERS}),
    "no such column": Log(
        text(header=None),
        error="there is no column 9 for q; there are columns 1 to 5 without names",
        settings={"columns": {"t": 1, "tau": "2-3", "q": "4-9"}},
    ),
    "zeros after a crash": Log(text().encode() + b"\0" * 5000, note="left out"),
    "zeros": Log(b"\0" * 5000, error="holds binary data or zeros"),
    "a packed log that is cut off": Log(
        gzip.compress(text().encode())[:-200], error="cannot be read", name="log.csv.gz"
    ),
}


@pytest.mark.parametrize("name", LOGS)
def test_an_ugly_log_is_read_or_refused_in_one_line(tmp_path, name):
    log = LOGS[name]
    settings = dict(log.settings)
    origin, unit = settings.pop("origin", 0.0), settings.pop("unit", 1.0)
    file = tmp_path / log.name
    file.write_bytes(log.content if isinstance(log.content, bytes) else log.content.encode())
    if log.error:
        with pytest.raises(didim.InputError) as caught:
            didim.load_experiment(file, **settings)
        assert log.error in str(caught.value)
        assert str(caught.value).startswith(log.name)
        assert "\n" not in str(caught.value)
        return
    record = didim.load_experiment(file, **settings)
    assert np.allclose((np.asarray(record.t) - origin) / unit, T[log.keep], atol=1e-6)
    assert np.allclose(record.tau, TAU[log.keep], atol=1e-9)
    assert np.allclose(record.q, Q[log.keep], atol=1e-9)
    assert log.note in " ".join(record.notes)


def test_a_sparse_file_of_two_gigabytes_is_refused_at_once(tmp_path):
    file = tmp_path / "log.csv"
    file.write_text(text())
    os.truncate(file, 2 * 1024**3)
    with pytest.raises(didim.InputError, match=r"log\.csv: .*more than"):
        didim.load_experiment(file)


def test_rows_that_are_not_there_are_refused(tmp_path):
    file = tmp_path / "log.csv"
    file.write_text(text())
    for rows, message in (
        ([1, 401], "there are only 400 rows"),
        ([0, 3], "counted from 1"),
        ([5, 5], "two whole numbers"),
        ([1.5, 3], "two whole numbers"),
        ("12", "two whole numbers"),
    ):
        with pytest.raises(didim.InputError, match=message):
            didim.load_experiment(file, rows=rows)


def test_one_file_for_each_joint_and_one_value_a_line(tmp_path):
    files = {"t": [T], "tau": TAU.T, "q": Q.T}
    paths = {
        key: [tmp_path / f"{key}{j}.txt" for j, _ in enumerate(columns)]
        for key, columns in files.items()
    }
    for key, columns in files.items():
        for path, column in zip(paths[key], columns, strict=True):
            path.write_text("\n".join(map(repr, map(float, column))) + "\n")
    record = didim.load_experiment(paths, name="joints")
    assert np.array_equal(record.tau, TAU)
    assert np.array_equal(record.q, Q)
    paths["q"][1].write_text("1.0\n2.0\n")
    with pytest.raises(didim.InputError, match="files of q differ in length"):
        didim.load_experiment(paths)


def test_a_reference_of_velocities_is_integrated_from_its_start(tmp_path):
    dq = np.column_stack([np.cos(T), -np.sin(T)])
    file = tmp_path / "log.csv"
    file.write_text(text(np.column_stack([T, TAU, dq]), "t,tau1,tau2,dq_ref1,dq_ref2"))
    with pytest.raises(didim.InputError, match="needs q_ref_start"):
        didim.load_experiment(file)
    record = didim.load_experiment(file, q_ref_start=[0.0, 1.0])
    assert np.allclose(record.q_ref, np.column_stack([np.sin(T), np.cos(T)]), atol=2e-5)
    reference = didim.load_reference(file, {"t": "t", "dq_ref": "dq_ref*"}, q_ref_start=[0.0, 1.0])
    assert np.allclose(reference.q_ref, record.q_ref)
    assert np.array_equal(reference.dq_ref, dq)


def test_a_torque_that_was_logged_late_is_shifted_back(tmp_path):
    late = np.column_stack([np.interp(T - 0.03, T, column) for column in TAU.T])
    file = tmp_path / "log.csv"
    file.write_text(text(np.column_stack([T, late, Q])))
    record = didim.load_experiment(file, torque_delay=0.03)
    assert np.allclose(record.t, T[:-3])
    assert np.allclose(record.tau, TAU[:-3], atol=1e-6)
    assert "shifted earlier by 30 ms" in record.notes[0]
    with pytest.raises(didim.InputError, match="longer than the record"):
        didim.load_experiment(file, torque_delay=30.0)
