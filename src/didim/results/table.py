"""An estimate as text in the layout of Table 1, and as a data frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from didim.errors import InputError
from didim.results.doubts import (
    ILL_CONDITIONED,
    INSIGNIFICANT,
    only_gains_are_unknown,
    robust_widening,
    weak_parameters,
    widening,
)
from didim.results.formatting import joint_label, listed, number, percent
from didim.results.history import EXACT, described_steps, steps_by_stage
from didim.results.judgement import judge
from didim.results.status import Status

if TYPE_CHECKING:
    from didim.results.estimate import Estimate

FAST_CONVERGENCE = 0.2
"""Convergence rate below which DIDIM's steps shrink fast."""


def summary(estimate: Estimate) -> str:
    """Head, table and notes."""
    width = max(12, *(len(name) for name in estimate.names))
    low, high = estimate.interval().T
    head = f"{'parameter':<{width}} {'value':>11} {'2 sigma':>10} {'% sigma':>8}   95 % interval"
    judged = judge(estimate)
    lines = [
        *([judged.headline, ""] if judged.headline else []),
        f"{estimate.method} of {estimate.model.robot.name}: {estimate.status}"
        + (f" after {described_steps(estimate.history)}" if estimate.history else ""),
        estimate.message,
        "",
        head,
        "-" * len(head),
    ]
    for i, name in enumerate(estimate.names):
        sigma, percentage = estimate.sigma[i], estimate.relative_sigma[i]
        interval = f"[{number(low[i])}, {number(high[i])}]"
        lines.append(
            f"{name:<{width}} {number(estimate.values[i]):>11} {number(2 * sigma):>10} "
            f"{percent(percentage):>8}   "
            + ("fixed" if name in estimate.fixed else interval)
            + (" does not hold: at the border" if name in estimate.at_border else "")
        )
    for name, (value, sigma) in {**estimate.shapes, **estimate.gains}.items():
        relative = 100.0 * sigma / abs(value) if value else np.inf
        kind = "of the loop, s" if name == "delay" else "of the loop"
        kind = "shape of an effect" if name in estimate.shapes else kind
        lines.append(
            f"{name:<{width}} {number(value):>11} {number(2 * sigma):>10} {percent(relative):>8}   "
            f"{kind}"
        )
    joints = ", ".join(f"{100 * each:.3g}" for each in estimate.residual_by_joint)
    lines += [
        "",
        *_stages(estimate),
        f"residual ||Y - W chi||/||Y|| = {100 * estimate.residual:.3g} % (by joint {joints} %)",
        f"{estimate.rows} equations, condition number of W {estimate.condition:.4g} "
        f"({estimate.scaled_condition:.3g} with scaled columns)",
    ]
    lines += [f"with all rows that move, {each}" for each in estimate.fitted]
    lines += [
        f"along the measured motion of {each.experiment or 'the record'}: "
        f"{100 * each.residual:.3g} %"
        for each in estimate.along_motion
    ]
    lines += [f"validation, {validation}" for validation in estimate.validation]
    lines += [
        "",
        judged.sentence,
        *(f"  {use.level:<5} {use.name}: {use.why}" for use in judged.uses),
    ]
    if estimate.tests:
        lines += ["", "Tests", *_tests(estimate)]
    notes = all_notes(estimate)
    if notes:
        lines += ["", "Notes", *(f"[{k}] {note}" for k, note in enumerate(notes, 1))]
    return "\n".join(line.rstrip() for line in lines)


def _tests(estimate: Estimate) -> list[str]:
    """One line for each test."""
    width = max(len(name) for name in estimate.tests)
    pairs = estimate.tests.items()
    return [f"{name:<{width}}  {each.shown:<20}  {each.meaning}" for name, each in pairs]


def _stages(estimate: Estimate) -> list[str]:
    """What each stage did to the residual, where there was more than DIDIM."""
    names = list(steps_by_stage(estimate.history))
    if names in ([], ["DIDIM"]):
        return []
    texts = []
    for name in names:
        errors = [100 * step.residual for step in estimate.history if step.stage == name]
        texts.append(f"{name} {errors[0]:.3g} -> {errors[-1]:.3g} % in {len(errors) - 1} steps")
    return [f"stages: {'; '.join(texts)}"]


def _convergence(estimate: Estimate) -> list[str]:
    """How fast plain DIDIM converges here."""
    known = [step for step in estimate.history if step.convergence_rate is not None]
    if not known:
        return []
    rate, ratio = known[-1].convergence_rate or 0.0, known[-1].friction_ratio
    if rate < FAST_CONVERGENCE:
        meaning = "its steps shrink fast"
    elif rate < 1:
        refined = EXACT in steps_by_stage(estimate.history)
        meaning = "its steps shrink slowly, and it may not converge from afar"
        meaning += "" if refined else "; refine=True does"
    else:
        meaning = "it cannot converge"
    friction = "" if ratio is None else f", largest Fv/kv {ratio:.2g}"
    return [
        f"Convergence rate of DIDIM here, the spectral radius of I - W+ J: {rate:.2g}{friction}: "
        f"{meaning}."
    ]


def all_notes(estimate: Estimate) -> list[str]:
    """What a reader should know before using the numbers: doubts first, the ways of the solver
    last.
    """
    notes = []
    if only_gains_are_unknown(estimate):
        unknown = listed(list(estimate.unidentified))
        notes.append(
            f"The record does not identify the gains {unknown}: do not use these. The dynamic "
            "parameters are judged without them."
        )
    elif estimate.status is not Status.CONVERGED:
        notes.append(f"Do not use these numbers as they are: the status is {estimate.status}.")
    if lacking := lack_note(estimate):
        notes.insert(0, lacking)
    if not estimate.consistency.physical:
        notes.append(
            f"No physical robot has these base parameters: {estimate.consistency.reason}. Do not "
            "simulate with them; consistent = true (IDIM) or refine = true (DIDIM) stay physical."
        )
    notes += estimate.notes
    if weak := weak_parameters(estimate):
        rule = f"relative sigma above {INSIGNIFICANT:.0f} %, or zero within the 95 % interval"
        notes.append(f"Not significant ({rule}): {', '.join(weak)}.")
    if estimate.scaled_condition > ILL_CONDITIONED:
        notes.append(
            f"W is ill-conditioned ({estimate.scaled_condition:.3g} with scaled columns): some "
            "parameters are hardly identified; a richer trajectory"
            f"{'' if estimate.eliminated else ' or fewer (essential) parameters'} would help."
        )
    notes += _colour(estimate)
    return notes + _guards(estimate) + _convergence(estimate)


def lack_note(estimate: Estimate) -> str:
    """What the model or its loop lacks, and what that does to the intervals; empty where nothing is
    missing.
    """
    note = estimate.lack.note
    if not note or not np.any(np.isfinite(estimate.corrected_sigma)):
        return note
    return (
        f"{note} Until then use interval(robust=True): {robust_widening(estimate):.2g} times as "
        "wide (median)."
    )


def _colour(estimate: Estimate) -> list[str]:
    """Why the intervals are wider than the printed sigma: model errors, or decimation alone."""
    ratio, model = widening(estimate), estimate.model
    wide = (
        f"the intervals are {ratio:.2f} times as wide (median) as the printed sigma, (16)-(18), "
        "would make them"
    )
    if estimate.coloured:
        joints = listed([joint_label(model, j) for j in estimate.coloured])
        return [
            f"The residuals of {joints} last longer than filtered noise: errors of the model, not "
            f"only noise. With their correlation {wide}."
        ]
    if abs(ratio - 1) > 0.05:
        return [f"The decimation filter correlates neighbouring rows. Allowing for this, {wide}."]
    return []


def _guards(estimate: Estimate) -> list[str]:
    """What changed steps, each kind at its steps."""
    at: dict[str, list[int]] = {}
    for k, step in enumerate(estimate.history):
        for guard in dict.fromkeys(map(str, step.guards)):
            at.setdefault(guard, []).append(k)
    if not at:
        return []
    texts = [f"{guard} (step {', '.join(map(str, steps))})" for guard, steps in at.items()]
    more = f"; and {len(texts) - 4} other kinds" if len(texts) > 4 else ""
    return [f"Guards acted: {'; '.join(texts[:4])}{more}."]


def frame(estimate: Estimate) -> Any:
    """A pandas DataFrame, one row for each parameter."""
    try:
        import pandas as pd
    except ImportError:
        raise InputError('to_frame needs pandas: pip install "didim[frames]".') from None
    low, high = estimate.interval().T
    return pd.DataFrame(
        {
            "value": estimate.values,
            "sigma": estimate.sigma,
            "relative_sigma": estimate.relative_sigma,
            "corrected_sigma": estimate.corrected_sigma,
            "low": low,
            "high": high,
        },
        index=pd.Index(estimate.names, name="parameter"),
    )
