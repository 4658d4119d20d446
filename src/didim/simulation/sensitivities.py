"""`sensitivities`: how the simulated torque and motion change with parameters, gains and delay, the
exact Jacobian of (39).

They are integrated with the simulation, in the same compiled loop (`kernels/tangent.py`), and cost
a few plain simulations however many there are.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.law import Controller
from didim.dynamics.torque import Signals, TorqueModel
from didim.errors import InputError, shortened
from didim.signals.reference import Reference
from didim.signals.trajectory import Trajectory
from didim.simulation.directions import Codes, Directions, directions_of
from didim.simulation.disturbances import NO_DISTURBANCES, Disturbances
from didim.simulation.kernels.tangent import Tangent
from didim.simulation.motion import Motion
from didim.simulation.prepare import SimulationRequest, lag_of, prepared
from didim.simulation.run import Progress, Run, Take
from didim.simulation.steps import LONGEST_STEP, MAX_SUBSTEPS

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sensitivities:
    """Derivatives of a simulation in m directions, at the times that it reached."""

    motion: Motion
    names: tuple[str, ...]
    """(m,) of the parameters, of the shapes ("vs1"), of gains ("kp1"), and "delay"."""
    tau: Array
    """(N, n, m) of the joint torques."""
    q: Array
    """(N, n, m) of the positions."""


def sensitivities(
    model: TorqueModel,
    parameters: ArrayLike,
    loop: Controller | None,
    *,
    t: ArrayLike,
    q_ref: ArrayLike | Trajectory | None = None,
    tau: ArrayLike | Trajectory | None = None,
    gains: bool = False,
    delay: bool = False,
    friction: str = "exact",
    width: float = 0.05,
    initial: tuple[ArrayLike, ArrayLike] | str | None = None,
    step: float | None = None,
    most_substeps: int = MAX_SUBSTEPS,
    signals: Signals | None = None,
    progress: Progress | None = None,
) -> Sensitivities:
    """Simulate with a fixed step and differentiate every step: d tau/d chi and d q/d chi of eq. 33
    and 39.

    Parameters
    ----------
    gains
        Also with respect to the gains kp, kv, ki, kiv of the law that are not zero, joint by joint.
    delay
        Also with respect to a delay of the reference, s, which must not be a held one.
    model, parameters, loop, t, q_ref, tau, friction, width, initial, step, most_substeps
        As in `didim.simulate`; so are `signals` and `progress`.

    Implements (30).
    """
    for name, value in (("gains", gains), ("delay", delay)):
        if not isinstance(value, bool):
            raise InputError(f"{name} must be True or False, found {shortened(value)}.")
    request = SimulationRequest(
        model, parameters, loop, t, q_ref, tau, friction, width, initial, step, most_substeps,
        signals,
    )  # fmt: skip
    blocks: tuple[list[Array], list[Array]] = ([], [])

    def take(first: int, of_tau: Array, of_q: Array) -> None:
        del first
        for kept, block in zip(blocks, (of_tau, of_q), strict=True):
            kept.append(block.copy() if directions.fold is None else directions.folded(block))

    run, directions = differentiable(request, gains, delay)
    motion = run_with(run, directions, request, take, progress)
    empty = np.zeros((0, model.robot.n, len(directions.names)))
    return Sensitivities(
        motion, directions.names, *(np.concatenate([empty, *each]) for each in blocks)
    )


def differentiable(
    request: SimulationRequest,
    gains: bool | Collection[str],
    delay: bool,
    disturbances: Disturbances = NO_DISTURBANCES,
) -> tuple[Run, Directions]:
    """A run that is ready, and its directions: with all gains, or with those of some names."""
    run = prepared(request)
    if delay and isinstance(run.trajectory, Reference) and run.trajectory.interpolation == "held":
        raise InputError(
            "A held reference has no derivative by its delay; give one with "
            'interpolation="linear" or "cubic".'
        )
    return run, directions_of(
        request.model, request.parameters, request.loop, run.plant.law, gains, delay, disturbances
    )


def run_with(
    run: Run,
    directions: Directions,
    request: SimulationRequest,
    take: Take,
    progress: Progress | None = None,
    outputs: Collection[str] = ("tau", "q"),
) -> Motion:
    """Make the run and hand the sensitivities of its outputs, not yet folded, to `take`."""
    codes = directions.codes(run, request.model)
    return run.sensitive(tangent_of(run, directions, request, codes, outputs), take, progress)


def tangent_of(
    run: Run,
    directions: Directions,
    request: SimulationRequest,
    codes: Codes,
    outputs: Collection[str],
) -> Tangent:
    """The sensitivities at the start of a run, which `codes` must outlive."""
    run.disturbances = directions.disturbances
    start = _initial(run, directions, request)
    return directions.tangent(run, request.model, start, codes, outputs)


def _initial(run: Run, directions: Directions, request: SimulationRequest) -> Array:
    """(2 n, M) of the initial state: it moves with the reference's zero and delay, and behind it
    with the lag of (53).
    """
    n, law = request.model.robot.n, run.plant.law
    state = np.zeros((2 * n, directions.count))
    for j in np.flatnonzero(directions.gain[5] >= 0):
        state[j, directions.gain[5, j]] = 1.0
    if request.loop is None or (
        request.initial is not None and not isinstance(request.initial, str)
    ):
        return state
    h = law.period or LONGEST_STEP
    q, after, later = run.trajectory.sample([0.0, h, 2 * h])[0]
    _, dq, ddq = (each[0] for each in run.trajectory.sample([0.0]))
    if request.initial == "tracking":
        dq, ddq = (after - q) / h, (later - 2 * after + q) / h**2
        lag = lag_of(law)
        for j in np.flatnonzero((directions.gain[0] >= 0) & (lag > 0)):
            state[[j, n + j], directions.gain[0, j]] = (
                lag[j] / law.kp[j] * np.array([dq[j], ddq[j]])
            )
    if directions.delay >= 0:
        state[:, directions.delay] = -np.concatenate([dq, ddq])
    return state
