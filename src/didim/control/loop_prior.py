"""The prior of a robot in its loop: links that are described or generic, rotors and friction in
proportion to what the loop was tuned for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.control.simulated_loop import tuned_inertia
from didim.control.tuning import largest_inertias
from didim.dynamics.consistent import Consistent
from didim.dynamics.model import BaseModel
from didim.dynamics.prior import generic_links, prior_of

Array = NDArray[np.float64]


def loop_prior(model: BaseModel, loop: Controller | None, sizes: tuple[Array, Array]) -> Consistent:
    """The physically consistent set with its prior (p,); `sizes` are the standard deviation of the
    torque (n,) and the rms velocity (n,).
    """
    links = largest_inertias(model.full, generic_links(model))
    return prior_of(model, tuned_inertia(model, loop, links), *sizes)
