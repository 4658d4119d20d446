"""`didim completion`: a script for the user's shell."""

from __future__ import annotations

import argparse

from didim.cli.parser import COMMANDS, make_parser

DESCRIPTION = "For bash, put the second line into ~/.bashrc."
EXAMPLES = """
didim completion bash
eval "$(didim completion bash)"
"""


def arguments(command: argparse.ArgumentParser) -> None:
    """A shell."""
    command.add_argument("shell", choices=("bash", "zsh", "tcsh"), help="bash, zsh or tcsh")


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    import shtab

    print(shtab.complete(make_parser(COMMANDS), options.shell))
    return 0
