"""What `didim identify` imports: SciPy's large packages, and Numba, take longer than a small
identification.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from didim.cli import main
from didim.jit.compiled import warm

HEAVY = {
    "numba",
    "scipy.signal",
    "scipy.stats",
    "scipy.optimize",
    "scipy.interpolate",
    "scipy.integrate",
    "scipy.ndimage",
    "scipy.sparse",
    "scipy.fft",
    "matplotlib",
    "jinja2",
    "pandas",
    "didim.report",
    "didim.improvement",
    "didim.payload",
    "didim.checks",
    "didim.design",
    "didim.export",
}

SCRIPT = """
import sys, didim.cli
status = didim.cli.main(["identify", "study.toml", "--set", f"method={sys.argv[1]}"])
print(*sys.modules, file=sys.stderr)
sys.exit(status)
"""


@pytest.mark.slow
@pytest.mark.parametrize("method", [pytest.param("idim", marks=pytest.mark.long), "didim"])
def test_identify_imports_nothing_that_only_others_need(method, tmp_path):
    warm()  # what is compiled needs no compiler
    assert main(["init", str(tmp_path / "study.toml"), "--robot", "scara"]) == 0
    command = [sys.executable, "-c", SCRIPT, method]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = {*found.stderr.split()}
    assert "scipy.linalg" in loaded
    assert not HEAVY & loaded
