"""Checks of records and loops: data problems to fix before identifying."""

from didim.checks.diagnose import diagnose
from didim.checks.finding import Finding

__all__ = ["Finding", "diagnose"]
