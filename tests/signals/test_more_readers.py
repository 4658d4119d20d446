"""TSV, MAT 7.3, Parquet and damaged files of every kind."""

from __future__ import annotations

import contextlib
import sys

import h5py
import numpy as np
import pyarrow
import pytest
from pyarrow import parquet
from scipy import io

import didim
from support.files import numbered, write_table

T = np.arange(60) / 100.0
TAU = np.column_stack([np.sin(T), np.cos(T)])


def test_tsv(tmp_path):
    file = write_table(tmp_path / "a.tsv", {"t": T, **numbered("tau", TAU)}, "\t")
    assert np.array_equal(didim.load_experiment(file).tau, TAU)


def matlab73(path, content):
    """A file as MATLAB's save -v7.3 lays it out: a block of 512 bytes before an HDF5 file whose
    matrices are transposed.
    """
    with h5py.File(path, "w", userblock_size=512) as out:
        content(out)
    with path.open("r+b") as out:
        out.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM")
    return path


def test_mat_73_with_a_structure(tmp_path):
    def content(out):
        out["time"] = T[None, :]
        out["log/tau"] = TAU.T
        out.create_dataset("#refs#/a", data=TAU.T)

    file = matlab73(tmp_path / "a.mat", content)
    assert np.array_equal(didim.load_experiment(file, {"t": "time", "tau": "log.tau"}).tau, TAU)


def test_mat_5_with_a_structure(tmp_path):
    io.savemat(tmp_path / "a.mat", {"log": {"time": T, "joint": {"tau": TAU}}})
    assert np.array_equal(
        didim.load_experiment(tmp_path / "a.mat", {"t": "log.time", "tau": "log.joint.tau"}).tau,
        TAU,
    )


def test_links_out_of_an_hdf5_file_are_not_followed(tmp_path):
    with h5py.File(tmp_path / "secret.h5", "w") as out:
        out["tau"] = TAU.T

    def content(out):
        out["t"] = T
        out["tau"] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "/tau")
        out.create_dataset("q", (60,), dtype="f8", external=[(str(tmp_path / "secret.h5"), 0, 480)])

    with pytest.raises(didim.InputError, match="there are t\\."):
        didim.load_experiment(matlab73(tmp_path / "a.mat", content))


def test_parquet_with_stamps_lists_and_texts(tmp_path):
    stamps = (1.7e18 + 1e7 * np.arange(60)).astype("datetime64[ns]")
    table = pyarrow.table(
        {"t": stamps, "tau": list(TAU), "label": ["a"] * 60, **numbered("q", TAU)}
    )
    parquet.write_table(table, tmp_path / "a.parquet")
    experiment = didim.load_experiment(tmp_path / "a.parquet")
    assert np.array_equal(experiment.tau, TAU)
    assert np.array_equal(experiment.q, TAU)
    np.testing.assert_allclose(np.diff(experiment.t), 0.01, atol=1e-6)


def test_an_empty_cell_of_parquet_is_refused(tmp_path):
    parquet.write_table(pyarrow.table({"t": T, "tau": [None, *TAU[1:, 0]]}), tmp_path / "a.parquet")
    with pytest.raises(didim.InputError, match="no value of tau"):
        didim.load_experiment(tmp_path / "a.parquet")


BROKEN = {
    "a.parquet": "is not a Parquet file",
    "a.bag": "is not a readable bag",
    "a.mcap": "is not a readable bag",
    "b.mat": "is not a MAT file",
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_named(tmp_path, name):
    (tmp_path / name).write_bytes(
        b"MATLAB 7.3 MAT-file and nothing more" if name == "b.mat" else b"nothing of the kind"
    )
    with pytest.raises(didim.InputError, match=BROKEN[name]) as caught:
        didim.load_experiment(tmp_path / name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [
        ("a.parquet", "pyarrow", "files"),
        ("a.mcap", "rosbags.highlevel", "ros"),
        ("a.mat", "h5py", "files"),
    ],
)
def test_a_missing_package_names_the_extra(tmp_path, monkeypatch, name, module, extra):
    (tmp_path / name).write_bytes(b"MATLAB 7.3 MAT-file")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(didim.InputError, match=rf'pip install "didim\[{extra}\]"'):
        didim.load_experiment(tmp_path / name)


TEXTS = {
    "a row that is commented out": ("t,tau1\n# 0.0,99\n0.1,1\n0.2,2\n", [1, 2]),
    "a remark about units": ("t,tau1\n# s,Nm\n0.1,1\n0.2,2\n", [1, 2]),
    "a header in a remark": ("# a fine day\n# t,tau1\n0.1,1\n0.2,2\n", [1, 2]),
    "a remark in between": ("t,tau1\n0.1,1\n# pause\n0.2,2\n", [1, 2]),
}


@pytest.mark.parametrize("name", TEXTS)
def test_remarks_in_a_text_file(tmp_path, name):
    text, tau = TEXTS[name]
    (tmp_path / "a.csv").write_text(text)
    assert np.array_equal(np.ravel(didim.load_experiment(tmp_path / "a.csv").tau), tau)


def test_numbers_in_a_remark_are_no_sample(tmp_path):
    (tmp_path / "a.txt").write_text("# -3 1 2\n0 1 2\n1 2 3\n")
    assert np.array_equal(
        didim.load_experiment(tmp_path / "a.txt", {"t": 1, "tau": [2, 3]}).t, [0, 1]
    )


def test_an_empty_first_cell_is_no_cell_less(tmp_path):
    (tmp_path / "a.tsv").write_text("\t1\t2\n\t3\t4\n")
    with pytest.raises(didim.InputError):
        didim.load_experiment(tmp_path / "a.tsv", {"t": 1, "tau": 2})


def test_texts_and_switches_of_mat_73_are_no_signals(tmp_path):
    def content(out):
        out["t"] = T[None, :]
        for name, kind in (("tau", b"char"), ("q", b"logical")):
            out[name] = np.arange(60, dtype=np.uint16)[None, :]
            out[name].attrs["MATLAB_class"] = kind
        out.create_dataset("none", data=h5py.Empty("f8"))
        out["named"] = np.dtype("f8")

    with pytest.raises(didim.InputError, match="there are t\\."):
        didim.load_experiment(matlab73(tmp_path / "a.mat", content))


def test_columns_of_parquet_that_are_of_no_use_are_passed_over(tmp_path):
    ancient = pyarrow.array([-62135596800000000] * 60, pyarrow.timestamp("us"))
    nested = pyarrow.array([[[1.0]]] * 60)
    stamps = pyarrow.array([[1, None]] * 60, pyarrow.list_(pyarrow.timestamp("ns")))
    ragged = pyarrow.array([[1.0], *[[1.0, 2.0]] * 59])
    parquet.write_table(
        pyarrow.table({"t": T, "tau": T, "a": ancient, "b": nested, "c": stamps, "d": ragged}),
        tmp_path / "a.parquet",
    )
    assert np.array_equal(np.ravel(didim.load_experiment(tmp_path / "a.parquet").tau), T)


@pytest.mark.parametrize("ending", ["npz", "mat", "parquet"])
def test_damaged_files_are_input_errors(tmp_path, ending):
    """Bytes changed here and there: whatever a decoder makes of them, it is one error or a
    record.
    """
    good = tmp_path / f"good.{ending}"
    if ending == "npz":
        np.savez_compressed(good, t=T, tau=TAU)
    elif ending == "mat":
        io.savemat(good, {"t": T, "tau": TAU}, do_compression=True)
    else:
        parquet.write_table(pyarrow.table({"t": T, "tau": TAU[:, 0]}), good)
    content, rng = good.read_bytes(), np.random.default_rng(0)
    for _ in range(60):
        broken = bytearray(content)
        for at in rng.integers(0, len(content), 4):
            broken[at] = rng.integers(256)
        (tmp_path / f"bad.{ending}").write_bytes(bytes(broken))
        with contextlib.suppress(didim.InputError):
            didim.load_experiment(tmp_path / f"bad.{ending}")
