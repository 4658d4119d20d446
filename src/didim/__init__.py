"""Identification of robot dynamics: from a robot's description and its recorded torques to a model that can be believed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from didim.dynamics import BaseModel, DynamicModel
    from didim.errors import InfeasibleError, InputError
    from didim.robot import Coupling, Drive, Joint, Robot, load_robot, shipped_robots

__version__ = "0.1.0"

_ROOMS = {
    "didim.robot": ("Coupling", "Drive", "Joint", "Robot", "load_robot", "shipped_robots"),
    "didim.dynamics": ("BaseModel", "DynamicModel"),
    "didim.errors": ("InfeasibleError", "InputError"),
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [
    "BaseModel",
    "Coupling",
    "Drive",
    "DynamicModel",
    "InfeasibleError",
    "InputError",
    "Joint",
    "Robot",
    "__version__",
    "load_robot",
    "shipped_robots",
]


def __getattr__(name: str) -> Any:
    """Names are imported when they are first used, so that `import didim` and `didim --help` cost nothing."""
    if name not in _HOME:
        raise AttributeError(f"module 'didim' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
