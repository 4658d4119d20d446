"""The robot that a plan is designed for: nominal parameters, its loop, and the noise of its
torques.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.law import Controller
from didim.control.tuning import largest_inertias
from didim.design.known import Source
from didim.dynamics.described import described_robot
from didim.dynamics.model import BaseModel
from didim.errors import InputError, shortened
from didim.results.estimate import Estimate
from didim.signals.experiment import Experiment, measured_torque
from didim.signals.noise import noise_variance
from didim.validation import per_joint

Array = NDArray[np.float64]

NOISE_FRACTION = 0.02
"""Of the rms torque of random motions within the limits, where no noise is known."""

NOISE_RANGE = (1e-12, 1e12)
"""Least and largest noise that can be given, N.m or N: information is its square, in numbers that
a computer can hold.
"""


def nominal_parameters(
    model: BaseModel, sources: Sequence[Source]
) -> tuple[Array, tuple[str, ...]]:
    """(b,) base parameters: those of the last estimate, of the description, or generic ones; with
    what the reader should know of them.
    """
    for each in reversed(sources):
        if isinstance(each, Estimate):
            return each.parameters, ()
    if np.isfinite(model.nominal).all():
        return model.nominal, ()
    described = model.full.described
    if np.isfinite(described).all():
        missing = [
            name
            for name, value in zip(model.full.parameter_names, model.full.nominal, strict=True)
            if np.isnan(value)
        ]
        return model.matrix @ described, (
            f"The description has no values of {', '.join(missing)}: they count as zero, and "
            "torques may be larger than predicted.",
        )
    return model.matrix @ described_robot(model), (
        "The description has no inertias: generic links of 2 kg stand for them, so that torques "
        "and sigma are only rough. Record slowly first, or give the estimate of a first record.",
    )


def tuned_loop(model: BaseModel, parameters: Array, loop: object) -> Controller | None:
    """The loop with the inertia that its poles need."""
    if loop is None:
        return None
    if not isinstance(loop, Controller):
        raise InputError(
            f"loop must be a controller such as didim.PD, or None; found {shortened(loop)}."
        )
    if loop.by_poles and loop.inertia is None:
        return replace(loop, inertia=np.maximum(largest_inertias(model, parameters), 1e-12))
    return loop


def torque_noise(
    given: ArrayLike | None, sources: Sequence[Source], rms: Array
) -> tuple[Array, tuple[str, ...]]:
    """(n,) standard deviation of the torque of a sample, N.m or N: as given, of the records, or a
    fraction of the rms torque (n,) of random motions.
    """
    n = rms.size
    if given is not None:
        noise = per_joint(given, "noise, in N.m or N,", n)
        least, most = NOISE_RANGE
        if np.any(noise < least) or np.any(noise > most):
            raise InputError(
                f"noise must be positive, from {least:g} to {most:g} N.m or N, found "
                f"{noise.tolist()}."
            )
        return noise, ()
    records: list[Experiment] = []
    for each in sources:
        if isinstance(each, Experiment):
            records.append(each)
        elif isinstance(each, Estimate):
            records.extend(record for record in each.experiments if record.tau is not None)
    if records:
        tables = [measured_torque(each) for each in records]
        found = np.sqrt(
            np.mean([noise_variance(tau, slice(0, len(tau))) for tau in tables], axis=0)
        )
        if np.all(found > 0):
            return found, ()
    floor = 1e-3 * max(float(rms.max()), 1e-12)
    return NOISE_FRACTION * np.maximum(rms, floor), (
        f"The torque noise is not known: {100 * NOISE_FRACTION:g} % of the rms torque of random "
        "motions within the limits stands for it. Give noise=, in N.m.",
    )
