"""From what a model lacks to a better one: suspects are added as long as records that the fit did
not see support them.
"""

from didim.improvement.path import Improvement
from didim.improvement.search import improve

__all__ = ["Improvement", "improve"]
