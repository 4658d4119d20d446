"""The league file as a schema: robots in loops on trajectories, noise, faults, methods, seeds."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field

from didim.study import types
from didim.study.loop_schema import ControllerTable
from didim.study.table import Table


class LoopTable(ControllerTable):
    """A loop that a robot is in, as [controller] of a study, with a name."""

    name: types.Text = None
    """Default: loop; of several without a name: loop 1, loop 2."""


class TrajectoryTable(Table):
    """A Fourier series from rest to rest within the robot's limits (`didim.Fourier.random`)."""

    name: types.Text = None
    """Default: trajectory; of several without a name: trajectory 1, trajectory 2."""
    seed: int = Field(default=0, ge=0)
    period: float = Field(default=10.0, gt=0)
    """s."""
    periods: int = Field(default=1, ge=1)
    harmonics: int = Field(default=5, ge=2, le=1000)
    share: float = Field(default=0.5, gt=0, le=1)
    """Fraction of the range of each joint."""


class RobotTable(Table):
    """A robot at its described parameters, which are the truth."""

    name: types.Text = None
    """In the table; default: that of the robot or its file, numbered where several have it."""
    robot: str
    """A shipped robot's name, or a .urdf or .toml file."""
    effects: types.Texts = None
    rate: float = Field(default=1000.0, gt=0)
    """Samples per second of the record."""
    values: types.Values = None
    """Standard parameters whose described values are missing or to be others, SI."""
    loop: list[LoopTable] = Field(min_length=1)
    trajectory: list[TrajectoryTable] = Field(min_length=1)


class NoiseTable(Table):
    """What the sensors add."""

    name: str
    torque: float = Field(default=0.0, ge=0)
    """Standard deviation of the torque noise, over each joint's rms torque."""
    torque_sigma: float = Field(default=0.0, ge=0)
    """The same in N.m or N, beside it."""
    position: float = Field(default=0.0, ge=0)
    """Standard deviation of the position noise, rad or m."""
    encoder: float = Field(default=0.0, ge=0)
    """Step of the position, rad or m."""


class FaultTable(Table):
    """What the methods do not know."""

    name: str
    bandwidth: float = Field(default=0.0, gt=-1)
    """The bandwidth of the loop that the methods are given is too large by this fraction, its
    damping right (`Controller.faster`).
    """
    torque_scale: float = Field(default=0.0, gt=-1)
    """The measured torque is too large by this fraction."""
    start_offset: float = 0.0
    """By how much the robot starts off its reference, rad or m."""


class MethodTable(Table):
    """A method with its settings."""

    name: str
    method: Literal["idim", "iv", "didim", "output_error"]
    settings: dict[str, Any] = Field(default_factory=dict)
    """As in the table of the method in a study."""
    robots: types.Texts = None
    """Names of the robots that it is run on; default: all."""


class LeagueFile(Table):
    """A Monte-Carlo comparison of methods on virtual robots."""

    model_config = ConfigDict(title="didim league")

    name: str = "league"
    seeds: int = Field(ge=1, strict=True)
    """Records of each combination, with other noise."""
    first_seed: int = Field(default=0, ge=0)
    robot: list[RobotTable] = Field(min_length=1)
    noise: list[NoiseTable] = Field(min_length=1)
    fault: list[FaultTable] = Field(default_factory=lambda: [FaultTable(name="none")], min_length=1)
    method: list[MethodTable] = Field(min_length=1)
