"""The equations of the measured motion beside those of a simulated one, at the same rows.

Both are cut, filtered, decimated and weighted alike: a row of W, of Z and of Y is the same sum of
the same samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from didim.regression.instruments import instrument_fit, second_stage
from didim.regression.least_squares import Solution
from didim.regression.statistics import Statistics, statistics
from didim.regression.system import LinearSystem, at_rows, observe, stack
from didim.results.fitted_rows import FittedRows
from didim.results.plausibility import implausible
from didim.signals.experiment import Experiment, measured_torque
from didim.signals.states import States

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ending:
    """What is known of a solution."""

    system: LinearSystem
    """The second stage, whose residual is that of the measured equations."""
    figures: Statistics
    residual: tuple[float, Array]
    """||Y - W chi|| / ||Y|| over all rows and by joint (n,), W measured."""
    residual_over_noise: Array
    """(n,)."""
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Instruments:
    """Measured equations, Y = W chi + rho, and their instruments Z from simulated motions."""

    fitted: FittedRows
    """How records become equations."""
    records: tuple[Experiment, ...]
    """On regular clocks."""
    weights: str = "wls"
    """"ols" or "wls"."""

    @cached_property
    def first(self) -> tuple[LinearSystem, list[str]]:
        """The equations, of no load where friction depends on it, and what was chosen for them."""
        return self.fitted.observe(self.records)

    def measured(self, chi: Array) -> LinearSystem:
        """The equations with the loads that chi (b,) means, where friction depends on them."""
        loaded = self.fitted.model.loaded
        return self.fitted.observe(self.records, chi)[0] if loaded else self.first[0]

    def columns(self, motions: Sequence[States]) -> Array:
        """Z (r, b): the regressor of motions at the samples of the records, at the rows of W."""
        fitted, systems = self.fitted, []
        selection = replace(fitted.preprocessing.selection, rest_velocity=None)
        for series, (record, states) in enumerate(zip(self.records, motions, strict=True)):
            tau, window = measured_torque(record), fitted.window(record)
            weights = self._row_weights[series]
            systems.append(observe(fitted.model, states, tau, selection, window, series, weights))
        return at_rows(stack(systems), self.first[0])

    def fit(self, motions: Sequence[States], chi: Array) -> tuple[LinearSystem, Solution]:
        """The solution with the instruments of these motions, which chi (b,) was simulated to, and
        the second stage that it solves.
        """
        return instrument_fit(self.measured(chi), self.columns(motions), self.weights)

    def _jacobian(self, chi: Array) -> Array | None:
        """(r, b) d tau/d chi along the measured motion, where that is not W; else None."""
        return self.fitted.jacobian(self.records, chi) if self.fitted.model.loaded else None

    def ending(self, W_: Array, solution: Solution, chi: Array) -> Ending:
        """What to say of chi (b,), with the explained part W_ (r, b) of the last instruments."""
        fitted, records, measured = self.fitted, self.records, self.measured(chi)
        system = second_stage(measured, W_, chi)
        figures = statistics(system, solution, chi, self._jacobian(chi))
        residual = fitted.residual(records, measured, chi)
        sigma = np.sqrt(np.diag(figures.covariance))
        without_rest = fitted.preprocessing.selection.rest_velocity is not None
        doubts = implausible(fitted.model, system.names, chi, sigma, residual[1], without_rest)
        over_noise = fitted.residual_over_noise(records, measured, chi)
        return Ending(system, figures, residual, over_noise, (*self.first[1], *doubts))

    @cached_property
    def _row_weights(self) -> list[Array | None]:
        """(N, n) of the samples of each record, by their measured motion; None: all count alike."""
        motion = self.fitted.preprocessing.motion
        return [self.fitted.weights(record, motion(record)) for record in self.records]
