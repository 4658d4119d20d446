"""The study file as a schema: every key, its type and what it means. Keys that are not here are
errors.

Defaults are not repeated here: a key that is not given has the default of its class (`didim.IDIM`,
`didim.PD`, ...).
"""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from didim.study import types
from didim.study.effect_schema import EffectTable
from didim.study.loop_schema import ControllerTable
from didim.study.method_schema import (
    DidimTable,
    DriveGainsTable,
    IdimTable,
    IvTable,
    OutputErrorTable,
)
from didim.study.plan_schema import ExciteTable, LimitsTable
from didim.study.record_schema import ExperimentTable
from didim.study.table import Table


class OutputTable(Table):
    """Files that `didim identify` writes."""

    result: types.Text = None
    """The estimate, .json with an .npz beside it."""
    robot: types.Text = None
    """The identified robot, .urdf, .xml (MJCF) or .toml."""
    report: types.Text = None
    """The HTML report."""


class StudyFile(Table):
    """A whole identification."""

    model_config = ConfigDict(
        title="didim study",
        json_schema_extra={
            "anyOf": [
                {"properties": {"experiment": {"minItems": 1}}, "required": ["experiment"]},
                {"required": ["excite"]},
            ]
        },
    )

    robot: types.Text
    """A shipped robot's name, or a .urdf, .xml (MJCF) or .toml file."""
    method: Literal["idim", "iv", "didim", "output_error"]
    """What `didim identify` runs."""
    effects: types.Texts = None
    """Names of shipped effects (rotor viscous coulomb offset stribeck ...), "coupling", and names
    of the robot's own ones; default: all that the robot declares.
    """
    effect: list[EffectTable] = Field(default_factory=list)
    """Own effects, beside those of `effects`."""
    shapes: types.Values = None
    """Values of parameters that the torque is not linear in, such as { vs1 = 0.05 }."""
    fixed: types.Values = None
    """Known values, SI, that every method holds: standard parameters (M1), base parameters (ZZ1R)
    or shapes of effects (vs1).
    """
    gravity: types.Vector = None
    """m/s^2 in the base frame, where the robot is mounted otherwise than described."""
    joints: types.Texts = None
    """Joints of the robot that move; all others are held, at 0 or where `lock` says."""
    lock: types.Positions = None
    """Joints that are held, and where, rad or m."""
    passive: types.Texts = None
    """Joints that move without a motor: their torque is zero."""
    experiment: list[ExperimentTable] = Field(default_factory=list)
    """At least one; a study with a table [excite] may have none yet."""
    controller: ControllerTable | None = None
    idim: IdimTable = IdimTable()
    iv: IvTable = IvTable()
    didim: DidimTable = DidimTable()
    output_error: OutputErrorTable = OutputErrorTable()
    drive_gains: DriveGainsTable | None = None
    output: OutputTable = OutputTable()
    limits: LimitsTable = LimitsTable()
    excite: ExciteTable | None = None
