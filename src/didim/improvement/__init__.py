"""From what a model lacks to a better one: suspects are added as long as records that the fit did
not see support them.
"""

from didim.improvement.improve import improve
from didim.improvement.path import Improvement

__all__ = ["Improvement", "improve"]
