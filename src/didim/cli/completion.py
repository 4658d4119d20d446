"""`didim completion`: a script for the user's shell."""

from __future__ import annotations

import argparse

import shtab

from didim.cli.parser import make_parser


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    print(shtab.complete(make_parser(), options.shell))
    return 0
