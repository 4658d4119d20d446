"""`Test`: one test of an estimate, with what it means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

TEST_LEVEL = 0.05
"""How often, at most, a test rejects a hypothesis that holds."""

DURBIN_WU_HAUSMAN, INSTRUMENTS = "durbin_wu_hausman", "instruments"
"""Names of the tests that compare the measured with the simulated motion."""


@dataclass(frozen=True)
class Test:
    """A hypothesis that should hold, tested on what a fit leaves."""

    __test__: ClassVar[bool] = False

    statistic: float | None
    """F of Durbin-Wu-Hausman and of the instruments, chi-square of the others; None: the test does
    not apply.
    """
    p_value: float | None
    """How often a statistic as large is seen where the hypothesis holds; None: it does not
    apply.
    """
    meaning: str
    """What that says, or why the test does not apply, in a sentence."""

    @property
    def applies(self) -> bool:
        """Whether it could be made."""
        return self.p_value is not None

    @property
    def rejects(self) -> bool:
        """Whether the hypothesis is rejected at the level of 5 %."""
        return self.p_value is not None and self.p_value < TEST_LEVEL

    @property
    def shown(self) -> str:
        """Statistic and p-value, for a line of text; a dash where it does not apply."""
        if self.statistic is None or self.p_value is None:
            return "-"
        return f"{self.statistic:.3g}, p = {self.p_value:.2g}"


def plain_tests(tests: Mapping[str, Test]) -> dict[str, dict[str, Any]]:
    """For JSON."""
    return {
        name: {"statistic": each.statistic, "p_value": each.p_value, "meaning": each.meaning}
        for name, each in tests.items()
    }


def tests_of(data: Mapping[str, Mapping[str, Any]]) -> dict[str, Test]:
    """What `plain_tests` wrote."""
    return {name: Test(**each) for name, each in data.items()}
