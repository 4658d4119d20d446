"""From the arguments of a simulation to a run that is ready: reference or torque, initial state,
friction, clock and step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.kernels.law import COMPUTED_TORQUE, NO_VELOCITY, Law
from didim.control.law import Controller
from didim.control.tuning import largest_inertias
from didim.dynamics.torque import Signals, TorqueModel
from didim.errors import InputError, nearest
from didim.signals.kernels.piecewise_cubic import TIME_TOLERANCE
from didim.signals.reference import Reference
from didim.signals.trajectory import Trajectory
from didim.simulation.instant_code import pointer_table, run_code
from didim.simulation.kernels.contact import EXACT, SMOOTH
from didim.simulation.kernels.plant import CONTINUOUS, HELD
from didim.simulation.run import Run, new_output
from didim.simulation.setup import (
    channels_of,
    drive_of,
    law_of,
    make_plant,
    memory_of,
    trajectory_of,
)
from didim.simulation.steps import LONGEST_STEP, clock_of, fastest_rate, on_clock, substeps_for
from didim.validation import instants, per_joint, real

Array = NDArray[np.float64]

FRICTIONS = {"exact": EXACT, "smooth": SMOOTH}


@dataclass(frozen=True, eq=False)
class SimulationRequest:
    """The arguments of one simulation; see `didim.simulate`."""

    model: TorqueModel
    parameters: ArrayLike
    loop: Controller | None
    t: ArrayLike
    q_ref: ArrayLike | Trajectory | None
    tau: ArrayLike | Trajectory | None
    friction: str
    width: float
    initial: tuple[ArrayLike, ArrayLike] | str | None
    step: float | None
    most_substeps: int
    signals: Signals | None = None


def prepared(request: SimulationRequest) -> Run:
    """The run, before its first step."""
    model, loop = request.model, request.loop
    if not isinstance(model, TorqueModel):
        raise InputError(
            f"model must be a didim.DynamicModel or its base, found {type(model).__name__}."
        )
    given, n = instants(request.t, "t", least=1).copy(), model.robot.n
    longest = (
        LONGEST_STEP if request.step is None else real(request.step, "step", above=TIME_TOLERANCE)
    )
    origin, time = float(given[0]), given - given[0]
    trajectory = _trajectory(model, loop, time, origin, request.q_ref, request.tau)
    kind = _friction(request.friction, request.width)
    values = model.values(request.parameters)
    refuse_self_locking(request)
    needs_inertia = loop is not None and loop.by_poles and loop.inertia is None
    inertia = (
        np.maximum(largest_inertias(model, request.parameters), 1e-12)
        if needs_inertia
        else np.ones(n)
    )
    law = law_of(loop, model, inertia)._replace(origin=origin)
    started = _start(model, loop, law, trajectory, request.initial)
    period = clock_of(loop, time, None if request.step is None else longest)
    probe = (
        trajectory.sample(np.linspace(0.0, time[-1], 17))[0]
        if loop is not None
        else np.atleast_2d(started[0])
    )
    own = _own_inertia(loop, law, probe)
    channels = channels_of(model, loop, time, request.signals)
    fastest = fastest_rate(
        model, request.parameters, values, law, drive_of(loop), kind, request.width, probe, own,
        request.signals,
    )  # fmt: skip
    code = run_code(model, law, drive_of(loop), kind)
    memory = memory_of(model, loop)
    plant = make_plant(
        model,
        values,
        code,
        loop,
        law,
        trajectory.piecewise_cubic(0.0, period, period),
        (channels or trajectory).piecewise_cubic(0.0, period, period),
        memory,
        kind,
        request.width,
    )
    table = pointer_table(plant)
    plant = plant._replace(code=plant.code._replace(instant_table=table.ctypes.data))
    out = new_output(
        on_clock(time, 0.0, period) if plant.drive == HELD else time, n, len(model.contacts)
    )
    y = np.zeros(4 * n)
    y[:n], y[n : 2 * n] = started
    size = 4 * n if plant.drive == CONTINUOUS and (law.ki.any() or law.kiv.any()) else 2 * n
    substeps = substeps_for(period, fastest, longest, request.most_substeps)
    kept = code, memory, table
    return Run(model, plant, kept, trajectory, channels, given, out, y, period, substeps, size)


def refuse_self_locking(request: SimulationRequest) -> None:
    """Friction that grows as fast as the load, or faster, has no solution in one direction; at the
    extremes of the logged channels.
    """
    model = request.model
    if not model.loaded:
        return
    n, c = model.robot.n, len(model.contacts)
    side, way, end = np.array(list(product((1.0, -1.0), repeat=3))).T[:, :, None]
    rest, slip = np.zeros((8, n)), np.repeat(side, c, axis=1)
    logged = {
        name: np.where(end[:, 0] > 0, np.max(signal), np.min(signal))
        for name, signal in (request.signals or {}).items()
        if name in model.channels
    }
    at = model.no_signals(8) | {"load": np.repeat(way, n, axis=1)} | logged
    growth = np.abs(model.slopes(rest, rest, rest, request.parameters, slip, at)[1]).max(axis=0)
    if growth.max() >= 1.0:
        j = int(growth.argmax())
        raise InputError(
            f"The friction of joint {j + 1} ({model.robot.joint_names[j]}) grows by "
            f"{growth[j]:.3g} N.m for each N.m of load: such a joint locks itself and cannot be "
            "simulated; mu must stay below 1."
        )


def _trajectory(
    model: TorqueModel,
    loop: Controller | None,
    t: Array,
    origin: float,
    q_ref: ArrayLike | Trajectory | None,
    tau: ArrayLike | Trajectory | None,
) -> Trajectory:
    """The reference, or in open loop the torque, on the clock of t, which counts from the
    origin.
    """
    q_ref, tau = (
        value.shifted(origin) if isinstance(value, Trajectory) else value for value in (q_ref, tau)
    )
    if loop is None:
        if q_ref is not None:
            raise InputError(
                "In open loop (loop=None) there is no reference: give tau instead of q_ref."
            )
        return trajectory_of(tau, t, model.robot.n, "cubic", "tau")
    if not isinstance(loop, Controller):
        raise InputError(
            "loop must be a controller such as didim.PD, or None for open loop; found "
            f"{type(loop).__name__}."
        )
    if tau is not None:
        raise InputError(
            "The torque follows from the loop: give tau only in open loop (loop=None)."
        )
    trajectory = trajectory_of(
        q_ref, t, model.robot.n, "cubic" if loop.rate is None else "held", "q_ref"
    )
    if (
        loop.rate is not None
        and isinstance(trajectory, Reference)
        and trajectory.interpolation == "held"
    ):
        return replace(trajectory, t=on_clock(trajectory.t, 0.0, 1.0 / loop.rate))
    return trajectory


def _start(
    model: TorqueModel,
    loop: Controller | None,
    law: Law,
    trajectory: Trajectory,
    initial: tuple[ArrayLike, ArrayLike] | str | None,
) -> tuple[Array, Array]:
    """q and dq (n,) at the first time."""
    n = model.robot.n
    if isinstance(initial, str) and initial == "tracking" and loop is not None:
        return _tracking(law, trajectory)
    if initial is not None:
        pair = None if isinstance(initial, str) else initial
        try:
            q, dq = pair  # type: ignore[misc]
        except (TypeError, ValueError):
            raise InputError(
                'initial must be a pair, positions and velocities (n,) at t[0], or "tracking".'
            ) from None
        return per_joint(q, "initial q", n), per_joint(dq, "initial dq", n)
    if loop is None:
        return np.zeros(n), np.zeros(n)
    q_start, dq_start, _ = trajectory.sample([0.0])
    if (
        isinstance(trajectory, Reference)
        and trajectory.interpolation == "held"
        and trajectory.dq_ref is None
    ):
        time, table = trajectory.t, trajectory.q_ref
        at = min(
            max(int(np.searchsorted(time, TIME_TOLERANCE, side="right")) - 1, 0), time.size - 2
        )
        return q_start[0], (table[at + 1] - table[at]) / (time[at + 1] - time[at])
    return q_start[0], dq_start[0]


def _tracking(law: Law, trajectory: Trajectory) -> tuple[Array, Array]:
    """The state of a loop that has been following all along: s = 0, so that it lags by (1 - ff)
    dq_r / kp.
    """
    h = law.period or LONGEST_STEP
    q, after, later = trajectory.sample([0.0, h, 2 * h])[0]
    dq, ddq = (after - q) / h, (later - 2 * after + q) / h**2
    lag = lag_of(law)
    return q - lag * dq, dq - lag * ddq


def lag_of(law: Law) -> Array:
    """(n,) s by which a loop that has been following all along is behind its reference; 0 where
    integral action removes it.
    """
    damps = law.kind != COMPUTED_TORQUE and law.velocity != NO_VELOCITY
    follows = (law.kp > 0) & (law.ki == 0) & damps
    return np.where(follows, (1.0 - law.ff) / np.where(law.kp > 0, law.kp, 1.0), 0.0)


def lag_without_integrals(model: TorqueModel, controller: Controller) -> Array:
    """(n,) s, (1 - ff) / kp where there is integral action, which hides it from slow motion; 0
    where there is none.
    """
    law = controller.resolve(model, np.ones(model.robot.n))
    hides = (law.kp > 0) & ((law.ki != 0) | (law.kiv != 0))
    return np.where(hides, (1.0 - law.ff) / np.where(law.kp > 0, law.kp, 1.0), 0.0)


def loop_lag(
    model: TorqueModel, parameters: ArrayLike | None, controller: Controller, omega: float = 0.0
) -> Array:
    """(n,) s by which the loop is behind its reference at the angular frequency omega, rad/s; 0: on
    a ramp.

    Joint by joint, J ddq + Fv dq = g v with v = C(s) (kp e + ff dq_r - dq) + ki e/s and C = kv +
    kiv/s: the phase of q/q_r over omega. On a ramp, without integrals, that is ((1 - ff) + Fv / (g
    kv)) / kp. Without parameters, (1 - ff) / kp or 0.
    """
    n = model.robot.n
    if parameters is None or not np.isfinite(parameters).all():
        return lag_of(controller.resolve(model, np.ones(n)))
    J = np.maximum(largest_inertias(model, parameters), 1e-12)
    law = controller.resolve(model, J)
    if law.kind == COMPUTED_TORQUE:
        return np.zeros(n)
    slow = 1e-3 * float(np.min(law.kp[law.kp > 0], initial=1.0))
    s = 1j * max(omega, slow)
    g, viscous = (
        np.abs(np.diag(law.gain)),
        np.maximum(np.diag(model.values(parameters).viscous), 0.0),
    )
    C = law.kv + law.kiv / s
    forward = g * (C * (law.kp + law.ff * s) + law.ki / s)
    seen = 0.0 if law.velocity == NO_VELOCITY else s
    closed = forward / (J * s**2 + viscous * s + g * (C * (law.kp + seen) + law.ki / s))
    return np.where(law.kp > 0, -np.angle(closed) / s.imag, 0.0)


def _own_inertia(loop: Controller | None, law: Law, q: Array) -> Array | None:
    """Inertia matrices (K, n, n) of the model that computed torque multiplies its gains with; None
    for other laws.
    """
    if loop is None or loop.model is None or law.kind != COMPUTED_TORQUE:
        return None
    return loop.model.inertia_matrix(
        q, loop.model.nominal if loop.parameters is None else loop.parameters
    )


def _friction(friction: str, width: float) -> int:
    if not isinstance(friction, str) or friction not in FRICTIONS:
        raise InputError(f"Unknown friction {friction!r}; {nearest(str(friction), FRICTIONS)}")
    real(width, "width", above=0.0)
    return FRICTIONS[friction]
