"""The study that `didim init` writes: commented, and ready to run, on a virtual record of the robot
or on a log.
"""

from __future__ import annotations

import json
import string
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.control.actuators import ActuatedLoop
from didim.control.laws import PD
from didim.dynamics.model import DynamicModel
from didim.dynamics.parameters import ParameterKind
from didim.errors import InputError, by_numbers
from didim.robot.inertia import GENERIC_GYRATION_RADIUS, GENERIC_MASS, about_origin
from didim.robot.write_toml import toml_string, toml_value
from didim.signals.columns import columns_of
from didim.signals.experiment import measured_torque
from didim.signals.readers.table import Table
from didim.signals.states import measured_positions
from didim.signals.trajectories import Fourier
from didim.signals.write_csv import csv_of
from didim.simulation.virtual import virtual_experiment
from didim.study.guess import Guess, guess
from didim.study.log_lines import gain_lines, inline, part_lines, rest_line, there
from didim.study.motion import Motion, motion_of

Array = NDArray[np.float64]

VIRTUAL_BANDWIDTH = 50.0
"""rad/s, of the virtual loop."""

VIRTUAL_RATE, VIRTUAL_PERIOD, VIRTUAL_NOISE = 200.0, 10.0, 0.02
"""Hz, s, and torque noise over the rms torque of the virtual record."""

GENERIC_VALUES = {
    ParameterKind.ROTOR: 0.2,
    ParameterKind.VISCOUS: 1.0,
    ParameterKind.COULOMB: 1.0,
    ParameterKind.OFFSET: 0.0,
}
"""Values of a joint's effects of which nothing is known, SI."""

GENERIC_COUPLING = 0.1
"""The same for each effect of a coupling."""


@dataclass(frozen=True)
class Template:
    """The texts of a new study, and what is still to be filled in."""

    files: dict[Path, bytes]
    guess: Guess = field(default_factory=lambda: Guess({}, {}))
    """What the log was taken for."""
    unused: tuple[str, ...] = ()
    """Columns of the log that are not used."""
    notes: tuple[str, ...] = ()
    """What was done when the log was read."""

    @property
    def missing(self) -> list[str]:
        """Keys that are to be filled in."""
        return self.guess.missing if self.unused or self.guess.columns else []


def virtual_template(
    study: Path, robot: str, model: DynamicModel, loop: ActuatedLoop | None = None
) -> Template:
    """A study of a virtual record of the robot, which is written beside it; in the loop of its
    actuators, as far as its file says it.
    """
    record = study.with_name(f"{study.stem}-record.csv")
    columns = {"t": "t", "tau": "tau{j}", "q_ref": "q_ref{j}", "q": "q{j}"}
    lines = [
        "# A virtual record of this robot; put your own log here: .csv .tsv .mat .npz .parquet "
        ".bag .mcap",
        f"file = {toml_string(record.name)}",
        '# Columns by name, by number (1 is the first), by pattern ("pos*", "pos{j}", '
        '"pos_{joint}"), or as a list.',
        f"columns = {inline(columns)}",
    ]
    table = _controller(used=True, assumed=False, loop=loop)
    text = _filled(study, robot, model, "didim", lines, table, False)
    return Template({study: text, record: _virtual_record(model, loop)})


def data_template(
    study: Path,
    robot: str,
    model: DynamicModel,
    data: str,
    table: Table,
    loop: ActuatedLoop | None = None,
) -> Template:
    """A study of a log with the columns `table`, as far as its names say what they are, in the loop
    of the robot's actuators, as far as its file says it.
    """
    guessed = guess(table, model.robot.joint_names)
    columns, missing = guessed.columns, guessed.missing
    used = {
        name
        for key, names in columns_of(
            table, columns, [*columns], data, model.robot.joint_names
        ).items()
        for name in names
    }
    simulates = "q" not in columns and "q_ref" in columns
    motion = None if simulates else motion_of(table, guessed, model.robot.joint_names)
    lines = [
        f"file = {toml_string(data)}",
        f"# Its columns: {there(table)}",
        *(f"# {remark}" for remark in guessed.remarks),
        '# Named here by name, number (1 is the first), range ("2-7"), pattern ("pos*", "pos{j}", '
        '"pos_{joint}"), or as a list.',
        f"columns = {inline(columns)}",
        *([f"units = {inline(guessed.units)}"] if guessed.units else []),
        *(f"# To be added to columns: {key}, which cannot be guessed." for key in missing),
        *gain_lines(model, "control" in columns),
        *part_lines(table, motion),
    ]
    lines_of_loop = _controller(used=simulates, assumed=True, loop=loop)
    method = "didim" if simulates else "idim"
    text = _filled(study, robot, model, method, lines, lines_of_loop, True, motion)
    unused = tuple(sorted((name for name in table if name not in used), key=by_numbers))
    return Template({study: text}, guessed, unused, table.notes)


def _controller(used: bool, assumed: bool, loop: ActuatedLoop | None) -> list[str]:
    """The table of the loop, in use or as a comment."""
    mark = "" if used else "# "
    known = {} if loop is None else loop.settings
    complete = loop is not None and not loop.lacks
    said = [] if loop is None or complete else [f"# {' '.join(loop.lacks.split())}"]
    gains = [] if complete else [f"{mark}natural_frequency = {VIRTUAL_BANDWIDTH}"]
    lines = [
        "# The loop of the actuators of the robot's file: v is their force, the reference that of "
        "the joints."
        if complete
        else "# The loop that the robot was in, as far as it is known; didim needs it.",
        *said,
        f"{mark}[controller]",
        '# "pd", "pid", "cascade" or "computed_torque".',
        f'{mark}law = "pd"',
        "# rad/s: gains by poles. Or its own: kp, kv of v = kv (kp e + ff dq_r - dq), or Kp, Kd of "
        "Kp e + Kd de.",
        *gains,
        *(f"{mark}{key} = {toml_value(value)}" for key, value in known.items()),
        "# ff, the fraction of the reference velocity: 0 (default), or 1 if the loop compares "
        "velocities; Kp and Kd have 1.",
        "# velocity_reference = 1.0",
        "# Hz, of a sampled controller; see also velocity, delay, saturation, encoder, drive_gain.",
        "# rate = 1000",
    ]
    return lines + (
        ["# This loop is a guess; remove the line once you know it.", f"{mark}assumed = true"]
        if assumed and not complete
        else []
    )


def _filled(
    study: Path,
    robot: str,
    model: DynamicModel,
    method: str,
    record: list[str],
    controller: list[str],
    measured: bool,
    motion: Motion | None = None,
) -> bytes:
    text = (resources.files("didim.study") / "template.toml").read_text(encoding="utf-8")
    return (
        string.Template(text)
        .substitute(
            study=study.name,
            robot=toml_string(robot),
            joints=_joints(model),
            method=toml_string(method),
            effects=_effects(model, measured and robot.lower().endswith(".urdf")),
            record="\n".join(record),
            rest=rest_line(motion),
            controller="\n".join(controller),
        )
        .encode()
    )


def _joints(model: DynamicModel) -> str:
    """The line of the joints that are held, as a comment where all move."""
    if not (locked := model.robot.locked):
        return (
            "# A part of it: the joints that move, joints = [...], or those that are held, rad or "
            "m, lock = { wheel = 0.0 }."
        )
    held = ", ".join(f"{toml_string(name)} = {value!r}" for name, value in locked.items())
    return f"# Held joints, rad or m; the others move.\nlock = {{ {held} }}"


def _effects(model: DynamicModel, unknown: bool) -> str:
    """The line of the effects that the robot declares, as a comment where no one list says the
    same; with rotors and offsets where its description has no place for them.
    """
    declared = sorted({effect for joint in model.robot.joints for effect in joint.effects})
    declared += ["coupling"] if model.robot.couplings else []
    if unknown:
        more = [each for each in ("rotor", "offset") if each not in declared]
        return (
            "# A URDF has no place for rotor inertias and torque offsets, which most robots have.\n"
            f"effects = {json.dumps([*declared, *more])}"
        )
    line = f"effects = {json.dumps(declared)}"
    try:
        same = DynamicModel(model.robot, declared).parameter_names == model.parameter_names
    except InputError:
        same = False
    return line if same else f"# {line}"


def _virtual_record(model: DynamicModel, given: ActuatedLoop | None) -> bytes:
    """A CSV of the robot on a random trajectory within its limits."""
    trajectory = Fourier.random(model.robot, seed=1, period=VIRTUAL_PERIOD, periods=2, harmonics=6)
    known: dict[str, Any] = {} if given is None else dict(given.settings)
    loop = PD(**known) if "kp" in known else PD(natural_frequency=VIRTUAL_BANDWIDTH, **known)
    record, _ = virtual_experiment(
        model,
        virtual_parameters(model),
        loop,
        trajectory,
        rate=VIRTUAL_RATE,
        noise=VIRTUAL_NOISE,
        encoder=1e-5,
        seed=1,
        name="virtual",
    )
    t = record.t
    return csv_of(
        t,
        {
            "q_ref": trajectory.sample(t)[0],
            "q": measured_positions(record),
            "tau": measured_torque(record),
        },
    )


def virtual_parameters(model: DynamicModel) -> Array:
    """(p,) the described values, generic where the description gives none."""
    phi = model.nominal
    for columns in model.layout.link:
        if np.isnan(phi[columns]).any():
            phi[columns] = about_origin(
                GENERIC_MASS,
                np.array([0.1, 0.05, 0.0]),
                GENERIC_MASS * GENERIC_GYRATION_RADIUS**2 * np.eye(3),
            )
    for k in np.flatnonzero(np.isnan(phi)):
        unknown = model.parameters[k]
        phi[k] = GENERIC_VALUES[unknown.kind] if unknown.coupling is None else GENERIC_COUPLING
    return phi
