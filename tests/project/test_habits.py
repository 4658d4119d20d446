"""Habits of the project: what continuous integration and hooks run, and what tests may do."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
CLOCKS = {"perf_counter", "perf_counter_ns", "process_time", "monotonic", "time_ns"}


def loaded(path: str) -> dict:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def test_the_hooks_are_the_commands_of_make_check():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(r"^check:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE).group(1)
    commands = [line.strip().replace("$(BIN)", ".venv/bin") for line in recipe.splitlines()]
    (repository,) = loaded(".pre-commit-config.yaml")["repos"]
    assert [hook["entry"] for hook in repository["hooks"]] == commands


def test_continuous_integration_runs_every_python_that_is_promised():
    jobs = loaded(".github/workflows/test.yml")["jobs"]
    named = [
        each.rsplit(" ", 1)[1] for each in PROJECT["project"]["classifiers"] if ":: 3." in each
    ]
    matrix = jobs["test"]["strategy"]["matrix"]
    assert matrix["python"] == named
    assert matrix["os"] == ["ubuntu-latest", "macos-latest"]
    assert "make test PYTHON=python" in [step.get("run") for step in jobs["test"]["steps"]]
    assert "make docs PYTHON=python" in [step.get("run") for step in jobs["docs"]["steps"]]


def test_continuous_integration_tries_the_oldest_numba():
    (numba,) = (each for each in PROJECT["project"]["dependencies"] if each.startswith("numba"))
    oldest = re.search(r">=\s*([\d.]+)", numba).group(1)
    tried = loaded(".github/workflows/test.yml")["jobs"]["numba"]["strategy"]["matrix"]["include"]
    assert tried[0]["numba"].startswith(oldest)


@pytest.mark.parametrize("form", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*_*.yml")))
def test_issue_forms_have_what_github_needs(form):
    form = yaml.safe_load(form.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= set(form)
    identifiers = [field["id"] for field in form["body"]]
    assert len(identifiers) == len(set(identifiers))
    assert all(field["attributes"]["label"] for field in form["body"])


@pytest.mark.parametrize("path", TESTS, ids=lambda path: str(path.relative_to(ROOT / "tests")))
def test_tests_import_no_benchmarks_and_read_no_clock(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        else:
            modules = []
        assert not {"benchmarks", "time", "timeit"} & {name.split(".")[0] for name in modules}
        assert not (isinstance(node, ast.Attribute) and node.attr in CLOCKS)
