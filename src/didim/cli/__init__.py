"""What a person types: the command `didim`."""

from didim.cli.main import main

__all__ = ["main"]
