"""How joints, numbers and units are written: once, so that terminal, report and tables say the
same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from didim.dynamics.model import BaseModel
from didim.dynamics.torque import TorqueModel
from didim.robot import labels
from didim.robot.effects import LINK


def joint_label(model: TorqueModel, j: int) -> str:
    """A joint by number and name, for messages."""
    return labels.joint_label(model.robot, j)


def number(value: float) -> str:
    """Four digits; words where there is no number."""
    return f"{value:.4g}" if np.isfinite(value) else ("-" if np.isnan(value) else f"{value:g}")


def percent(value: float) -> str:
    """A relative sigma that is given in percent; a dash where nothing is known."""
    return "-" if not np.isfinite(value) else (f"{value:.2g}" if value < 10 else f"{value:.0f}")


def share(value: float) -> str:
    """A fraction as a percentage of three digits."""
    return f"{100 * value:.3g} %" if np.isfinite(value) else "not known"


def listed(names: Sequence[str], most: int = 8) -> str:
    """Names, separated by commas; of many only the first ones."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def torque_word(model: TorqueModel, j: int) -> str:
    """What drives a joint: a torque, or a force where it slides."""
    return "force" if model.robot.joints[j].kind == "prismatic" else "torque"


def torque_unit(model: TorqueModel, j: int) -> str:
    """Of the torque of a joint, or of the force of a sliding one."""
    return "N" if torque_word(model, j) == "force" else "N m"


def parameter_units(model: BaseModel) -> dict[str, str]:
    """The SI unit of each base parameter, which is that of its leading standard parameter."""
    return {
        name: _unit(model, name if name in model.full.parameter_names else name[:-1])
        for name in model.parameter_names
    }


def _unit(model: BaseModel, name: str) -> str:
    """Of one standard parameter: inertial ones by their name, the others by the joint that they act
    on.
    """
    layout = model.layout
    column = layout.names.index(name)
    if np.any(layout.link == column):
        stem = LINK[int(np.argwhere(layout.link == column)[0, 1])]
        return "kg" if stem == "M" else ("kg m" if stem.startswith("M") else "kg m²")
    entry = next(each for each in layout.entries if each.column == column)
    slides = model.robot.joints[entry.row].kind == "prismatic"
    if entry.signal == "ddq":
        return "kg" if slides else "kg m²"
    if entry.signal.startswith("dq"):
        return "N s/m" if slides else "N m s/rad"
    return torque_unit(model, entry.row)
