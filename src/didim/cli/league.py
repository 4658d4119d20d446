"""`didim league`: methods on virtual robots, compared by Monte-Carlo."""

from __future__ import annotations

import argparse
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from didim.cli.shared.answer import Answer, Number
from didim.cli.shared.many import add_engine, folder_of, run_tasks
from didim.cli.shared.options import add_file, add_json, add_set
from didim.cli.shared.outputs import save_all, show

if TYPE_CHECKING:
    from didim.fleet import RunTable
    from didim.fleet.league import League
    from didim.fleet.league_scores import Score

DESCRIPTION = (
    "The file lists robots, loops, noise and faults, methods and seeds; every combination is run. "
    "The table has error, coverage, failures and time of each method. Exit status 0: every "
    "identification gave a result, 1: some failed, 2: bad input."
)
EXAMPLES = """
didim league league.toml --out league
didim league league.toml --set seeds=2 --json
didim league league.toml --engine dask --scheduler tcp://10.0.0.1:8786 --out league
"""


def arguments(command: argparse.ArgumentParser) -> None:
    """A league, and how it is run."""
    add_file(command, "league", help="the league, a .toml file")
    add_set(command, "change a key of the league: dotted path=value, as in seeds=2; repeatable")
    add_engine(command, "rows (Parquet), league.png and league.md")
    add_json(command)


def run(options: argparse.Namespace) -> int:
    """Print the table, write it and its picture; status 1 if a run has no estimate or a file could
    not be written.
    """
    from didim.fleet.league import load_league
    from didim.fleet.league_scores import scores
    from didim.fleet.league_table import markdown_table, picture
    from didim.report.files import check_free, write_made, write_picture

    league = load_league(Path(options.league), options.set)
    folder = folder_of(options)
    drawn = None if folder is None else check_free(folder / "league.png")
    page = None if folder is None else folder / "league.md"
    table = run_tasks(league.tasks, options, f"{league.name}: {len(league.tasks)} runs")
    found = scores(league, table.rows)
    saved = save_all(  # after hours of runs: what cannot be drawn or written must not cost the rest
        [
            (drawn, lambda file, over: write_picture(picture(found)[0, 0], file, over)),
            (page, lambda file, over: write_made(file, markdown_table(found).encode(), over)),
        ],
        True,
        options.debug,
    )
    rows = [] if folder is None else [folder / "table.parquet"]
    files = [str(each) for each in (*saved.files, *rows)]
    show(
        options,
        lambda: _answer(league, table, found, files),
        lambda: _text(league, table, found),
        files,
        saved.refused,
    )
    return 1 if table.failed or saved.refused else 0


def _text(league: League, table: RunTable, found: list[Score]) -> str:
    from didim.fleet.league_table import text_table

    head = f"{league.name}: {len(league.tasks)} runs, {league.seeds} seeds\n"
    failed = [f"\n{count} failed: {reason}" for reason, count in _reasons(table).items()]
    return "\n".join([head, text_table(found), *failed])


def _reasons(table: RunTable) -> dict[str, int]:
    """How often each reason of a failure occurs."""
    reasons = [row.reason for row in table.failed]
    return {each: reasons.count(each) for each in dict.fromkeys(reasons)}


@dataclass(frozen=True, eq=False)
class ScoreAnswer(Answer):
    """One method on one robot, loop, trajectory, noise and fault, over all seeds."""

    robot: str
    loop: str
    trajectory: str
    noise: str
    fault: str
    method: str
    runs: int
    failed: int
    """Without an estimate."""
    unconverged: int
    """With an estimate that did not converge."""
    error: Number
    """||chi - truth|| / ||truth|| of the base parameters, median; null: nothing converged."""
    torque: Number
    """Residual of a held-out motion without noise, median."""
    coverage: Number
    """Fraction of the 95 % intervals that hold the true value."""
    seconds: Number
    """Median."""


@dataclass(frozen=True, eq=False)
class LeagueFailureAnswer(Answer):
    """One run that did not converge."""

    case: str
    method: str
    seed: int
    status: str
    reason: str


@dataclass(frozen=True, eq=False)
class LeagueAnswer(Answer):
    """The result of `didim league`."""

    name: str
    seeds: int
    runs: int
    table: list[ScoreAnswer]
    failures: list[LeagueFailureAnswer]
    """Every run that failed or did not converge."""
    files: list[str]
    """What was written."""


def _answer(league: League, table: RunTable, found: list[Score], files: list[str]) -> LeagueAnswer:
    from didim.results.serialisation import finite

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
    table_of = [ScoreAnswer(**asdict(each.entry), **finite(_numbers(each))) for each in found]
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
