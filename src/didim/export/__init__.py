"""The identified inverse dynamics as plain Python or C."""

from didim.export.code import LANGUAGES, inverse_dynamics_code

__all__ = ["LANGUAGES", "inverse_dynamics_code"]
