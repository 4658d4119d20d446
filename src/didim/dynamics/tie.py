"""`Tie`: an effect on joints that follow others, as one on the coordinates that these follow.

With x = w q_i + c, the position of an effect on a joint that follows coordinate i, its torque s
acts on q_i as w s(x, w dq_i, slip sign(w)): viscous friction counts w^2, Coulomb friction |w| and a
rotor w^2 of itself. The contact is that of coordinate i, which sticks and slips with the joint.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from didim.dynamics.tied import Tied
from didim.errors import InputError
from didim.expressions.expression import names, substitute
from didim.expressions.nodes import Expression, Name, Number, add, multiply
from didim.robot.effect import Effect

_OTHER_WAY = {"dq+": "dq-", "dq-": "dq+", "slip+": "slip-", "slip-": "slip+"}


class Tie:
    """An effect with the `weights` of joints by number, some of which follow others."""

    def __init__(self, tied: Tied, weights: Mapping[int, float], effect: Effect) -> None:
        found, self._offset = tied.on_coordinates(weights)
        if not found:
            raise InputError(
                f"The effect {effect.name!r} acts on joints that follow each other so that its "
                "motion is always zero; remove it."
            )
        if any("load" in names(term) for term in effect.terms.values()):
            raise InputError(
                f"The effect {effect.name!r} grows with the load of a joint that follows another "
                "one, whose load is not known; leave it out there, or hold the joint (lock)."
            )
        self.joint = next(iter(found))
        self.single = len(found) == 1
        self._weight = found[self.joint]
        self.weights = {self.joint: 1.0} if self.single else found
        """By coordinate; 1 where there is but one, whose weight is then in the torque."""

    def signal(self, signal: str) -> tuple[str, float]:
        """The signal of the coordinate that gives one of a single joint, and its weight."""
        w = self._weight
        if signal == "one":
            return signal, w
        weight = abs(w) if signal.startswith("slip") else w * w
        return _OTHER_WAY.get(signal, signal) if w < 0 else signal, weight

    def reflected(self, term: Expression) -> Expression:
        """The torque on the coordinates, as an expression of their motion."""
        w = self._weight if self.single else 1.0
        motion: dict[str, Expression | float] = {
            "q": add(multiply(Number(w), Name("q")), Number(self._offset)),
            "dq": multiply(Number(w), Name("dq")),
            "slip": multiply(Number(float(np.sign(w))), Name("slip")),
        }
        return multiply(Number(w), substitute(term, motion))
