"""The tables of a study file that describe records: files, columns, units, reference."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag

from didim.study import types
from didim.study.table import Table


class WithChannels(Table):
    """A table that may have further keys: the names of logged channels that effects need."""

    model_config = ConfigDict(extra="allow")

    @property
    def channels(self) -> dict[str, Any]:
        """The further keys, and their values."""
        return dict(self.__pydantic_extra__ or {})

    @property
    def all(self) -> dict[str, Any]:
        """All keys that the file gives, and their values."""
        return self.given() | self.channels


class Columns(WithChannels):
    """Which column is which signal: names, numbers counted from 1, ranges "2-7", or patterns
    "pos*", "pos{j}" and "pos_{joint}". Further keys are the names of logged channels that effects
    need, such as temperature.
    """

    __pydantic_extra__: dict[str, types.Column] = Field(init=False)

    t: types.Column = None
    """Time, s."""
    tau: types.Column = None
    """Joint torques, N.m or N."""
    control: types.Column = None
    """Instead of tau: the control signal v; tau = g v, eq. 8."""
    q_ref: types.Column = None
    """Reference positions, rad or m."""
    dq_ref: types.Column = None
    """Instead of q_ref: reference velocities, integrated from q_ref_start."""
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
    """Velocities, where the controller had them; without q_ref they are integrated from
    q_ref_start.
    """
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


class Files(WithChannels):
    """One file for each signal, or a list of one for each joint. Further keys are the names of
    logged channels that effects need.
    """

    __pydantic_extra__: dict[str, types.Text] = Field(init=False)

    t: types.Text = None
    tau: types.TextOrTexts = None
    control: types.TextOrTexts = None
    q_ref: types.TextOrTexts = None
    dq_ref: types.TextOrTexts = None
    q: types.TextOrTexts = None
    dq: types.TextOrTexts = None

    @property
    def lists(self) -> dict[str, list[str]]:
        """From a signal to its files."""
        return {key: [each] if isinstance(each, str) else each for key, each in self.all.items()}


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
    q_ref_start: types.Angles = None
    """rad or m, where its file has velocities alone: where their integral starts."""
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
    """A .csv, .tsv, .txt, .dat, .log (.gz), .mat, .npz, .parquet, .bag or .mcap file, the folder of
    a ROS 2 bag, or a table of one for each signal (or a list of one for each joint).
    """
    columns: Columns | None = None
    use: Literal["fit", "validate"] = "fit"
    """Whether to fit the parameters to it or to validate them on it."""
    load: types.Switch = None
    """Whether the robot carries the load of [drive_gains] in it."""
    hold_out: types.Fraction = None
    """Fraction of the record, at its end, that is not fitted to but validated on."""
    name: types.Text = None
    """Default: that of the file."""
    between: types.Window = None
    """Start and end, s: use this part only."""
    rows: types.Rows = None
    """First and last row of the file, both included, counted from 1 without the header: use these
    only.
    """
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
    torque_delay: types.Number = None
    """s by which the log has the torque later than the positions: it is shifted back by that."""
    q_ref_start: types.Angles = None
    """rad or m, with dq_ref in place of q_ref: where the integral of the velocities starts."""
    gains: types.Values = None
    """Gains that the controller had during this record, where records differ in them, such as
    { kp = 400.0 }; they replace those of [controller].
    """
    reference: ReferenceTable | None = None
