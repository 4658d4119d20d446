"""Checks of the settings of `OutputError`, and of the positions that it compares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from didim.control.laws import OwnLaw
from didim.dynamics.torque import TorqueModel
from didim.errors import InputError, shortened
from didim.results.settings import check_controller, check_settings
from didim.results.start import check_initial
from didim.robot.labels import joint_label
from didim.signals.experiment import Experiment
from didim.validation import flag, one_of

OUTPUTS = {"position": ("q",), "torque": ("tau",), "both": ("tau", "q")}


def check_output_error(settings: Any) -> None:
    """Convert the settings, or refuse them."""
    controller, initial = settings.controller, settings.initial
    if controller is not None:
        check_controller(controller, "OutputError")
    one_of(settings.output, "OutputError: output", tuple(OUTPUTS))
    one_of(settings.weights, "OutputError: weights", ("wls", "irls"))
    if controller is None and settings.output != "position":
        raise InputError(
            'OutputError: in open loop the torque is the input; output must be "position".'
        )
    if controller is None and (settings.estimate_gains or settings.estimate_delay):
        raise InputError(
            "OutputError: in open loop there are no gains and no reference to estimate; give "
            "the controller."
        )
    if not (isinstance(initial, str) and initial == "prior"):
        check_initial(initial)
        if isinstance(initial, str) and initial == "identity":
            raise InputError(
                'OutputError: "identity" is no start for the exact method; use "prior" or "unit".'
            )
    check_settings(settings, "OutputError")
    flag(settings.barrier, "OutputError: barrier")
    object.__setattr__(settings, "estimate_offsets", _estimated_offsets(settings))
    if not (isinstance(settings.scan, bool) or settings.scan == "auto"):
        raise InputError(
            f'OutputError: scan must be True, False or "auto", found {shortened(settings.scan)}.'
        )
    if isinstance(controller, OwnLaw):
        raise InputError(
            "OutputError: exact sensitivities need a law that didim knows; an OwnLaw has none."
        )


def refuse_positions(model: TorqueModel, experiments: Sequence[Experiment], output: str) -> None:
    """Refuse records without positions, or with one that never changes."""
    for experiment in experiments:
        if experiment.q is None:
            raise InputError(
                f"Experiment {experiment.name!r} has no measured positions, which "
                f'output={output!r} needs; use output="torque" or give q.'
            )
        if np.any(still := np.ptp(experiment.q, axis=0) == 0):
            raise InputError(
                f"Experiment {experiment.name!r}: the measured position of "
                f"{joint_label(model.robot, int(still.argmax()))} never changes. Is it in the "
                "right column?"
            )


def _estimated_offsets(settings: Any) -> tuple[str, ...]:
    """Names of zeros and biases that are estimated, which need a loop and measured positions."""
    names = settings.estimate_offsets
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise InputError(
            'OutputError: estimate_offsets must be a list of names such as ["zero1", "bias"], '
            f"found {shortened(names)}."
        )
    loop = settings.controller
    if names and (loop is None or settings.output == "torque" or loop.model_term != "none"):
        raise InputError(
            "OutputError: estimate_offsets needs a controller without a model of its own, and "
            'output="position" or "both".'
        )
    return tuple(names)
