"""Arguments that several commands have, each declared once."""

from __future__ import annotations

import argparse
from typing import Any

SET_STUDY = (
    "change a key of the study: dotted path=value, as in didim.refine=true or "
    "experiment.0.use=validate; repeatable"
)


def add_file(command: argparse.ArgumentParser, *names: str, **settings: Any) -> None:
    """An argument that is a file: shell completion offers files. Settings as for `add_argument`."""
    argument: Any = command.add_argument(*names, **{"metavar": "FILE", **settings})
    argument.complete = {"bash": "_shtab_compgen_files", "zsh": "_files", "tcsh": "f"}


def add_study(command: argparse.ArgumentParser) -> None:
    """The study FILE, and --set."""
    add_file(command, "study", help="the study, a .toml file; didim init writes one")
    add_set(command)


def add_set(command: argparse.ArgumentParser, about: str = SET_STUDY) -> None:
    """--set KEY=VALUE, repeatable."""
    command.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help=about)


def add_json(command: argparse.ArgumentParser) -> None:
    """--json."""
    command.add_argument(
        "--json",
        action="store_true",
        help="one JSON object on standard output, and nothing else there",
    )


def add_report(command: argparse.ArgumentParser) -> None:
    """--report FILE."""
    add_file(command, "--report", help="write an HTML report, one file that opens from disk")


def add_result(command: argparse.ArgumentParser) -> None:
    """A saved RESULT."""
    add_file(
        command,
        "result",
        metavar="RESULT",
        help="a result that didim identify --out saved (.json)",
    )


def add_project(command: argparse.ArgumentParser) -> None:
    """--project."""
    command.add_argument(
        "--project",
        action="store_true",
        help="write the nearest physical robot where the identified one is not physical, and say "
        "what changed",
    )


def add_force(command: argparse.ArgumentParser) -> None:
    """--force."""
    command.add_argument("--force", action="store_true", help="write over existing files")
