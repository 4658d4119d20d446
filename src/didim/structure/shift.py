"""What the suspects could have moved the parameters by: the bias in `interval(robust=True)`.

With X what was estimated, Z the columns of suspects and y the residual before the last step, least
squares with them added moves the parameters by

    X+ (y - Z theta),    theta = (Z_' Z_)+ Z_' rho.

Suspects that are named count whole, and so do those that the record cannot distinguish from them.
Of the others the worst counts, its square times 1 - p, where p is how often it would look as sure
where nothing is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from didim.regression.score import ScoreTests

Array = NDArray[np.float64]


def parameter_shifts(
    tests: ScoreTests,
    rest: ScoreTests,
    places: Sequence[Sequence[int]],
    added: Mapping[int, Sequence[int]],
    p_values: Sequence[float],
) -> Array:
    """(b,) largest shift of each parameter, SI.

    Parameters
    ----------
    tests
        Of all suspects.
    rest
        The same once those in `added` are in the model.
    places
        The columns of each suspect.
    added
        The suspects that are named or always added, each with those that the record cannot
        distinguish from it.
    p_values
        Of each suspect in `rest`.
    """  # fmt: skip
    shift = np.zeros(tests.step.size)
    for chosen in _choices(added):
        columns = [k for i in chosen for k in places[i]]
        shift = np.maximum(shift, np.abs(tests.moved(columns)))
    others = np.zeros_like(shift)
    for i, place in enumerate(places):
        if i not in added and p_values[i] < 1:
            move = rest.onto[:, list(place)] @ rest.of(place).values
            others = np.maximum(others, np.sqrt(1.0 - p_values[i]) * np.abs(move))
    return np.asarray(np.hypot(shift, others))


def _choices(added: Mapping[int, Sequence[int]]) -> Iterator[list[int]]:
    """The suspects that are added, and the same with one of them exchanged for one that the record
    cannot distinguish from it.
    """
    if added:
        yield list(added)
    for i, ties in added.items():
        for other in ties:
            yield [other if each == i else each for each in added]
