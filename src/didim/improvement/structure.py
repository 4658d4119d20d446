"""`Structure`: a model and a method with its loop, and what a suspect changes in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.dynamics.model import BaseModel, DynamicModel
from didim.identification.methods.didim import DIDIM
from didim.identification.methods.idim import IDIM
from didim.identification.methods.output_error import OutputError
from didim.results.estimate import Estimate

Array = NDArray[np.float64]
Known = IDIM | DIDIM | OutputError
"""The methods that can be improved."""


@dataclass(frozen=True, eq=False)
class Structure:
    """What is identified, and how."""

    model: DynamicModel
    method: Known

    @property
    def loop(self) -> Controller | None:
        """The loop that the method simulates."""
        return None if isinstance(self.method, IDIM) else self.method.controller

    def with_method(self, **changed: Any) -> Structure:
        """The same with other settings of the method."""
        return replace(self, method=replace(self.method, **changed))

    def started_at(self, estimate: Estimate, loop: Controller | None = None) -> Structure:
        """The same, starting from an estimate of this or of a smaller model, and with this loop;
        a method that does not iterate needs no start.
        """
        if isinstance(self.method, IDIM):
            return self
        changed: dict[str, Any] = {"initial": start_from(self.model.base, estimate)}
        if loop is not None:
            changed["controller"] = loop
        return self.with_method(**changed)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A structure with something added."""

    structure: Structure
    change: str
    """What was changed, in a sentence."""
    follows: bool = False
    """Whether the controller's own model is the identified one, and so is found by repetition."""


def start_from(model: BaseModel, estimate: Estimate) -> Array:
    """(b,) the parameters of an estimate in another model: standard parameters keep their values,
    new ones have that of their declaration, or zero.
    """
    known = dict(
        zip(
            estimate.model.full.parameter_names,
            estimate.model.standard(estimate.parameters),
            strict=True,
        )
    )
    pairs = zip(model.full.parameter_names, model.full.described, strict=True)
    phi = np.array([known.get(name, value) for name, value in pairs])
    return np.asarray(model.matrix @ np.nan_to_num(phi))
