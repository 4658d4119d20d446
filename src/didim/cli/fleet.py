"""`didim fleet`: many robots or days with the same method."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from didim.cli.answers import (
    FleetAnswer,
    FleetFindingAnswer,
    FleetParameterAnswer,
    MemberAnswer,
    printed,
)
from didim.cli.many import folder_of, run_tasks
from didim.fleet.analysis import Fleet, fleet_of
from didim.fleet.members import Member, tasks_of_fleet
from didim.fleet.page import fleet_page, parameter_rows, sentence
from didim.fleet.row import Row
from didim.fleet.run import report_file
from didim.report.files import check_free, write_made
from didim.results.serialisation import finite


def run(options: argparse.Namespace) -> int:
    """Print what stands out, write the report; status 1 if something does or is missing."""
    members, tasks = tasks_of_fleet(options.studies, options.logs, options.name, options.set)
    folder = folder_of(options)
    page = None if folder is None else check_free(folder / "fleet.html", ".html")
    table = run_tasks(tasks, options, f"identifying {len(tasks)} records", reports=True)
    fleet = fleet_of(members, table.rows)
    files = []
    if folder is not None and page is not None:
        links = [_link(folder, row) for row in table]
        write_made(page, fleet_page(fleet, links, options.command))
        files = [str(page), str(folder / "table.parquet")]
    if options.json:
        print(printed(_answer(fleet, files)))
    else:
        print(_text(fleet))
        if files:
            print(f"\nWritten: {', '.join(files)}")
    return 0 if len(fleet.used) == len(fleet.members) and not fleet.findings else 1


def _link(folder: Path, row: Row) -> str:
    """The report of a row, as seen from the page of the fleet; empty where there is none."""
    file = report_file(folder, row.key)
    return file.relative_to(folder).as_posix() if file.exists() else ""


def _text(fleet: Fleet) -> str:
    lines = [
        f"{len(fleet.robots)} robots, {len(fleet.used)} of {len(fleet.members)} identifications "
        f"used: {sentence(fleet)}"
    ]
    rows = parameter_rows(fleet)
    if rows:
        head = ("", "mean", "between robots, %", "sigma of one, %", "day to day")
        width = max(len(row[0]) for row in rows)
        lines += ["", f"{head[0]:<{width}} " + " ".join(f"{each:>17}" for each in head[1:])]
        lines += [
            f"{row[0]:<{width}} " + " ".join(f"{each:>17}" for each in row[1:]) for row in rows
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


def _answer(fleet: Fleet, files: list[str]) -> FleetAnswer:
    parameters = [
        FleetParameterAnswer(
            name=name,
            mean=common.mean,
            between=common.between**0.5,
            scatter=float(scatter),
        )
        for name, common, scatter in zip(fleet.names, fleet.centres, fleet.scatter, strict=True)
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
    return MemberAnswer(
        name=member.name,
        robot=member.robot,
        time=member.time,
        **finite({name: getattr(row, name) for name in ("status", "reason", "verdict")}),
        names=list(row.names),
        values=finite(row.values.tolist()),
        sigma=finite(row.sigma.tolist()),
        residual=finite(row.residual),
        held_out=finite(row.held_out),
        seconds=finite(row.seconds),
    )
