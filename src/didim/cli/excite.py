"""`didim excite`: the motion whose record tells most about a robot."""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import didim
from didim.cli.shared.answer import Answer, Number
from didim.cli.shared.joints import add_joints, joint_options
from didim.cli.shared.options import add_file, add_force, add_json, add_report, add_set
from didim.cli.shared.outputs import free_outputs, named_output, save_all, show
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
"""

LESS_MEMORY = "plan a shorter motion, or one of fewer harmonics, or give a lower --rate"
"""What to do where memory is not enough."""

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
    """Print what the plan tells, write the requested files; status 1 if it was stopped."""
    from didim.design.files import KINDS, plain_plan, save
    from didim.report.plan.page import write_plan_report
    from didim.results.store import files_of_result

    out = named_output(options.out, tuple(KINDS))
    page = named_output(options.report, PAGE_ENDINGS)
    study = didim.load_study(options.source, options.set) if _is_study(options.source) else None
    outputs = [file for file in (out, page) if file]
    overwrite = free_outputs(outputs, options.force)
    inputs = [Path(options.source)] if study is None else study.inputs
    results = [file for each in options.after for file in files_of_result(Path(each))]
    refuse_inputs(outputs, [*inputs, *results])
    after = [didim.load_estimate(each) for each in options.after]
    plan = _plan(study, after, options, page is not None)
    saved = save_all(
        [
            (out, lambda file, over: save(plan, file, options.rate, over)),
            (page, lambda file, over: write_plan_report(plan, file, over, options.command)),
        ],
        overwrite,
        options.debug,
    )
    files = [str(file) for file in saved.files]
    show(
        options,
        lambda: ExciteAnswer(**plain_plan(plan), seconds=plan.seconds, files=files),
        plan.summary,
        files,
        saved.refused,
    )
    return 1 if plan.stopped or saved.refused else 0


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


def _plan(
    study: Study | None, after: list[Estimate], options: argparse.Namespace, compared: bool
) -> Plan:
    from didim.study.planned import limits_with_defaults, plan_study

    _refuse_foreign(study, options)
    design = _given(options, ("duration", "rate", "seed", "gains_unknown", "random_plans"))
    limits = _given(options, ("floor", "self_collision"))
    table = None if study is None else study.settings.excite
    if compared and (table is None or "random_plans" not in table.given()):
        design.setdefault("random_plans", RANDOM_PLANS)
    if study is None:
        robot = didim.load_robot(options.source, *joint_options(options))
        own, notes = limits_with_defaults(robot, **limits)
        model, known = didim.DynamicModel(robot), after or None
        with progress(f"planning for {robot.name}") as report:
            plan = didim.excite(model, limits=own, after=known, progress=report, **design)
    else:
        with progress(f"planning for {study.model.robot.name}") as report:
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


@dataclass(frozen=True, eq=False)
class LimitsAnswer(Answer):
    """What the motion does not exceed."""

    position: list[list[float]]
    """Lower and upper of each joint, rad or m."""
    velocity: list[float]
    acceleration: list[float]
    jerk: list[float]
    torque: list[Number]
    """Null: unlimited."""
    torque_reserve: float
    floor: float | None
    """m; null: there is none."""
    box: list[list[Number]] | None
    self_collision: float | None
    """Clearance, m; null: not watched."""


@dataclass(frozen=True, eq=False)
class ExciteAnswer(Answer):
    """The result of `didim excite`."""

    robot: str
    joints: list[str]
    method: str
    duration: float
    """s."""
    seed: int
    gains_unknown: bool
    stopped: bool
    """Whether it was stopped on request: the best plan until then."""
    messages: list[str]
    names: list[str]
    """Base parameters, then unknown gains."""
    values: list[Number]
    """Nominal, SI."""
    sigma: list[Number]
    """Predicted standard deviations, SI."""
    relative_sigma: list[Number]
    """Percent of the nominal values."""
    sigma_random: list[Number] | None
    """Those of the best random plan; null: not compared."""
    sigma_before: list[Number] | None
    """Those of what was known before; null: nothing was given."""
    noise: list[float]
    """Standard deviation of the torque of a sample, N.m or N."""
    rate: float
    """Samples per second of the record."""
    margins: dict[str, float]
    """How far the motion stays inside each limit, as a fraction of it."""
    binding: list[str]
    """The limits with margins below 5 %, nearest first."""
    limits: LimitsAnswer
    seconds: float
    """That the design took."""
    files: list[str]
    """What was written."""
