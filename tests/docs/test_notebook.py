"""The notebook of the examples: stored without outputs, and it runs from top to bottom."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def code_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_stored_without_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.outputs for cell in code_cells(notebook))
    assert all(cell.execution_count is None for cell in code_cells(notebook))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_linked(path):
    for page in ("README.md", "docs/gallery.md"):
        assert f"examples/{path.name})" in (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_first_identification_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notebook = nbformat.read(ROOT / "examples" / "first_identification.ipynb", as_version=4)
    shell = InteractiveShell()
    with capture_output() as found:
        ran = [shell.run_cell(cell.source) for cell in code_cells(notebook)]
    for cell in ran:
        cell.raise_error()
    shown = [shell.display_formatter.format(cell.result)[0] for cell in ran]
    assert "converged" in found.stdout
    assert "may be used" in found.stdout
    assert any("text/html" in kinds for kinds in shown)
    shell.user_ns["figure"].savefig(tmp_path / "torques.png")
    assert (tmp_path / "torques.png").stat().st_size > 10_000
    assert (tmp_path / "first_identification.html").stat().st_size > 10_000
