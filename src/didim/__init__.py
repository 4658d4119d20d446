"""Identification of robot dynamics: from a robot's description and its recorded torques to a model that can be believed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from didim.control import PD, PID, Cascade, ComputedTorque, OwnLaw, control_law, largest_inertias, linearise
    from didim.dynamics import BaseModel, DynamicModel
    from didim.errors import InfeasibleError, InputError
    from didim.robot import Coupling, Drive, Joint, Robot, load_robot, shipped_robots
    from didim.signals import Experiment, Fourier, PointToPoint, Reference
    from didim.simulation import Case, Motion, UnstableLoopWarning, load_case, simulate, virtual_experiment

__version__ = "0.1.0"

_ROOMS = {
    "didim.robot": ("Coupling", "Drive", "Joint", "Robot", "load_robot", "shipped_robots"),
    "didim.dynamics": ("BaseModel", "DynamicModel"),
    "didim.signals": ("Experiment", "Fourier", "PointToPoint", "Reference"),
    "didim.control": ("PD", "PID", "Cascade", "ComputedTorque", "OwnLaw", "control_law", "largest_inertias", "linearise"),
    "didim.simulation": ("Case", "Motion", "UnstableLoopWarning", "load_case", "simulate", "virtual_experiment"),
    "didim.errors": ("InfeasibleError", "InputError"),
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [
    "PD",
    "PID",
    "BaseModel",
    "Cascade",
    "Case",
    "ComputedTorque",
    "Coupling",
    "Drive",
    "DynamicModel",
    "Experiment",
    "Fourier",
    "InfeasibleError",
    "InputError",
    "Joint",
    "Motion",
    "OwnLaw",
    "PointToPoint",
    "Reference",
    "Robot",
    "UnstableLoopWarning",
    "__version__",
    "control_law",
    "largest_inertias",
    "linearise",
    "load_case",
    "load_robot",
    "shipped_robots",
    "simulate",
    "virtual_experiment",
]


def __getattr__(name: str) -> Any:
    """Names are imported when they are first used, so that `import didim` and `didim --help` cost nothing."""
    if name not in _HOME:
        raise AttributeError(f"module 'didim' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
