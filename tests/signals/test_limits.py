"""Files that are too much for memory or patience are refused with one line before they are read."""

from __future__ import annotations

import gzip
import io
import os
import random
import zipfile
import zlib

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse

import didim
from didim import reading
from didim.cli import main
from didim.signals.readers import mat5
from didim.signals.tables import read_table
from support.studies import write_study


def refused(path, message):
    with pytest.raises(didim.InputError, match=message) as problem:
        read_table(path)
    assert len(str(problem.value)) < 500


def columns(count: int) -> str:
    return ",".join(f"c{k}" for k in range(count))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: columns(50_000), "has 50000 columns, and 10000 is the limit"),
        (lambda: columns(1_000_000), "line 1 has more than 1000000 characters"),
        (lambda: "t," + "[" * 60_000, "the name of a column has 60000 letters"),
        (lambda: "t,tau" + "9" * 5000, "the name of a column has 5003 letters"),
    ],
    ids=["50 000 columns", "a million columns", "brackets", "digits"],
)
def test_headers_that_took_more_than_a_minute(make, message, tmp_path):
    header = make()
    (tmp_path / "a.csv").write_text(f"{header}\n{','.join('1' for _ in header.split(','))}\n")
    refused(tmp_path / "a.csv", message)


def npy(shape):
    """The header of an array, without its numbers."""
    head = io.BytesIO()
    described = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(head, described)
    return head.getvalue()


@pytest.mark.slow
def test_npz_that_would_not_fit(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("t.npy", npy((60_000_000,)))
        archive.writestr("tau.npy", npy((60_000_000,)))
    refused(tmp_path / "a.npz", r"holds 1.2e\+08 numbers, and 1e\+08 is the limit")
    (tmp_path / "c.npz").write_bytes(npy((10**12,)))
    refused(tmp_path / "c.npz", "is not an NPZ file")
    with zipfile.ZipFile(tmp_path / "d.npz", "w") as archive:
        for k in range(10_001):
            archive.writestr(f"{k}.npy", b"")
    refused(tmp_path / "d.npz", "has 10001 columns")
    monkeypatch.setattr(reading, "MAX_NUMBERS", 1000)
    with zipfile.ZipFile(tmp_path / "e.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("no array", bytes(1_000_000))
    refused(tmp_path / "e.npz", r"holds 1.25e\+05 numbers")


def test_a_text_that_would_not_fit(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MAX_TEXT", 1_000_000)
    monkeypatch.setattr(reading, "MAX_NUMBERS", 1000)
    with gzip.open(tmp_path / "blank.csv.gz", "wb") as packed:
        packed.write(b"t,tau1\n" + b"\n" * 5_000_000)
    refused(tmp_path / "blank.csv.gz", "is a text of more than")
    with (tmp_path / "sparse.csv").open("wb") as hollow:
        hollow.truncate(2_000_000)
    refused(tmp_path / "sparse.csv", "is a text of more than 1 MB")
    (tmp_path / "many.csv").write_text("t,tau1\n" + "0,0\n" * 600)
    refused(tmp_path / "many.csv", "numbers, and")


def test_hdf5_and_parquet_that_would_not_fit(tmp_path, monkeypatch):
    h5py, pyarrow = pytest.importorskip("h5py"), pytest.importorskip("pyarrow")
    from pyarrow import parquet

    with h5py.File(tmp_path / "a.mat", "w", userblock_size=512) as file:
        file.create_dataset("t", (10**9,), "f8", chunks=(10**5,))
    with (tmp_path / "a.mat").open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file")
    refused(tmp_path / "a.mat", r"holds 1e\+09 numbers")
    parquet.write_table(pyarrow.table({"t": np.zeros(2000)}), tmp_path / "a.parquet")
    monkeypatch.setattr(reading, "MAX_NUMBERS", 1000)
    refused(tmp_path / "a.parquet", r"holds 2e\+03 numbers")


CONTENT = {
    "t": np.linspace(0, 1, 50),
    "counts": np.arange(60).reshape(20, 3),
    "small": np.arange(5, dtype=np.int8),
    "large": np.arange(7, dtype=np.uint64),
    "single": np.eye(4, dtype=np.float32),
    "robot": {"x": np.ones((3, 2)), "deep": {"y": np.arange(3.0), "text": "hello"}},
    "complex": np.array([1 + 2j, 3]),
    "flags": np.array([True, False]),
    "text": "word",
    "cells": np.array([np.arange(3), "x"], dtype=object),
    "cube": np.ones((2, 2, 2)),
    "empty": np.zeros((0, 0)),
    "sparse": sparse.csc_matrix(np.eye(3)),
    "scalar": 3.0,
}


@pytest.mark.parametrize("packed", [False, True])
def test_mat_5_is_read_as_scipy_reads_it(packed, tmp_path):
    scipy_io.savemat(tmp_path / "a.mat", CONTENT, do_compression=packed)
    found, expected = read_table(tmp_path / "a.mat"), scipy_io.loadmat(tmp_path / "a.mat")
    names = ["t", "counts", "small", "large", "single", "flags", "scalar"]
    assert list(found) == [*names[:5], "robot.x", "robot.deep.y", *names[5:]]
    for name in names:
        np.testing.assert_array_equal(found[name].ravel(), expected[name].ravel())
    np.testing.assert_array_equal(found["counts"], CONTENT["counts"])
    np.testing.assert_array_equal(found["robot.x"], np.ones((3, 2)))


@pytest.mark.slow
def test_damaged_mat_5_files_are_refused_without_scipy(tmp_path, monkeypatch):
    """SciPy's compiled reader ended the process on some of them."""
    for packed in (False, True):
        scipy_io.savemat(tmp_path / f"{packed}.mat", CONTENT, do_compression=packed)
    contents = [(tmp_path / f"{packed}.mat").read_bytes() for packed in (False, True)]
    monkeypatch.setattr(scipy_io, "loadmat", lambda *_, **__: pytest.fail("SciPy read it"))
    draw, file, read = random.Random(3), tmp_path / "damaged.mat", 0
    for _ in range(600):
        content = bytearray(draw.choice(contents))
        for _ in range(draw.randint(1, 6)):
            content[draw.randrange(128, len(content))] = draw.choice([0, 1, 128, 255])
        file.write_bytes(content[: draw.choice([None, draw.randrange(len(content))])])
        try:
            read_table(file)
            read += 1
        except didim.InputError:
            pass
    assert 10 < read < 590


def test_a_mat_5_file_that_unpacks_to_more_than_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MAX_NUMBERS", 1000)
    monkeypatch.setattr(mat5, "MAX_NUMBERS", 1000)
    zeros = zlib.compress(bytes(100_000))
    head = b"MATLAB 5.0".ljust(124) + b"\0\1IM"
    tag = np.array([15, len(zeros)], dtype="<u4").tobytes()
    (tmp_path / "a.mat").write_bytes(head + tag + zeros)
    refused(tmp_path / "a.mat", r"holds 1e\+03 numbers")


def test_devices_and_pipes_are_not_read(tmp_path, capsys):
    write_study(tmp_path)
    for name in ("pipe.toml", "pipe.urdf", "pipe.json"):
        os.mkfifo(tmp_path / name)
    study = str(tmp_path / "study.toml")
    for arguments in (
        ["check", os.devnull.replace("null", "zero")],
        ["check", str(tmp_path / "pipe.toml")],
        ["check", study, "--set", "robot=pipe.urdf"],
        [
            "simulate",
            study,
            "--with",
            str(tmp_path / "pipe.json"),
            "--out",
            str(tmp_path / "a.csv"),
        ],
    ):
        assert main(arguments) == 2
        found = capsys.readouterr().err
        assert "regular file" in found
        assert found.count("\n") == 1


def test_a_description_that_is_too_large(tmp_path):
    with (tmp_path / "arm.urdf").open("wb") as hollow:
        hollow.truncate(60_000_000)
    with pytest.raises(didim.InputError, match="is larger than 50 MB"):
        didim.load_robot(tmp_path / "arm.urdf")
