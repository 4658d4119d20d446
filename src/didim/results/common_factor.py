"""What positions alone leave open: a common factor on all parameters and on what scales torques.

M ddq + N = g v holds as well for s M, s N and s g: where no torque is measured and every torque
gain of the loop is unknown, one known parameter, drive gain or law gain must say how large they
are.
"""

from __future__ import annotations

import numpy as np

from didim.control.law import DRIVE_GAIN
from didim.control.simulated_loop import SimulatedLoop
from didim.dynamics.model import BaseModel
from didim.results.formatting import listed

CLOSE_FACTOR = (
    "Close it by one known parameter (fixed = {...}: a first moment or inertia that is a base "
    "parameter of its own), by a drive gain or the gains of one joint that are known and not in "
    'estimate_gains, or by a measured torque (output="torque" or "both").'
)


def open_factor(model: BaseModel, loop: SimulatedLoop) -> list[str]:
    """The common factor that positions alone leave open, as a finding; none where something known
    closes it.
    """
    controller = loop.controller
    if controller is None or controller.model_term != "none":
        return []
    if model.affine is not None and np.any(model.affine.offset):
        return []
    follows = controller.by_poles and controller.inertia is None and loop.unknown_gains is None
    free = [_scales(loop, int(j)) for j in np.flatnonzero(model.robot.driven)]
    if not follows and not all(free):
        return []
    gains = [name for names in free for name in names]
    what = "gains that follow them" if follows else f"the gains {listed(gains)}"
    return [
        f"positions alone leave a common factor on all parameters and {what} open",
        *(note[:1].lower() + note[1:].rstrip(".") for note in model.known_notes),
    ]


def _scales(loop: SimulatedLoop, j: int) -> list[str]:
    """Names of the unknown gains that together scale the torque of joint j; none where it is
    known.
    """
    unknown = {kind for kind, k in loop.gains if k == j}
    if DRIVE_GAIN in unknown:
        return [f"{DRIVE_GAIN}{j + 1}"]
    controller, gains = loop.controller, loop.unknown_gains
    if controller is None or gains is None or np.isfinite(_limit(loop, j)):
        return []
    kinds = [kind for kind in ("kv", "ki", "kiv") if getattr(gains, kind)[j] != 0]
    return [f"{kind}{j + 1}" for kind in kinds] if set(kinds) <= unknown else []


def _limit(loop: SimulatedLoop, j: int) -> float:
    limits = np.asarray(np.inf if loop.controller is None else loop.controller.saturation)
    return float(limits if limits.ndim == 0 else limits[j])
