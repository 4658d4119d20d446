"""The methods that identify records with a load: that of the empty robot, with its settings, or
another.

A loop given by its poles may have kept the gains of the empty robot, or have been tuned again for
the loaded one. Both are tried, and the one that the torque agrees with is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from didim.control.tuning import largest_inertias
from didim.errors import InputError
from didim.identification.identify import Method
from didim.identification.methods.didim import DIDIM
from didim.identification.methods.idim import IDIM
from didim.regression.least_squares import WEIGHTS
from didim.results.estimate import Estimate

CHOSEN_CUTOFF = 8
"""Order of the differences (`Preprocessing.accuracy`) where the cutoff was chosen from the
records.
"""


MAX_ITERATIONS = 50
"""Of DIDIM from the empty robot: a heavy load makes its steps shrink more slowly."""


def loaded_methods(empty: Estimate, method: Method | None) -> list[Method]:
    """The given method or that of the estimate; several where the loop of the loaded robot is not
    known.
    """
    chosen = repeated_method(empty) if method is None else method
    if isinstance(chosen, IDIM):
        return [replace(chosen, consistent=False, lack_of_fit=False)]
    if not isinstance(chosen, DIDIM):
        return [chosen]
    chosen = replace(chosen, lack_of_fit=False)
    if not (chosen.updates and chosen.controller.by_poles):
        return [chosen]
    J = largest_inertias(empty.model, empty.parameters)
    kept = replace(chosen.controller, inertia=J)
    return [replace(chosen, controller=kept, gain_update=False), chosen]


def repeated_method(empty: Estimate) -> Method:
    """The method of an estimate with its settings, without what belongs to its own records."""
    settings = empty.provenance.get("settings")
    known: Mapping[str, Any] = settings if isinstance(settings, Mapping) else {}
    weights, updates = known.get("weights"), known.get("gain_update")
    how, selection = empty.preprocessing, empty.preprocessing.selection
    shared: dict[str, Any] = {
        "weights": weights if weights in WEIGHTS else "wls",
        "decimation": selection.decimation,
        "decimate": selection.decimate,
        "rest_velocity": selection.rest_velocity,
    }
    if how.states != "simulated":
        cutoff: float | str | None = "auto" if how.accuracy == CHOSEN_CUTOFF else how.cutoff
        trim = selection.trim if selection.ends else None
        return IDIM(cutoff=cutoff, order=how.order, trim=trim, states=how.states, **shared)
    if empty.controller is None:
        raise InputError(
            "The empty robot was identified in a loop that the saved result does not have, a law "
            "of your own for example; give the method with its controller: "
            "method=didim.DIDIM(controller=...)."
        )
    start = how.start if isinstance(how.start, str) else None
    updates = updates if isinstance(updates, bool) else None
    return DIDIM(
        controller=empty.controller,
        initial=empty,
        start=start,
        gain_update=updates,
        max_iterations=MAX_ITERATIONS,
        **shared,
    )
