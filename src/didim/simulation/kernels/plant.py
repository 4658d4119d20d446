"""The robot in its loop at one instant: what drives it, and how its state changes.

The state y is q, dq and, for a continuous law, the integrals of e and s. What drives the robot is a
command that is held between the samples of the controller (HELD), a law that acts at every instant
(CONTINUOUS), or a given torque (OPEN).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from didim.control.kernels.law import Law, continuous_command, controller_state_type, law_type
from didim.dynamics.kernels.terms import set_channels
from didim.dynamics.kernels.tree import tree_type, values_type, work_type
from didim.dynamics.kernels.vectors import row_times
from didim.jit.compiled import kernel, record_type, shared
from didim.jit.struct_pointers import struct_reader
from didim.jit.types import float64, int64
from didim.signals.kernels.piecewise_cubic import PiecewiseCubic, find, piecewise_cubic_type, read
from didim.simulation.kernels.contact import accelerate, contact_workspace_type

HELD, CONTINUOUS, OPEN = range(3)
COMPLETED, INFEASIBLE, DIVERGED = range(3)
RUNAWAY_SPEED = 1e5
"""rad/s or m/s: a velocity above this counts as divergence."""
LARGEST_TORQUE = 1e50
"""N.m or rad/s^2: a torque or acceleration above this counts as infinite."""
OK = -1
"""Status of an instant: OK, a joint j (the inertia matrix fails there), or -2 - j (its motion or
torque diverges).
"""


class Instant(NamedTuple):
    """Control signal, torque, acceleration and slip at one instant."""

    v: Any  # (n,) control signal
    tau: Any  # (n,) torque
    ddq: Any  # (n,) acceleration
    slip: Any  # (c,)
    channels: Any  # (k,) logged channels


class Plant(NamedTuple):
    """Everything that one run needs; the arrays of `controller_state`, `work`, `contacts` and
    `instant` belong to it alone.
    """

    tree: Any
    values: Any  # the simulated parameters
    code_address: int  # address of the robot's own machine code, 0: none
    own_tree: Any  # geometry and
    own: Any  # parameters of the controller's own model
    law: Any
    controller_state: Any
    reference: Any  # PiecewiseCubic of the reference, or of the torque in open loop
    channels: Any  # PiecewiseCubic of the logged channels: the robot's, then those of `own_tree`
    own_channel: int  # where the channels of the controller's own model begin
    enabled: int  # the channel that switches the drives on and off, -1: none
    cursor: Any  # (2,) int64 intervals of reference and channels that were read last
    work: Any
    contacts: Any
    drive: int
    friction: int
    width: float  # of smooth friction, rad/s or m/s
    instant: Any
    stage: Any  # (10, 4 n) intermediate states and rates of the integrators


instant_type = record_type(Instant, *[float64[::1]] * 5)
plant_type = record_type(
    Plant,
    tree_type,
    values_type,
    int64,
    tree_type,
    values_type,
    law_type,
    controller_state_type,
    piecewise_cubic_type,
    piecewise_cubic_type,
    int64,
    int64,
    int64[::1],
    work_type,
    contact_workspace_type,
    int64,
    int64,
    float64,
    instant_type,
    float64[:, ::1],
)
read_plant = struct_reader(plant_type)


@kernel
def read_reference(
    cubic: PiecewiseCubic, cursor: Any, t: float, reads: int, reference: Any
) -> None:
    """The reference at time t, into reference (3, n): as many of its rows as the law reads."""
    i = find(cubic.time, t, cursor[0])
    cursor[0] = i
    read(cubic.value, cubic.time, i, t, reference[0])
    if reads > 1:
        read(cubic.rate, cubic.time, i, t, reference[1])
    if reads > 2:
        read(cubic.acceleration, cubic.time, i, t, reference[2])


@shared
def read_channels(plant_address: int, t: float) -> None:
    """The logged channels at time t, into the instant and the registers of the terms: those of the
    robot, then those of the controller's own model.
    """
    plant = read_plant(plant_address)
    channels = plant.instant.channels
    i = find(plant.channels.time, t, plant.cursor[1])
    plant.cursor[1] = i
    read(plant.channels.value, plant.channels.time, i, t, channels)
    if plant.tree.terms != 0:
        set_channels(plant.tree.terms, channels)
    if plant.own_tree.terms != 0:
        set_channels(plant.own_tree.terms, channels[plant.own_channel :])


@kernel
def apply(law: Law, instant: Instant, enabled: int) -> None:
    """tau = g v, eq. 8, or nothing where the channel `enabled` says that the drives are off.

    Implements (54).
    """
    on = 1.0 if enabled < 0 else instant.channels[enabled]
    for j in range(instant.tau.size):
        torque = row_times(law.gain, j, -1 if law.coupled else j, instant.v)
        instant.tau[j] = on * torque


@kernel
def divergence(y: Any, n: int) -> int:
    """Status of the state y: whether a joint is no longer finite or moves absurdly fast."""
    for j in range(n):
        if not abs(y[n + j]) < RUNAWAY_SPEED or not abs(y[j]) < RUNAWAY_SPEED * RUNAWAY_SPEED:
            return -2 - j
    return OK


@kernel
def too_large(x: Any) -> int:
    """Status of torques or accelerations x (n,)."""
    for j in range(x.size):
        if not abs(x[j]) < LARGEST_TORQUE:
            return -2 - j
    return OK


@kernel
def write_status(status: int, trouble: Any) -> bool:
    """Write a status that is not OK as COMPLETED, INFEASIBLE or DIVERGED and its joint; returns
    whether the run must stop.
    """
    if status == OK:
        trouble[0], trouble[1] = COMPLETED, -1
    elif status >= 0:
        trouble[0], trouble[1] = INFEASIBLE, status
    else:
        trouble[0], trouble[1] = DIVERGED, -2 - status
    return status != OK


@shared
def rates(plant_address: int, t: float, y: Any, h: float, rate: Any) -> int:
    """dy/dt into `rate`, with torque, acceleration and slip left in the plant at
    `plant_address`; the status of the instant.

    Implements (22).
    """
    plant = read_plant(plant_address)
    instant, controller_state, work = plant.instant, plant.controller_state, plant.work
    n = instant.tau.size
    q, dq = y[:n], y[n : 2 * n]
    status = divergence(y, n)
    if status != OK:
        return status
    if instant.channels.size > 0:
        read_channels(plant_address, t)
    if plant.drive == CONTINUOUS:
        read_reference(
            plant.reference, plant.cursor, t, plant.law.reads, controller_state.reference
        )
        for j in range(n):
            controller_state.integral[0, j] = y[2 * n + j]
            controller_state.integral[1, j] = y[3 * n + j]
        continuous_command(
            plant.law, plant.own_tree, plant.own, controller_state, t, q, dq, work, instant.v
        )
        apply(plant.law, instant, plant.enabled)
        for j in range(n):
            rate[2 * n + j] = controller_state.error[0, j]
            rate[3 * n + j] = controller_state.error[1, j]
    elif plant.drive == OPEN:
        i = find(plant.reference.time, t, plant.cursor[0])
        plant.cursor[0] = i
        read(plant.reference.value, plant.reference.time, i, t, instant.tau)
    friction, width = plant.friction, plant.width
    status = too_large(instant.tau)
    if status != OK:
        return status
    status = accelerate(
        plant.tree,
        plant.values,
        plant.code_address,
        q,
        dq,
        instant.tau,
        friction,
        h,
        width,
        work,
        plant.contacts,
        instant.ddq,
        instant.slip,
    )
    for j in range(n):
        rate[j] = dq[j]
        rate[n + j] = instant.ddq[j]
    return status if status != OK else too_large(instant.ddq)
