"""Sensitivities of a simulation, decimated as they are produced: memory does not grow with them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.signals.decimation import Decimation
from didim.signals.decimation_stream import Stream
from didim.simulation.directions import Directions
from didim.simulation.disturbances import NO_DISTURBANCES, Disturbances
from didim.simulation.halves import Half, middle_of, run_in_halves
from didim.simulation.motion import Motion
from didim.simulation.prepare import SimulationRequest, prepared
from didim.simulation.run import Run, Take
from didim.simulation.sensitivities import differentiable, tangent_of
from didim.threads import is_single_threaded

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
    disturbances: Disturbances = NO_DISTURBANCES,
    alone: bool = False,
) -> DecimatedSensitivities:
    """Simulate, and decimate the sensitivities of the outputs, "tau" and "q", over the samples
    (first, one past the last); by two threads, where nothing else runs: `alone`.
    """
    split = alone and not is_single_threaded()
    run, directions = differentiable(request, gains, delay, disturbances)
    shape, streams = (request.model.robot.n, directions.count), _streams(decimator, outputs)

    def half(made: Run, along: Directions, into: Mapping[str, Stream]) -> Half:
        codes = along.codes(made, request.model)
        tangent = tangent_of(made, along, request, codes, outputs)
        return Half(made, tangent, _into(into, samples), codes)

    middle = middle_of(run, directions, samples, decimator.block) if split else None
    first = half(run, directions, streams)
    if middle is None:
        motion = first.make()
    else:
        more, later = middle.directions, _streams(decimator, outputs)

        def join(at_middle: Array) -> None:
            for name in outputs:
                rest = later.pop(name).mapped(lambda rows: _from(rows, shape, at_middle))
                streams[name].join(rest)

        motion = run_in_halves(middle, first, lambda: half(prepared(request), more, later), join)
    del run, first  # of long records: a first half has outputs of its own
    if not motion.completed:
        return DecimatedSensitivities(motion, np.zeros((0, 0, 0)), directions.names)
    parts = [_result(streams.pop(name), directions, shape) for name in outputs]
    J = np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]
    return DecimatedSensitivities(motion, J, directions.names)


def _result(stream: Stream, directions: Directions, shape: tuple[int, int]) -> Array:
    """(K, n, m) of the requested directions; folded before they are put together, so that those of
    the run are never in memory beside them.
    """
    n, count = shape

    def folded(rows: Array) -> Array:
        m = len(directions.names)
        return directions.folded(rows.reshape(-1, n, count)).reshape(len(rows), n * m)

    if directions.fold is not None and stream.decimation.streams:
        return stream.mapped(folded).result().reshape(-1, n, len(directions.names))
    return directions.folded(stream.result().reshape(-1, n, count))


def _streams(decimator: Decimation, outputs: Sequence[str]) -> dict[str, Stream]:
    return {name: decimator.stream() for name in outputs}


def _from(rows: Array, shape: tuple[int, int], at_middle: Array) -> Array:
    """S + Phi S_m (k, n M) from S and Phi (k, n (M + s)), S_m (s, M) being those at the middle;
    what diverges may become infinite.
    """
    n, count = shape
    both = rows.reshape(-1, n, count + len(at_middle))
    with np.errstate(over="ignore", invalid="ignore"):
        return (both[:, :, :count] + both[:, :, count:] @ at_middle).reshape(-1, n * count)


def _into(streams: Mapping[str, Stream], samples: tuple[int, int]) -> Take:
    """Push the sensitivities of some samples into the streams of their outputs."""
    start, stop = samples

    def take(first: int, of_tau: Array, of_q: Array) -> None:
        part = slice(max(start - first, 0), max(stop - first, 0))
        for name, block in (("tau", of_tau), ("q", of_q)):
            if block[part].size:
                stream, rows = streams[name], block[part].reshape(-1, np.prod(block.shape[1:]))
                stream.push(rows if stream.decimation.streams else rows.copy())

    return take
