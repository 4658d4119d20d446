"""The robot in its loop at one instant: what drives it, and how its state changes.

The state y is q, dq and, for a continuous law, the integrals of e and s. What drives the robot is a
command that is held between the samples of the controller (HELD), a law that acts at every instant
(CONTINUOUS), or a given torque (OPEN).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import float64, int64

from didim.control.kernels.law import Law, continuous_command, desk_type, law_type
from didim.dynamics.kernels.tree import tree_type, values_type, work_type
from didim.dynamics.kernels.vectors import row_times
from didim.jit.compiled import kernel, record_type, shared
from didim.jit.struct_pointers import borrower
from didim.signals.kernels.piecewise_cubic import PiecewiseCubic, find, piecewise_cubic_type, read
from didim.simulation.kernels.contact import accelerate, touch_type

HELD, CONTINUOUS, OPEN = range(3)
COMPLETED, INFEASIBLE, DIVERGED = range(3)
RUNAWAY = 1e5
"""A velocity above this, in rad/s or m/s, is no motion of a machine."""
HUGE = 1e50
"""A torque or acceleration above this is none at all."""
FINE = -1
"""Status of an instant: FINE, a joint j (the inertia matrix fails there), or -2 - j (its motion or
torque runs away).
"""


class Now(NamedTuple):
    """What drives the robot at this instant and what it does."""

    v: Any  # (n,) control signal
    tau: Any  # (n,) torque
    ddq: Any  # (n,) acceleration
    slip: Any  # (c,)


class Plant(NamedTuple):
    """Everything that one run needs; the arrays of `desk`, `work`, `touch` and `now` are its
    own.
    """

    tree: Any
    values: Any  # the simulated parameters
    straight: int  # address of the robot's own machine code, 0: none
    own_tree: Any  # geometry and
    own: Any  # parameters of the controller's own model
    law: Any
    desk: Any
    asked: Any  # PiecewiseCubic of the reference, or of the torque in open loop
    cursor: Any  # (1,) int64 piece that was read last
    work: Any
    touch: Any
    drive: int
    friction: int
    width: float  # of smooth friction, rad/s or m/s
    now: Any
    stage: Any  # (10, 4 n) intermediate states and rates of the integrators


now_type = record_type(Now, *[float64[::1]] * 4)
plant_type = record_type(
    Plant,
    tree_type,
    values_type,
    int64,
    tree_type,
    values_type,
    law_type,
    desk_type,
    piecewise_cubic_type,
    int64[::1],
    work_type,
    touch_type,
    int64,
    int64,
    float64,
    now_type,
    float64[:, ::1],
)
borrow = borrower(plant_type)


@kernel
def ask(asked: PiecewiseCubic, cursor: Any, t: float, reads: int, reference: Any) -> None:
    """The reference at time t, into reference (3, n): as many of its rows as the law reads."""
    i = find(asked.time, t, cursor[0])
    cursor[0] = i
    read(asked.value, asked.time, i, t, reference[0])
    if reads > 1:
        read(asked.rate, asked.time, i, t, reference[1])
    if reads > 2:
        read(asked.acceleration, asked.time, i, t, reference[2])


@kernel
def apply(law: Law, v: Any, tau: Any) -> None:
    """tau = g v, eq. 8.

    Implements (54).
    """
    for j in range(tau.size):
        tau[j] = row_times(law.gain, j, -1 if law.coupled else j, v)


@kernel
def runaway(y: Any, n: int) -> int:
    """Status of the state y: whether a joint is no longer finite or moves absurdly fast."""
    for j in range(n):
        if not abs(y[n + j]) < RUNAWAY or not abs(y[j]) < RUNAWAY * RUNAWAY:
            return -2 - j
    return FINE


@kernel
def too_large(x: Any) -> int:
    """Status of torques or accelerations x (n,)."""
    for j in range(x.size):
        if not abs(x[j]) < HUGE:
            return -2 - j
    return FINE


@kernel
def told(status: int, trouble: Any) -> bool:
    """Write a status that is not FINE as COMPLETED, INFEASIBLE or DIVERGED and its joint; whether
    there is trouble.
    """
    if status == FINE:
        trouble[0], trouble[1] = COMPLETED, -1
    elif status >= 0:
        trouble[0], trouble[1] = INFEASIBLE, status
    else:
        trouble[0], trouble[1] = DIVERGED, -2 - status
    return status != FINE


@shared
def rates(lent: int, t: float, y: Any, h: float, rate: Any) -> int:
    """dy/dt into `rate`, with torque, acceleration and slip left in the plant, which is lent; the
    status of the instant.

    Implements (22).
    """
    plant = borrow(lent)
    now, desk, work = plant.now, plant.desk, plant.work
    n = now.tau.size
    q, dq = y[:n], y[n : 2 * n]
    status = runaway(y, n)
    if status != FINE:
        return status
    if plant.drive == CONTINUOUS:
        ask(plant.asked, plant.cursor, t, plant.law.reads, desk.reference)
        for j in range(n):
            desk.integral[0, j] = y[2 * n + j]
            desk.integral[1, j] = y[3 * n + j]
        continuous_command(plant.law, plant.own_tree, plant.own, desk, t, q, dq, work, now.v)
        apply(plant.law, now.v, now.tau)
        for j in range(n):
            rate[2 * n + j] = desk.error[0, j]
            rate[3 * n + j] = desk.error[1, j]
    elif plant.drive == OPEN:
        i = find(plant.asked.time, t, plant.cursor[0])
        plant.cursor[0] = i
        read(plant.asked.value, plant.asked.time, i, t, now.tau)
    friction, width = plant.friction, plant.width
    status = too_large(now.tau)
    if status != FINE:
        return status
    status = accelerate(
        plant.tree,
        plant.values,
        plant.straight,
        q,
        dq,
        now.tau,
        friction,
        h,
        width,
        work,
        plant.touch,
        now.ddq,
        now.slip,
    )
    for j in range(n):
        rate[j] = dq[j]
        rate[n + j] = now.ddq[j]
    return status if status != FINE else too_large(now.ddq)
