"""The commands, and the parser of the command line.

Each command is a file of this folder. It is imported where the command is named, and imports what
is heavy where it runs: help must be quick.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection
from importlib import import_module
from typing import Any, NoReturn, Protocol, cast

from didim import __version__
from didim.errors import readable

COMMANDS = {
    "init": "write a commented study that runs as it is",
    "check": "find data problems to fix before identifying",
    "identify": "identify the parameters of the model that a study describes",
    "improve": "add to a study what its records support",
    "compare": "run IDIM, IV, DIDIM and refined DIDIM on the same records",
    "payload": "identify what a robot carries",
    "excite": "plan the motion whose record tells most about a robot",
    "fleet": "identify many robots or days and flag what differs or drifts",
    "league": "compare methods on virtual robots, by Monte-Carlo",
    "simulate": "simulate the robot of a study in its loop and write the motion",
    "export": "write an identified model as a robot file or as code",
    "base": "print the base parameters of a robot",
    "demo": "identify a virtual SCARA with IDIM and DIDIM",
    "paper": "run the paper's experiments on a virtual SCARA",
    "schema": "print the JSON Schema of the study file or of a command's --json",
    "completion": "print a script that lets a shell complete didim's commands",
}
"""What each does, in the order of `didim --help`. The name is that of its file."""


class Command(Protocol):
    """What the file of a command has."""

    DESCRIPTION: str
    """Sentences after the first one of its help."""
    EXAMPLES: str
    """Command lines, shown below its help."""

    def arguments(self, command: argparse.ArgumentParser) -> None:
        """Declare its arguments."""

    def run(self, options: argparse.Namespace) -> int:
        """Do it; returns the exit status."""


def load_command(name: str) -> Command:
    """The file of a command."""
    return cast(Command, import_module(f"didim.cli.{name}"))


class _Parser(argparse.ArgumentParser):
    """Wrong usage is one line as well."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and stop with status 2."""
        self.exit(2, f"{self.prog}: error: {readable(message)} (see {self.prog} --help)\n")


def make_parser(words: Collection[str]) -> argparse.ArgumentParser:
    """The parser of a command line: the commands that are among its words have their arguments,
    the others only their names.
    """
    parser = _Parser(
        prog="didim",
        description="Identify the dynamics of a robot from its joint torques.",
        epilog="start with: didim demo, or didim init --robot arm.urdf --data run.csv",
    )
    parser.add_argument("--version", action="version", version=f"didim {__version__}")
    debug: dict[str, Any] = {"action": "store_true", "help": "show the traceback of an error"}
    parser.add_argument("--debug", **debug)
    common = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    common.add_argument("--debug", **debug)
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True, parser_class=_Parser
    )
    for name, about in COMMANDS.items():
        command = commands.add_parser(
            name,
            parents=[common],
            help=about,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name in words:
            _complete(command, load_command(name), about)
    return parser


def _complete(parser: argparse.ArgumentParser, command: Command, about: str) -> None:
    """Give the parser of a command its help, its arguments and what it runs."""
    lines = [f"  {line.strip()}" for line in command.EXAMPLES.splitlines() if line.strip()]
    parser.description = f"{about[0].upper()}{about[1:]}. {command.DESCRIPTION}".strip()
    parser.epilog = "\n".join(["examples:", *lines])
    parser.set_defaults(run=command.run)
    command.arguments(parser)
