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
from didim.jit import compiled

SCRIPT = """
import logging, sys
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")
import numpy as np, didim
assert "numba" not in sys.modules, "importing didim must stay light"
model = didim.DynamicModel(didim.load_robot("emps"), [])
x = np.ones(1)
print("torque", model.inverse_dynamics(x, x, x, model.nominal)[0, 0])
"""


def run(package: Path, cache: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(package), "DIDIM_CACHE_DIR": str(cache)} | more
    return subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
    )


@pytest.fixture(scope="module")
def compiled_once(tmp_path_factory) -> Path:
    """A folder with a copy of the package, and in `cache` what it compiled."""
    folder = tmp_path_factory.mktemp("compiled")
    shutil.copytree(Path(didim.__file__).parent, folder / "didim")
    first = run(folder, folder / "cache").stdout
    assert "compiling didim.dynamics.kernels.inverse.inverse_dynamics_batch" in first
    assert "torque 95.1089" in first
    return folder


@pytest.mark.slow
def test_an_edit_in_one_file_is_seen_by_a_cached_caller_in_another(compiled_once):
    """`inverse_dynamics_batch` is cached; `scale` lives in another file and is changed to return
    twice its product.
    """
    cache = compiled_once / "cache"
    again = run(compiled_once, cache).stdout
    assert "compiling" not in again
    assert "torque 95.1089" in again
    vectors = compiled_once / "didim" / "dynamics" / "kernels" / "vectors.py"
    source = vectors.read_text()
    edited = source.replace(
        "return (k * a[0], k * a[1], k * a[2])", "return (2 * k * a[0], 2 * k * a[1], 2 * k * a[2])"
    )
    assert edited != source
    vectors.write_text(edited)
    assert "torque 190.2178" in run(compiled_once, cache).stdout
    vectors.write_text(source)


@pytest.mark.slow
def test_an_edit_of_any_file_that_kernels_are_compiled_with_changes_the_key(tmp_path):
    """Those below `kernels` packages, and all of `jit/`."""
    shutil.copytree(Path(didim.__file__).parent, tmp_path / "didim")
    script = "from didim.jit.compiled import source_key; print(source_key())"

    def key() -> str:
        environment = os.environ | {"PYTHONPATH": str(tmp_path)}
        command = [sys.executable, "-c", script]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        ).stdout

    keys = {key()}
    for name in ("jit/function_pointers.py", "jit/types.py", "dynamics/kernels/vectors.py"):
        with (tmp_path / "didim" / name).open("a") as source:
            source.write("# edited\n")
        keys.add(key())
    assert len(keys) == 4


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_costs_one_warning(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    result = run(Path(didim.__file__).parent.parent, blocked)
    assert "torque 95.1089" in result.stdout
    assert result.stderr.count("didim cannot write its cache") == 1
    assert "DIDIM_CACHE_DIR" in result.stderr


@pytest.mark.slow
def test_a_flipped_bit_in_the_cache_is_found_before_the_code_runs(compiled_once, tmp_path):
    """Numba runs what it finds: flipped machine code ends the process, or computes wrongly."""
    package, tmp_path = compiled_once, tmp_path / "cache"
    shutil.copytree(compiled_once / "cache", tmp_path)
    for code in tmp_path.rglob("*inverse_dynamics_batch*.nbc"):
        content = bytearray(code.read_bytes())
        content[len(content) // 2] ^= 16
        code.write_bytes(content)
    result = run(package, tmp_path)
    assert "torque 95.1089" in result.stdout
    assert "has another checksum" in result.stdout
    assert "damaged" not in run(package, tmp_path).stdout


@pytest.mark.slow
def test_without_a_compiler_the_message_is_clear(tmp_path):
    with pytest.raises(subprocess.CalledProcessError) as failed:
        run(Path(didim.__file__).parent.parent, tmp_path, NUMBA_DISABLE_JIT="1")
    assert "unset NUMBA_DISABLE_JIT" in failed.value.stderr


def test_kernels_must_live_where_the_hash_sees_them():
    with pytest.raises(TypeError, match="must live in a 'kernels' package"):
        compiled.kernel(lambda x: x)
    assert all("kernels" in path.parts for path in compiled.kernel_sources())
    assert len(compiled.kernel_sources()) > 4


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
