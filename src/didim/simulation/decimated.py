"""Sensitivities of a simulation, decimated as they are produced: memory does not grow with them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.signals.decimation import Decimation
from didim.simulation.directions import Disturbances
from didim.simulation.motion import Motion
from didim.simulation.prepare import SimulationRequest
from didim.simulation.sensitivities import differentiable, run_with

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DecimatedSensitivities:
    """Of one record."""

    motion: Motion
    J: Array
    """(K, groups, m) of the outputs, one after the other; empty where the motion was not
    completed.
    """
    names: tuple[str, ...]
    """(m,) parameters, disturbances, gains, delay."""


def decimated_sensitivities(
    request: SimulationRequest,
    gains: bool | Collection[str],
    delay: bool,
    outputs: Sequence[str],
    decimator: Decimation,
    samples: tuple[int, int],
    disturbances: Disturbances = (),
) -> DecimatedSensitivities:
    """Simulate, and decimate the sensitivities of the outputs, "tau" and "q", over the samples
    (first, one past the last).
    """
    run, directions = differentiable(request, gains, delay, disturbances)
    streams = {name: decimator.stream() for name in outputs}
    start, stop = samples

    def take(first: int, of_tau: Array, of_q: Array) -> None:
        part = slice(max(start - first, 0), max(stop - first, 0))
        for name, block in (("tau", of_tau), ("q", of_q)):
            if block[part].size:
                streams[name].push(block[part].reshape(-1, block.shape[1] * block.shape[2]))

    motion = run_with(run, directions, request, take, outputs=outputs)
    if not motion.completed:
        return DecimatedSensitivities(motion, np.zeros((0, 0, 0)), directions.names)
    shape = (-1, request.model.robot.n, directions.count)
    parts = [directions.folded(streams.pop(name).result().reshape(shape)) for name in outputs]
    J = np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]
    return DecimatedSensitivities(motion, J, directions.names)
