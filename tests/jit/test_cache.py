"""The cache of compiled kernels: an edit is seen, a read-only folder is survived, threads and
processes agree.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import didim
from didim.jit import cache, compiled
from didim.jit.stored_code import StoredCode

SCRIPT = """
import logging, sys
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")
import numpy as np, didim
assert "numba" not in sys.modules, "importing didim must stay light"
model = didim.DynamicModel(didim.load_robot("emps"), [])
x = np.ones(1)
print("torque", model.inverse_dynamics(x, x, x, model.nominal)[0, 0])
"""


CALLEE = """
from didim.jit.compiled import kernel

@kernel
def scaled(x):
    return 3.0 * x
"""

LOGARITHM = """
import math
from didim.jit.compiled import kernel

@kernel
def scaled(x):
    return math.log(x - 1.0)
"""

CALLER = """
from didim.jit.compiled import entry
from didim.jit.kernels.callee import scaled
from didim.jit.types import float64

@entry(float64(float64))
def one_more(x):
    return scaled(x) + 1.0
"""

CALL = """
import logging, sys
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")
from didim.jit.kernels.caller import one_more
print("found", one_more(2.0))
"""


@pytest.fixture
def package(tmp_path) -> Path:
    """The folder of a copy of didim with two kernels of one statement in two files, which take a
    fraction of a second to compile; those of robots take ten.
    """
    folder = tmp_path / "package"
    shutil.copytree(Path(didim.__file__).parent, folder / "didim")
    kernels = folder / "didim" / "jit" / "kernels"
    kernels.mkdir()
    for name, text in (("__init__", ""), ("callee", CALLEE), ("caller", CALLER)):
        (kernels / f"{name}.py").write_text(text)
    return folder


def run(
    package: Path, cache: Path, script: str = SCRIPT, **more: str
) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(package), "DIDIM_CACHE_DIR": str(cache)} | more
    return subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )


@pytest.mark.long
def test_an_edit_in_one_file_is_seen_by_a_cached_caller_in_another(package, tmp_path):
    """`one_more` is cached; `scaled` lives in another file and is changed to return twice its
    product.
    """
    cache = tmp_path / "cache"
    first = run(package, cache, CALL).stdout
    assert "compiling didim.jit.kernels.caller.one_more" in first
    assert "found 7.0" in first
    again = run(package, cache, CALL).stdout
    assert "compiling" not in again
    assert "found 7.0" in again
    edited = CALLEE.replace("3.0 * x", "6.0 * x")
    assert edited != CALLEE
    (package / "didim" / "jit" / "kernels" / "callee.py").write_text(edited)
    assert "found 13.0" in run(package, cache, CALL).stdout


@pytest.mark.slow
def test_a_cached_kernel_is_read_without_the_compiler(package, tmp_path):
    """Numba is imported only where something is compiled."""
    cache, script = tmp_path / "cache", f"{CALL}\nprint('numba' in sys.modules)"
    first, again = (run(package, cache, script).stdout.split() for _ in range(2))
    assert first[-3:] == ["found", "7.0", "True"]
    assert again[-3:] == ["found", "7.0", "False"]


@pytest.mark.slow
def test_code_that_calls_what_comes_with_numba_is_run_with_it(package, tmp_path):
    """Such as vector functions of a library that Numba loads where it is installed. Here the
    beginning of any name counts as one of Numba's, and log is a function that is called.
    """
    (package / "didim" / "jit" / "kernels" / "callee.py").write_text(LOGARITHM)
    with (package / "didim" / "jit" / "compiler" / "kernels.py").open("a") as source:
        source.write("\n_NUMBAS = ('',)\n")
    cache, script = tmp_path / "cache", f"{CALL}\nprint('numba' in sys.modules)"
    for _ in range(2):
        found = run(package, cache, script).stdout.split()
        assert found[-3:] == ["found", "1.0", "True"]
    assert "compiling" not in found


@pytest.mark.long
def test_an_edit_of_any_file_that_kernels_are_compiled_with_changes_the_key(package):
    """Those below `kernels` packages, and all of `jit/`."""
    script = "from didim.jit.cache import source_key; print(source_key())"

    def key() -> str:
        environment = os.environ | {"PYTHONPATH": str(package)}
        command = [sys.executable, "-c", script]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        ).stdout

    keys = {key()}
    for name in ("jit/types.py", "jit/compiler/kernels.py", "dynamics/kernels/vectors.py"):
        with (package / "didim" / name).open("a") as source:
            source.write("# edited\n")
        keys.add(key())
    assert len(keys) == 4


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_costs_one_warning(package, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    result = run(package, blocked, CALL)
    assert "found 7.0" in result.stdout
    assert result.stderr.count("didim cannot write its cache") == 1
    assert "DIDIM_CACHE_DIR" in result.stderr


@pytest.fixture
def fresh(monkeypatch, tmp_path) -> Path:
    """A cache folder of a user's own, whose place and key are found anew."""
    monkeypatch.setenv("DIDIM_CACHE_DIR", str(tmp_path))
    for each in (cache.cache_folder, cache.source_key):
        each.cache_clear()
    yield tmp_path
    for each in (cache.cache_folder, cache.source_key):
        each.cache_clear()


@pytest.mark.skipif(os.name != "posix", reason="rights of files are those of POSIX")
@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_files_have_the_rights_of_any_new_file(fresh, mask):
    """So that one user's cache can be that of all."""
    before = os.umask(mask)
    try:
        cache.CodeFile(cache.cache_folder(), "a.kernel").write(b"code")
    finally:
        os.umask(before)
    (file,) = cache.cache_folder().iterdir()
    assert file.stat().st_mode & 0o777 == 0o666 & ~mask


def test_a_folder_that_somebody_else_has_filled_is_read(fresh, monkeypatch):
    """Without rights to write there: nothing is compiled again, and there is nothing to say."""
    folder = cache.cache_folder()
    cache.CodeFile(folder, "a.kernel").write(b"code")
    cache.cache_folder.cache_clear()

    def refused(*_, **__):
        raise PermissionError("read-only")

    monkeypatch.setattr(cache.tempfile, "TemporaryFile", refused)
    monkeypatch.setattr(Path, "write_bytes", refused)
    monkeypatch.setattr(os, "utime", refused)
    assert cache.cache_folder() == folder
    for kind in (cache.CodeFile(folder, "a.kernel"), StoredCode("a program")):
        kind.write(b"more")
    assert cache.CodeFile(folder, "a.kernel").read() == b"code"
    assert cache.CodeFile(folder, "a.kernel").exists()


def test_code_of_another_user_is_used_without_its_time(fresh, monkeypatch):
    code = StoredCode("a program")
    code.write(b"code")

    def refused(*_, **__):
        raise PermissionError("not the owner")

    monkeypatch.setattr(os, "utime", refused)
    assert code.read() == b"code"


def test_a_file_that_cannot_be_read_is_not_stored(fresh, monkeypatch):
    file = cache.CodeFile(cache.cache_folder(), "a.kernel")
    file.write(b"code")
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert not file.exists()


def test_the_key_has_what_code_is_compiled_for(fresh, monkeypatch):
    def key() -> str:
        cache.source_key.cache_clear()
        return cache.source_key()

    keys = [key()]
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    assert key() == keys[0]
    monkeypatch.setenv("NUMBA_ENABLE_AVX", "0")
    keys.append(key())
    for name in ("triple", "name", "features"):
        monkeypatch.setattr(cache.processor, name, lambda: "another")
        keys.append(key())
    assert len(set(keys)) == 5


@pytest.mark.long
def test_a_flipped_bit_in_the_cache_is_found_before_the_code_runs(package, tmp_path):
    """Numba runs what it finds: flipped machine code ends the process, or computes wrongly."""
    cache = tmp_path / "cache"
    run(package, cache, CALL)
    (code,) = cache.rglob("*one_more*.kernel")
    content = bytearray(code.read_bytes())
    content[65] ^= 16  # behind the header of the object file
    code.write_bytes(content)
    result = run(package, cache, CALL)
    assert "found 7.0" in result.stdout
    assert "has another checksum" in result.stdout
    again = run(package, cache, CALL).stdout
    assert "found 7.0" in again
    assert "compil" not in again


@pytest.mark.slow
def test_without_a_compiler_the_message_is_clear(tmp_path):
    with pytest.raises(subprocess.CalledProcessError) as failed:
        run(Path(didim.__file__).parent.parent, tmp_path, NUMBA_DISABLE_JIT="1")
    assert "unset NUMBA_DISABLE_JIT" in failed.value.stderr


def test_kernels_must_live_where_the_hash_sees_them():
    with pytest.raises(TypeError, match="must live in a 'kernels' package"):
        compiled.kernel(lambda x: x)
    assert all("kernels" in path.parts for path in cache.kernel_sources())
    assert len(cache.kernel_sources()) > 4


def test_warm_reports_every_kernel():
    seconds = compiled.warm()
    assert {
        "regressor_batch",
        "inverse_dynamics_batch",
        "direct_dynamics_batch",
        "inertia_matrix_batch",
    } <= {name.rsplit(".", 1)[1] for name in seconds}


def test_threads_give_bit_identical_results():
    model = didim.DynamicModel(didim.load_robot("tx40"))
    q, dq, ddq = np.random.default_rng(0).standard_normal((3, 2000, 6))
    expected = model.regressor(q, dq, ddq)
    found: list[np.ndarray] = []
    threads = [
        threading.Thread(target=lambda: found.append(model.regressor(q, dq, ddq))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(np.array_equal(W, expected) for W in found)
