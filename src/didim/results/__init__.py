"""What we know: estimates, their history, tables, predictions, saving and loading."""

from didim.results.estimate import Estimate
from didim.results.history import Iteration
from didim.results.prediction import Validation
from didim.results.store import load_estimate

__all__ = ["Estimate", "Iteration", "Validation", "load_estimate"]
