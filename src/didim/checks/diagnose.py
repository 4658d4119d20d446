"""`diagnose`: all checks, in the order in which their findings should be fixed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from didim.checks.channels import channels, held, read
from didim.checks.clock import gaps, repeats, sampling
from didim.checks.data import CHECK_CUTOFF, CheckData
from didim.checks.delay import torque_delay
from didim.checks.description import scale
from didim.checks.excitation import decimation, excitation, rough_parameters
from didim.checks.finding import Finding, unjudged
from didim.checks.loads import loads
from didim.checks.loop import known, lag, stability
from didim.checks.signals import jumps, movement, position_units, rest, saturation
from didim.checks.torque import torque_sign, torque_size
from didim.control.law import Controller
from didim.dynamics.model import DynamicModel
from didim.errors import InputError
from didim.results.formatting import held_joints
from didim.signals.experiment import Experiment
from didim.simulation.records import check_joints

_FIRST: tuple[Callable[[CheckData], Iterator[Finding]], ...] = (
    read,
    sampling,
    gaps,
    repeats,
    held,
    channels,
    movement,
    saturation,
    jumps,
    position_units,
)
"""Clock, positions, and what can be said of torques alone."""

_OF_TORQUE = (repeats, held, saturation)
"""Those of them that need torques."""

_THEN: tuple[Callable[[CheckData], Iterator[Finding]], ...] = (
    torque_sign,
    torque_size,
    torque_delay,
)
"""What only makes sense once the positions do."""


_NO_TORQUE = (
    "excitation",
    "no torque was measured",
    "didim identify says what positions alone leave open.",
)


def diagnose(
    model: DynamicModel,
    experiments: Sequence[Experiment],
    controller: Controller | None = None,
    *,
    assumed: bool = False,
    decimated: int = 1,
    rest_handled: str = "",
    cutoff: float | None = CHECK_CUTOFF,
    followed: Collection[str] = (),
) -> tuple[Finding, ...]:
    """Data problems to fix before identifying: checks of the records and the loop.

    Parameters
    ----------
    model
        The dynamic model that is to be identified.
    experiments
        The records.
    controller
        The loop, as far as it is known; None: unknown.
    assumed
        Whether the loop is a guess.
    decimated
        The factor by which records will be decimated.
    rest_handled
        What the method does about joints at rest; empty: nothing.
    cutoff
        Hz, of the filter of measured positions.
    followed
        Names of the settings that are on, such as "refine": they are not advised.
    """
    if not experiments:
        raise InputError("There is no experiment to check; give at least one.")
    for experiment in experiments:
        check_joints(model, experiment)
    records = [
        CheckData(model, experiment, controller, cutoff, decimated, frozenset(followed))
        for experiment in experiments
    ]
    with_torque = [data for data in records if data.has_torque]
    parameters = rough_parameters(with_torque or records)
    findings = [Finding("robot", "pass", text) for text in held_joints(model.robot)]
    right: list[bool] = []
    for data in records:
        first = [each for each in _FIRST if data.has_torque or each not in _OF_TORQUE]
        found = [each for check in first for each in check(data)]
        wrong = any(each.check in ("units", "jumps") and each.level == "fail" for each in found)
        right.append(not wrong)
        if wrong and data.has_torque:
            found += [
                unjudged(check, "the positions are wrong", "fix them first, then check again.")
                for check in ("torque sign", "torque size")
            ]
        elif not wrong:
            then = _THEN if data.has_torque else ()
            found += [each for check in then for each in check(data)]
            found += [
                *lag(data, parameters),
                *rest(data, rest_handled),
                *decimation(data, decimated),
            ]
        findings += [replace(each, experiment=data.record.name) for each in found]
    sound = [d for d, has in zip(records, right, strict=True) if has and d.has_torque]
    findings = [*loads(sound), *findings]
    findings += scale(sound) if sound else ()
    findings += excitation(with_torque) if with_torque else [unjudged(*_NO_TORQUE)]
    findings += known(records[0], assumed)
    findings += stability(records[0], parameters)
    return tuple(findings)
