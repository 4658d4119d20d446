"""`didim excite`: the motion whose record tells most about a robot."""

from __future__ import annotations

import argparse
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from didim.cli.answers import ExciteAnswer, printed
from didim.cli.identify import named_output
from didim.cli.init import OVERWRITE_HINT
from didim.cli.joints import joint_options
from didim.cli.progress import progress
from didim.cli.saving import Writer, saved
from didim.design import Plan, excite
from didim.design.files import KINDS, plain_plan, save
from didim.dynamics import DynamicModel
from didim.errors import InputError
from didim.output import Overwrite, Seen, free, refuse_inputs
from didim.reading import read_bytes
from didim.report.html import ENDINGS
from didim.report.plan.page import write_plan_report
from didim.results import Estimate, load_estimate
from didim.results.store import files_of_result
from didim.robot import load_robot, shipped_robots
from didim.study import Study, load_study
from didim.study.planned import limits_with_defaults, plan_study

RANDOM_PLANS = 20
"""That a report compares with."""


def run(options: argparse.Namespace) -> int:
    """Print what the plan tells, write the requested files; status 1 if it was stopped."""
    out = named_output(options.out, tuple(KINDS))
    page = named_output(options.report, ENDINGS)
    study = load_study(options.source, options.set) if _is_study(options.source) else None
    outputs = [file for file in (out, page) if file]
    overwrite = _free_outputs(outputs, study, options)
    after = [load_estimate(each) for each in options.after]
    plan = _plan(study, after, options, page is not None)

    def write_page(file: Path, over: Overwrite) -> None:
        write_plan_report(plan, file, over, options.command)

    writers: list[tuple[Path | None, Writer]] = [
        (out, lambda file, over: save(plan, file, options.rate, over)),
        (page, write_page),
    ]
    found = [saved(write, file, overwrite, options.debug) for file, write in writers if file]
    files = [str(file) for file, _ in found if file]
    refused = " ".join(problem for _, problem in found if problem)
    if options.json:
        print(printed(ExciteAnswer(**plain_plan(plan), seconds=plan.seconds, files=files)))
    else:
        print(plan.summary())
        if files:
            print(f"\nWritten: {', '.join(files)}")
    if refused:
        print(f"didim: error: {refused}", file=sys.stderr)
    return 1 if plan.stopped or refused else 0


def _is_study(source: str) -> bool:
    """Whether a file is a study: a .toml file without joints; the readers say what is wrong with
    others.
    """
    if source in shipped_robots() or Path(source).suffix.lower() != ".toml":
        return False
    try:
        return "joint" not in tomllib.loads(read_bytes(Path(source)).decode("utf-8-sig"))
    except (OSError, ValueError):
        return False


def _plan(
    study: Study | None, after: list[Estimate], options: argparse.Namespace, compared: bool
) -> Plan:
    names = ("duration", "rate", "seed", "gains_unknown", "random_plans")
    changed: dict[str, Any] = {
        name: value for name in names if (value := getattr(options, name)) is not None
    }
    limits = {
        name: value
        for name in ("floor", "self_collision")
        if (value := getattr(options, name)) is not None
    }
    if compared and study is None:
        changed.setdefault("random_plans", RANDOM_PLANS)
    if compared and study is not None and "random_plans" not in _given(study):
        changed.setdefault("random_plans", RANDOM_PLANS)
    if study is not None:
        if options.joints is not None or options.lock:
            raise InputError("--joints and --lock belong to a robot; a study has keys for them.")
        with progress(f"planning for {study.model.robot.name}") as report:
            plan, notes = plan_study(study, changed, limits, after, report)
        return replace(plan, messages=(*plan.messages, *notes))
    if options.set:
        raise InputError(f"--set changes a study; {options.source} is a robot.")
    if options.gains_unknown:
        raise InputError(
            "--gains-unknown needs a loop; describe it in a study (didim init) and give that."
        )
    robot = load_robot(options.source, *joint_options(options))
    own, notes = limits_with_defaults(robot, **limits)
    with progress(f"planning for {robot.name}") as report:
        plan = excite(
            DynamicModel(robot), limits=own, after=after or None, progress=report, **changed
        )
    return replace(plan, messages=(*plan.messages, *notes))


def _given(study: Study) -> set[str]:
    table = study.settings.excite
    return set() if table is None else set(table.given())


def _free_outputs(files: list[Path], study: Study | None, options: argparse.Namespace) -> Overwrite:
    """Refuse, before any work, files that cannot be written or that are read."""
    for each in files:
        free(each, options.force, OVERWRITE_HINT)
    inputs = [Path(options.source)] if study is None else study.inputs
    results = [file for each in options.after for file in files_of_result(Path(each))]
    if files:
        refuse_inputs(files, [*inputs, *results])
    return Seen.now(files) if options.force else False
