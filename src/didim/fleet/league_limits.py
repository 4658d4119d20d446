"""Limits on the size of a league: it is refused before it fills the memory."""

from __future__ import annotations

from didim.control.law import Controller
from didim.dynamics.model import DynamicModel
from didim.errors import InputError
from didim.fleet.league_schema import RobotTable, TrajectoryTable
from didim.reading import MAX_NUMBERS
from didim.simulation.run import CHUNK_SECONDS

MAX_RUNS = 1_000_000
"""Runs of a league, at most."""

LEAST_SAMPLES = 400
"""At which a random Fourier series is computed to be scaled."""


def refuse_many_runs(runs: int) -> None:
    """Refuse a league whose list of runs would fill the memory."""
    if runs > MAX_RUNS:
        raise InputError(
            f"the league has {runs:.3g} runs, and {MAX_RUNS:.0e} is the limit; give fewer seeds."
        )


def refuse_large_record(
    where: str, table: RobotTable, path: TrajectoryTable, loop: Controller, model: DynamicModel
) -> None:
    """Refuse a record that holds more numbers than memory should: time, positions and torques (or
    the harmonics of the reference) at each sample, and what the loop reads of its reference at
    once.
    """
    seconds = path.period * path.periods
    chunk = min(seconds, CHUNK_SECONDS) * (loop.rate or 0.0)
    samples = max(seconds * table.rate, chunk, LEAST_SAMPLES)
    numbers = samples * max(2 * model.robot.n + 1, path.harmonics)
    if not numbers <= MAX_NUMBERS:  # also nan, of 0 times inf
        rate = max(table.rate, loop.rate or 0.0)
        raise InputError(
            f"{where}: a record of {seconds:.3g} s at {rate:.3g} samples per second holds "
            f"{numbers:.3g} numbers, and {MAX_NUMBERS:.0e} is the limit; give a lower rate, a "
            "shorter period, or fewer periods or harmonics."
        )
