"""From a fit to its `LackOfFit`: suspects, columns, score tests, and other laws where the residual
is far above the noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from didim.control.kernels.law import USER, Law
from didim.errors import InputError
from didim.regression.score import Score, ScoreTests, score_tests
from didim.regression.system import LinearSystem
from didim.results.fitted_rows import FittedRows
from didim.results.lack_of_fit import LEVEL, LackOfFit, LackRow, Remedy
from didim.results.prediction import Predictor
from didim.results.ripple import Ripple, spectrum
from didim.signals.bandwidth import Bandwidth
from didim.signals.experiment import Experiment
from didim.simulation.evaluation import compare, noise_fraction
from didim.simulation.records import record_set, regular_records
from didim.structure.columns import SimulatedFit
from didim.structure.of_loop import suspects_of_loop
from didim.structure.of_robot import suspects_of_robot
from didim.structure.settings import setting_of
from didim.structure.shift import parameter_shifts
from didim.structure.suspect import Course, Suspect
from didim.structure.trial import Trial, best_trial, other_laws

Array = NDArray[np.float64]

TIE = 6.63
"""Difference of twice the logarithm of the likelihood below which a record cannot distinguish two
suspects: 1 % of chi-square.
"""

MOST_FOUND = 4
"""Suspects that are named at most."""

FAR = 2.0
"""Times the noise beyond which other laws are tried."""

_OF_THE_LAW = (Remedy.GAIN, Remedy.VELOCITY_REFERENCE, Remedy.INTEGRAL, Remedy.FEEDFORWARD)
"""Suspects whose column changes with their value, so that a trial tells more than one step."""

_FIRST = (
    Remedy.GAIN, Remedy.VELOCITY_REFERENCE, Remedy.INTEGRAL, Remedy.DELAY, Remedy.REFERENCE_DELAY,
    Remedy.EFFECT, Remedy.DRIVE_GAIN,
)  # fmt: skip
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


def lack_of_fit(
    predictor: Predictor,
    experiments: Sequence[Experiment],
    names: Sequence[str],
    estimated: Sequence[str] = (),
) -> LackOfFit:
    """The tests of a fitted model on records.

    Parameters
    ----------
    names
        The base parameters that were estimated.
    estimated
        The gains that were, and "delay".
    """  # fmt: skip
    if predictor.preprocessing.states == "simulated" and predictor.controller is not None:
        return _of_simulated(predictor, experiments, estimated)
    return _of_measured(predictor, experiments, names)


def _of_simulated(
    predictor: Predictor, experiments: Sequence[Experiment], estimated: Sequence[str]
) -> LackOfFit:
    model, loop, how = predictor.model, predictor.controller, predictor.preprocessing
    assert loop is not None
    records = record_set(
        model, experiments, loop, how.selection, how.transient, how.start, ("tau",),
        "delay" in estimated,
    )  # fmt: skip
    window = records.window(how.transient)
    fit = SimulatedFit(
        model, predictor.parameters, loop, records, window, how.delay, tuple(estimated)
    )
    courses = fit.courses()
    if courses is None:
        return LackOfFit(reason="the loop cannot be simulated with these parameters")
    law = courses[0].law
    assert law is not None
    if law.kind == USER:
        return LackOfFit(reason="sensitivities need a law that didim knows, not an OwnLaw")
    motions = fit.motions()
    assert motions is not None
    largest = np.max([np.abs(np.asarray(each.tau)).max(axis=0) for each in experiments], axis=0)
    evaluation = compare(records, motions, window)
    ripples = _ripples(fit, courses)
    suspects = [
        *suspects_of_loop(law, courses, largest, estimated),
        *suspects_of_robot(model, courses, ripples, True),
    ]
    try:
        found = fit.columns(suspects, courses)
    except InputError as problem:
        return LackOfFit(reason=str(problem).rstrip("."))
    if found is None:
        return LackOfFit(reason="the sensitivities diverge")
    tested = _tested(suspects, *found, model.robot.joint_names, law)
    lack = _judged(tested)
    noise = noise_fraction(records, evaluation, window)
    over = np.where(noise > 0, evaluation.by_joint / np.maximum(noise, 1e-300), 1.0)
    if lack.found and (float(over.max()) > FAR or lack.found[0].remedy in _OF_THE_LAW):
        return _with_other_laws(fit, tested, lack, evaluation.deviations)
    return lack


def _of_measured(
    predictor: Predictor, experiments: Sequence[Experiment], names: Sequence[str]
) -> LackOfFit:
    model, how = predictor.model, predictor.preprocessing
    chosen = Bandwidth(how.cutoff, 1, is_chosen=how.accuracy == 8)
    rows = FittedRows(model, how, chosen, not how.selection.ends)
    records = regular_records(model, experiments)
    system, courses = rows.linearised(records, predictor.parameters)
    if len(names) < len(model.parameter_names):
        kept = [model.parameter_names.index(name) for name in names]
        further = range(len(model.parameter_names), system.W.shape[1])
        system = system.only(np.array([*kept, *further], dtype=np.int64))
    along = [
        Course(model, predictor.parameters, np.asarray(record.t), states, tau, k)
        for k, (record, (states, tau)) in enumerate(zip(records, courses, strict=True))
    ]
    suspects = suspects_of_robot(model, along, _ripples_of(system, along, rows, records), False)
    flat = []
    for course in along:
        columns = [torques for each in suspects if each.torque for torques in each.torque(course)]
        signals = np.zeros((course.t.size, model.robot.n, len(columns)))
        for c, torques in enumerate(columns):
            for j, torque in torques.items():
                signals[:, j, c] = torque
        flat.append(signals)
    Z = rows.signal_columns(records, system, flat)
    return _judged(_tested(suspects, system, Z, model.robot.joint_names, None))


def _ripples(fit: SimulatedFit, courses: Sequence[Course]) -> dict[int, Ripple]:
    """The spectra of the residuals over the simulated positions."""
    found, n = {}, fit.model.robot.n
    q, rho, moves = [], [], []
    for k, course in enumerate(courses):
        samples, selection = fit.window.samples[k], fit.records.selection
        error = np.asarray(fit.records.records[k].tau) - course.tau
        rho.append(selection.columns(samples, error))
        q.append(course.states.q[selection.samples(samples)])
        moves.append(selection.moves(course.states.dq, samples))
    for j in range(n):
        used = np.concatenate([each[:, j] for each in moves])
        positions = np.concatenate([each[:, j] for each in q])[used]
        errors = np.concatenate([each[:, j] for each in rho])[used]
        try:
            found[j] = spectrum(j, positions, errors)
        except InputError:  # it hardly moves
            continue
    return found


def _ripples_of(
    system: LinearSystem, courses: Sequence[Course], rows: FittedRows, records: Sequence[Experiment]
) -> dict[int, Ripple]:
    """The spectra of the residuals over the measured positions."""
    found = {}
    q = np.zeros(system.y.size)
    for k, course in enumerate(courses):
        at = rows.samples(records[k])
        own = system.series == k
        q[own] = course.states.q[at[system.index[own]], system.joint[own]]
    for j in range(system.n):
        own = system.joint == j
        try:
            found[j] = spectrum(j, q[own], system.y[own])
        except InputError:
            continue
    return found


def _tested(
    suspects: Sequence[Suspect],
    system: LinearSystem,
    Z: Array,
    joints: tuple[str, ...],
    law: Law | None,
) -> Tested:
    counts = np.maximum(np.bincount(system.joint, minlength=system.n), 1)
    squares = np.bincount(system.joint, system.y**2, minlength=system.n)
    size = np.sqrt(squares / counts)
    weights = 1.0 / np.maximum(size, 1e-9 * size.max() + 1e-300)
    tests = score_tests(system, Z, weights[system.joint])
    return Tested(tuple(suspects), system, tests, joints, law)


def _judged(tested: Tested) -> LackOfFit:
    """The table: groups first, then their members; what is named is added, and the rest is tested
    again.
    """
    usual = [i for i, each in enumerate(tested.suspects) if each.harmless]
    tests = tested.tests.without([k for i in usual for k in tested.places[i]])
    groups, members = _p_values(tested, tests)
    scores = [
        (tested.tests if i in usual else tests).of(place) for i, place in enumerate(tested.places)
    ]
    found: dict[int, tuple[float, tuple[int, ...]]] = {}
    for i in usual:
        p = _p_beyond(scores[i], tested.suspects[i].harmless) * len(groups)
        groups[tested.suspects[i].group] = members[i] = p
        if p < LEVEL:
            found[i] = p, ()
    now_groups, now_members = dict(groups), members
    while len(found) < MOST_FOUND:
        raised = [
            i for i, each in enumerate(tested.suspects)
            if i not in found and max(now_groups[each.group], now_members[i]) < LEVEL
        ]  # fmt: skip
        if not raised:
            break
        chosen, ties = _surest(tested, tests, raised)
        p = max(now_groups[tested.suspects[chosen].group], now_members[chosen])
        found[chosen] = p, ties
        tests = tests.without(tested.places[chosen])
        now_groups, now_members = _p_values(tested, tests)
    rows = []
    for i, (suspect, score) in enumerate(zip(tested.suspects, scores, strict=True)):
        p = min(max(groups[suspect.group], members[i]), 1.0)
        named, ties = i in found, found[i][1] if i in found else ()
        row = _row(tested, suspect, score, found[i][0] if named else p, named)
        alternatives = tuple(dict.fromkeys(tested.suspects[t].name for t in ties))
        rows.append(replace(row, alternatives=alternatives))
    first = [rows[i] for i in found]
    rest = [row for i, row in enumerate(rows) if i not in found and scores[i].rank]
    rest.sort(key=lambda row: (row.p_value >= LEVEL, -row.share))
    added = {**dict.fromkeys(usual, ()), **{i: ties for i, (_, ties) in found.items()}}
    now = [max(now_groups[s.group], p) for s, p in zip(tested.suspects, now_members, strict=True)]
    moved = parameter_shifts(tested.tests, tests, tested.places, added, now)
    shifts = dict(zip(tested.system.names, moved.tolist(), strict=True))
    return LackOfFit((*first, *_best_of_each(first, rest)), groups, shifts=shifts)


def _p_beyond(score: Score, harmless: float) -> float:
    """How often a value as large is seen where the true one is harmless."""
    if not score.rank or not score.sigma[0] > 0:
        return 1.0
    return float(stats.norm.sf((abs(score.values[0]) - harmless) / score.sigma[0]))


def _best_of_each(first: Sequence[LackRow], rest: Sequence[LackRow]) -> list[LackRow]:
    """Of suspects that differ in an assumed shape only, the best."""
    seen, found = {row.name for row in first}, []
    for row in rest:
        if row.name not in seen:
            seen.add(row.name)
            found.append(row)
    return found


def _p_values(tested: Tested, tests: ScoreTests) -> tuple[dict[str, float], list[float]]:
    """Of the groups, times their number, and of the suspects, times that in their group."""
    groups, members, places = {}, [1.0] * len(tested.suspects), tested.places
    listed = tested.groups
    for name, chosen in listed.items():
        columns = [k for i in chosen for k in places[i]]
        tried = max(tested.suspects[i].tried for i in chosen)
        groups[name] = min(tests.of(columns).p_value * len(listed) * tried, 1.0)
        for i in chosen:
            many = len(chosen) * tested.suspects[i].tried
            members[i] = min(tests.of(places[i]).p_value * many, 1.0)
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
    count = tests.rho.size
    gain = -count * np.log(max(1.0 - score.share, 1e-12))
    return float(gain - (score.rank - 1) * np.log(count))


def _row(tested: Tested, suspect: Suspect, score: Score, p_value: float, found: bool) -> LackRow:
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
        found,
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


def _with_other_laws(
    fit: SimulatedFit, tested: Tested, lack: LackOfFit, deviations: Array
) -> LackOfFit:
    """The table with the law that leaves least first, where it leaves less than the suspect that is
    named would.
    """
    loop, law = fit.controller, tested.law
    assert law is not None
    by_name = {each.name: each for each in tested.suspects if each.directions}
    gains = [by_name[row.name] for row in lack.rows if row.name in by_name]
    trial = best_trial(fit, other_laws(loop, law, gains), deviations)
    counts = np.bincount(tested.system.joint, minlength=tested.system.n)
    promised = (1.0 - lack.found[0].share) * float(counts.sum())
    if trial is None or trial.squares >= promised:
        return lack
    return _renamed(fit, tested, lack, trial, float(counts.sum()))


def _renamed(
    fit: SimulatedFit, tested: Tested, lack: LackOfFit, trial: Trial, before: float
) -> LackOfFit:
    """The table with the suspect of a trial first, and alone."""
    place = {each.name: each for each in tested.suspects}
    name = trial.law.suspect
    if name not in place:  # one joint: the suspect of all joints is that of the joint
        name = f"{name}1"
    value, suspect = trial.law.value(trial.theta), place[name]
    old = next((row for row in lack.rows if row.name == name), lack.found[0])
    share = 1.0 - trial.squares / before
    first = replace(
        old,
        name=name,
        group=suspect.group,
        joint=suspect.joint,
        unit=suspect.unit,
        value=value,
        sigma=old.sigma * np.sqrt(trial.squares / before),
        share=share,
        p_value=min(old.p_value, lack.found[0].p_value),
        remedy=suspect.remedy,
        setting=setting_of(suspect, value, tested.law, tested.joints),
        found=True,
        alternatives=old.alternatives,
        effect="",
        shapes={},
    )
    others = [replace(row, found=False) for row in lack.rows if row.name != name]
    moved = np.abs(trial.fit.parameters - fit.parameters)
    shifts = {
        name: max(lack.shifts[name], float(change))
        for name, change in zip(fit.model.parameter_names, moved, strict=True)
    }
    return replace(lack, rows=(first, *others), shifts=shifts)
