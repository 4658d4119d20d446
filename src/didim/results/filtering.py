"""`Filtering`: how methods that differentiate measured positions, IDIM and IV, turn records into
equations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.dynamics.model import BaseModel
from didim.errors import naming
from didim.results.fitted_rows import FittedRows
from didim.results.prediction import Preprocessing
from didim.signals.bandwidth import Bandwidth, choose_bandwidth, suited_bandwidth
from didim.signals.experiment import Experiment
from didim.signals.rows import RowSelection
from didim.signals.states import measured_positions, still_joints
from didim.validation import one_of, real

Array = NDArray[np.float64]

AUTO = "auto"


@dataclass(frozen=True, eq=False)
class Filtering:
    """Settings of the filters and of the rows, with the defaults of both methods."""

    cutoff: float | str | None = AUTO
    """Hz; None: no filter; "auto": chosen from the records."""
    order: int = 4
    decimation: int = 20
    decimate: str = "scipy"
    trim: tuple[int, int] | None = None
    rest_velocity: ArrayLike | None = None
    states: str = "measured"
    """"measured" or "reference"."""
    has_instruments: bool = False
    """Whether, where the cutoff is set, what no instrument removes is kept out of the equations:
    frequencies that the filter takes from the motion but not from the torque, by decimating
    further, and wrong signs of velocities. Signs are those after the filter that the records allow;
    samples whose velocity is within its noise do not count.
    """

    @property
    def selection(self) -> RowSelection:
        """How samples become rows."""
        return RowSelection(
            self.decimation,
            self.decimate,
            self.trim or (0, 0),
            self.rest_velocity,
            self.trim is not None,
        )

    def rows(
        self, model: BaseModel, records: Sequence[Experiment], others: Sequence[Experiment] = ()
    ) -> FittedRows:
        """How regular records become equations; `others` will be predicted with the same cutoff."""
        bandwidth, given = self._bandwidth(model, records, others), not isinstance(self.cutoff, str)
        decimation = self.decimation * bandwidth.multiple
        preprocessing = Preprocessing(
            self.states,
            replace(self.selection, decimation=decimation),
            bandwidth.cutoff,
            self.order,
            8 if bandwidth.is_chosen or self.has_instruments else 2,
            reversals=bandwidth.cutoff if bandwidth.is_chosen else None,
        )
        if given and self.has_instruments:
            allowed = replace(self, cutoff=AUTO)._bandwidth(model, records, others).cutoff
            preprocessing = replace(preprocessing, signs=allowed)
        return FittedRows(model, preprocessing, bandwidth, self.trim is None)

    def _bandwidth(
        self, model: BaseModel, records: Sequence[Experiment], others: Sequence[Experiment]
    ) -> Bandwidth:
        """The filters, chosen from the records unless they are set."""
        if not isinstance(self.cutoff, str):
            given = self.cutoff, records, self.selection, len(model.parameter_names)
            return suited_bandwidth(*given) if self.has_instruments else Bandwidth(self.cutoff)
        if self.states == "reference":
            return Bandwidth(None)
        return choose_bandwidth(records, others, self.selection, len(model.parameter_names))

    def refuse_unusable(self, records: Sequence[Experiment], method: str) -> None:
        """Refuse regular records without the motion that the method needs, or too short ones."""
        for record in records:
            with naming(f"Experiment {record.name!r}"):
                self.selection.window(np.asarray(record.t))
            if self.states == "reference":
                record.reference()
            else:
                measured_positions(record, method)

    def motions(self, records: Sequence[Experiment]) -> list[Array]:
        """(N, n) the motion of each record; joints that only show noise stand still."""
        if self.states == "reference":
            return [record.reference().positions(record.t) for record in records]
        positions = [np.asarray(record.q) for record in records]
        return [np.where(still_joints(q), 0.0, q) for q in positions]


def checked_cutoff(cutoff: object, method: str) -> float | str | None:
    """A cutoff in Hz, "auto" or None; anything else is refused."""
    if isinstance(cutoff, str):
        one_of(cutoff, f"{method}: cutoff, if not a number in Hz or None,", (AUTO,))
        return cutoff
    return None if cutoff is None else real(cutoff, f"{method}: cutoff, in Hz,", above=0.0)
