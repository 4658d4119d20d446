"""Where an iteration starts: the regular initialisations (61)-(63), nominal values, an earlier
estimate or a vector.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.dynamics.model import BaseModel, DynamicModel
from didim.dynamics.parameters import ParameterKind
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
        described = model.full.described
        unknown = [
            name
            for name, value in zip(model.full.parameter_names, described, strict=True)
            if np.isnan(value)
        ]
        if unknown:
            raise InputError(
                f'initial="nominal": the description of {model.robot.name!r} has no value for '
                f"{', '.join(unknown[:5])}"
                f'{", ..." if len(unknown) > 5 else ""}. Use "unit" or "identity".'
            )
        return _from_base(model, model.matrix @ described)
    unit = _from_base(model, model.matrix @ unit_parameters(model.full))
    return unit if initial == "unit" else Start(*_rotors_alone(model), unit.base)


def _from_base(model: BaseModel, base: Array) -> Start:
    return Start(model, base, base)


def unit_parameters(model: DynamicModel) -> Array:
    """phi = 0 except ZZ_j = 1 (63), or M_j = 1 where joint j is prismatic.

    Implements (63).
    """
    phi = np.zeros(len(model.parameter_names))
    phi[model.layout.axis_inertia] = 1.0
    return phi


def _rotors_alone(model: BaseModel) -> tuple[DynamicModel, Array]:
    """A model of rotors only, one on every joint, with Ia_j = 1: its inertia matrix is the identity
    (61), (62).
    """
    fields: dict[str, Any] = {"effects": frozenset({"rotor"}), "nominal": {}}
    joints = tuple(replace(joint, **fields) for joint in model.robot.joints)
    rotors = DynamicModel(replace(model.robot, joints=joints, couplings=()), ["rotor"])
    return rotors, np.array([float(each.kind is ParameterKind.ROTOR) for each in rotors.parameters])
