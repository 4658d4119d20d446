"""How joints, numbers and units are written: once, so that terminal, report and tables say the
same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from didim.dynamics.torque import TorqueModel
from didim.robot import Robot, labels


def joint_label(model: TorqueModel, j: int) -> str:
    """A joint by number and name, for messages."""
    return labels.joint_label(model.robot, j)


def held_joints(robot: Robot) -> tuple[str, ...]:
    """A note on the joints that were held; none where all move."""
    if not robot.locked:
        return ()
    where = listed([f"{name} at {value:.4g}" for name, value in robot.locked.items()])
    return (
        f"Held joints, rad or m: {where}. Their links count as part of the links that carry them, "
        "and the model holds for these positions only.",
    )


def number(value: float) -> str:
    """Four digits; words where there is no number."""
    return f"{value:.4g}" if np.isfinite(value) else ("-" if np.isnan(value) else f"{value:g}")


def percent(value: float) -> str:
    """A relative sigma that is given in percent; a dash where nothing is known."""
    return "-" if not np.isfinite(value) else (f"{value:.2g}" if value < 10 else f"{value:.0f}")


def fraction(value: float) -> str:
    """A fraction as a percentage of three digits."""
    return f"{100 * value:.3g} %" if np.isfinite(value) else "not known"


def listed(names: Sequence[str], most: int = 8) -> str:
    """Names, separated by commas; of many only the first ones."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def torque_word(model: TorqueModel, j: int) -> str:
    """What drives a joint: a torque, or a force where it slides."""
    return "force" if model.robot.coordinates[j].kind == "prismatic" else "torque"


def motion_unit(model: TorqueModel, j: int) -> str:
    """Of the position of a joint."""
    return "m" if torque_word(model, j) == "force" else "rad"


def torque_unit(model: TorqueModel, j: int) -> str:
    """Of the torque of a joint, or of the force of a sliding one."""
    return "N" if torque_word(model, j) == "force" else "N m"


def scan_notes(scanned: Mapping[float, float]) -> tuple[str, ...]:
    """What a scan found, the error at each factor on the bandwidth, and where it had the iteration
    start.
    """
    finite = {f: error for f, error in scanned.items() if np.isfinite(error)}
    if not finite:
        return ()
    parts = ", ".join(f"{100 * error:.3g} % at {f:g}" for f, error in finite.items())
    best = min(finite, key=lambda factor: finite[factor])
    return (f"Scan of the bandwidth, over the assumed one: {parts}; started at {best:g}.",)
