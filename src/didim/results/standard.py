"""From base parameters back to standard ones: those that reproduce beta, are physical, and are
closest to the nominal.

Many standard vectors phi have matrix @ phi = beta (4)-(6). Among those inside the physically
consistent set, the one of least barrier around the nominal values is taken: the log-determinant
divergence of the links' pseudo-inertias, which does not depend on axes or units. A rotor of which
nothing is known is zero, unless the links would have to differ much from their description.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.closest import least_barrier
from didim.dynamics.consistent import positive_parameters
from didim.dynamics.described import barriers, described_robot
from didim.dynamics.model import BaseModel
from didim.dynamics.physical import settled_parameters
from didim.dynamics.prior import ROTOR_FRACTION

Array = NDArray[np.float64]


def closest_standard(model: BaseModel, beta: Array, known: Array | None = None) -> Array | None:
    """The physical standard parameters (p,) of base parameters beta (b,) closest to the nominal
    ones, or to `known` where these lack; None where none lie inside the set. Rotors and friction
    that beta determines are judged elsewhere (`consistency.py`); below zero they are taken as zero.
    """
    settled = settled_parameters(model.matrix)
    own: Array = np.asarray(np.linalg.lstsq(model.matrix, beta, rcond=None)[0], dtype=np.float64)
    positive = positive_parameters(model.full)
    own[positive] = np.maximum(own[positive], 0.0)
    centre = described_robot(model, known)
    held = settled.copy()
    held[model.layout.link] = False
    unknown = positive[~settled[positive] & ~(centre[positive] > 0)]
    fixed = held.copy()
    fixed[unknown] = True
    plain = _inside(model, beta, centre, settled, own, fixed)
    if not unknown.size or (plain is not None and _divergence(model, centre, plain) < unknown.size):
        return plain
    likely = centre.copy()
    for k in unknown:
        factor = model.matrix[:, k]
        at = factor != 0
        likely[k] = ROTOR_FRACTION * np.abs(beta[at] / factor[at]).max(initial=0.0)
    with_rotors = _inside(model, beta, likely, settled, own, held)
    found = [each for each in (plain, with_rotors) if each is not None]
    return min(found, key=lambda each: _divergence(model, centre, each), default=None)


def _divergence(model: BaseModel, centre: Array, values: Array) -> float:
    """Log-determinant divergence of the links from those of `centre`: about 1 for each direction in
    which a link differs by its own size.
    """
    around = barriers(model, centre)[0]
    ratio = around.inverse @ around.bodies(values)
    logarithm = np.linalg.slogdet(ratio)[1]
    return float(np.sum(np.trace(ratio, axis1=1, axis2=2) - logarithm - 4.0))


def _inside(
    model: BaseModel,
    beta: Array,
    centre: Array,
    settled: NDArray[np.bool_],
    own: Array,
    held: NDArray[np.bool_],
) -> Array | None:
    """The closest vector inside the set that is settled or `centre` where it is `held`."""
    around, middle = barriers(model, centre)
    fixed = np.where(settled, own, centre)
    shifted = beta + model.matrix[:, held] @ (around.prior - fixed)[held]
    found = least_barrier(around, middle, model.matrix, shifted, ~held)
    return None if found is None else np.where(held, fixed, found)
