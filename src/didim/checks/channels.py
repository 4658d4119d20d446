"""Checks of the single channels: held samples, and columns that have one value most of the time."""

from __future__ import annotations

from collections.abc import Iterator

from didim.checks.data import CheckData
from didim.checks.finding import Finding
from didim.signals.channels import (
    MAX_HELD_FRACTION,
    MAX_REPEATED_FRACTION,
    dead_channels,
    held_samples,
    repeated_torques,
)


def held(data: CheckData) -> Iterator[Finding]:
    """Samples that repeat the one before in every value; `repeats` reports those of the torques."""
    count, held = data.record.t.size, held_samples(data.record)
    if held > MAX_HELD_FRACTION * count and (
        repeated_torques(data.record.tau) <= MAX_REPEATED_FRACTION
    ):
        yield Finding(
            "repeats",
            "warn",
            f"{held} of {count} samples repeat the one before in every value",
            "the log polls faster than the controller answers: log each answer once, with its own "
            "time.",
        )


def channels(data: CheckData) -> Iterator[Finding]:
    """Dead channels; a torque of zero throughout is one of `torque_size`."""
    dead = [each for each in dead_channels(data.record) if each.value or each.fraction < 1.0]
    for each in dead:
        yield Finding(
            "channels",
            "fail" if each.fraction == 1.0 else "warn",
            f"{each} ({data.label(each.joint)})",
            "is the column the right one, and was the drive on? Cut out the time in which it was "
            "not (between or rows).",
        )
    if not dead:
        yield Finding("channels", "pass", "no torque or velocity stays at one value")


def read(data: CheckData) -> Iterator[Finding]:
    """What was done to the record when it was read."""
    for note in data.record.notes:
        yield Finding("reading", "pass", note)
