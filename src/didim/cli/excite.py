"""`didim excite`: the motion whose record tells most about a robot."""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import didim
from didim.cli.shared.joints import add_joints, joint_options
from didim.cli.shared.options import add_file, add_force, add_json, add_report, add_set
from didim.cli.shared.outputs import Writer, free_outputs, named_output, save_all, show
from didim.cli.shared.plan_answer import answer_of, text_of
from didim.cli.shared.progress import progress
from didim.errors import InputError
from didim.output import PAGE_ENDINGS, refuse_inputs

if TYPE_CHECKING:
    from didim.design import Plan
    from didim.results import Estimate
    from didim.study import Study

DESCRIPTION = (
    "ROBOT is a robot, or a study that describes its loop, its limits ([limits]) and the design "
    "([excite]). The motion stays inside every limit, or is refused with the one that binds. "
    "Ctrl-C stops with the best plan so far. Exit status 0: planned, 1: stopped, or a file could "
    "not be written, 2: bad input, or no such motion."
)
EXAMPLES = """
didim excite arm.urdf --duration 20 --floor 0 --out plan.csv --report plan.html
didim excite study.toml --gains-unknown --out plan.yaml
didim excite study.toml --after result.json --out next.csv --json
didim excite study.toml --trajectories 3 --out plan.csv
"""

LESS_MEMORY = "plan a shorter motion, or one of fewer harmonics, or give a lower --rate"
"""What to do where memory is not enough."""

MOST_TRAJECTORIES = 100

RANDOM_PLANS = 20
"""That a report compares with."""


def arguments(command: argparse.ArgumentParser) -> None:
    """A robot or a study, the design, and the files to write."""
    add_file(
        command,
        "source",
        metavar="ROBOT",
        help="a shipped robot's name, a .urdf, .xml or .toml file, or a study (.toml)",
    )
    add_set(command)
    command.add_argument(
        "--duration", metavar="SECONDS", type=float, help="of the motion, at most 1000 (default 20)"
    )
    command.add_argument(
        "--rate",
        metavar="HZ",
        type=float,
        help="samples per second of the record and of --out (default: the controller's, or 1000)",
    )
    command.add_argument("--seed", type=int, metavar="N", help="of the search (default 0)")
    command.add_argument(
        "--gains-unknown",
        action="store_true",
        default=None,
        help="the gains of the study's loop are to be estimated too",
    )
    command.add_argument("--floor", metavar="Z", type=float, help="height of the floor, m")
    command.add_argument(
        "--self-collision",
        metavar="M",
        type=float,
        help="clearance between links, m (default 0.01 where the description has all shapes)",
    )
    command.add_argument(
        "--trajectories",
        metavar="N",
        type=int,
        help="plan N trajectories, each for what those before it leave unknown, and write them as "
        "plan-1.csv, plan-2.csv, ... (default 1)",
    )
    add_file(
        command,
        "--after",
        metavar="RESULT",
        action="append",
        default=[],
        help="a saved result (.json): plan what it does not know yet; repeatable",
    )
    command.add_argument(
        "--random-plans",
        metavar="N",
        type=int,
        help="compare with the best of N random plans (default 20 with --report, else 0)",
    )
    add_joints(command)
    add_json(command)
    add_file(
        command,
        "--out",
        help="write the trajectory: .csv, .json, or a ROS 2 JointTrajectory as .yaml or .mcap",
    )
    add_report(command)
    add_force(command)


def run(options: argparse.Namespace) -> int:
    """Print what each plan tells, write the requested files; status 1 if it was stopped."""
    from didim.design.files import KINDS
    from didim.results.store import files_of_result

    out = named_output(options.out, tuple(KINDS))
    page = named_output(options.report, PAGE_ENDINGS)
    study = didim.load_study(options.source, options.set) if _is_study(options.source) else None
    count = _count(study, options)
    tables, pages = _numbered(out, count), _numbered(page, count)
    outputs = [file for file in (*tables, *pages) if file]
    overwrite = free_outputs(outputs, options.force)
    inputs = [Path(options.source)] if study is None else study.inputs
    results = [file for each in options.after for file in files_of_result(Path(each))]
    refuse_inputs(outputs, [*inputs, *results])
    after = [didim.load_estimate(each) for each in options.after]
    plans = _plans(study, after, options, count, page is not None)
    places = zip(plans, tables, pages, strict=False)  # a stopped one is the last
    writers = [each for place in places for each in _writers(*place, options)]
    saved = save_all(writers, overwrite, options.debug)
    files = [str(file) for file in saved.files]
    show(
        options,
        lambda: answer_of(plans, files),
        lambda: text_of(plans, count),
        files,
        saved.refused,
    )
    return 1 if plans[-1].stopped or saved.refused else 0


def _is_study(source: str) -> bool:
    """Whether a file is a study: a .toml file without joints; the readers say what is wrong with
    others.
    """
    from didim.reading import read_bytes

    if source in didim.shipped_robots() or Path(source).suffix.lower() != ".toml":
        return False
    try:
        return "joint" not in tomllib.loads(read_bytes(Path(source)).decode("utf-8-sig"))
    except (OSError, ValueError):
        return False


def _count(study: Study | None, options: argparse.Namespace) -> int:
    """How many trajectories are planned."""
    from didim.validation import whole

    table = None if study is None else study.settings.excite
    own = None if table is None else table.trajectories
    given = own if options.trajectories is None else options.trajectories
    count = 1 if given is None else whole(given, "trajectories", least=1)
    if count > MOST_TRAJECTORIES:
        raise InputError(f"trajectories must be at most {MOST_TRAJECTORIES}, found {count}.")
    return count


def _numbered(file: Path | None, count: int) -> list[Path | None]:
    """The file of each trajectory: plan.csv, or plan-1.csv, plan-2.csv, ..."""
    if file is None or count == 1:
        return [file] * count
    digits = len(str(count))
    return [file.with_stem(f"{file.stem}-{k:0{digits}d}") for k in range(1, count + 1)]


def _writers(
    plan: Plan, table: Path | None, page: Path | None, options: argparse.Namespace
) -> list[tuple[Path | None, Writer]]:
    from didim.design.files import save
    from didim.report.plan.page import write_plan_report

    return [
        (table, lambda file, over: save(plan, file, options.rate, over)),
        (page, lambda file, over: write_plan_report(plan, file, over, options.command)),
    ]


def _plans(
    study: Study | None,
    after: list[Estimate],
    options: argparse.Namespace,
    count: int,
    compared: bool,
) -> list[Plan]:
    """Each for what those before it leave unknown, with a seed of its own; those after one that
    was stopped are not planned.
    """
    _refuse_foreign(study, options)
    design = _given(options, ("duration", "rate", "seed", "gains_unknown", "random_plans"))
    limits = _given(options, ("floor", "self_collision"))
    table = None if study is None else study.settings.excite
    own = {} if table is None else table.given()
    if compared and "random_plans" not in own:
        design.setdefault("random_plans", RANDOM_PLANS)
    seed = design.get("seed", own.get("seed", 0))
    plans: list[Plan] = []
    for k in range(count):
        if count > 1:
            design["seed"] = seed + k
        which = "" if count == 1 else f" ({k + 1} of {count})"
        plans.append(_plan(study, [*after, *plans], options, design, limits, which))
        if plans[-1].stopped:
            break
    return plans


def _plan(
    study: Study | None,
    after: Sequence[Estimate | Plan],
    options: argparse.Namespace,
    design: dict[str, Any],
    limits: dict[str, Any],
    which: str,
) -> Plan:
    from didim.study.planned import limits_with_defaults, plan_study

    if study is None:
        robot = didim.load_robot(options.source, *joint_options(options))
        own, notes = limits_with_defaults(robot, **limits)
        model, known = didim.DynamicModel(robot), after or None
        with progress(f"planning for {robot.name}{which}") as report:
            plan = didim.excite(model, limits=own, after=known, progress=report, **design)
    else:
        with progress(f"planning for {study.model.robot.name}{which}") as report:
            plan, notes = plan_study(study, design, limits, after, report)
    return replace(plan, messages=(*plan.messages, *notes))


def _refuse_foreign(study: Study | None, options: argparse.Namespace) -> None:
    """Refuse the options of a robot where a study is given, and those of a study for a robot."""
    if study is not None and (options.joints is not None or options.lock):
        raise InputError("--joints and --lock belong to a robot; a study has keys for them.")
    if study is None and options.set:
        raise InputError(f"--set changes a study; {options.source} is a robot.")
    if study is None and options.gains_unknown:
        raise InputError(
            "--gains-unknown needs a loop; describe it in a study (didim init) and give that."
        )


def _given(options: argparse.Namespace, names: Sequence[str]) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name in names if (value := getattr(options, name)) is not None}
