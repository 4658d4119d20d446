"""`didim simulate`: the motion of a study's robot in its loop."""

from __future__ import annotations

import argparse
from pathlib import Path

from didim.cli.answers import MotionAnswer, SimulateAnswer, printed
from didim.cli.init import OVERWRITE_HINT
from didim.cli.progress import progress
from didim.output import free, write
from didim.results import load_estimate
from didim.study import load_study
from didim.study.simulated import files_for, motion_table, simulate_study


def run(options: argparse.Namespace) -> int:
    """Write the motions; status 1 if one could not be completed."""
    study = load_study(options.study, options.set)
    estimate = None if options.result is None else load_estimate(options.result)
    files = files_for(Path(options.out), [*study.records])
    for file in files:
        free(file, options.force, OVERWRITE_HINT)
    with progress(f"simulating {study.model.robot.name}") as report:
        found = simulate_study(study, estimate, report)
    write(
        {
            file: motion_table(each, file.suffix.lower())
            for file, each in zip(files, found, strict=True)
        },
        options.force,
        OVERWRITE_HINT,
    )
    motions = [
        MotionAnswer(
            experiment=each.experiment.name,
            file=str(file),
            completed=each.motion.completed,
            message=each.motion.message,
            samples=int(each.motion.t.size),
        )
        for file, each in zip(files, found, strict=True)
    ]
    if options.json:
        print(printed(SimulateAnswer(robot=study.model.robot.name, motions=motions)))
    else:
        for each in motions:
            failure = "" if each.completed else f"; NOT COMPLETED: {each.message}"
            print(
                f"{each.experiment}: {each.samples} samples of t, q_ref, q, dq, ddq, tau in "
                f"{each.file}{failure}"
            )
    return 0 if all(each.completed for each in motions) else 1
