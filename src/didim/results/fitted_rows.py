"""The equations that IDIM fits, from records, filters and row selection, and what they leave.

Where the filters were chosen from the records, the equations are those away from reversals.
Residuals, of the fit and of other records, count every row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.model import BaseModel
from didim.errors import naming
from didim.regression.projection import Projection, project
from didim.regression.system import LinearSystem, fill_signal_columns, observe, stack
from didim.results.prediction import Predictor, Preprocessing, every_parameter, relative_residual
from didim.results.validation import residual_of
from didim.signals.bandwidth import Bandwidth
from didim.signals.experiment import Experiment, measured_torque
from didim.signals.noise import decimated_noise, position_noise, velocity_noise
from didim.signals.resample import period_of
from didim.signals.reversals import moving_weights, signed_weights
from didim.signals.states import States, measured_states

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FittedRows:
    """How regular records become equations."""

    model: BaseModel
    preprocessing: Preprocessing
    bandwidth: Bandwidth
    cuts_edges: bool
    """Whether the samples that filtering spoils are cut at both ends."""

    def observe(
        self, records: Sequence[Experiment], chi: Array | None = None
    ) -> tuple[LinearSystem, list[str]]:
        """The linear system (13), (14) of all records, and what was chosen for it; where friction
        depends on the load, with the loads that chi (b,) means.
        """
        systems, counted, selection = [], [], self.preprocessing.selection
        for series, record in enumerate(records):
            states, window = self._motion(record, chi), self.window(record)
            tau = measured_torque(record)
            weights = self.weights(record, states)
            systems.append(observe(self.model, states, tau, selection, window, series, weights))
            if weights is not None:
                counted.append(weights)
        return stack(systems), self._notes(counted)

    def project(
        self, records: Sequence[Experiment], first: LinearSystem, weights: str
    ) -> Projection:
        """The linear solution of the equations `first`, or that of variable projection where
        friction has shapes or follows the load.
        """

        def rows(model: BaseModel, chi: Array) -> LinearSystem:
            return replace(self, model=model).observe(records, chi)[0]

        def slopes(model: BaseModel, chi: Array) -> Array:
            return replace(self, model=model).shape_columns(records, first, chi)

        return project(self.model, first, rows, slopes, weights)

    def shape_columns(
        self, records: Sequence[Experiment], system: LinearSystem, chi: Array
    ) -> Array:
        """(r, T) d tau/d shapes at the rows of the system."""
        slopes = []
        for record in records:
            states = self._motion(record, chi)
            motion = states.q, states.dq, states.ddq, chi, states.slip, states.signals
            by_shape = np.moveaxis(self.model.slopes(*motion)[0], 2, 0)
            slopes.append([dict(enumerate(each.T)) for each in by_shape])
        return self.signal_columns(records, system, slopes, len(self.model.free_shapes))

    def signal_columns(
        self,
        records: Sequence[Experiment],
        system: LinearSystem,
        torques: Iterable[Iterable[Mapping[int, Array]]],
        count: int,
    ) -> Array:
        """(r, count) torques along each record, by column and joint (N,), at the rows of the
        system.
        """
        found, selection = np.zeros((system.y.size, count)), self.preprocessing.selection
        for series, (record, columns) in enumerate(zip(records, torques, strict=True)):
            weights = self.weights(record, self.preprocessing.motion(record))
            window = self.window(record)
            fill_signal_columns(found, columns, system, selection, window, series, weights)
        return found

    def linearised(
        self, records: Sequence[Experiment], chi: Array
    ) -> tuple[LinearSystem, list[tuple[States, Array]]]:
        """rho = [d tau/d chi, d tau/d shapes] step at chi (b,), and the motion and torque (N, n) of
        each record.
        """
        system = self.observe(records, chi)[0]
        W, rho = system.W, system.residual(chi)
        if self.model.loaded:
            W = self.jacobian(records, chi)
        affine = system.affine
        names = (*system.names, *self.model.free_shapes)
        if self.model.free_shapes:
            W = np.column_stack([W, self.shape_columns(records, system, chi)])
        steps = None if affine is None else affine.steps(len(self.model.free_shapes))
        courses = []
        for record in records:
            states = self._motion(record, chi)
            motion = states.q, states.dq, states.ddq, chi, states.slip, states.signals
            courses.append((states, self.model.inverse_dynamics(*motion)))
        return replace(system, W=W, y=rho, names=names, affine=steps), courses

    def samples(self, record: Experiment) -> NDArray[np.int64]:
        """(K,) the sample of a record that each row stands for."""
        return self.preprocessing.selection.samples(self.window(record))

    def jacobian(self, records: Sequence[Experiment], chi: Array) -> Array:
        """(r, b) d tau/d chi, which is not W where friction grows with the load."""
        systems, selection = [], self.preprocessing.selection
        for series, record in enumerate(records):
            states, window = self._motion(record, chi), self.window(record)
            motion = states.q, states.dq, states.ddq, chi, states.slip, states.signals
            growth, weights = self.model.slopes(*motion)[1], self.weights(record, states)
            tau = measured_torque(record)
            systems.append(
                observe(self.model, states, tau, selection, window, series, weights, growth)
            )
        return stack(systems).W

    def _motion(self, record: Experiment, chi: Array | None) -> States:
        """The motion of a record, with the loads of the joints where friction depends on them."""
        states = self.preprocessing.motion(record)
        if self.preprocessing.signs is not None and self.model.layout.contacts:
            states = replace(states, slip=np.sign(self._sign_velocities(record)))
        return self.loaded(states, chi)

    def loaded(self, states: States, chi: Array | None) -> States:
        """A motion with the loads of the joints that chi (b,) means, where friction depends on
        them; None: no load.
        """
        if not self.model.loaded:
            return states
        load = np.zeros_like(states.q)
        if chi is not None:
            motion = states.q, states.dq, states.ddq, chi, states.slip, states.signals
            load = self.model.loads(*motion)
        return replace(states, signals={**states.signals, "load": load})

    def residual(
        self, records: Sequence[Experiment], system: LinearSystem, values: Array
    ) -> tuple[float, Array]:
        """||Y - W chi|| / ||Y|| over all rows and by joint (n,), without weights."""
        if not self.preprocessing.weighs_samples:
            rho = system.residual(values)
            return relative_residual(rho, system.y, system.joint, system.n)
        parameters = every_parameter(self.model, system.names, values)
        predictor = Predictor(self.model, parameters, None, self.preprocessing)
        return residual_of([predictor.compare(record) for record in records])

    def residual_over_noise(
        self, records: Sequence[Experiment], system: LinearSystem, values: Array
    ) -> Array:
        """(n,) rms of what the equations leave of each joint, over the noise of its torque."""
        segments = [(measured_torque(each), slice(*self.window(each))) for each in records]
        noise = decimated_noise(segments, self.preprocessing.selection.decimator.noise_gain)
        left = replace(system, y=system.residual(values)).sizes
        return np.where(noise > 0, left / np.maximum(noise, 1e-300), 0.0)

    def _notes(self, weights: Sequence[Array]) -> list[str]:
        """What was chosen from the records."""
        if not self.preprocessing.weighs_samples:
            return []
        parts = []
        if self.bandwidth.is_chosen:
            parts.append(
                f"Positions were filtered at {self.bandwidth.cutoff:.3g} Hz, chosen from the "
                "records."
            )
        if self.bandwidth.multiple > 1:
            why = "Noise" if self.bandwidth.is_chosen else "The filter"
            decimation = self.preprocessing.selection.decimation
            parts.append(f"{why} of the positions has the equations decimated by {decimation}.")
        left_out = 100 * (1 - np.mean(np.concatenate(weights))) if weights else 0.0
        parts.append(
            f"{left_out:.2g} % of the samples, near reversals, do not count in the fit; they count "
            "in every residual."
        )
        return [" ".join(parts)]

    def window(self, record: Experiment) -> tuple[int, int]:
        """The samples that are used."""
        t = np.asarray(record.t)
        edge = self.preprocessing.edge(t) if self.cuts_edges else 0
        with naming(f"Experiment {record.name!r}"):
            return self.preprocessing.selection.window(t, edge=edge)

    def weights(self, record: Experiment, states: States) -> Array | None:
        """(N, n) of the equations at the samples of a record; None: all count alike."""
        layout, how = self.model.layout, self.preprocessing
        if not how.weighs_samples or not layout.contacts:
            return None
        rate, q, D = 1.0 / period_of(np.asarray(record.t)), np.asarray(record.q), layout.contact
        if how.reversals is not None:
            dq, ddq = (self.model.contact_velocities(each) for each in (states.dq, states.ddq))
            resolution = np.sqrt(12.0 * D**2 @ position_noise(q) ** 2)
            return moving_weights(dq, ddq, resolution, layout.rubs, rate, how.reversals)
        assert how.signs is not None
        highest = None if how.cutoff is None else max(how.cutoff, how.signs)
        noise = np.sqrt(D**2 @ velocity_noise(q, rate, highest) ** 2)
        velocities = self._sign_velocities(record)
        return signed_weights(velocities, noise, layout.rubs, rate, how.signs)

    def _sign_velocities(self, record: Experiment) -> Array:
        """(N, c) of the contacts, by the filter that their signs are taken from."""
        how = self.preprocessing
        smooth = measured_states(record, how.signs, how.order, how.accuracy)
        return self.model.contact_velocities(smooth.dq)
