"""The scores of a league as a table of text or Markdown, and as a picture."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from didim.fleet.league_names import one_line
from didim.fleet.league_scores import Score
from didim.report.pictures import new_axes

COLUMNS: dict[str, Callable[[Score], str]] = {
    "case": lambda each: one_line(each.entry.case),
    "method": lambda each: one_line(each.entry.method),
    "failed": lambda each: f"{each.failed}/{each.runs}",
    "not converged": lambda each: f"{each.unconverged}/{each.runs}",
    "error, %": lambda each: _shown(100 * each.error),
    "held out, %": lambda each: _shown(100 * each.torque),
    "coverage, %": lambda each: _shown(100 * each.coverage),
    "seconds": lambda each: _shown(each.seconds),
}
"""Head and content of each column; the first two are text."""

PANELS = (
    ("error", "How far are the parameters from the truth?", "error, %", 100.0),
    ("coverage", "How many 95 % intervals hold the truth?", "coverage, %", 100.0),
    ("lost", "How many runs failed or did not converge?", "runs, %", 100.0),
    ("seconds", "How long does one identification take?", "median, s", 1.0),
)
"""Of the picture: field, question, axis and factor."""

_MARKUP = re.compile(r"[\\`|*_\[\]<>&$~]")
"""Letters that Markdown would not show as they are."""


def cells(scores: Sequence[Score]) -> list[tuple[str, ...]]:
    """The rows of the table."""
    return [tuple(content(each) for content in COLUMNS.values()) for each in scores]


def text_table(scores: Sequence[Score]) -> str:
    """Columns side by side."""
    rows = [tuple(COLUMNS), *cells(scores)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(COLUMNS))]
    return "\n".join(
        "  ".join(
            each.ljust(width) if k < 2 else each.rjust(width)
            for k, (each, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def markdown_table(scores: Sequence[Score]) -> str:
    """The same for a page, on which names are as they were given."""
    rows = [tuple(_MARKUP.sub(r"\\\g<0>", each) for each in row) for row in cells(scores)]
    lines = [tuple(COLUMNS), ("---", "---", *["--:"] * (len(COLUMNS) - 2)), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def picture(scores: Sequence[Score]) -> Any:
    """Error, coverage, failures and time by method, one mark for each case; the axes (4, 1)."""
    axes = new_axes(len(PANELS), size=(9.0, 2.6))
    methods = list(dict.fromkeys(each.entry.method for each in scores))
    cases = list(dict.fromkeys(each.entry.case for each in scores))
    for row, (name, question, label, factor) in zip(axes, PANELS, strict=True):
        for k, case in enumerate(cases):
            own = [each for each in scores if each.entry.case == case]
            x = [methods.index(each.entry.method) + 0.6 * _share(k, len(cases)) for each in own]
            row[0].plot(x, [factor * _value(each, name) for each in own], "o", label=str(k))
        row[0].set_title(question, loc="left", fontsize=10)
        row[0].set_ylabel(label)
        row[0].set_xticks(range(len(methods)), map(one_line, methods), fontsize=8, parse_math=False)
        row[0].grid(alpha=0.3)
        if name not in ("error", "seconds"):
            row[0].set_ylim(-5, 105)
        elif any(_value(each, name) > 0 for each in scores):  # else a logarithm has no scale
            row[0].set_yscale("log")
    axes[1, 0].axhline(95, color="0.55", linestyle="--", linewidth=1)
    legend = axes[0, 0].legend(fontsize=8, ncols=3, framealpha=0.6)
    for text, case in zip(legend.get_texts(), cases, strict=True):  # "_x" and "$x$" are names too
        text.set_parse_math(False)
        text.set_text(one_line(case))
    return axes


def _share(k: int, count: int) -> float:
    """Places of the cases beside each other, -0.5 to 0.5."""
    return 0.0 if count == 1 else k / (count - 1) - 0.5


def _value(score: Score, name: str) -> float:
    if name == "lost":
        return (score.failed + score.unconverged) / score.runs
    return float(getattr(score, name))


def _shown(value: float) -> str:
    return f"{value:.3g}" if np.isfinite(value) else "-"
