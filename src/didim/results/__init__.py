"""What we know: estimates, their history, tables, predictions, saving and loading."""

from didim.results.effect_curve import FrictionCurve, PositionCurve
from didim.results.estimate import Estimate
from didim.results.history import Iteration
from didim.results.hypothesis import Test
from didim.results.identified import InconsistentRobotWarning
from didim.results.lack_of_fit import LackOfFit, LackRow
from didim.results.status import Status
from didim.results.store import load_estimate
from didim.results.validation import Validation

__all__ = [
    "Estimate",
    "FrictionCurve",
    "InconsistentRobotWarning",
    "Iteration",
    "LackOfFit",
    "LackRow",
    "PositionCurve",
    "Status",
    "Test",
    "Validation",
    "load_estimate",
]
