"""`simulate`: the robot in its control loop, integrated in time (21)-(26), Figures 6 and 7."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.law import Controller
from didim.control.linear import linearise
from didim.dynamics.torque import Signals, TorqueModel
from didim.errors import InputError, nearest
from didim.signals.trajectory import Trajectory
from didim.simulation.kernels.contact import SMOOTH
from didim.simulation.kernels.plant import CONTINUOUS, OPEN
from didim.simulation.motion import Motion
from didim.simulation.prepare import SimulationRequest, prepared
from didim.simulation.run import Progress
from didim.simulation.steps import MAX_SUBSTEPS
from didim.validation import callback, real

Array = NDArray[np.float64]

METHODS = ("auto", "fixed", "adaptive")


class UnstableLoopWarning(UserWarning):
    """The assumed loop is unstable."""


def simulate(
    model: TorqueModel,
    parameters: ArrayLike,
    loop: Controller | None,
    *,
    t: ArrayLike,
    q_ref: ArrayLike | Trajectory | None = None,
    tau: ArrayLike | Trajectory | None = None,
    friction: str = "exact",
    width: float = 0.05,
    initial: tuple[ArrayLike, ArrayLike] | str | None = None,
    method: str = "auto",
    step: float | None = None,
    tolerance: float = 1e-8,
    check: bool = True,
    most_substeps: int = MAX_SUBSTEPS,
    signals: Signals | None = None,
    progress: Progress | None = None,
) -> Motion:
    """Simulate the robot and return its motion at the times t (N,).

    Parameters
    ----------
    model, parameters
        The dynamic model, standard or base, and its parameter values.
    loop
        The controller; None: open loop, the torque is given.
    q_ref
        The reference: an array (N, n) on t (held for a sampled law, cubic for a continuous one), a
        `Reference` with its own clock, or a trajectory.
    tau
        In open loop, the joint torques: an array (N, n) on t (cubic), or a `Reference` whose
        positions are torques.
    friction
        "exact": Coulomb contacts that stick; "smooth": tanh(u / width).
    width
        Of smooth friction, rad/s or m/s.
    initial
        q and dq (n,) at t[0]; None: those of the reference (at rest at zero in open loop);
        "tracking": behind the reference by the lag of a loop that has been following it, for
        records that begin in motion.
    method
        "fixed" step, or "adaptive" with error control (continuous law or open loop, smooth
        friction); "auto": adaptive if it can.
    step
        Longest step of the integration, s; None: 1 ms, or what meets the times t. Divided further
        where the loop is stiff.
    tolerance
        Relative and absolute, of the adaptive method.
    check
        Warn beforehand (`UnstableLoopWarning`) if the linearised loop is unstable.
    most_substeps
        Steps per sample beyond which the loop is refused as too stiff.
    signals
        Logged channels (N,) on t, by name, where effects need them; "enabled" also switches the
        drives.
    progress
        Called with the fraction done, 0 to 1; may return False to stop.
    """
    callback(progress)
    tolerance = real(tolerance, "tolerance", above=0.0)
    run = prepared(
        SimulationRequest(
            model, parameters, loop, t, q_ref, tau, friction, width, initial, step, most_substeps,
            signals,
        )
    )  # fmt: skip
    adaptive = _is_adaptive(method, run.plant.drive, run.plant.friction) and run.out.t.size > 1
    if check and loop is not None:
        _report_instability(model, parameters, loop, run.y[: model.robot.n])
    motion = run.adaptive(tolerance, progress) if adaptive else run.fixed(progress)
    return motion.with_signals(model, parameters, signals)


def _is_adaptive(method: str, drive: int, friction: int) -> bool:
    if method not in METHODS:
        raise InputError(f"Unknown method {method!r}; {nearest(str(method), METHODS)}")
    smooth = friction == SMOOTH and drive in (CONTINUOUS, OPEN)
    if method == "adaptive" and not smooth:
        raise InputError(
            'method="adaptive" needs friction="smooth" and a continuous law (rate=None) or open '
            "loop."
        )
    return method != "fixed" and smooth


def _report_instability(
    model: TorqueModel, parameters: ArrayLike, loop: Controller, q: Array
) -> None:
    linear = linearise(model, parameters, loop, q)
    if linear is not None and not linear.stable:
        name = model.robot.joint_names[linear.worst_joint]
        measure = (
            f"spectral radius {linear.spectral_radius:.3g} per sample"
            if linear.sampled
            else (f"a pole at {linear.eigenvalues.real.max():.3g} 1/s")
        )
        warnings.warn(
            f"The assumed loop is unstable: {measure}, mostly joint "
            f"{linear.worst_joint + 1} ({name}). "
            "Lower its gains, or check drive gain, rate and delay.",
            UnstableLoopWarning,
            stacklevel=3,
        )
