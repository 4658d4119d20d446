"""A second process compiles into the cache; this one compiles others meanwhile, and does the work
itself where that process fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import didim

KERNELS = """
from didim.jit.compiled import by_address, entry
from didim.jit.types import float64

@entry(float64(float64))
def first(x):
    return 2.0 * x

@by_address(float64(float64))
def second(x):
    return 3.0 * x

@entry(float64(float64))
def third(x):
    return 4.0 * x
"""

SCRIPT = """
import logging, sys
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")
from didim.jit import ahead
from didim.jit.kernels.caller import first, second, third
if "fails" in sys.argv:
    ahead._COMMAND = "raise SystemExit(1)"
ahead.compile_ahead([first, second], [third])
print("found", first(2.0), second.address > 0, third(1.0))
"""


@pytest.fixture
def package(tmp_path) -> Path:
    """The folder of a copy of didim with three kernels of one statement."""
    folder = tmp_path / "package"
    shutil.copytree(Path(didim.__file__).parent, folder / "didim")
    kernels = folder / "didim" / "jit" / "kernels"
    kernels.mkdir()
    (kernels / "__init__.py").write_text("")
    (kernels / "caller.py").write_text(KERNELS)
    return folder


def run(package: Path, cache: Path, *arguments: str, **environment: str) -> list[str]:
    """Lines that the script prints."""
    where = {"PYTHONPATH": str(package), "DIDIM_CACHE_DIR": str(cache), **environment}
    command = [sys.executable, "-c", SCRIPT, *arguments]
    done = subprocess.run(
        command, env=os.environ | where, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def compiled_here(lines: list[str]) -> list[str]:
    return [line.split(";")[0].split(".")[-1] for line in lines if "this happens once" in line]


@pytest.mark.long
def test_what_another_process_compiles_is_not_compiled_here(package, tmp_path):
    if len(os.sched_getaffinity(0)) > 1:
        lines = run(package, tmp_path / "two")
        assert "first, didim.jit.kernels.caller.second in a second process" in lines[0]
        assert compiled_here(lines) == ["third"]
        assert lines[-1] == "found 4.0 True 4.0"
    assert compiled_here(run(package, tmp_path / "two")) == []
    alone = run(package, tmp_path / "alone", DIDIM_COMPILE_AHEAD="0")
    assert compiled_here(alone) == ["first", "second", "third"]
    failed = run(package, tmp_path / "failed", "fails")
    assert set(compiled_here(failed)) == {"first", "second", "third"}
    assert failed[-1] == "found 4.0 True 4.0"
