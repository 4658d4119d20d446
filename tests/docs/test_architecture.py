"""ARCHITECTURE.md names files that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_files_that_the_page_names_exist():
    package = ROOT / "src" / "didim"
    files = [path.relative_to(package).as_posix() for path in package.rglob("*.py")]
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w/]+\.py)`", text))
    assert len(named) > 50
    missing = {name for name in named if not any(f"/{file}".endswith(f"/{name}") for file in files)}
    assert missing == set()


def test_the_page_is_two_pages():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
