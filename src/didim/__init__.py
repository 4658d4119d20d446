"""Identification of robot dynamics: from a robot's description and its recorded torques to a model
with its uncertainty.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from didim.control import (
        PD,
        PID,
        Cascade,
        ComputedTorque,
        OwnLaw,
        Servo,
        control_law,
        largest_inertias,
        linearise,
        load_controller,
    )
    from didim.design import Limits, Plan, excite
    from didim.dynamics import BaseModel, DynamicModel
    from didim.errors import InfeasibleError, InputError
    from didim.export import BesideMujoco, beside_mujoco, inverse_dynamics_code
    from didim.fleet import RunTable, run_many
    from didim.identification import DIDIM, IDIM, IV, OutputError, identify
    from didim.improvement import Improvement, improve
    from didim.payload import DriveGains, Payload, identify_drive_gains, identify_payload
    from didim.results import (
        Estimate,
        InconsistentRobotWarning,
        LackOfFit,
        LackRow,
        Status,
        Test,
        load_estimate,
    )
    from didim.robot import Coupling, Drive, Effect, Joint, Robot, load_robot, shipped_robots
    from didim.robot.catalogue import effects
    from didim.signals import (
        Experiment,
        Fourier,
        PointToPoint,
        Reference,
        load_experiment,
        load_reference,
        time_offset,
    )
    from didim.simulation import (
        Case,
        Motion,
        Sensitivities,
        UnstableLoopWarning,
        load_case,
        sensitivities,
        simulate,
        virtual_experiment,
    )
    from didim.study import Study, load_study

__version__ = "0.1.0"

_MODULES = {
    "didim.robot": (
        "Coupling",
        "Drive",
        "Effect",
        "Joint",
        "Robot",
        "load_robot",
        "shipped_robots",
    ),
    "didim.robot.catalogue": ("effects",),
    "didim.dynamics": ("BaseModel", "DynamicModel"),
    "didim.signals": (
        "Experiment",
        "Fourier",
        "PointToPoint",
        "Reference",
        "load_experiment",
        "load_reference",
        "time_offset",
    ),
    "didim.control": (
        "PD",
        "PID",
        "Cascade",
        "ComputedTorque",
        "OwnLaw",
        "Servo",
        "control_law",
        "largest_inertias",
        "linearise",
        "load_controller",
    ),
    "didim.simulation": (
        "Case",
        "Motion",
        "Sensitivities",
        "Status",
        "UnstableLoopWarning",
        "load_case",
        "sensitivities",
        "simulate",
        "virtual_experiment",
    ),
    "didim.results": (
        "Estimate",
        "InconsistentRobotWarning",
        "LackOfFit",
        "LackRow",
        "Status",
        "Test",
        "load_estimate",
    ),
    "didim.identification": ("DIDIM", "IDIM", "IV", "OutputError", "identify"),
    "didim.improvement": ("Improvement", "improve"),
    "didim.payload": ("DriveGains", "Payload", "identify_drive_gains", "identify_payload"),
    "didim.export": ("BesideMujoco", "beside_mujoco", "inverse_dynamics_code"),
    "didim.design": ("Limits", "Plan", "excite"),
    "didim.study": ("Study", "load_study"),
    "didim.fleet": ("RunTable", "run_many"),
    "didim.errors": ("InfeasibleError", "InputError"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "DIDIM",
    "IDIM",
    "IV",
    "PD",
    "PID",
    "BaseModel",
    "BesideMujoco",
    "Cascade",
    "Case",
    "ComputedTorque",
    "Coupling",
    "Drive",
    "DriveGains",
    "DynamicModel",
    "Effect",
    "Estimate",
    "Experiment",
    "Fourier",
    "Improvement",
    "InconsistentRobotWarning",
    "InfeasibleError",
    "InputError",
    "Joint",
    "LackOfFit",
    "LackRow",
    "Limits",
    "Motion",
    "OutputError",
    "OwnLaw",
    "Payload",
    "Plan",
    "PointToPoint",
    "Reference",
    "Robot",
    "RunTable",
    "Sensitivities",
    "Servo",
    "Status",
    "Study",
    "Test",
    "UnstableLoopWarning",
    "__version__",
    "beside_mujoco",
    "control_law",
    "effects",
    "excite",
    "identify",
    "identify_drive_gains",
    "identify_payload",
    "improve",
    "inverse_dynamics_code",
    "largest_inertias",
    "linearise",
    "load_case",
    "load_controller",
    "load_estimate",
    "load_experiment",
    "load_reference",
    "load_robot",
    "load_study",
    "run_many",
    "sensitivities",
    "shipped_robots",
    "simulate",
    "time_offset",
    "virtual_experiment",
]


def __getattr__(name: str) -> Any:
    """Names are imported when they are first used, so that `import didim` and `didim --help` cost
    nothing.
    """
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'didim' has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
