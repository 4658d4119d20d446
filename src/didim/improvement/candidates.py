"""From suspects that were named to structures that have them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from didim.improvement.effects import described, with_effects
from didim.improvement.loops import candidates_of_loop
from didim.improvement.structure import Candidate, Structure
from didim.results.estimate import Estimate
from didim.results.lack_of_fit import LackOfFit, LackRow, Remedy
from didim.signals.experiment import Experiment

FOR_A_PERSON = {
    Remedy.COUPLING: "a coupling belongs into the robot file",
    Remedy.PAYLOAD: "the records carry different loads",
    Remedy.GRAVITY: "how the robot is mounted must be looked at",
    Remedy.JOINT_ZERO: "the zero of the joint must be measured",
    Remedy.TIME_SHIFT: "the log has to be aligned: torque_delay of the record",
    Remedy.DRIVE_GAIN: "the drive gain scales the recorded torque as well; it must be measured",
}
"""Suspects that are named only, and why."""


def suspects_in_order(
    lack: LackOfFit, refused: Collection[tuple[str, ...]] = ()
) -> Iterator[tuple[LackRow, ...]]:
    """What to try: the surest suspect, together with what was named of the same effect at other
    joints, then alone; what the record cannot distinguish from it; a delay of the reference, which
    every log may have; then all others that the tests raise, by what they would remove. What was
    refused before comes last.
    """
    raised = [row for row in lack.rows if row.found or row.p_value < lack.level]
    by_name = {row.name: row for row in reversed(raised)}
    first, *others = lack.found
    same = {(row.effect, row.joint): row for row in reversed(lack.found) if _is_same(row, first)}
    together = tuple(row for row in lack.found if row in same.values())
    others += [row for row in raised if not row.found]
    others.sort(key=lambda row: (row.remedy is not Remedy.REFERENCE_DELAY, -row.share))
    alike = [by_name[name] for name in first.alternatives if name in by_name]
    groups = [together, (first,), *((row,) for row in (*alike, *others))]
    unique = {tuple(row.name for row in group): group for group in reversed(groups)}
    names = [*dict.fromkeys(tuple(row.name for row in group) for group in groups)]
    for name in sorted(names, key=lambda each: each in refused):
        yield unique[name]


def _is_same(row: LackRow, first: LackRow) -> bool:
    """Whether it is the same effect, at this or another joint."""
    if row.name == first.name:
        return True
    return row.remedy is first.remedy is Remedy.EFFECT and row.effect == first.effect


def candidates(
    structure: Structure,
    estimate: Estimate,
    rows: Sequence[LackRow],
    experiments: Sequence[Experiment],
) -> list[Candidate]:
    """Structures with the suspects added, the one to prefer first; `InputError` says why there is
    none.
    """
    if rows[0].remedy is not Remedy.EFFECT:
        return candidates_of_loop(structure, estimate, rows[0], experiments)
    own = [row for row in rows if row.joint is not None]
    larger = replace(structure, model=with_effects(structure.model, own))
    loop = estimate.controller if estimate.gains else None
    return [Candidate(larger.started_at(estimate, loop), described(structure.model, own))]
