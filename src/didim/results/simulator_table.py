"""Armature, damping, friction loss and gains of an estimate, joint by joint: the numbers that a
simulator asks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from didim.results.formatting import number
from didim.results.identified import robot_with
from didim.results.physical import physical_robot
from didim.results.servo_gains import servo_gains
from didim.robot.robot import Robot
from didim.robot.simulator_values import ServoGains, left_out, simulator_values

if TYPE_CHECKING:
    from didim.results.estimate import Estimate


@dataclass(frozen=True)
class SimulatorRow:
    """One joint, SI, at the joint."""

    joint: str
    kind: str
    """"revolute" or "prismatic"."""
    armature: float
    damping: float
    frictionloss: float
    kp: float | None
    """N m/rad or N/m; None: no servo is known."""
    kv: float | None


@dataclass(frozen=True)
class SimulatorTable:
    """The numbers of all joints, and what simulators cannot express."""

    rows: tuple[SimulatorRow, ...]
    left_out: tuple[str, ...]

    def __str__(self) -> str:
        head = ("joint", "armature", "damping", "frictionloss", "kp", "kv")
        lines = [head] + [
            (
                row.joint,
                *map(number, (row.armature, row.damping, row.frictionloss)),
                *("" if value is None else number(value) for value in (row.kp, row.kv)),
            )
            for row in self.rows
        ]
        wide = [max(len(line[k]) for line in lines) for k in range(len(head))]
        text = [
            "  ".join(
                cell.ljust(size) if k == 0 else cell.rjust(size)
                for k, (cell, size) in enumerate(zip(line, wide, strict=True))
            ).rstrip()
            for line in lines
        ]
        units = (
            "SI, at the joint: kg m², N m s/rad, N m, N m/rad, N m s/rad; of slides kg, N s/m, N"
        )
        return "\n".join([*text, units])


def simulator_table(estimate: Estimate, project: bool = False) -> SimulatorTable:
    """The table of the physical robot of an estimate, as `to_robot` writes it."""
    robot = robot_with(estimate.model.full, physical_robot(estimate, project).values)
    return SimulatorTable(_rows(robot, servo_gains(estimate)), left_out(robot, springs=False))


def _rows(robot: Robot, gains: dict[str, ServoGains]) -> tuple[SimulatorRow, ...]:
    rows = []
    for joint in robot.joints:
        values, servo = simulator_values(joint), gains.get(joint.name)
        rows.append(
            SimulatorRow(
                joint.name,
                joint.kind,
                values.armature,
                values.damping,
                values.frictionloss,
                None if servo is None else servo.kp,
                None if servo is None else servo.kv,
            )
        )
    return tuple(rows)
