"""The command line: `didim`."""

from didim.cli.main import main

__all__ = ["main"]
