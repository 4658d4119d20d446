"""Drive gains by maximum likelihood: the control signals are compared with those of the model,

    v_j = A_j x / g_j + noise,

which is what the noise is on. Gauss-Newton in x and the logarithms of the gains; each step is a
convex problem, over all x or over the physically consistent set: the links, rotors and friction of
the robot, and the body of the load.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from didim.dynamics.closest import with_known
from didim.dynamics.cone_program import Quadratic, Region
from didim.dynamics.consistent import Consistent
from didim.dynamics.described import barriers, described_robot, sized
from didim.dynamics.interior_point import minimise
from didim.payload.body import load_with
from didim.payload.gain_equations import GainEquations
from didim.regression.least_squares import least_squares
from didim.regression.statistics import Statistics, statistics
from didim.regression.system import LinearSystem, compressed

Array = NDArray[np.float64]

MAX_STEPS = 60
LONGEST_STEP = 0.5
"""Of the logarithm of a gain."""

TOLERANCE = 1e-6
"""Change of the logarithm of a gain that counts as none."""

ACCURACY = 1e-7
"""To which the mean square of a step, in standard deviations, is minimised."""


@dataclass(frozen=True, eq=False)
class Iterate:
    """Gains and parameters."""

    logarithms: Array
    """(n,) of the gains."""
    x: Array
    """(k,)."""
    theta: Array | None = None
    """(p,) standard parameters of the empty robot, where x is physical."""

    @property
    def gains(self) -> Array:
        """(n,)."""
        return np.exp(self.logarithms)


Step = Callable[[LinearSystem, Iterate], Iterate]
"""From the linearised equations v = [A / g, -A x / g] (x, logarithms) + rest to where they lead."""


def squares(equations: GainEquations, at: Iterate) -> float:
    """Weighted squares of what is left of the control signals, mean."""
    found = (equations.A @ at.x) / at.gains[equations.system.joint]
    left = equations.weights * (equations.system.y - found)
    return float(left @ left) / left.size


def linearised(equations: GainEquations, at: Iterate) -> LinearSystem:
    """The control signals as a linear function of x and of the logarithms of the gains, near an
    iterate; y is v without what the logarithms there explain.
    """
    joint = equations.system.joint
    factor = 1.0 / at.gains[joint]
    found = factor * (equations.A @ at.x)
    slopes = equations.by_joint(-found)
    y = equations.system.y + slopes @ at.logarithms
    names = tuple(str(i) for i in range(equations.A.shape[1] + equations.n))
    W = np.hstack([equations.A * factor[:, None], slopes])
    return replace(equations.system, W=W, y=y, names=names, affine=None)


def iterate(equations: GainEquations, start: Iterate, step: Step) -> Iterate:
    """Steps from the start, shortened where a gain would change by more than half or the squares
    would grow.
    """
    at, cost = start, squares(equations, start)
    for _ in range(MAX_STEPS):
        to = step(linearised(equations, at), at)
        longest = float(np.abs(to.logarithms - at.logarithms).max())
        fraction = min(1.0, LONGEST_STEP / max(longest, 1e-300))
        while True:
            trial = _between(at, to, fraction)
            found = squares(equations, trial)
            if found <= cost * (1.0 + 1e-9) or fraction < 1e-3:
                break
            fraction *= 0.5
        at, cost = trial, found
        if longest < TOLERANCE:
            break
    return at


def _between(at: Iterate, to: Iterate, fraction: float) -> Iterate:
    logarithms = at.logarithms + fraction * (to.logarithms - at.logarithms)
    if to.theta is None or at.theta is None:
        return Iterate(logarithms, at.x + fraction * (to.x - at.x), to.theta)
    theta = at.theta + fraction * (to.theta - at.theta)
    return Iterate(logarithms, at.x + fraction * (to.x - at.x), theta)


def parameters_at(equations: GainEquations, gains: Array) -> Iterate:
    """The parameters x of least squares for given gains."""
    factor = equations.weights / gains[equations.system.joint]
    M = (equations.A @ equations.basis) * factor[:, None]
    target = equations.weights * equations.system.y - factor * (equations.A @ equations.offset)
    size = np.linalg.norm(M, axis=0)
    size = np.where(size > 0, size, 1.0)
    z = np.linalg.lstsq(M / size, target, rcond=1e-9)[0] / size
    return Iterate(np.log(gains), equations.offset + equations.basis @ z)


def free_step(equations: GainEquations) -> Step:
    """The step over all x."""

    def step(system: LinearSystem, _: Iterate) -> Iterate:
        reduced = _reduced(equations, system)
        values = least_squares(reduced, equations.weights).values
        m = equations.basis.shape[1]
        return Iterate(values[m:], equations.offset + equations.basis @ values[:m])

    return step


def figures_at(equations: GainEquations, at: Iterate) -> Statistics:
    """Statistics of (z, logarithms) at an iterate, for the colour of the residuals."""
    system = _reduced(equations, linearised(equations, at))
    solution = least_squares(system, equations.weights)
    return statistics(system, solution)


def _reduced(equations: GainEquations, system: LinearSystem) -> LinearSystem:
    """The system in z and the logarithms, x = offset + basis z."""
    k = equations.A.shape[1]
    W = np.hstack([system.W[:, :k] @ equations.basis, system.W[:, k:]])
    names = tuple(str(i) for i in range(W.shape[1]))
    return replace(system, W=W, y=system.y - system.W[:, :k] @ equations.offset, names=names)


def physical_step(equations: GainEquations, near: Iterate) -> Step:
    """The step over the physically consistent set; `near` gives the size of the robot."""
    model, k, n = equations.model, equations.A.shape[1], equations.n
    around = barriers(model, described_robot(model))[0]
    barrier = sized(around, model.matrix, near.x[: equations.b])[0]
    barrier = with_known(barrier, model.full.known)
    p, varies = barrier.prior.size, equations.varies
    body = load_with(equations.known) if equations.is_loaded.any() else np.zeros(0)
    prior = np.concatenate([barrier.prior, body])
    scale = np.concatenate([barrier.scale, np.ones(body.size)])
    beside = Consistent(model.full, prior, scale, model.full.known, body.size // 10)
    T = np.eye(p) if model.full.known is None else model.full.known.directions
    load = np.eye(10)[:, equations.free_load] if body.size else np.zeros((0, 0))
    of_theta = linalg.block_diag(T, load)
    m, own = of_theta.shape[1], varies.size + n
    directions = np.hstack([of_theta, np.zeros((len(of_theta), own))])
    bounded = m + np.flatnonzero(model.frictional[varies])
    region = Region(beside, prior, directions, bounded)
    friction = np.maximum(np.abs((model.matrix @ barrier.prior)[varies]), 1e-3)
    start = np.concatenate([np.zeros(m), friction, near.logarithms])

    def parts(u: Array) -> Iterate:
        theta = region.theta(u)
        x = np.concatenate([model.matrix @ theta[:p], u[m : m + varies.size], theta[p:]])
        return Iterate(u[m + varies.size :], x, theta[:p])

    into = np.zeros((k, directions.shape[1]))
    into[: equations.b, : T.shape[1]] = model.matrix @ T
    into[equations.b : equations.b + varies.size, m : m + varies.size] = np.eye(varies.size)
    into[equations.b + varies.size :, T.shape[1] : m] = load
    origin = parts(np.zeros(directions.shape[1])).x

    def step(system: LinearSystem, at: Iterate) -> Iterate:
        W = system.W[:, :k] @ into
        W[:, m + varies.size :] += system.W[:, k:]
        names = tuple(str(i) for i in range(W.shape[1]))
        linear = replace(system, W=W, y=system.y - system.W[:, :k] @ origin, names=names)
        R, target = compressed(linear, equations.weights)
        inside = start.copy()
        inside[m + varies.size :] = at.logarithms
        cost = Quadratic(R, target, np.zeros(W.shape[1]))
        accuracy = ACCURACY * linear.y.size
        return parts(minimise(cost, region, inside, accuracy))

    return step
