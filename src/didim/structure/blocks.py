"""Which part of long records the tests of an estimate look at.

Their time and memory grow with the samples, what they can tell hardly does: beyond some minutes
they look at blocks, spread evenly over each record, so that something that comes late is seen too.
For a lack of fit, each block is simulated as a record of its own, without what the loop takes to
forget its start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from didim.signals.experiment import Experiment
from didim.signals.states import States

MOST_SAMPLES = 200_000
"""Of all records: some minutes at 1 kHz."""

SHORTEST_BLOCK = 20.0
"""s."""

TRANSIENTS = 20.0
"""That a block lasts at least."""

CUT = 3.0
"""Transients that are cut from a block. It begins in full motion, a record most often at rest."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """The records, or blocks of those that are long."""

    records: tuple[Experiment, ...]
    origin: tuple[int, ...]
    """Of each, the record that it is of."""
    part: float
    """Fraction of the samples that they have."""
    transient: float
    """s to be cut from each."""

    def parts_of(self, whole: Sequence[Experiment], motions: Sequence[States]) -> Iterator[States]:
        """Of the motions of the whole records, the parts in the blocks."""
        for block, k in zip(self.records, self.origin, strict=True):
            first = int(np.searchsorted(whole[k].t, block.t[0]))
            yield motions[k].at(slice(first, first + block.t.size))


def are_long(experiments: Sequence[Experiment]) -> bool:
    """Whether records have more samples than are tested."""
    return sum(each.t.size for each in experiments) > MOST_SAMPLES


def tested_blocks(experiments: Sequence[Experiment], transient: float) -> Blocks:
    """What is tested of the records, `transient` s being cut from each of them."""
    total = sum(each.t.size for each in experiments)
    if not are_long(experiments):
        return Blocks(tuple(experiments), tuple(range(len(experiments))), 1.0, transient)
    part, length = MOST_SAMPLES / total, max(SHORTEST_BLOCK, TRANSIENTS * transient)
    found = [_spread(each, part, length) for each in experiments]
    records = tuple(block for blocks in found for block in blocks)
    origin = tuple(k for k, blocks in enumerate(found) for _ in blocks)
    tested = sum(each.t.size for each in records) / total
    return Blocks(records, origin, tested, transient if tested == 1.0 else CUT * transient)


def _spread(experiment: Experiment, part: float, length: float) -> list[Experiment]:
    """Blocks of a record, from its start to its end; the record where they would be most of it, or
    where a block has a joint without any torque.
    """
    start, end = float(experiment.t[0]), float(experiment.t[-1])
    count = max(1, round(part * (end - start) / length))
    if 2 * count * length > end - start:
        return [experiment]
    starts = np.linspace(start, end - length, count) if count > 1 else [start]
    blocks = [experiment.between(at, at + length) for at in starts]
    if any(each.tau is not None and not each.tau.any(axis=0).all() for each in blocks):
        return [experiment]
    return blocks
