"""`didim simulate`: the motion of a study's robot in its loop."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from didim.cli.answers import MotionAnswer, SimulateAnswer, printed
from didim.cli.init import OVERWRITE_HINT
from didim.cli.progress import progress
from didim.cli.saving import saved
from didim.output import Overwrite, Seen, free, refuse_inputs, write
from didim.results import load_estimate
from didim.results.store import files_of_result
from didim.study import load_study
from didim.study.simulated import files_for, motion_table, simulate_study


def run(options: argparse.Namespace) -> int:
    """Write the motions; status 1 if one could not be completed."""
    study = load_study(options.study, options.set)
    estimate = None if options.result is None else load_estimate(options.result)
    target, records = Path(options.out), [*study.records]
    files = files_for(target, records)
    for file in files:
        free(file, options.force, OVERWRITE_HINT)
    result = () if options.result is None else files_of_result(Path(options.result))
    refuse_inputs(files, [*study.inputs, *result])
    overwrite = Seen.now(files) if options.force else False
    with progress(f"simulating {study.model.robot.name}") as report:
        found = simulate_study(study, estimate, report)

    def write_to(place: Path, over: Overwrite) -> None:
        tables = zip(files_for(place, records), found, strict=True)
        write(
            {file: motion_table(each, file.suffix.lower()) for file, each in tables},
            over,
            OVERWRITE_HINT,
        )

    place, refused = saved(write_to, target, overwrite, options.debug)
    files = [] if place is None else files_for(place, records)
    motions = [
        MotionAnswer(
            experiment=each.experiment.name,
            file=str(files[k]) if files else "",
            completed=each.motion.completed,
            message=each.motion.message,
            samples=int(each.motion.t.size),
        )
        for k, each in enumerate(found)
    ]
    if options.json:
        print(printed(SimulateAnswer(robot=study.model.robot.name, motions=motions)))
    else:
        for each in motions:
            failure = "" if each.completed else f"; NOT COMPLETED: {each.message}"
            print(
                f"{each.experiment}: {each.samples} samples of t, q_ref, q, dq, ddq, tau in "
                f"{each.file or 'no file'}{failure}"
            )
    if refused:
        print(f"didim: error: {refused}", file=sys.stderr)
    return 0 if all(each.completed for each in motions) and not refused else 1
