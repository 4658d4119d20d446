"""`didim init`: a commented study that runs as it is."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import didim
from didim.cli.shared.joints import add_joints, joint_options
from didim.cli.shared.options import add_file, add_force
from didim.cli.shared.outputs import OVERWRITE_HINT
from didim.cli.shared.progress import progress
from didim.errors import InputError, shortened
from didim.output import free, refuse_inputs, write

if TYPE_CHECKING:
    from didim.study.template import Template

DESCRIPTION = (
    "Without --data it comes with a virtual record of the robot; with it, the columns are guessed "
    "from their names or, without a header, from what they hold."
)
EXAMPLES = """
didim init
didim init arm.toml --robot arm.urdf
didim init arm.toml --robot arm.urdf --data run.csv
didim init arm.toml --robot mobile.urdf --lock wheel_left=0 --lock wheel_right=0
"""


def arguments(command: argparse.ArgumentParser) -> None:
    """The study to write, its robot and its log."""
    add_file(
        command,
        "study",
        nargs="?",
        default="study.toml",
        help="to write (default %(default)s)",
    )
    add_file(
        command,
        "--robot",
        default="scara",
        help="a .urdf, .xml (MJCF) or .toml file, or a shipped robot",
    )
    add_file(command, "--data", help="your log: .csv .tsv .mat .npz .parquet .bag .mcap")
    add_joints(command)
    add_force(command)


def run(options: argparse.Namespace) -> int:
    """Write the study, and a virtual record where no log was given."""
    from didim.control.actuators import loop_of_robot_file
    from didim.signals.tables import read_table
    from didim.study.template import data_template, virtual_template

    study = Path(options.study)
    if study.suffix != ".toml":
        raise InputError(f"{study}: a study is written as .toml.")
    if not study.name.isprintable():
        raise InputError(
            f"{shortened(study.name)}: has characters that cannot be printed; choose another name."
        )
    free(study, options.force, OVERWRITE_HINT)
    record = study.with_name(f"{study.stem}-record.csv")
    outputs = [study, record] if options.data is None else [study]
    refuse_inputs(outputs, [Path(each) for each in (options.robot, options.data) if each])
    chosen = joint_options(options)
    model = didim.DynamicModel(didim.load_robot(options.robot, *chosen))
    loop = loop_of_robot_file(options.robot, *chosen)
    shipped = options.robot in didim.shipped_robots()
    robot = options.robot if shipped else _relative_to(study, options.robot)
    if options.data is None:
        free(record, options.force, OVERWRITE_HINT)
        with progress("recording a virtual robot"):
            template = virtual_template(study, robot, model, loop)
    else:
        table = read_table(options.data)
        data = _relative_to(study, options.data)
        template = data_template(study, robot, model, data, table, loop)
    write(template.files, options.force, OVERWRITE_HINT)
    print(f"Written: {', '.join(str(file) for file in template.files)}")
    _print_guess(template, "" if loop is None else loop.lacks)
    name = shlex.quote(str(study))
    print(f"Next: didim check {name}, then didim identify {name}")
    return 1 if template.missing else 0


def _print_guess(template: Template, lacks: str) -> None:
    """What was guessed, and what the loop of the robot file lacks."""
    loop = (f"loop: {lacks}",) if lacks else ()
    for note in (*template.notes, *template.guess.remarks, *loop):
        print(f"  {note}")
    for signal, columns in template.guess.columns.items():
        listed = columns if isinstance(columns, list) else [columns]
        print(f"  {signal}: {', '.join(map(str, listed))}")
    for signal, unit in template.guess.units.items():
        print(f"  unit of {signal}: {unit}")
    if template.unused:
        print(f"  not used: {', '.join(template.unused)}")
    if template.missing:
        print(
            f"To be filled in, in columns: {', '.join(template.missing)}; they cannot be guessed "
            "from the log."
        )


def _relative_to(study: Path, file: str) -> str:
    """A path as the study must write it."""
    try:
        file.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{shortened(file)}: the name is not UTF-8, which a study must be; rename it."
        ) from None
    try:
        relative = os.path.relpath(Path(file).resolve(), study.resolve().parent)
    except ValueError:  # another drive
        return Path(file).resolve().as_posix()
    return Path(relative).as_posix()
