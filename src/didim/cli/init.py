"""`didim init`: a commented study that runs as it is."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path

from didim.cli.joints import joint_options
from didim.cli.progress import progress
from didim.control.actuators import loop_of_robot_file
from didim.dynamics import DynamicModel
from didim.errors import InputError, shortened
from didim.output import free, refuse_inputs, write
from didim.robot import load_robot, shipped_robots
from didim.signals.tables import read_table
from didim.study.template import data_template, virtual_template

OVERWRITE_HINT = "give another name, or --force"


def run(options: argparse.Namespace) -> int:
    """Write the study, and a virtual record where no log was given."""
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
    model = DynamicModel(load_robot(options.robot, *chosen))
    loop = loop_of_robot_file(options.robot, *chosen)
    robot = (
        options.robot if options.robot in shipped_robots() else _relative_to(study, options.robot)
    )
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
    lacks = () if loop is None or not loop.lacks else (f"loop: {loop.lacks}",)
    for note in (*template.notes, *template.guess.remarks, *lacks):
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
    name = shlex.quote(str(study))
    print(f"Next: didim check {name}, then didim identify {name}")
    return 1 if template.missing else 0


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
