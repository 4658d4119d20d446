"""Whether a DIDIM result may be believed: what a converged iteration can still hide."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.model import BaseModel
from didim.identification.closed_loop import ClosedLoop, Simulated
from didim.identification.least_squares import Solution
from didim.identification.record import joint_label
from didim.identification.system import LinearSystem
from didim.signals.states import still_joints

Array = NDArray[np.float64]

SUSPECT = 0.25
"""Share of a joint's torque that a model may leave unexplained before the loop is doubted."""

BEYOND_NOISE = 2.0
"""How many times the noise a residual must be before the loop is looked at."""

NEGLIGIBLE = 1e-3
"""Residual that needs no explanation."""

FACTORS = (0.25, 0.5, 0.75, 1.35, 2.0, 4.0)
"""Of the bandwidth, that are tried where much is left."""

CLEARLY = 0.85
"""Another bandwidth is better if it leaves less than this share of the residual."""

_ADVICE = (
    "Check the assumed loop (bandwidth or gains, rate, velocity reference), the time alignment of the reference "
    "and the drive gains"
)


def unexcited(model: BaseModel, system: LinearSystem, solution: Solution, motions: Iterable[Array]) -> str | None:
    """What the record cannot tell, if anything: joints that never move in `motions` (N, n), parameters not told apart."""
    told = standing(model, motions)
    empty = np.bincount(system.joint, minlength=system.n) == 0
    told += [f"no equation of {joint_label(model, int(j))} is left (rest_velocity?)" for j in np.flatnonzero(empty)]
    hidden = [name for name, is_hidden in zip(system.names, solution.confounded, strict=True) if is_hidden]
    if hidden:
        told.append(f"the motion does not tell apart {', '.join(hidden)}")
    return lacking(told) if told else None


def standing(model: BaseModel, motions: Iterable[Array]) -> list[str]:
    """The joints that never move in any of the motions (N, n)."""
    still = np.all([still_joints(q) for q in motions], axis=0)
    return [f"{joint_label(model, int(j))} never moves" for j in np.flatnonzero(still)]


def lacking(told: list[str]) -> str:
    """A message of what is lacking, and the remedy."""
    text = "; ".join(told)
    return f"{text[0].upper()}{text[1:]}. Use a trajectory that moves every joint, in many poses and speeds, or fewer effects."


def judged(
    model: BaseModel,
    closed: ClosedLoop,
    simulated: Simulated,
    system: LinearSystem,
    solution: Solution,
    status: str,
    message: str,
    trial: Callable[[float], float],
) -> tuple[str, str]:
    """Status and message of an iteration's end, after a look at excitation and residual.

    `trial(factor)` gives the residual, by joint and rms, that a loop of another bandwidth would leave.
    """
    if (lacks := unexcited(model, system, solution, closed.references)) is not None:
        return "unexcited", f"{lacks} {message}"
    if status != "converged":
        return status, f"{message} {_ADVICE}, or use stiffer loops; IDIM needs no loop, where positions were measured."
    share, noise = simulated.by_joint, noise_shares(closed, simulated)
    j = int((share / np.maximum(noise, 1e-12)).argmax())
    left = f"{100 * share[j]:.3g} % of the torque of {joint_label(model, j)} is left, where noise is {100 * noise[j]:.2g} %"
    if share[j] < max(BEYOND_NOISE * noise[j], NEGLIGIBLE):
        return status, message
    now = float(np.sqrt(np.mean(share**2)))
    better = {factor: trial(factor) for factor in FACTORS}
    best = min(better, key=lambda factor: better[factor])
    if better[best] < CLEARLY * now:
        return "diverged", (
            f"The iteration settled, but {left}, and a loop of {best:.2g} times the assumed bandwidth leaves less "
            f"({100 * better[best]:.3g} % instead of {100 * now:.3g} %, rms over the joints): the assumed loop is not "
            f"the robot's. {_ADVICE}."
        )
    if share[j] > SUSPECT:
        return "diverged", f"The iteration settled, but the simulated loop does not reproduce the record: {left}. {_ADVICE}."
    return status, message


def noise_shares(closed: ClosedLoop, simulated: Simulated) -> Array:
    """(n,) share of each joint's decimated torque that white noise would be, from second differences of the raw torque.

    An upper bound where the torque itself changes fast from sample to sample.
    """
    variance, count = np.zeros(closed.records[0].n), 0
    for record, (start, stop) in zip(closed.records, closed.windows, strict=True):
        bend = np.diff(np.asarray(record.tau)[start:stop], 2, axis=0)
        variance += bend.shape[0] * (np.median(np.abs(bend), axis=0) / 0.6745) ** 2 / 6.0
        count += bend.shape[0]
    rows = sum(closed.selection.decimator.kept(stop - start).size for start, stop in closed.windows)
    rms = simulated.sizes / np.sqrt(max(rows, 1))
    passed = closed.selection.decimator.noise_gain
    return np.asarray(np.sqrt(passed * variance / max(count, 1)) / np.where(rms > 0, rms, 1.0))
