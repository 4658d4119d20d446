"""`Finding`: what one check saw, how bad it is, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

LEVELS = ("pass", "unjudged", "warn", "fail")
"""From good to bad."""


@dataclass(frozen=True)
class Finding:
    """One line of a diagnosis."""

    check: str
    """What was looked at."""
    level: str
    """"pass", "unjudged" (the record does not allow to say), "warn" (look at it) or "fail" (fix it
    first).
    """
    found: str
    """What was seen, with figures."""
    remedy: str = ""
    """What to do; empty where nothing is needed."""
    experiment: str = ""
    """Which record; empty for all of them."""

    def __str__(self) -> str:
        where = f"{self.experiment}: " if self.experiment else ""
        lines = [f"{self.level:<8} {self.check:<12} {where}{self.found}"]
        return "\n".join(lines + ([f"{'':<21} -> {self.remedy}"] if self.remedy else []))


def unjudged(check: str, why: str, remedy: str) -> Finding:
    """A check that says nothing, why, and what would let it."""
    return Finding(check, "unjudged", f"not judged: {why}", remedy)


def graded(value: float, warn: float, fail: float = float("inf")) -> str:
    """The level of a figure that should be small."""
    return "fail" if value > fail else ("warn" if value > warn else "pass")
