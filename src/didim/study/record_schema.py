"""The tables of a study file that describe records: files, columns, units, reference."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Tag

from didim.study import types


class Table(BaseModel):
    """A table of the file."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True, populate_by_name=True
    )

    def given(self, *without: str) -> dict[str, object]:
        """The keys that the file gives, and their values."""
        return {
            name: getattr(self, name)
            for name in type(self).model_fields
            if name in self.model_fields_set - {*without}
        }


class Columns(Table):
    """Which column is which signal; patterns "pos*", "pos{j}" and "pos_{joint}" are allowed."""

    t: types.Column = None
    """Time, s."""
    tau: types.Column = None
    """Joint torques, N.m or N."""
    control: types.Column = None
    """Instead of tau: the control signal v; tau = g v, eq. 8."""
    q_ref: types.Column = None
    """Reference positions, rad or m."""
    q: types.Column = None
    """Measured positions."""
    dq: types.Column = None
    """Measured velocities."""


class ReferenceColumns(Table):
    """Which column of the reference's own file is which signal."""

    t: types.Column = None
    """Time, s."""
    q_ref: types.Column = None
    """Positions, rad or m."""
    dq_ref: types.Column = None
    """Velocities, where the controller had them."""
    ddq_ref: types.Column = None
    """Accelerations."""


class Units(Table):
    """Unit of each signal: a name, or the factor that brings it to SI."""

    t: types.Unit = None
    tau: types.Unit = None
    control: types.Unit = None
    q_ref: types.Unit = None
    q: types.Unit = None
    dq: types.Unit = None
    dq_ref: types.Unit = None
    ddq_ref: types.Unit = None


class Files(Table):
    """One file for each signal."""

    t: types.Text = None
    tau: types.Text = None
    control: types.Text = None
    q_ref: types.Text = None
    q: types.Text = None
    dq: types.Text = None


def _one_or_more(value: Any) -> str:
    return "<files>" if isinstance(value, dict | Files) else "<file>"


class ReferenceTable(Table):
    """The reference, where it has a file or a treatment of its own."""

    file: types.Text = None
    """Its file; without one, the column q_ref of the record, or the measured motion."""
    columns: ReferenceColumns | None = None
    rate: types.Number = None
    """Samples per second, where its file has no time."""
    units: Units | None = None
    gear: types.Gear = None
    """As for the record."""
    position_offset: types.Angles = None
    interpolation: Literal["held", "linear", "cubic"] | None = None
    """Between its samples; default: held for a sampled law, cubic for a continuous one (cubic for a
    file of its own).
    """
    measured_cutoff: types.Number = None
    """Hz: take the measured positions, low-passed, for the reference, where the true one is
    unknown.
    """
    align: types.Switch = None
    """Whether to shift it in time by the lag of the measured positions that the loop does not
    explain.
    """
    shift: types.Number = None
    """Seconds to shift it, later if positive."""


class ExperimentTable(Table):
    """One record."""

    file: Annotated[
        Annotated[types.Text, Tag("<file>")] | Annotated[Files, Tag("<files>")],
        Discriminator(_one_or_more),
    ]
    """A .csv, .tsv, .txt (.gz), .mat, .npz, .parquet, .bag or .mcap file, the folder of a ROS 2
    bag, or a table of one for each signal.
    """
    columns: Columns | None = None
    use: Literal["fit", "validate"] = "fit"
    """Whether to fit the parameters to it or to validate them on it."""
    name: types.Text = None
    """Default: that of the file."""
    between: types.Window = None
    """Start and end, s: use this part only."""
    rate: types.Number = None
    """Samples per second, where the file has no time."""
    units: Units | None = None
    gear: types.Gear = None
    """Motor velocity per joint velocity, where the log is of the motors: positions and torques are
    brought to the joints.
    """
    position_offset: types.Angles = None
    """Added to the positions, rad or m: the model's zero where the log has another."""
    drive_gain: types.Gain = None
    """With control: g of eq. 8; default: the controller's, then the robot's."""
    reference: ReferenceTable | None = None
