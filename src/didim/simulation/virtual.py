"""`virtual_experiment`: a simulated robot as a source of data, with the noise and quantisation of a
real one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.law import Controller
from didim.control.tuning import largest_inertias
from didim.dynamics.torque import TorqueModel
from didim.errors import InfeasibleError, InputError
from didim.signals.experiment import Experiment
from didim.signals.trajectory import Trajectory
from didim.simulation.motion import Motion
from didim.simulation.simulate import simulate
from didim.validation import per_joint, real, whole

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Truth:
    """What a virtual experiment was made of."""

    model: TorqueModel
    parameters: Array
    """(p,) of the model."""
    controller: Controller
    """The true loop, its inertia J filled in."""
    motion: Motion
    """The motion without noise or quantisation."""
    noise: Array
    """(n,) standard deviation of the torque noise, N.m or N."""


def virtual_experiment(
    model: TorqueModel,
    phi: ArrayLike,
    loop: Controller,
    reference: Trajectory,
    *,
    rate: float = 1000.0,
    duration: float | None = None,
    noise: ArrayLike = 0.0,
    encoder: ArrayLike = 0.0,
    start_offset: ArrayLike = 0.0,
    seed: int = 0,
    friction: str = "exact",
    channels: Mapping[str, ArrayLike | Callable[[Array], ArrayLike]] | None = None,
    name: str = "virtual",
) -> tuple[Experiment, Truth]:
    """Simulate the robot in its loop and record it.

    Parameters
    ----------
    model, phi, loop
        The true model, its parameters and the true controller (with its own rate, encoder and
        faults).
    reference
        A `Reference` or a trajectory.
    rate
        Of the measurement, samples per second.
    duration
        s; None: that of the reference.
    noise
        Standard deviation of the torque noise (white, Gaussian), as a fraction of each joint's rms
        torque.
    encoder
        Step of the measured position, rad or m; 0: exact.
    start_offset
        (n,) by how much the robot starts off the reference, rad or m.
    seed
        Of the noise.
    friction
        As for `simulate`.
    channels
        Logged channels that effects need, by name: values at the times of the record, or functions
        of these times.
    """
    if not isinstance(model, TorqueModel):
        raise InputError(
            f"model must be a didim.DynamicModel or its base, found {type(model).__name__}."
        )
    if not isinstance(loop, Controller):
        raise InputError(
            f"loop must be a controller such as didim.PD, found {type(loop).__name__}."
        )
    n, rate, seed = (
        model.robot.n,
        real(rate, "rate, in samples per second,", above=0.0),
        whole(seed, "seed", least=0),
    )
    if not isinstance(reference, Trajectory):
        raise InputError(
            "reference must be a didim.Reference or a trajectory, which know their own times."
        )
    fractions, steps = per_joint(noise, "noise", n), per_joint(encoder, "encoder", n)
    if np.any(fractions < 0) or np.any(steps < 0):
        raise InputError("noise and encoder must not be negative.")
    begin, end = reference.span
    length = end - begin if duration is None else real(duration, "duration", above=0.0)
    if not 0 < length <= end - begin + 1e-9:
        raise InputError(
            f"duration must be positive and at most {end - begin:g} s, the reference's, found "
            f"{length:g}."
        )
    t = begin + np.arange(int(np.floor(length * rate + 1e-6)) + 1) / rate
    if loop.by_poles and loop.inertia is None:
        loop = replace(loop, inertia=largest_inertias(model, phi))
    q0, dq0, _ = reference.sample(t[:1])
    initial = (q0[0] + per_joint(start_offset, "start_offset", n), dq0[0])
    logged = {
        key: np.asarray(value(t) if callable(value) else value, dtype=float)
        for key, value in (channels or {}).items()
    }
    motion = simulate(
        model,
        phi,
        loop,
        t=t,
        q_ref=reference,
        friction=friction,
        initial=initial,
        signals=logged,
    )
    if not motion.completed:
        raise InfeasibleError(f"The virtual experiment failed: {motion.message}")
    deviation = fractions * np.sqrt(np.mean(motion.tau**2, axis=0))
    tau = motion.tau + deviation * np.random.default_rng(seed).standard_normal(motion.tau.shape)
    q = np.where(steps > 0, steps * np.round(motion.q / np.where(steps > 0, steps, 1.0)), motion.q)
    experiment = Experiment(t=t, tau=tau, q_ref=reference, q=q, name=name, channels=logged)
    return experiment, Truth(model, np.asarray(phi, dtype=float), loop, motion, deviation)
