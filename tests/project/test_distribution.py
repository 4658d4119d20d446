"""The source distribution holds what the repository holds, so that its tests run from it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder

ROOT = Path(__file__).parents[2]
BY_ITSELF = {"pyproject.toml", ".gitignore"}
"""What the builder adds whatever the configuration says."""
LEFT_OUT = {".ci/run"}
"""What no test reads."""
READ = (
    "src",
    "tests",
    "benchmarks",
    "cases",
    "docs",
    "examples",
    ".github",
    "Makefile",
    "README.md",
)


def packed() -> set[str]:
    files = SdistBuilder(str(ROOT)).recurse_included_files()
    return {Path(each.distribution_path).as_posix() for each in files} | BY_ITSELF


def listed(*options: str) -> set[str]:
    """Files of the checkout, by git."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no git checkout")
    command = ["git", "ls-files", *options]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {path for path in found.splitlines() if (ROOT / path).is_file()}


def test_every_file_of_the_repository_is_packed():
    assert listed() - packed() == LEFT_OUT


def test_no_ignored_file_is_packed():
    assert packed() <= listed("--cached", "--others", "--exclude-standard")


@pytest.mark.parametrize("name", READ)
def test_what_the_tests_read_is_there(name):
    assert (ROOT / name).exists()
    assert any(path == name or path.startswith(f"{name}/") for path in packed())
