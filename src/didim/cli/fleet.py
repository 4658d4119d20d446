"""`didim fleet`: many robots or days with the same method."""

from __future__ import annotations

import argparse
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from didim.cli.shared.answer import Answer, Number, OneOf
from didim.cli.shared.many import add_engine, folder_of, run_tasks
from didim.cli.shared.options import add_file, add_json, add_set
from didim.cli.shared.outputs import saved, show
from didim.errors import as_utf_8, cut

if TYPE_CHECKING:
    from didim.fleet.analysis import Fleet
    from didim.fleet.members import Member
    from didim.fleet.row import Row
    from didim.output import Overwrite

DESCRIPTION = (
    "Each FILE is a study of one robot at one time; with --logs, one study is run on each log. "
    "Robots and times are in the names of the files: an ISO date, or as --name says. Exit status "
    "0: nothing stands out, 1: something does or was not identified, 2: bad input."
)
EXAMPLES = """
didim fleet arm1.toml arm2.toml arm3.toml arm4.toml arm5.toml --out fleet
didim fleet arm.toml --logs "logs/*.csv" --name "{robot}_day{time}" --out fleet
didim fleet arm.toml --logs "logs/*.csv" --engine dask --scheduler tcp://10.0.0.1:8786
"""

MAX_REMARK = 300
"""Letters of a remark, about."""


def arguments(command: argparse.ArgumentParser) -> None:
    """Studies, logs, and how they are run."""
    add_file(command, "studies", nargs="+", help="studies, .toml files")
    add_set(command)
    command.add_argument(
        "--logs",
        metavar="PATTERN",
        action="append",
        default=[],
        help="logs that the study is run on, such as 'logs/*.csv'; repeatable",
    )
    command.add_argument(
        "--name",
        metavar="PATTERN",
        help="where the names of the files, without ending, have robot and time: "
        '"{robot}_day{time}"',
    )
    add_engine(
        command, "rows (Parquet), the report fleet.html and those of the single identifications"
    )
    add_json(command)


def run(options: argparse.Namespace) -> int:
    """Print what stands out, write the report; status 1 if something does or is missing."""
    from didim.fleet.analysis import fleet_of
    from didim.fleet.members import members_of_fleet
    from didim.fleet.page import fleet_page
    from didim.report.files import check_free, write_made

    given = members_of_fleet(options.studies, options.logs, options.name, options.set)
    tasks, repeated = given.tasks, given.repeated
    folder = folder_of(options)
    page = None if folder is None else check_free(folder / "fleet.html", ".html")
    table = run_tasks(tasks, options, f"identifying {len(tasks)} records", reports=True)
    twice = f"Files given twice, which count once ({len(repeated)}): {', '.join(repeated)}"
    remarks = [f"{cut(twice, MAX_REMARK)}."] if repeated else []
    fleet = fleet_of(given.members, table.rows, remarks)
    files, refused = [], ""
    if folder is not None and page is not None:

        def write_page(file: Path, overwrite: Overwrite) -> None:
            links = [_link(folder, row) for row in table]
            write_made(file, fleet_page(fleet, links, options.command), overwrite)

        written, refused = saved(write_page, page, True, options.debug)
        files = [as_utf_8(str(each)) for each in (written, folder / "table.parquet") if each]
    show(options, lambda: _answer(fleet, files), lambda: _text(fleet), files, refused)
    is_complete = len(fleet.used) == len(fleet.members) and not refused
    return 0 if is_complete and not fleet.findings else 1


def _link(folder: Path, row: Row) -> str:
    """The report of a row, as seen from the page of the fleet; empty where there is none."""
    from didim.fleet.store import report_file

    file = report_file(folder, row.key)
    return file.relative_to(folder).as_posix() if file.exists() else ""


def _text(fleet: Fleet) -> str:
    from didim.fleet.page import parameter_rows, sentence

    lines = [
        f"{len(fleet.robots)} robots, {len(fleet.used)} of {len(fleet.members)} identifications "
        f"used: {sentence(fleet)}"
    ]
    rows = parameter_rows(fleet)
    if rows:
        head = ("", "mean", "between, %", "sigma, %", "day to day", "differs from, %")
        width = max(len(row[0]) for row in rows)
        lines += [
            "",
            *(
                f"{row[0]:<{width}} " + " ".join(f"{each:>15}" for each in row[1:])
                for row in [(*head, "drifts from, %"), *rows]
            ),
        ]
    if fleet.findings:
        lines += ["", *(each.sentence for each in fleet.findings)]
    unused = [
        f"{member.name}: {row.status}: {row.reason}"
        for member, row in zip(fleet.members, fleet.rows, strict=True)
        if not row.converged
    ]
    lines += ["", *unused] if unused else []
    return "\n".join([*lines, *(["", *fleet.notes] if fleet.notes else [])])


@dataclass(frozen=True, eq=False)
class MemberAnswer(Answer):
    """One identification of a fleet."""

    name: str
    """Of its file."""
    robot: str
    time: float | None
    """Days since 1970 for dates, else the number in the name; null: not known."""
    status: str
    """converged, stopped, diverged or unexcited; failed where there is no estimate."""
    reason: str
    verdict: Annotated[str, OneOf("yes", "care", "no", "")]
    names: list[str]
    values: list[Number]
    sigma: list[Number]
    """Corrected for the colour of the residuals."""
    residual: Number
    held_out: Number
    seconds: Number


@dataclass(frozen=True, eq=False)
class FleetParameterAnswer(Answer):
    """One parameter of a fleet."""

    name: str
    mean: float
    """Of the robots that do not differ, SI."""
    between: float
    """Standard deviation between them, beyond that of their estimates."""
    scatter: float
    """From day to day, over what the intervals say; at least 1."""
    difference_found_from: Number
    """Fraction of the mean by which half of the robots would have to differ to be found."""
    drift_found_from: Number
    """The same of a change from the first to the last time."""


@dataclass(frozen=True, eq=False)
class FleetFindingAnswer(Answer):
    """One parameter of one robot that stands out."""

    kind: Annotated[str, OneOf("differs", "drifts")]
    robot: str
    parameter: str
    value: float
    """SI: of the robot at its mean time, or its slope per day."""
    sigma: float
    usual: float
    """Mean of the others; 0 for a slope."""
    change: Number
    """Fraction: against the others, or from the first to the last time."""
    p_value: float
    """Corrected for the number of tests."""


@dataclass(frozen=True, eq=False)
class FleetAnswer(Answer):
    """The result of `didim fleet`."""

    sentence: str
    robots: list[str]
    findings: list[FleetFindingAnswer]
    """Surest first."""
    parameters: list[FleetParameterAnswer]
    members: list[MemberAnswer]
    tests: int
    notes: list[str]
    files: list[str]
    """What was written."""


def _answer(fleet: Fleet, files: list[str]) -> FleetAnswer:
    from didim.fleet.page import sentence
    from didim.results.serialisation import finite

    parameters = [
        FleetParameterAnswer(
            name=name,
            mean=common.mean,
            between=common.between**0.5,
            scatter=float(fleet.scatter[k]),
            difference_found_from=finite(float(fleet.difference_found_from[k])),
            drift_found_from=finite(float(fleet.drift_found_from[k])),
        )
        for k, (name, common) in enumerate(zip(fleet.names, fleet.centres, strict=True))
    ]
    return FleetAnswer(
        sentence=sentence(fleet),
        robots=list(fleet.robots),
        findings=[FleetFindingAnswer(**finite(asdict(each))) for each in fleet.findings],
        parameters=parameters,
        members=[_member(*each) for each in zip(fleet.members, fleet.rows, strict=True)],
        tests=fleet.tests,
        notes=list(fleet.notes),
        files=files,
    )


def _member(member: Member, row: Row) -> MemberAnswer:
    from didim.results.serialisation import finite

    return MemberAnswer(
        name=member.name,
        robot=member.robot,
        time=member.time,
        status=row.status,
        reason=row.reason,
        verdict=row.verdict,
        names=list(row.names),
        values=finite(row.values.tolist()),
        sigma=finite(row.sigma.tolist()),
        residual=finite(row.residual),
        held_out=finite(row.held_out),
        seconds=finite(row.seconds),
    )
