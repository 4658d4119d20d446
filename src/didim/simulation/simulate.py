"""`simulate`: the robot in its control loop, integrated in time (21)-(26), Figures 6 and 7."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.kernels.law import COMPUTED_TORQUE, Law
from didim.control.law import Controller
from didim.control.linear import linearise
from didim.control.tuning import largest_inertias
from didim.door import instants, per_joint, real
from didim.dynamics.torque import TorqueModel
from didim.errors import InputError, nearest, shortened
from didim.signals.kernels.pieces import TICK
from didim.signals.reference import Course, Reference
from didim.simulation.kernels.contact import EXACT, SMOOTH
from didim.simulation.kernels.plant import CONTINUOUS, HELD, OPEN
from didim.simulation.motion import Motion
from didim.simulation.run import Progress, Run, motion_of, new_output
from didim.simulation.setup import (
    LONGEST_STEP,
    MOST_SUBSTEPS,
    clock_of,
    course_of,
    drive_of,
    fastest_rate,
    law_of,
    make_plant,
    on_clock,
    substeps_for,
)

Array = NDArray[np.float64]

FRICTIONS = {"exact": EXACT, "smooth": SMOOTH}
METHODS = ("auto", "fixed", "adaptive")


class UnstableLoopWarning(UserWarning):
    """The assumed loop is unstable by itself."""


def simulate(
    model: TorqueModel,
    parameters: ArrayLike,
    loop: Controller | None,
    *,
    t: ArrayLike,
    q_ref: ArrayLike | Course | None = None,
    tau: ArrayLike | Course | None = None,
    friction: str = "exact",
    width: float = 0.05,
    initial: tuple[ArrayLike, ArrayLike] | str | None = None,
    method: str = "auto",
    step: float | None = None,
    tolerance: float = 1e-8,
    check: bool = True,
    most_substeps: int = MOST_SUBSTEPS,
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
        The reference: an array (N, n) on t (held for a sampled law, cubic for a continuous one), a `Reference` with its own
        clock, or a trajectory.
    tau
        In open loop, the joint torques: an array (N, n) on t (cubic), or a `Reference` whose positions are torques.
    friction
        "exact": Coulomb contacts that stick; "smooth": tanh(u / width).
    width
        Of smooth friction, rad/s or m/s.
    initial
        q and dq (n,) at t[0]; None: those of the reference (at rest at zero in open loop); "tracking": behind the reference
        by the lag of a loop that has been following it, for records that begin in motion.
    method
        "fixed" step, or "adaptive" with error control (continuous law or open loop, smooth friction); "auto": adaptive if
        it can.
    step
        Longest step of the integration, s; None: 1 ms, or what meets the times t. Divided further where the loop is stiff.
    tolerance
        Relative and absolute, of the adaptive method.
    check
        Warn beforehand (`UnstableLoopWarning`) if the linearised loop is unstable.
    most_substeps
        Steps per sample beyond which the loop is refused as too stiff.
    progress
        Called with the share done, 0 to 1; may return False to stop.
    """
    if not isinstance(model, TorqueModel):
        raise InputError(f"model must be a didim.DynamicModel or its base, found {type(model).__name__}.")
    if progress is not None and not callable(progress):
        raise InputError(f"progress must be a function of the share done, found {shortened(progress)}.")
    given, n = instants(t, "t", least=1).copy(), model.robot.n
    tolerance = real(tolerance, "tolerance", above=0.0)
    longest = LONGEST_STEP if step is None else real(step, "step", above=TICK)
    origin, time = float(given[0]), given - given[0]
    course = _asked(model, loop, time, origin, q_ref, tau)
    kind = _friction(friction, width)
    adaptive = _is_adaptive(method, drive_of(loop), kind) and time.size > 1
    values = model.values(parameters)
    needs_inertia = loop is not None and loop.by_poles and loop.inertia is None
    inertia = np.maximum(largest_inertias(model, parameters), 1e-12) if needs_inertia else np.ones(n)
    law = law_of(loop, model, inertia)._replace(origin=origin)
    started = _start(model, loop, law, course, initial)
    if check and loop is not None:
        _report_instability(model, parameters, loop, started[0])
    period = clock_of(loop, time, None if step is None else longest)
    probe = course.sample(np.linspace(0.0, time[-1], 17))[0] if loop is not None else np.atleast_2d(started[0])
    fastest = fastest_rate(model, parameters, values, law, drive_of(loop), kind, width, probe, _own_inertia(loop, law, probe))
    plant = make_plant(model, values, loop, law, course.pieces(0.0, period, period), kind, width)
    out = new_output(on_clock(time, 0.0, period) if plant.drive == HELD else time, n, len(model.contacts))
    y = np.zeros(4 * n)
    y[:n], y[n : 2 * n] = started
    size = 4 * n if plant.drive == CONTINUOUS else 2 * n
    run = Run(plant, course, origin, out, y, period, substeps_for(period, fastest, longest, most_substeps), size)
    rows, status, message = run.adaptive(tolerance, progress) if adaptive else run.fixed(progress)
    names = model.robot.joint_names
    return motion_of(given, out, rows, status, message.replace("{joint}", f"joint {run.joint + 1} ({names[run.joint]})"))


def _asked(
    model: TorqueModel,
    loop: Controller | None,
    t: Array,
    origin: float,
    q_ref: ArrayLike | Course | None,
    tau: ArrayLike | Course | None,
) -> Course:
    """The reference, or in open loop the torque, on the clock of t, which counts from the origin."""
    q_ref, tau = (value.shifted(origin) if isinstance(value, Course) else value for value in (q_ref, tau))
    if loop is None:
        if q_ref is not None:
            raise InputError("In open loop (loop=None) nothing follows a reference: give tau instead of q_ref.")
        return course_of(tau, t, model.robot.n, "cubic", "tau")
    if not isinstance(loop, Controller):
        raise InputError(f"loop must be a controller such as didim.PD, or None for open loop; found {type(loop).__name__}.")
    if tau is not None:
        raise InputError("The torque follows from the loop: give tau only in open loop (loop=None).")
    course = course_of(q_ref, t, model.robot.n, "cubic" if loop.rate is None else "held", "q_ref")
    if loop.rate is not None and isinstance(course, Reference) and course.interpolation == "held":
        return replace(course, t=on_clock(np.asarray(course.t), 0.0, 1.0 / loop.rate))
    return course


def _start(
    model: TorqueModel, loop: Controller | None, law: Law, course: Course, initial: tuple[ArrayLike, ArrayLike] | str | None
) -> tuple[Array, Array]:
    """q and dq (n,) at the first time."""
    n = model.robot.n
    if isinstance(initial, str) and initial == "tracking" and loop is not None:
        return _tracking(law, course)
    if initial is not None:
        pair = None if isinstance(initial, str) else initial
        try:
            q, dq = pair  # type: ignore[misc]
        except (TypeError, ValueError):
            raise InputError('initial must be a pair, positions and velocities (n,) at t[0], or "tracking".') from None
        return per_joint(q, "initial q", n), per_joint(dq, "initial dq", n)
    if loop is None:
        return np.zeros(n), np.zeros(n)
    q_start, dq_start, _ = course.sample([0.0])
    if isinstance(course, Reference) and course.interpolation == "held" and course.dq_ref is None:
        time, table = np.asarray(course.t), np.asarray(course.q_ref)
        at = min(max(int(np.searchsorted(time, TICK, side="right")) - 1, 0), time.size - 2)
        return q_start[0], (table[at + 1] - table[at]) / (time[at + 1] - time[at])
    return q_start[0], dq_start[0]


def _tracking(law: Law, course: Course) -> tuple[Array, Array]:
    """The state of a loop that has been following all along: s = 0, so that it lags by (1 - ff) dq_r / kp."""
    h = law.period or LONGEST_STEP
    q, after, later = course.sample([0.0, h, 2 * h])[0]
    dq, ddq = (after - q) / h, (later - 2 * after + q) / h**2
    follows = (law.kp > 0) & (law.ki == 0) & (law.kind != COMPUTED_TORQUE)
    lag = np.where(follows, (1.0 - law.ff) / np.where(law.kp > 0, law.kp, 1.0), 0.0)
    return q - lag * dq, dq - lag * ddq


def _own_inertia(loop: Controller | None, law: Law, q: Array) -> Array | None:
    """Inertia matrices (K, n, n) of the model that computed torque multiplies its gains with; None for other laws."""
    if loop is None or loop.model is None or law.kind != COMPUTED_TORQUE:
        return None
    return loop.model.inertia_matrix(q, loop.model.nominal if loop.parameters is None else loop.parameters)


def _friction(friction: str, width: float) -> int:
    if not isinstance(friction, str) or friction not in FRICTIONS:
        raise InputError(f"Unknown friction {friction!r}; {nearest(str(friction), FRICTIONS)}")
    real(width, "width", above=0.0)
    return FRICTIONS[friction]


def _is_adaptive(method: str, drive: int, friction: int) -> bool:
    if method not in METHODS:
        raise InputError(f"Unknown method {method!r}; {nearest(str(method), METHODS)}")
    smooth = friction == SMOOTH and drive in (CONTINUOUS, OPEN)
    if method == "adaptive" and not smooth:
        raise InputError('method="adaptive" needs friction="smooth" and a continuous law (rate=None) or open loop.')
    return method != "fixed" and smooth


def _report_instability(model: TorqueModel, parameters: ArrayLike, loop: Controller, q: Array) -> None:
    linear = linearise(model, parameters, loop, q)
    if linear is not None and not linear.stable:
        name = model.robot.joint_names[linear.worst_joint]
        measure = (
            f"spectral radius {linear.spectral_radius:.3g} per sample"
            if linear.sampled
            else (f"a pole at {linear.eigenvalues.real.max():.3g} 1/s")
        )
        warnings.warn(
            f"The assumed loop is unstable by itself: {measure}, mostly joint {linear.worst_joint + 1} ({name}). "
            "Lower its gains, or check drive gain, rate and delay.",
            UnstableLoopWarning,
            stacklevel=3,
        )
