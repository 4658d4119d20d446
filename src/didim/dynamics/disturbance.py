"""A model with disturbances: torques that are given functions of time, each times an unknown.

    tau = W chi + s_1(t) theta_1 + ... + s_k(t) theta_k,    theta = 0,

so that the sensitivities of a simulation have one more column for each: how the loop answers it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from didim.dynamics.base import Regrouping
from didim.dynamics.layout import Entry
from didim.dynamics.model import BaseModel
from didim.dynamics.parameters import ParameterInfo, ParameterKind, Sign
from didim.dynamics.terms import Term
from didim.expressions.nodes import Name

Array = NDArray[np.float64]


def disturbed(model: BaseModel, disturbances: Sequence[Sequence[int]]) -> BaseModel:
    """The model with a parameter for each disturbance, given by the joints that it acts on; known
    values and shapes stay as they are.
    """
    layout, p = model.layout, len(model.layout.parameters)
    parameters, entries = list(layout.parameters), list(layout.entries)
    terms, channels = list(layout.terms.terms), list(layout.terms.channels)
    for k, joints in enumerate(disturbances):
        name = f"disturbance {k}"
        parameters.append(
            ParameterInfo(name, name, ParameterKind.TORQUE, joints[0], "N m", Sign.ANY)
        )
        for j in joints:
            entries.append(Entry(j, p + k, "term", len(terms), 1.0))
            terms.append(Term(p + k, {j: 1.0}, -1, True, Name(_channel(k, j))))
            channels.append(_channel(k, j))
    table = replace(
        layout.terms,
        terms=tuple(terms),
        channels=tuple(channels),
        own=tuple(entry.own for entry in entries),
    )
    further = np.zeros(len(disturbances))
    extended = replace(
        layout,
        parameters=tuple(parameters),
        nominal=np.concatenate([layout.nominal, further]),
        entries=tuple(entries),
        terms=table,
    )
    full = replace(model.full, fixed=None)
    full.__dict__["layout"] = extended
    base, count = model.regrouping, len(disturbances)
    names = tuple(each.name for each in parameters[p:])
    grown = Regrouping(
        (*base.kept, *range(p, p + count)),
        block_diag(base.matrix, np.eye(count)),
        (*base.names, *names),
        {**base.formulas, **{name: name for name in names}},
        base.method,
    )
    found = BaseModel(full, grown)
    full.__dict__["base"] = found
    return found


def disturbance_signals(signals: Sequence[Mapping[int, Array]]) -> dict[str, Array]:
    """The channels of a disturbed model: s(t) (N,) by joint, of each disturbance."""
    return {_channel(k, j): s for k, each in enumerate(signals) for j, s in each.items()}


def _channel(k: int, j: int) -> str:
    return f"disturbance {k} on joint {j + 1}"
