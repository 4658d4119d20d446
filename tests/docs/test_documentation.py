"""The documentation as a whole: it builds without a warning, the equation index is complete, the
gallery runs.
"""

from __future__ import annotations

import importlib.util
import re
import runpy
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import didim

ROOT = Path(__file__).parents[2]
GALLERY = sorted((ROOT / "examples").glob("*.py"))
FURTHER = ("several_experiments", "own_robot")  # long tests


@cache
def _equations():
    place = importlib.util.spec_from_file_location("equations", ROOT / "docs" / "equations.py")
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_every_equation_has_a_function_and_a_test():
    equations = _equations()
    index = equations.index()
    assert list(index) == list(range(1, 66))
    computed = {n: places for n, places in index.items() if n not in equations.TEXTS}
    missing = [n for n, (functions, tests) in computed.items() if not functions or not tests]
    assert missing == []


@pytest.mark.slow
def test_equations_are_implemented_by_the_library_not_by_the_papers_experiments():
    places = [place for functions, _ in _equations().index().values() for place in functions]
    assert [place for place in places if place.file.startswith("src/didim/paper/")] == []


@pytest.mark.slow
def test_no_docstring_cites_an_equation_that_is_not_there():
    equations = _equations()
    for folder, verb in ((ROOT / "src" / "didim", "Implements"), (ROOT / "tests", "Tests")):
        assert set(equations.cited(folder, verb)) <= set(equations.TITLES)


@pytest.mark.slow
def test_the_index_is_what_the_docstrings_say():
    equations = _equations()
    written = equations.INDEX.read_text(encoding="utf-8")
    plain = equations.without_lines
    assert plain(written) == plain(equations.page()), "run make equations"
    readme = equations.README.read_text(encoding="utf-8")
    assert plain(readme) == plain(equations.readme(readme)), "run make equations"


@pytest.mark.slow
def test_the_links_of_the_index_lead_into_the_functions():
    """A line number may be some lines old, but it lies inside the definition that it names."""
    equations = _equations()
    places = [place for row in equations.index().values() for found in row for place in found]
    links = re.findall(r"\]\(\.\./([^)#]+)#L(\d+)\)", equations.INDEX.read_text(encoding="utf-8"))
    assert [file for file, _ in links] == [place.file for place in places]
    stale = [
        (place.name, int(line))
        for place, (_, line) in zip(places, links, strict=True)
        if not place.first <= int(line) <= place.last
    ]
    assert stale == [], "run make equations"


def test_numbers_are_read_from_docstrings():
    numbers = _equations().numbers
    assert numbers("Solve it.\n\nImplements (3), (10)-(12), (14).", "Implements") == [
        3,
        10,
        11,
        12,
        14,
    ]
    assert numbers("Implements (3),\n    (10) and (12).", "Implements") == [3, 10, 12]
    assert numbers("Implements (3). And more.\n\nImplements (4).", "Implements") == [3, 4]
    assert numbers("Uses (3).", "Implements") == []
    assert numbers(None, "Tests") == []


def test_theory_has_every_equation():
    text = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
    displayed = [int(n) for n in re.findall(r"\\qquad \((\d+)\)\$\$", text)]
    mentioned = [int(n) for n in re.findall(r"\*\*\((\d+)\)\*\*", text)]
    assert sorted({*displayed, *mentioned}) == list(range(1, 66))
    assert displayed == sorted(displayed)


def test_the_api_page_has_every_public_name():
    text = (ROOT / "docs" / "api.rst").read_text()
    named = re.findall(r"didim\.(\w+)$", text, re.MULTILINE)
    assert sorted({*named} - {"report"}) == sorted(set(didim.__all__) - {"__version__"})
    assert len(named) == len(set(named))


@pytest.mark.slow
@pytest.mark.parametrize(
    "script",
    [pytest.param(each, marks=[pytest.mark.long] * (each.stem in FURTHER)) for each in GALLERY],
    ids=lambda script: script.stem,
)
def test_the_gallery_runs(script, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    out = capsys.readouterr().out
    assert "converged" in out
    assert "may be used" in out
    assert len(script.read_text().splitlines()) <= 60


def test_the_gallery_page_shows_every_script():
    text = (ROOT / "docs" / "gallery.md").read_text()
    assert sorted(re.findall(r"literalinclude} \.\./examples/(\w+)\.py", text)) == [
        script.stem for script in GALLERY
    ]
    assert len(GALLERY) == 4


@pytest.mark.long
def test_the_documentation_builds_without_a_warning(tmp_path):
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-q",
        "-b",
        "html",
        *("-D", "toc_object_entries=0"),  # contents of the sidebar and copies of the sources, half
        *("-D", "extensions=myst_parser,sphinx.ext.autodoc"),  # of the time: `make docs` has them
        *("-D", "html_theme=basic"),  # a theme draws its navigation on every page
        str(ROOT / "docs"),
        str(tmp_path),
    ]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    theory = (tmp_path / "theory.html").read_text(encoding="utf-8")
    assert theory.count("<math") > 60
    assert not re.findall(r"<script[^>]*src=\"https?:", theory), "pages load nothing from a network"
    assert "load_robot" in (tmp_path / "api.html").read_text(encoding="utf-8")
