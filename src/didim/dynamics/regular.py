"""The regular initialisation: parameters with a regular inertia matrix, (61)-(63), or the described
ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.model import BaseModel, DynamicModel
from didim.dynamics.parameters import ParameterKind
from didim.errors import InputError

Array = NDArray[np.float64]


def unit_parameters(model: DynamicModel) -> Array:
    """phi = 0 except ZZ_j = 1 (63), or M_j = 1 where joint j is prismatic.

    Implements (63).
    """
    phi = np.zeros(len(model.parameter_names))
    phi[model.layout.axis_inertia[: model.robot.n]] = 1.0
    return phi


def unit_rotors(model: BaseModel) -> tuple[DynamicModel, Array]:
    """A model of rotors only, one on every coordinate, with Ia_j = 1: its inertia matrix is the
    identity.

    Implements (61), (62).
    """
    one: dict[str, Any] = {"effects": frozenset({"rotor"}), "nominal": {}}
    none: dict[str, Any] = {"effects": frozenset(), "nominal": {}}
    joints = tuple(
        replace(joint, **(one if joint.mimic is None else none)) for joint in model.robot.joints
    )
    rotors = DynamicModel(replace(model.robot, joints=joints, couplings=()), ["rotor"])
    kinds = [parameter.kind for parameter in rotors.parameters]
    return rotors, np.array([float(kind is ParameterKind.ROTOR) for kind in kinds])


def described_parameters(model: DynamicModel) -> Array:
    """(p,) the start "nominal": the standard parameters of the description, refused where one is
    missing.
    """
    pairs = zip(model.parameter_names, model.described, strict=True)
    unknown = [name for name, value in pairs if np.isnan(value)]
    if unknown:
        more = ", ..." if len(unknown) > 5 else ""
        raise InputError(
            f'initial="nominal": the description of {model.robot.name!r} has no value for '
            f'{", ".join(unknown[:5])}{more}. Use "unit" or "identity".'
        )
    return model.described
