"""Lines of a new study that depend on the log: columns, the part that is used, gains, rest."""

from __future__ import annotations

from collections.abc import Mapping

from didim.dynamics.model import DynamicModel
from didim.robot.write_toml import toml_string
from didim.signals.readers.table import Table
from didim.study.guess import Named
from didim.study.motion import Motion

MIN_HELD_OUT_ROWS = 300
"""Rows of a log from which on a part of it is held out."""

HELD_OUT_FRACTION = 0.33

MAX_LIST_LENGTH = 600
"""Letters of a list of columns."""


def there(table: Table) -> str:
    """The columns of a log as a comment."""
    if not table.headed:
        return f"1 to {len(table)}, without names"
    widths = {name: "" if table[name].ndim == 1 else f" ({table[name].shape[1]})" for name in table}
    listed = ", ".join(f"{toml_string(name)}{width}" for name, width in widths.items())
    return listed if len(listed) < MAX_LIST_LENGTH else f"{listed[:MAX_LIST_LENGTH]} ..."


def gain_lines(model: DynamicModel, used: bool) -> list[str]:
    """The drive gains that a control signal needs, where the robot does not describe them."""
    if model.robot.drive is not None:
        return []
    return [
        "# With control in place of tau: N.m (or N) at the joint per unit of each control signal"
        + (", to be filled in:" if used else ":"),
        f"# drive_gain = {[1.0] * model.robot.n}",
    ]


def part_lines(table: Table, motion: Motion | None) -> list[str]:
    """The rows with motion, and the part that is held out where the log is long enough."""
    lines, rows = [], len(next(iter(table.values())))
    if motion is not None and motion.rows is not None:
        first, last = motion.rows
        rows = last - first + 1
        lines = [
            "# Rows of the file, counted from 1, without the rest at both ends, where friction is "
            "unknown.",
            f"rows = [{first}, {last}]",
        ]
    return [
        *lines,
        "# This fraction, at the end, is not fitted to: the model is tried on it.",
        f"{'' if rows >= MIN_HELD_OUT_ROWS else '# '}hold_out = {HELD_OUT_FRACTION}",
    ]


def rest_line(motion: Motion | None) -> str:
    """Equations of joints at rest are left out, where it is known how fast they move."""
    about = "# rad/s or m/s: equations of slower joints, whose friction is not known, are left out."
    return (
        f"{about}\n# rest_velocity = 0.05"
        if motion is None
        else f"{about}\nrest_velocity = {motion.rest_velocity}"
    )


def inline(columns: Mapping[str, Named]) -> str:
    """A table on one line."""
    return f"{{ {', '.join(f'{key} = {_names(value)}' for key, value in columns.items())} }}"


def _names(value: Named) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_names, value))}]"
    return toml_string(value) if isinstance(value, str) else str(value)
