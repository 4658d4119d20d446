"""Where an iteration starts: the regular initialisations (61)-(63), nominal values, an earlier
estimate, or a vector.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.dynamics.model import BaseModel
from didim.dynamics.regular import described_parameters, unit_parameters, unit_rotors
from didim.dynamics.torque import TorqueModel
from didim.errors import InputError, nearest, shortened
from didim.results.estimate import Estimate
from didim.validation import vector

Array = NDArray[np.float64]

NAMED = ("identity", "unit", "nominal")


@dataclass(frozen=True, eq=False)
class Start:
    """The first simulation: its model and parameters, and the base parameters chi^0 that it stands
    for.
    """

    model: TorqueModel
    parameters: Array
    base: Array
    """(b,) chi^0; for "identity", whose rotors the model may not have, those of "unit", to shorten
    a step towards.
    """


def check_initial(initial: object) -> None:
    """Refuse what can be no start."""
    if isinstance(initial, str) and initial not in NAMED:
        raise InputError(f"Unknown initial {initial!r}; {nearest(initial, NAMED)}")
    if not isinstance(initial, str | Estimate) and not _is_vector(initial):
        raise InputError(
            f"initial must be one of {', '.join(NAMED)}, an Estimate or a vector, found "
            f"{shortened(initial)}."
        )


def _is_vector(value: object) -> bool:
    try:
        return np.ndim(value) == 1  # type: ignore[arg-type]
    except ValueError:
        return False


def start_of(model: BaseModel, initial: str | Estimate | ArrayLike) -> Start:
    """The start that `initial` names.

    Implements (61), (62).
    """
    check_initial(initial)
    if isinstance(initial, Estimate):
        if initial.model.parameter_names != model.parameter_names:
            raise InputError(
                "initial: this estimate is of another model; its parameters have other names."
            )
        return _from_base(model, initial.parameters)
    if not isinstance(initial, str):
        return _from_base(model, vector(initial, "initial", model.parameter_names))
    if initial == "nominal":
        return _from_base(model, model.matrix @ described_parameters(model.full))
    unit = _from_base(model, model.matrix @ unit_parameters(model.full))
    return unit if initial == "unit" else Start(*unit_rotors(model), unit.base)


def _from_base(model: BaseModel, base: Array) -> Start:
    base = base if model.affine is None else model.affine.nearest(base)
    return Start(model, base, base)
