"""Design of experiments: trajectories that tell most about a robot within its limits."""

from didim.design.excite import excite
from didim.design.limits import Limits
from didim.design.plan import Plan

__all__ = ["Limits", "Plan", "excite"]
