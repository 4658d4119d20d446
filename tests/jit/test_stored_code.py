"""Machine code of programs is read where it was compiled before, and only as it was written."""

from __future__ import annotations

import ctypes
import errno
from pathlib import Path

import numpy as np
import pytest

from didim.jit import stored_code
from didim.jit.machine_code import Program, machine_code
from didim.jit.statements import Statement


def result(operator: str) -> float:
    statements = [Statement("x0", operator, "a[0]", "a[1]")]
    code = machine_code(Program(("a", "b"), statements, [("b[0]", "x0")], [], 0.0))
    a, b = np.array([6.0, 2.0]), np.zeros(1)
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(code.address)
    function(a.ctypes.data, b.ctypes.data)
    return float(b[0])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(stored_code, "cache_folder", lambda: tmp_path)
    return tmp_path


def test_what_is_stored_is_what_runs(folder):
    assert result("+") == 8.0
    (added,) = folder.iterdir()
    assert result("*") == 12.0
    multiplied = next(file for file in folder.iterdir() if file != added)
    added.write_bytes(multiplied.read_bytes())
    assert result("+") == 12.0


@pytest.mark.parametrize("damage", ["flipped", "cut", "empty"])
def test_a_damaged_file_is_compiled_and_written_anew(folder, damage):
    assert result("+") == 8.0
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    flipped = bytes([*whole[:200], whole[200] ^ 1, *whole[201:]])
    file.write_bytes({"flipped": flipped, "cut": whole[:300], "empty": b""}[damage])
    assert result("+") == 8.0
    assert file.read_bytes() == whole


def test_a_folder_that_is_missing_or_cannot_be_used(folder, monkeypatch):
    monkeypatch.setattr(stored_code, "cache_folder", lambda: folder / "not there")
    assert result("+") == 8.0
    monkeypatch.setattr(stored_code, "cache_folder", lambda: None)
    assert result("+") == 8.0
    assert list(folder.iterdir()) == []


def test_the_files_that_were_used_last_are_kept(folder, monkeypatch):
    monkeypatch.setattr(stored_code, "MOST_FILES", 2)
    assert result("+") == 8.0
    (oldest,) = folder.iterdir()
    for operator in ("-", "*"):
        result(operator)
    assert len(list(folder.iterdir())) == 2
    assert not oldest.exists()


def test_a_full_disk_leaves_no_half_file(folder, monkeypatch):
    def full(self, target):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", full)
        assert result("+") == 8.0
    assert list(folder.iterdir()) == []


def test_files_that_another_process_removes_meanwhile_are_no_error(folder, monkeypatch):
    monkeypatch.setattr(stored_code, "MOST_FILES", 0)
    (folder / "gone.code").symlink_to(folder / "nowhere")  # listed, and not there
    assert result("+") == 8.0
