"""Whether a DIDIM result may be believed: what a converged iteration can still hide."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from didim.control.tuning import largest_inertias
from didim.dynamics.model import BaseModel
from didim.identification.closed_loop import ClosedLoop, Simulated
from didim.identification.least_squares import Solution
from didim.identification.system import LinearSystem
from didim.results.formatting import joint_label
from didim.results.judgement import NEGLIGIBLE, SUSPECT
from didim.signals.states import MIN_TRAVEL

Array = NDArray[np.float64]

BEYOND_NOISE = 2.0
"""How many times the noise a residual must be before the loop is looked at."""

FACTORS = (0.25, 0.5, 0.75, 1.35, 2.0, 4.0)
"""Of the bandwidth, that are tried where much is left."""

CLEARLY = 0.85
"""Another bandwidth is better if it leaves less than this share of the residual."""

ASTRAY = 0.05
"""Share of a position by which a simulation that follows the reference may miss it."""

_ADVICE = (
    "Check the assumed loop (bandwidth or gains, rate, velocity reference; estimate_gains=True "
    "looks for the gains), the time "
    "alignment of the reference and the drive gains"
)

_OPEN = (
    "In open loop a robot runs away from small errors of its torque and of its initial state: use "
    "a shorter record, or give "
    "the controller."
)


REMEDY = "Use a trajectory that moves every joint, in many poses and speeds, or fewer effects."


def advice(closed: ClosedLoop) -> str:
    """What to look at when nothing can be simulated."""
    return _OPEN if closed.starts else f"{_ADVICE}, or start elsewhere (initial=)."


def unexcited(
    model: BaseModel, system: LinearSystem, solution: Solution, motions: Iterable[Array]
) -> str | None:
    """A message of what the record cannot tell, if anything."""
    told = untold(model, system, solution, motions)
    return lacking(told) if told else None


def untold(
    model: BaseModel, system: LinearSystem, solution: Solution, motions: Iterable[Array]
) -> list[str]:
    """What the record cannot tell: joints that never move in `motions` (N, n), parameters not told
    apart.
    """
    told = standing(model, motions)
    empty = np.flatnonzero(np.bincount(system.joint, minlength=system.n) == 0) % model.robot.n
    told += [
        f"no equation of {joint_label(model, int(j))} is left (rest_velocity?)"
        for j in np.unique(empty)
    ]
    hidden = [
        name for name, is_hidden in zip(system.names, solution.confounded, strict=True) if is_hidden
    ]
    if hidden:
        told.append(f"the motion does not tell apart {', '.join(hidden)}")
    return told


def standing(model: BaseModel, motions: Iterable[Array]) -> list[str]:
    """The joints that never move in any of the motions (N, n)."""
    still = np.all([np.ptp(q, axis=0) < MIN_TRAVEL for q in motions], axis=0)
    return [f"{joint_label(model, int(j))} never moves" for j in np.flatnonzero(still)]


def lacking(told: list[str]) -> str:
    """A message of what is lacking, and the remedy."""
    text = "; ".join(told)
    return f"{text[0].upper()}{text[1:]}. {REMEDY}"


def judged(
    model: BaseModel,
    closed: ClosedLoop,
    simulated: Simulated,
    system: LinearSystem,
    solution: Solution,
    status: str,
    message: str,
    trial: Callable[[float], float],
) -> tuple[str, str, list[str]]:
    """Status, message and doubts at the end of an iteration, after a look at excitation and
    residual.

    `trial(factor)` gives the residual, by joint and rms, that a loop of another bandwidth would
    leave.
    """
    if (lacks := unexcited(model, system, solution, closed.references)) is not None:
        return "unexcited", f"{lacks} {message}", []
    if status != "converged":
        asked = "on request" in message
        elsewhere = (
            "start nearer (initial=), use stiffer loops, or IDIM, which needs none, where "
            "positions were measured"
        )
        more = "" if asked else (f" {_OPEN}" if closed.starts else f" {_ADVICE}; {elsewhere}.")
        return status, message + more, []
    if closed.starts and simulated.residual > SUSPECT:
        return "diverged", f"{100 * simulated.residual:.3g} % of the position is left. {_OPEN}", []
    astray = _astray(model, closed, simulated)
    if astray is not None:
        return "diverged", f"The iteration settled, but {astray}. {_ADVICE}.", []
    if closed.outputs[0] != "tau":  # positions: what encoders add is not known here
        return status, message, []
    share, noise = simulated.by_joint[: closed.records[0].n], noise_shares(closed, simulated)
    j = int((share / np.maximum(noise, 1e-12)).argmax())
    left = (
        f"{100 * share[j]:.3g} % of the torque of {joint_label(model, j)} is left, where noise is "
        f"{100 * noise[j]:.2g} %"
    )
    if share[j] < max(BEYOND_NOISE * noise[j], NEGLIGIBLE):
        return status, message, []
    now = float(np.sqrt(np.mean(share**2)))
    better = {factor: trial(factor) for factor in FACTORS}
    best = min(better, key=lambda factor: better[factor])
    if better[best] < CLEARLY * now:
        return (
            "diverged",
            (
                f"The iteration settled, but {left}, and a loop of {best:.2g} times the assumed "
                "bandwidth leaves less "
                f"({100 * better[best]:.3g} % instead of {100 * now:.3g} %, rms over the joints): "
                "the assumed loop is not "
                f"the robot's. {_ADVICE}."
            ),
            [],
        )
    if share[j] > SUSPECT:
        return (
            "diverged",
            f"The iteration settled, but the simulated loop does not reproduce the record: {left}. "
            f"{_ADVICE}.",
            [],
        )
    return (
        status,
        message,
        [
            f"More is unexplained than noise: {left}. The model may lack an effect (friction, "
            "offset), or the loop differs."
        ],
    )


def _astray(model: BaseModel, closed: ClosedLoop, simulated: Simulated) -> str | None:
    """Positions that the simulation does not follow, where they are compared."""
    n = closed.records[0].n
    for k, name in enumerate(closed.outputs):
        share = simulated.by_joint[k * n : (k + 1) * n]
        if name == "q" and not closed.starts and share.max() > ASTRAY:
            label = joint_label(model, int(share.argmax()))
            return (
                f"the simulated position of {label} is {100 * share.max():.3g} % off: check its "
                "unit, sign and column"
            )
    return None


def implausible(model: BaseModel, system: LinearSystem, solution: Solution) -> list[str]:
    """Notes on a least squares solution that no machine could have, or that explains little of the
    torque.
    """
    notes, known = [], dict(zip(system.names, solution.values, strict=True))
    beta = np.array([known.get(name, 0.0) for name in model.parameter_names])
    J = largest_inertias(model, beta)
    if np.any(J <= 0):
        notes.append(
            f"The inertia of {joint_label(model, int(J.argmin()))} is not positive: no machine has "
            "these parameters. "
            "Check sign and units of its torque and position."
        )
    rho = system.residual(solution.values)
    sigma = np.sqrt(
        np.diag(solution.inverse)
        * float(np.sum((solution.weights * rho) ** 2))
        / max(rho.size - solution.rank, 1)
    )
    columns = dict(zip(model.parameter_names, model.frictional, strict=True))
    bad = [
        name
        for name, value, s in zip(system.names, solution.values, sigma, strict=True)
        if columns[name] and value < -3 * s
    ]
    if bad:
        turned = len(bad) == sum(columns[name] for name in system.names)
        hint = (
            "Is the sign of the torque right?"
            if turned
            else "Equations of joints at rest spoil it; try rest_velocity."
        )
        notes.append(f"Negative friction: {', '.join(bad)}. {hint}")
    n = model.robot.n
    left, size = (np.sqrt(np.bincount(system.joint % n, x**2, n)) for x in (rho, system.y))
    poor = [j for j in range(n) if left[j] > SUSPECT * size[j] > 0]
    if poor:
        told = ", ".join(
            f"{100 * left[j] / size[j]:.3g} % of {joint_label(model, j)}" for j in poor
        )
        hint = "check units, signs, columns and filters before using this"
        notes.insert(0, f"Much of the torque is left unexplained, {told}: {hint}.")
    return notes


def noise_shares(closed: ClosedLoop, simulated: Simulated) -> Array:
    """(n,) share of each joint's decimated torque that white noise would be, from second
    differences of the raw torque.

    An upper bound where the torque itself changes fast from sample to sample.
    """
    variance, count = np.zeros(closed.records[0].n), 0
    for record, (start, stop) in zip(closed.records, closed.windows, strict=True):
        bend = np.diff(np.asarray(record.tau)[start:stop], 2, axis=0)
        quantum = np.array(
            [
                np.min(step[step > 0], initial=np.inf)
                for step in np.abs(np.diff(np.asarray(record.tau), axis=0)).T
            ]
        )
        coarse = np.where(np.isfinite(quantum), quantum, 0.0) ** 2 / 12.0
        variance += bend.shape[0] * (
            np.maximum((np.median(np.abs(bend), axis=0) / 0.6745) ** 2 / 6.0, coarse)
        )
        count += bend.shape[0]
    rows = sum(closed.selection.decimator.kept(stop - start).size for start, stop in closed.windows)
    rms = simulated.sizes[: variance.size] / np.sqrt(max(rows, 1))
    passed = closed.selection.decimator.noise_gain
    return np.asarray(np.sqrt(passed * variance / max(count, 1)) / np.where(rms > 0, rms, 1.0))
