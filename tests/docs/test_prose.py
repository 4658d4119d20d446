"""Lines of Markdown prose end at column 100.

Tables, formulas, code, lines that are one link or image, and generated blocks are excepted.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
WIDTH = 100
EXCEPTED = re.compile(
    r"^<!-- \w+ -->$.*?^<!-- end[^>]*-->$"  # generated
    r"|^```.*?^```$"
    r"|^\$\$.*?\$\$$"
    r"|^\|[^\n]*$"
    r"|^\s*!?\[[^]]*\]\(\S+\)$",
    re.MULTILINE | re.DOTALL,
)


def long_lines(text: str) -> list[str]:
    """Lines of prose beyond the width."""
    return [line for line in EXCEPTED.sub("", text).splitlines() if len(line) > WIDTH]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_prose_ends_at_column_100(page):
    assert long_lines(page.read_text(encoding="utf-8")) == []


def test_only_prose_counts():
    long = "word " * 25
    table, code, formula = f"| {long} |", f"```python\n{long}\n```", f"$${long}$$"
    generated = f"<!-- results -->\n{long}\n<!-- end -->"
    assert long_lines("\n".join([table, code, formula, generated, "short"])) == []
    assert long_lines(f"{table}\n{long}\n- {long}\n{code}") == [long, f"- {long}"]
