"""What to mend first: diagnoses of records and loops, before any number is believed."""

from didim.checks.diagnose import diagnose
from didim.checks.finding import Finding

__all__ = ["Finding", "diagnose"]
