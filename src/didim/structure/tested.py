"""The table of a lack of fit from the columns of all suspects: groups are tested first, then their
members; the surest is named and added, and the rest is tested again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from didim.control.kernels.law import Law
from didim.regression.score import Score, ScoreTests, score_tests
from didim.regression.system import LinearSystem
from didim.results.lack_of_fit import LEVEL, LackOfFit, LackRow, Remedy
from didim.structure.settings import setting_of
from didim.structure.shift import parameter_shifts
from didim.structure.suspect import Suspect

Array = NDArray[np.float64]

TIE = 6.63
"""Difference of twice the logarithm of the likelihood below which a record cannot distinguish two
suspects: 1 % of chi-square.
"""

MOST_FOUND = 4
"""Suspects that are named at most."""

_FIRST = (
    Remedy.GAIN,
    Remedy.VELOCITY_REFERENCE,
    Remedy.INTEGRAL,
    Remedy.DELAY,
    Remedy.REFERENCE_DELAY,
    Remedy.EFFECT,
    Remedy.DRIVE_GAIN,
)
"""Which of those that cannot be distinguished is named first."""


@dataclass(frozen=True, eq=False)
class Tested:
    """Suspects with their columns in the score tests."""

    suspects: tuple[Suspect, ...]
    system: LinearSystem
    tests: ScoreTests
    joints: tuple[str, ...]
    law: Law | None = None

    @property
    def places(self) -> list[list[int]]:
        """The columns of each suspect."""
        ends = np.cumsum([0, *(each.columns for each in self.suspects)])
        return [list(range(a, b)) for a, b in pairwise(ends)]

    @property
    def groups(self) -> dict[str, list[int]]:
        """The suspects of each group."""
        found: dict[str, list[int]] = {}
        for i, each in enumerate(self.suspects):
            found.setdefault(each.group, []).append(i)
        return found


def scored(
    suspects: Sequence[Suspect],
    system: LinearSystem,
    Z: Array,
    joints: tuple[str, ...],
    law: Law | None = None,
    bursts: bool = False,
) -> Tested:
    """The score tests of suspects whose columns are Z (r, K), beside the equations of the fit;
    `bursts`: errors may come in bursts, as the steps of encoders do.
    """
    counts = np.maximum(np.bincount(system.joint, minlength=system.n), 1)
    squares = np.bincount(system.joint, system.y**2, minlength=system.n)
    size = np.sqrt(squares / counts)
    weights = 1.0 / np.maximum(size, 1e-9 * size.max() + 1e-300)
    tests = score_tests(system, Z, weights[system.joint], bursts)
    return Tested(tuple(suspects), system, tests, joints, law)


@dataclass(frozen=True, eq=False)
class _Named:
    """A suspect that is named, as it was when it was chosen."""

    score: Score
    p_value: float
    ties: tuple[int, ...] = ()


def table_of(tested: Tested) -> LackOfFit:
    """The suspects, surest first."""
    suspects, places = tested.suspects, tested.places
    usual = [i for i, each in enumerate(suspects) if each.usual]
    tests = tested.tests.without([k for i in usual for k in places[i]])
    groups, members = _p_values(tested, tests)
    scores = [(tested.tests if i in usual else tests).of(place) for i, place in enumerate(places)]
    named = _selected(tested, tests)
    for i in usual:
        p = min(scores[i].p_value * len(groups), 1.0)
        groups[suspects[i].group] = members[i] = p
        if p < LEVEL:
            named[i] = _Named(scores[i], p)
    rows = []
    for i, suspect in enumerate(suspects):
        p = max(groups[suspect.group], members[i])
        found = named.get(i)
        if found is None:
            rows.append(_row(tested, suspect, scores[i], p))
            continue
        others = tuple(dict.fromkeys(suspects[t].name for t in found.ties))
        row = _row(tested, suspect, found.score, found.p_value)
        rows.append(replace(row, found=True, alternatives=others))
    first = [rows[i] for i in named]
    rest = [row for i, row in enumerate(rows) if i not in named and scores[i].rank]
    rest.sort(key=lambda row: (row.p_value >= LEVEL, -row.share))
    ties = {i: named[i].ties for i in list(named)[:1]}  # the surest moves the parameters most
    shifts = _shifts(tested, tests, {**dict.fromkeys(usual, ()), **ties})
    return LackOfFit((*first, *_best_of_each(first, rest)), groups, shifts=shifts)


def _shifts(
    tested: Tested, tests: ScoreTests, added: Mapping[int, tuple[int, ...]]
) -> dict[str, float]:
    """What the suspects may have moved each parameter by; `added` are those that are named or
    usual, `tests` have the usual ones in the model.
    """
    rest = tests.without([k for i in added for k in tested.places[i]])
    groups, members = _p_values(tested, rest)
    known = {tested.suspects[i].name for i in added}
    p = [
        1.0 if each.name in known else max(groups[each.group], members[i])
        for i, each in enumerate(tested.suspects)
    ]
    moved = parameter_shifts(tested.tests, rest, tested.places, added, p)
    return dict(zip(tested.system.names, moved.tolist(), strict=True))


def _selected(tested: Tested, tests: ScoreTests) -> dict[int, _Named]:
    """What is named: the surest, then the surest of what it leaves, and so on."""
    named: dict[int, _Named] = {}
    while len(named) < MOST_FOUND:
        groups, members = _p_values(tested, tests)
        settled = [i for at, each in named.items() for i in (at, *each.ties)]
        known = {tested.suspects[i].name for i in settled}
        p = {
            i: max(groups[each.group], members[i])
            for i, each in enumerate(tested.suspects)
            if not each.usual and each.name not in known
        }
        raised = [i for i in p if p[i] < LEVEL]
        if not raised:
            break
        chosen, ties = _surest(tested, tests, raised)
        named[chosen] = _Named(tests.of(tested.places[chosen]), p[chosen], ties)
        tests = tests.without(tested.places[chosen])
    return named


def _best_of_each(first: Sequence[LackRow], rest: Sequence[LackRow]) -> list[LackRow]:
    """Of suspects that differ in an assumed shape only, the best."""
    seen, found = {row.name for row in first}, []
    for row in rest:
        if row.name not in seen:
            seen.add(row.name)
            found.append(row)
    return found


def _p_values(tested: Tested, tests: ScoreTests) -> tuple[dict[str, float], list[float]]:
    """Of the groups, times their number, and of the suspects, times that in their group.

    A group whose members are each the best of many tries, as orders of ripple, is as sure as its
    surest member. In a group that is raised, the surest member is raised with it.
    """
    groups, members, places = {}, [1.0] * len(tested.suspects), tested.places
    listed = tested.groups
    for name, chosen in listed.items():
        scores = {i: tests.of(places[i]) for i in chosen}
        for i, score in scores.items():
            members[i] = min(score.p_value * len(chosen) * tested.suspects[i].tried, 1.0)
        if max(tested.suspects[i].tried for i in chosen) > 1:
            together = min(members[i] for i in chosen)
        else:
            together = tests.of([k for i in chosen for k in places[i]]).p_value
        groups[name] = min(together * len(listed), 1.0)
        surest = max(chosen, key=lambda i: _likelihood(tests, scores[i]))
        if groups[name] < LEVEL:
            members[surest] = min(members[surest], groups[name])
    return groups, members


def _surest(
    tested: Tested, tests: ScoreTests, raised: Sequence[int]
) -> tuple[int, tuple[int, ...]]:
    """The suspect that explains most, and those that the record cannot distinguish from it."""
    likelihood = {i: _likelihood(tests, tests.of(tested.places[i])) for i in raised}
    best = max(likelihood.values())
    tied = [i for i in raised if best - likelihood[i] < TIE]
    tied.sort(key=lambda i: (_order(tested.suspects[i]), -likelihood[i]))
    own = tested.suspects[tied[0]].name
    return tied[0], tuple(i for i in tied[1:] if tested.suspects[i].name != own)


def _order(suspect: Suspect) -> int:
    return _FIRST.index(suspect.remedy) if suspect.remedy in _FIRST else len(_FIRST)


def _likelihood(tests: ScoreTests, score: Score) -> float:
    """Twice the logarithm of the likelihood that a suspect adds, less log r for each column after
    the first.
    """
    count = tests.rows
    gain = -count * np.log(max(1.0 - score.share, 1e-12))
    return float(gain - (score.rank - 1) * np.log(count))


def _row(tested: Tested, suspect: Suspect, score: Score, p_value: float) -> LackRow:
    value, sigma = _size(suspect, score)
    return LackRow(
        suspect.name,
        suspect.group,
        suspect.joint,
        value,
        sigma,
        suspect.unit,
        p_value,
        score.share,
        suspect.remedy,
        setting_of(suspect, value, tested.law, tested.joints),
        effect=suspect.effect,
        shapes=suspect.shapes,
    )


def _size(suspect: Suspect, score: Score) -> tuple[float, float]:
    """The value of a suspect; of several columns their length, of a payload the mass where the
    record sees it.
    """
    has_mass = suspect.remedy is Remedy.PAYLOAD and np.isfinite(score.sigma[0])
    if score.values.size == 1 or has_mass:
        return float(score.values[0]), float(score.sigma[0])
    length = float(np.linalg.norm(score.values))
    finite = np.where(np.isfinite(score.sigma), score.sigma, 0.0)
    return length, float(np.linalg.norm(score.values * finite) / max(length, 1e-300))
