"""`didim league`: methods on virtual robots, compared by Monte-Carlo."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from didim.cli.answers import LeagueAnswer, LeagueFailureAnswer, ScoreAnswer, printed
from didim.cli.many import folder_of, run_tasks
from didim.fleet.league import League, load_league
from didim.fleet.league_scores import Score, scores
from didim.fleet.league_table import markdown_table, picture, text_table
from didim.fleet.row import RunTable
from didim.report.files import check_free, write_made, write_picture
from didim.results.serialisation import finite


def run(options: argparse.Namespace) -> int:
    """Print the table, write it and its picture; status 1 if a run has no estimate."""
    league = load_league(Path(options.league), options.set)
    folder = folder_of(options)
    drawn = None if folder is None else check_free(folder / "league.png")
    table = run_tasks(league.tasks, options, f"{league.name}: {len(league.tasks)} runs")
    found = scores(league, table.rows)
    files = []
    if folder is not None and drawn is not None:
        write_picture(picture(found)[0, 0], drawn)
        page = write_made(folder / "league.md", markdown_table(found).encode())
        files = [str(drawn), str(page), str(folder / "table.parquet")]
    if options.json:
        print(printed(_answer(league, table, found, files)))
    else:
        print(f"{league.name}: {len(league.tasks)} runs, {league.seeds} seeds\n")
        print(text_table(found))
        for reason, count in _reasons(table).items():
            print(f"\n{count} failed: {reason}")
        if files:
            print(f"\nWritten: {', '.join(files)}")
    return 1 if table.failed else 0


def _reasons(table: RunTable) -> dict[str, int]:
    """How often each reason of a failure occurs."""
    reasons = [row.reason for row in table.failed]
    return {each: reasons.count(each) for each in dict.fromkeys(reasons)}


def _answer(league: League, table: RunTable, found: list[Score], files: list[str]) -> LeagueAnswer:
    failures = [
        LeagueFailureAnswer(
            case=entry.case,
            method=entry.method,
            seed=row.seed,
            status=row.status,
            reason=row.reason,
        )
        for entry, row in zip(league.entries, table.rows, strict=True)
        if not row.converged
    ]
    table_of = [ScoreAnswer(**asdict(each.entry), **finite({**_numbers(each)})) for each in found]
    return LeagueAnswer(
        name=league.name,
        seeds=league.seeds,
        runs=len(table),
        table=table_of,
        failures=failures,
        files=files,
    )


def _numbers(score: Score) -> dict[str, float]:
    return {name: value for name, value in vars(score).items() if name != "entry"}
