"""Virtual robots whose identification is given no nominal values, or wrong ones, and how far a
result is from the truth. Tests and benchmarks share them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy import stats

import didim
from didim.simulation import Truth

EFFECTS = ("rotor", "viscous", "coulomb")


@dataclass(frozen=True)
class Outcome:
    """One run, judged."""

    status: str
    iterations: int
    floor: float
    """Residual over that of the noise alone."""
    within: float
    """Share of the parameters with a relative sigma below 10 % that lie within 3 sigma of the
    truth.
    """
    chi_square: float
    """Normalised error over its 99.9 % quantile."""
    gains: float
    """Largest relative error of a gain; 0 where none was estimated."""
    gains_sigma: float
    """Largest error of a gain in its own sigma."""

    @property
    def found(self) -> bool:
        """Within 1.05 of the noise floor, at least 93 % within 3 sigma, at most 10 iterations."""
        return self.floor < 1.05 and self.within >= 0.93 and self.iterations <= 10


@cache
def truth(name: str) -> didim.DynamicModel:
    """The robot as it is."""
    effects = EFFECTS if name in ("tx40", "panda") else None
    return didim.DynamicModel(didim.load_robot(name), effects)


@cache
def inertias(name: str) -> np.ndarray:
    """J (n,) that its loops are tuned for."""
    return didim.largest_inertias(truth(name), truth(name).nominal)


def undescribed(name: str, effects: Iterable[str] | None = None) -> didim.DynamicModel:
    """The robot as a description without any value would have it: geometry only."""
    robot, effects = truth(name).robot, effects or truth(name).effects
    joints = tuple(replace(joint, link=np.full(10, np.nan), nominal={}) for joint in robot.joints)
    couplings = tuple(replace(each, nominal={}) for each in robot.couplings)
    return didim.DynamicModel(replace(robot, joints=joints, couplings=couplings), effects)


def misdescribed(name: str, factor: float, seed: int) -> didim.DynamicModel:
    """The robot with every body, rotor and friction wrong by a random factor between 1 / factor and
    factor.
    """
    random = np.random.default_rng(seed)
    draw = lambda: float(np.exp(random.uniform(-1, 1) * np.log(factor)))  # noqa: E731
    robot = truth(name).robot
    joints = tuple(
        replace(
            joint,
            link=draw() * joint.link,
            nominal={key: draw() * value for key, value in joint.nominal.items()},
        )
        for joint in robot.joints
    )
    return didim.DynamicModel(replace(robot, joints=joints), truth(name).effects)


def loop(
    law: str, frequency: np.ndarray | float, J: np.ndarray, factors: np.ndarray | float = 1.0
) -> didim.PD:
    """A loop with numbers for gains: natural frequency in rad/s, damping 1; kp and kv times
    `factors`, () or (2, n).
    """
    omega = np.broadcast_to(np.asarray(frequency, dtype=float), J.shape)
    of_kp, of_kv = np.broadcast_to(factors, (2, J.size))
    kp, kv = omega / 2 * of_kp, 2 * omega * J * of_kv
    if law == "PID":
        return didim.PID(kp=kp, kv=kv, ki=omega / 2 * 2 * omega * J * omega / 10)
    if law == "cascade":
        return didim.Cascade(kp=kp, kv=kv, kiv=2 * omega * J * omega / 10)
    return didim.PD(
        kp=kp, kv=kv, velocity_reference=1.0 if law == "PD with velocity reference" else 0.0
    )


def judged(
    estimate: didim.Estimate, experiment: didim.Experiment, real: Truth, name: str
) -> Outcome:
    """How far an estimate is from the truth of its virtual experiment."""
    model, preprocessing = truth(name).base, estimate.preprocessing
    beta, found = model.nominal, estimate.parameters
    window = preprocessing.selection.window(np.asarray(experiment.t), preprocessing.transient)
    n = model.robot.n
    both = preprocessing.selection.columns(
        window, np.hstack([np.asarray(experiment.tau), real.motion.tau])
    )
    floor = np.linalg.norm(both[:, :n] - both[:, n:]) / np.linalg.norm(both[:, :n])
    error, known = found - beta, estimate.relative_sigma < 10
    within = (
        np.mean(np.abs(error[known]) <= 3 * estimate.corrected_sigma[known]) if known.any() else 0.0
    )
    finite = np.isfinite(estimate.corrected_covariance).all()
    chi_square = error @ np.linalg.solve(estimate.corrected_covariance, error) if finite else np.inf
    far, in_sigma = 0.0, 0.0
    for key, (value, sigma) in estimate.gains.items():
        if key != "delay":
            kind = key.rstrip("0123456789")
            right = getattr(real.controller, kind)[int(key.removeprefix(kind)) - 1]
            far, in_sigma = (
                max(far, abs(value / right - 1)),
                max(in_sigma, abs(value - right) / sigma),
            )
    return Outcome(
        estimate.status,
        estimate.iterations,
        float(estimate.residual / floor),
        float(within),
        float(chi_square / stats.chi2.ppf(0.999, beta.size)),
        float(far),
        float(in_sigma),
    )
