"""The robot in its loop at one instant: what drives it, and how its state changes.

The state y is q, dq and, for a continuous law, the integrals of e and s. What drives the robot is a
command that is held between the samples of the controller (HELD), a law that acts at every instant
(CONTINUOUS), or a given torque (OPEN).

Rates and samples are compiled apart from the loops in time that call them, and apart from both what
few runs need: the loops stay small, and who does not need it does not wait for it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from didim.control.kernels.law import (
    Law,
    add_model,
    continuous_command,
    controller_state_type,
    law_type,
    sampled_command,
)
from didim.dynamics.kernels.direct import factored_by_code, factored_by_recursion
from didim.dynamics.kernels.elementary import tanhs
from didim.dynamics.kernels.inverse import contact_speed
from didim.dynamics.kernels.terms import add_to_bias, set_channels
from didim.dynamics.kernels.tree import plain, tree_type, values_type, work_type
from didim.dynamics.kernels.vectors import row_times
from didim.jit.compiled import by_address, kernel, shared
from didim.jit.function_pointers import array_at, call_int64
from didim.jit.struct_pointers import struct_reader
from didim.jit.types import double_pointer, float64, int64, record_type, void
from didim.signals.kernels.piecewise_cubic import PiecewiseCubic, find, piecewise_cubic_type, read
from didim.simulation.kernels.contact import (
    SMOOTH,
    SMOOTH_UNDER_LOAD,
    TERMS_AND_LIMITS,
    accelerate,
    code_type,
    contact_workspace_type,
    stick,
)
from didim.simulation.kernels.contact_terms import (
    add_term_limits,
    limits_under_load,
    slip_under_load,
)

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
    code: Any  # addresses of code that is compiled apart
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
    code_type,
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


class Loop(NamedTuple):
    """The fields of a `Plant` that a loop in time reads."""

    values: Any
    code: Any
    contacts: Any
    drive: int
    friction: int
    instant: Any
    stage: Any


read_loop = struct_reader(
    plant_type,
    record_type(
        Loop,
        values_type,
        code_type,
        contact_workspace_type,
        int64,
        int64,
        instant_type,
        float64[:, ::1],
    ),
)


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


@by_address(void(int64))
def own_model(plant_address: int) -> None:
    """What the controller's own model adds to the control signal."""
    plant = read_plant(plant_address)
    add_model(
        plant.law, plant.own_tree, plant.own, plant.controller_state, plant.work, plant.instant.v
    )


@by_address(int64(int64, double_pointer, double_pointer))
def recursion(plant_address: int, q: Any, dq: Any) -> int:
    """Inertia matrix, factored, and forces of a robot without machine code of its own."""
    plant = read_plant(plant_address)
    n = plant.instant.tau.size
    return factored_by_recursion(
        plant.tree, plant.values, array_at(q, n), array_at(dq, n), plant.work
    )


@by_address(int64(int64, int64, double_pointer, double_pointer))
def terms(plant_address: int, purpose: int, q: Any, dq: Any) -> int:
    """What effects by expressions do at one instant: their torque and the limits of the contacts,
    then, under a load, smooth friction or the slip of contacts at rest. Returns 0.
    """
    plant = read_plant(plant_address)
    values, contacts, instant = plant.values, plant.contacts, plant.instant
    n, address = instant.tau.size, plant.tree.terms
    if purpose == TERMS_AND_LIMITS:
        add_to_bias(address, values.term, array_at(q, n), array_at(dq, n), plant.work.bias)
        add_term_limits(address, values, array_at(dq, n), instant.tau, contacts)
    elif purpose == SMOOTH_UNDER_LOAD:
        limits_under_load(address, values, contacts, instant.slip)
    else:
        slip_under_load(address, values, contacts, instant.slip)
    return 0


@by_address(void(int64, float64, double_pointer))
def sample(plant_address: int, t: float, state: Any) -> None:
    """The torque that a sampled controller applies from time t on, into the instant."""
    plant = read_plant(plant_address)
    n = plant.instant.tau.size
    y = array_at(state, 2 * n)
    read_reference(
        plant.reference, plant.cursor, t, plant.law.reads, plant.controller_state.reference
    )
    if plant.instant.channels.size > 0:
        read_channels(plant_address, t)
    sampled_command(
        plant.law,
        plant.controller_state,
        t,
        y[:n],
        y[n:],
        plant.code.model,
        plant_address,
        plant.instant.v,
    )
    apply(plant.law, plant.instant, plant.enabled)


@by_address(int64(int64, float64, double_pointer, float64, double_pointer))
def rates(plant_address: int, t: float, state: Any, h: float, slopes: Any) -> int:
    """dy/dt of the state y (4 n,) into `slopes`, with torque, acceleration and slip left in the
    plant at `plant_address`; the status of the instant.

    Implements (22).
    """
    plant = read_plant(plant_address)
    instant, controller_state = plant.instant, plant.controller_state
    n = instant.tau.size
    y, rate = array_at(state, 4 * n), array_at(slopes, 4 * n)
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
            plant.law, controller_state, t, q, dq, plant.code.model, plant_address, instant.v
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
        plant.code,
        plant_address,
        q,
        dq,
        instant.tau,
        friction,
        h,
        width,
        plant.work,
        plant.contacts,
        instant.ddq,
        instant.slip,
    )
    for j in range(n):
        rate[j] = dq[j]
        rate[n + j] = instant.ddq[j]
    return status if status != OK else too_large(instant.ddq)


@by_address(int64(int64, float64, double_pointer, float64, double_pointer))
def rates_by_code(plant_address: int, t: float, state: Any, h: float, slopes: Any) -> int:
    """`rates` by the machine code of the robot and of the instant (`instant_code.py`). Contacts
    that come to rest are held here; instants that are out of the ordinary are left to `rates`.

    Implements (22).
    """
    plant = read_plant(plant_address)
    values, work, instant, contacts = plant.values, plant.work, plant.instant, plant.contacts
    n = instant.tau.size
    y, rate = array_at(state, 4 * n), array_at(slopes, 4 * n)
    i, u = 0, 0.0
    if plant.drive == CONTINUOUS:
        time = plant.reference.time
        i = find(time, t, plant.cursor[0])
        plant.cursor[0] = i
        u = min(max(t, time[0]), time[time.size - 1]) - time[i]
    if plant.friction == SMOOTH:
        per_width = 1.0 / plant.width
        for c in range(instant.slip.size):
            contacts.smooth[c] = contact_speed(values, c, y[n : 2 * n]) * per_width
        tanhs(contacts.smooth)
    contacts.count[0] = 0
    failed = factored_by_code(
        plain(plant.tree), values, plant.code.robot, y[:n], y[n : 2 * n], work
    )
    found = call_int64(
        plant.code.instant,
        (
            *(plant.code.instant_table, y, rate),
            *(plant.reference.value[i], plant.reference.rate[i], h, u),
        ),
    )
    if failed < 0 and found < 0:
        return OK
    if failed >= 0 or found < plant.code.ordinary:
        return call_int64(plant.code.all_rates, (plant_address, t, state, h, slopes))
    stick(values, h, work, contacts, instant.ddq, instant.slip)
    for j in range(n):
        rate[n + j] = instant.ddq[j]
    return too_large(instant.ddq)
