"""Records from files: CSV, MAT, NPZ; and what a person reads when a file is not what it should
be.
"""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from scipy import io

import didim

T = np.arange(50) / 100.0
TAU = np.column_stack([np.sin(T), np.cos(T)])


def write_csv(path, header="t,tau1,tau2,q1,q2", separator=",", rows=None, opener=open):
    rows = np.column_stack([T, TAU, 2 * TAU]) if rows is None else rows
    with opener(path, "wt") as out:
        if header:
            out.write(header + "\n")
        out.writelines(separator.join(f"{value:.17g}" for value in row) + "\n" for row in rows)
    return path


@pytest.mark.parametrize(
    ("name", "separator", "opener"),
    [
        ("a.csv", ",", open),
        ("a.csv", ";", open),
        ("a.txt", " ", open),
        ("a.csv.gz", ",", gzip.open),
    ],
)
def test_text_files(tmp_path, name, separator, opener):
    file = write_csv(
        tmp_path / name, separator.join(["t", "tau1", "tau2", "q1", "q2"]), separator, opener=opener
    )
    experiment = didim.load_experiment(file)
    assert np.array_equal(experiment.t, T)
    assert np.array_equal(experiment.tau, TAU)
    assert np.array_equal(experiment.q, 2 * TAU)
    assert experiment.q_ref is None
    assert experiment.name == "a"


def test_columns_by_number_without_a_header(tmp_path):
    file = write_csv(tmp_path / "a.csv", header=None)
    experiment = didim.load_experiment(file, {"t": 1, "tau": [2, 3], "q": [4, 5]})
    assert np.array_equal(experiment.q, 2 * TAU)


def test_a_header_that_is_a_comment(tmp_path):
    assert didim.load_experiment(write_csv(tmp_path / "a.csv", "# t,tau1,tau2,q1,q2")).n == 2


def test_mat_and_npz(tmp_path):
    io.savemat(tmp_path / "a.mat", {"time": T, "torque": TAU, "note": "text"})
    np.savez(tmp_path / "a.npz", t=T, tau=TAU, q_ref=TAU)
    assert np.array_equal(
        didim.load_experiment(tmp_path / "a.mat", {"t": "time", "tau": "torque"}).tau, TAU
    )
    assert np.array_equal(didim.load_experiment(tmp_path / "a.npz").q_ref, TAU)


def test_control_signals_become_torques(tmp_path):
    """Tests (8)."""
    file = write_csv(tmp_path / "a.csv")
    columns = {"t": "t", "control": ["tau1", "tau2"]}
    assert np.allclose(
        didim.load_experiment(file, columns, drive_gain=[2.0, 3.0]).tau, TAU * [2, 3]
    )
    full = np.array([[2.0, 1.0], [0.0, 3.0]])
    assert np.allclose(didim.load_experiment(file, columns, drive_gain=full).tau, TAU @ full.T)


def test_a_reference_of_its_own_file(tmp_path):
    reference = didim.load_reference(
        write_csv(tmp_path / "r.csv"), {"t": "t", "q_ref": ["q1", "q2"]}
    )
    experiment = didim.load_experiment(write_csv(tmp_path / "a.csv"), reference=reference)
    assert experiment.q_ref is reference


def test_repeated_samples_are_left_out_and_told(tmp_path):
    rows = np.column_stack([T, TAU, TAU])
    rows = np.vstack([rows[:20], rows[19:20], rows[20:]])
    experiment = didim.load_experiment(write_csv(tmp_path / "a.csv", rows=rows))
    assert np.array_equal(experiment.t, T)
    assert (
        "1 samples repeat the time of the one before (1 of them in every value)"
        in experiment.notes[0]
    )


BROKEN = {
    "missing.csv": (None, {}, "no such file"),
    "a.xyz": ("1", {}, "the ending '.xyz' is not known"),
    "empty.csv": ("", {}, "the file is empty"),
    "head.csv": ("t,tau1\n", {}, "no row of numbers"),
    "words.csv": (
        "t,tau1\n0,1\n1,oops\n",
        {},
        "1 line is damaged .line 3, '1,oops'., 50 % of 2 rows",
    ),
    "ragged.csv": ("t,tau1\n0,1\n1\n", {}, "1 line is damaged"),
    "wide.csv": ("t,tau1\n0,1,2\n1,2,3\n", {}, "header names 2 columns, the rows have 3"),
    "twice.csv": ("t,t\n0,1\n1,2\n", {}, "two columns are called 't'"),
    "time.csv": ("x,tau1\n0,1\n1,2\n", {}, "which column is the time"),
    "torque.csv": ("t,x\n0,1\n1,2\n", {}, "give either tau or control"),
    "name.csv": (
        "t,tau1\n0,1\n1,2\n",
        {"columns": {"t": "t", "tau": "tau_1"}},
        "did you mean 'tau1'",
    ),
    "key.csv": (
        "t,tau1\n0,1\n1,2\n",
        {"columns": {"t": "t", "torque": "tau1"}},
        "unknown signal 'torque'",
    ),
    "gain.csv": (
        "t,v\n0,1\n1,2\n",
        {"columns": {"t": "t", "control": "v"}},
        "control needs drive_gain",
    ),
    "back.csv": ("t,tau1\n0,1\n2,2\n1,3\n", {}, "must rise"),
    "hole.csv": ("t,tau1\n0,1\n1,nan\n", {}, "must be finite"),
    "gap.csv": ("t,tau1,tau3\n0,1,2\n1,2,3\n", {}, "are not numbered 1, 2"),
    "both.csv": ("t,tau1,tau_1\n0,1,2\n1,2,3\n", {}, "are not numbered 1, 2"),
    "type.csv": (
        "t,tau1\n0,1\n1,2\n",
        {"columns": {"t": "t", "tau": 3.5}},
        "must be a name, a number or a list",
    ),
    "none.csv": (
        "t,tau1\n0,1\n1,2\n",
        {"columns": {"t": "t", "tau": []}},
        "must be a name, a number or a list",
    ),
    "drive.csv": (
        "t,v\n0,1\n1,2\n",
        {"columns": {"t": "t", "control": "v"}, "drive_gain": "a"},
        "drive_gain must be",
    ),
    "bad.mat": ("no mat", {}, "not a MAT file"),
    "bad.npz": ("no npz", {}, "bad.npz"),
    "bad.csv.gz": ("no gzip", {}, "cannot be read"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_one_clear_line(tmp_path, name):
    text, settings, message = BROKEN[name]
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(didim.InputError, match=message) as caught:
        didim.load_experiment(tmp_path / name, **settings)
    assert "\n" not in str(caught.value)


def test_a_pickle_in_an_npz_is_not_opened(tmp_path):
    np.savez(tmp_path / "a.npz", t=np.array([{"a": 1}], dtype=object))
    with pytest.raises(didim.InputError, match="nothing in it is executed"):
        didim.load_experiment(tmp_path / "a.npz")


def test_odd_paths_and_arrays_are_named(tmp_path):
    np.save(tmp_path / "a.npy", T)
    (tmp_path / "a.npy").rename(tmp_path / "a.npz")
    with pytest.raises(didim.InputError, match="is not an NPZ file"):
        didim.load_experiment(tmp_path / "a.npz")
    with pytest.raises(didim.InputError):
        didim.load_experiment("x" * 5000 + ".csv")
    with pytest.raises(didim.InputError, match="masked values"):
        didim.Experiment(T, np.ma.array(T, mask=T > 0.3), None)
    with pytest.raises(didim.InputError, match="notes a list of texts"):
        didim.Experiment(T, T, None, notes=5)
