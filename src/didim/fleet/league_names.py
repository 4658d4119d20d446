"""Names of the tables of a league: no two of a kind, and no two cases, have the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from didim.errors import InputError

if TYPE_CHECKING:
    from didim.fleet.league import Entry


def one_line(name: str) -> str:
    """A name without line ends and other letters that cannot be printed."""
    return " ".join("".join(each if each.isprintable() else " " for each in name).split())


def distinct_names(
    kind: str, given: Sequence[str | None], defaults: Sequence[str] | None = None
) -> list[str]:
    """The names of all tables of a kind. Those without one (None) have their default, numbered
    where several have the same: "loop 1", "loop 2". A name that occurs twice is refused.
    """
    usual = [""] * len(given) if defaults is None else defaults
    unnamed = Counter(own for name, own in zip(given, usual, strict=True) if name is None)
    numbers: Counter[str] = Counter()
    names = []
    for name, own in zip(given, usual, strict=True):
        if name is None:
            numbers[own] += 1
            name = f"{own} {numbers[own]}" if unnamed[own] > 1 else own
        if name in names:
            raise InputError(
                f"two tables {kind} have the name {name!r}; give each a name = ... of its own."
            )
        names.append(name)
    return names


def refuse_equal_cases(entries: Iterable[Entry]) -> None:
    """Refuse entries that the table could not tell apart, such as loop "x" with the default
    trajectory, and the default loop with trajectory "x".
    """
    found: dict[tuple[str, str], Entry] = {}
    for entry in entries:
        shown = one_line(entry.case), one_line(entry.method)
        if found.setdefault(shown, entry) != entry:
            raise InputError(
                f"two rows of the table would both be called {', '.join(shown)!r}; give their "
                "loops, trajectories, noise, faults and methods names that differ when shown."
            )
