"""The notebook of the examples: stored without outputs, and it runs from top to bottom."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

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
def test_the_first_identification_runs(tmp_path):
    notebook = nbformat.read(ROOT / "examples" / "first_identification.ipynb", as_version=4)
    client = NotebookClient(
        notebook, timeout=None, startup_timeout=300, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    outputs = [output for cell in code_cells(notebook) for output in cell.outputs]
    printed = "".join(output.text for output in outputs if output.output_type == "stream")
    shown = [set(output.data) for output in outputs if "data" in output]
    assert "converged" in printed
    assert "may be used" in printed
    assert any("image/png" in kinds for kinds in shown)
    assert any("text/html" in kinds for kinds in shown)
    assert (tmp_path / "first_identification.html").stat().st_size > 10_000
