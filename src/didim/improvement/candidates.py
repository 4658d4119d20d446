"""From suspects that were named to structures that have them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


def suspects_in_order(lack: LackOfFit) -> Iterator[tuple[LackRow, ...]]:
    """What to try: effects of one kind that were named together, then each suspect that was named,
    followed by those that the record cannot distinguish from it.
    """
    by_name = {row.name: row for row in reversed(lack.rows)}
    seen: set[tuple[str, ...]] = set()
    for first in lack.found:
        same = tuple(row for row in lack.found if _is_same_kind(row, first))
        others = [by_name[name] for name in first.alternatives if name in by_name]
        for group in (same, (first,), *((each,) for each in others)):
            key = tuple(row.name for row in group)
            if key not in seen:
                seen.add(key)
                yield group


def _is_same_kind(row: LackRow, first: LackRow) -> bool:
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
