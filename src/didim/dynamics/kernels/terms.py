"""Terms: the torques of effects that are given as expressions, such as Stribeck friction, springs
and ripple.

A term is a function s of the coordinate of its effect x = w q (a joint's own position, or a
weighted sum of several), of its velocity v = w dq, of the load of the joint and of logged channels.
It adds w s phi to the torque, where phi is its parameter. A term that belongs to a contact is a
part of the contact's limit instead: forward s(slip = 1) phi, backward -s(slip = -1) phi.

The load of a joint is its torque without its own friction and offset: what inertia, gravity,
springs and couplings need. With rest = tau - own friction, a contact that slides obeys

    load = rest - f,   f = side L(load),   side = 1 forward, -1 backward,

one equation for each joint, whatever the others do: friction that grows with load needs no
iteration over the robot.

The expressions run as one tape over registers, see `didim.expressions`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from didim.dynamics.kernels.vectors import row_times
from didim.expressions.kernels.tape import compute
from didim.jit.compiled import entry, kernel, shared
from didim.jit.struct_pointers import struct_reader
from didim.jit.types import float64, int64, record_type, void

CONTACT, CONSERVATIVE, X, V = range(4)
"""Columns of `Terms.table`: the contact of a term, or -1; whether it counts as load; the registers
of its coordinate and velocity.
"""
FORWARD, BY_X, BY_V, BY_LOAD = range(4, 8)
"""Registers of s, of the forward limit for a contact, and of its derivatives."""
BACKWARD = 8
"""Registers of the backward limit and of its derivatives, in the same order; for a contact only."""
WIDTH = 12

MAX_NEWTON_STEPS = 30
LOAD_TOLERANCE = 1e-14


class Terms(NamedTuple):
    """K terms, their tape and its registers. The registers are written to: one copy per thread."""

    code: Any  # (I, 4) int64 instructions of the tape
    first: int  # instructions that the values need; the others are for derivatives
    values_address: int  # machine code of the first instructions, 0: none
    all_address: int  # machine code of all of them
    table: Any  # (K, WIDTH) int64
    weight: Any  # (K, n) w
    only: Any  # (K,) int64 the one joint of w, -1: several
    load: Any  # (n,) int64 register of each joint's load, -1: no term needs it
    loaded: int  # whether any term needs a load
    channel: Any  # (k,) int64 register of each logged channel
    shape: Any  # (T, K, 2) int64 registers of the derivatives by shapes, forward and backward
    own: Any  # (e,) int64 whether an entry of the regressor is no load of its joint
    rest: Any  # (n,) scratch: torque without the joints' own friction
    registers: Any  # (R,)


_vector, _matrix, _cube = float64[::1], float64[:, ::1], float64[:, :, ::1]
terms_type = record_type(
    Terms,
    int64[:, ::1],
    *[int64] * 3,
    int64[:, ::1],
    _matrix,
    int64[::1],
    int64[::1],
    int64,
    int64[::1],
    int64[:, :, ::1],
    int64[::1],
    _vector,
    _vector,
)


read_terms = struct_reader(terms_type)
"""The terms at an address: robots hand it on as one number, 0 where they have none, so that they
cost nothing.
"""


@kernel
def run_terms(terms: Terms, more: bool) -> None:
    """Run the tape with the coordinates, loads and channels that its registers hold; `more`: with
    derivatives.
    """
    address = terms.all_address if more else terms.values_address
    last = terms.code.shape[0] if more else terms.first
    compute(address, terms.code, terms.registers, last)


@kernel
def evaluate_terms(terms: Terms, q: Any, dq: Any, more: bool) -> None:
    """All terms at q, dq (n,), into the registers."""
    for k in range(terms.table.shape[0]):
        terms.registers[terms.table[k, X]] = row_times(terms.weight, k, terms.only[k], q)
        terms.registers[terms.table[k, V]] = row_times(terms.weight, k, terms.only[k], dq)
    run_terms(terms, more)


@shared
def set_channels(address: int, channels: Any) -> None:
    """The logged channels (k,) of this instant."""
    terms = read_terms(address)
    for i in range(terms.channel.size):
        terms.registers[terms.channel[i]] = channels[i]


@shared
def set_signals(address: int, load: Any, channels: Any) -> None:
    """Loads (n,), or (0,), and logged channels (k,) of one sample."""
    terms = read_terms(address)
    for j in range(load.size):
        set_load(terms, j, load[j])
    for i in range(terms.channel.size):
        terms.registers[terms.channel[i]] = channels[i]


@shared
def get_loads(address: int, load: Any) -> None:
    """The loads that the registers hold, into load (n,), or (0,); 0 where no term needs it."""
    terms = read_terms(address)
    for j in range(load.size):
        load[j] = terms.registers[terms.load[j]] if terms.load[j] >= 0 else 0.0


@shared
def fill_terms(address: int, q: Any, dq: Any, slip: Any, sources: Any, first: int) -> None:
    """All terms at q, dq (n,) and slip (c,), into sources from index `first`."""
    terms = read_terms(address)
    evaluate_terms(terms, q, dq, False)
    for k in range(terms.table.shape[0]):
        sources[first + k] = value_of(terms, k, FORWARD, slip)


@shared
def add_to_bias(address: int, phi: Any, q: Any, dq: Any, bias: Any) -> None:
    """Evaluate all terms at q, dq (n,), and add those that belong to no contact to bias (n,)."""
    terms = read_terms(address)
    evaluate_terms(terms, q, dq, False)
    add_smooth_terms(terms, phi, bias)


@kernel
def set_load(terms: Terms, j: int, load: float) -> None:
    """The load of joint j, where a term needs it."""
    if terms.load[j] >= 0:
        terms.registers[terms.load[j]] = load


@kernel
def at_slip(terms: Terms, k: int, forward: int, slip: float) -> float:
    """What term k, or its derivative in column `forward`, is at the slip of its contact."""
    ahead, back = terms.table[k, forward], terms.table[k, forward + BACKWARD - FORWARD]
    return float(terms.registers[ahead] * max(slip, 0.0) + terms.registers[back] * min(slip, 0.0))


@kernel
def value_of(terms: Terms, k: int, forward: int, slip: Any) -> float:
    """Term k, or its derivative in column `forward`, at the slips (c,) of the contacts."""
    c = terms.table[k, CONTACT]
    if c >= 0:
        return at_slip(terms, k, forward, slip[c])
    return float(terms.registers[terms.table[k, forward]])


@kernel
def add_term(terms: Terms, k: int, torque: float, tau: Any) -> None:
    """Add the torque of term k to tau (n,): w times it."""
    j = terms.only[k]
    if j >= 0:
        tau[j] += terms.weight[k, j] * torque
    else:
        for i in range(tau.size):
            tau[i] += terms.weight[k, i] * torque


@kernel
def add_smooth_terms(terms: Terms, phi: Any, tau: Any) -> None:
    """Add the terms that belong to no contact."""
    for k in range(terms.table.shape[0]):
        if terms.table[k, CONTACT] < 0:
            add_term(terms, k, phi[k] * terms.registers[terms.table[k, FORWARD]], tau)


@kernel
def add_contact_terms(terms: Terms, phi: Any, slip: Any, tau: Any) -> None:
    """Add the terms that belong to contacts, at their slips (c,)."""
    for k in range(terms.table.shape[0]):
        if terms.table[k, CONTACT] >= 0:
            torque = phi[k] * at_slip(terms, k, FORWARD, slip[terms.table[k, CONTACT]])
            add_term(terms, k, torque, tau)


@kernel
def contact_sum(terms: Terms, phi: Any, c: int, forward: int, side: float) -> float:
    """Sum of phi s, or of phi times a derivative of s, over the terms of contact c on one side."""
    total = 0.0
    for k in range(terms.table.shape[0]):
        if terms.table[k, CONTACT] == c:
            total += (
                phi[k]
                * terms.registers[terms.table[k, forward + (BACKWARD - FORWARD) * (side < 0.0)]]
            )
    return total


@shared
def solve_loads(
    terms: Terms, phi: Any, limit: Any, only: Any, side: Any, rest: Any, force: Any
) -> None:
    """force (c,) = side L(load) of all contacts, with load + force = rest at each joint that needs
    its load; Newton's method, joint by joint.

    `limit` (c,) is the constant part of L on that side, `side` (c,) from -1 to 1.
    """
    c = force.size
    for j in range(rest.size):
        set_load(terms, j, rest[j])
    for step in range(MAX_NEWTON_STEPS):
        if step > 0 or terms.loaded:
            run_terms(terms, False)
        worst = 0.0
        for i in range(c):
            force[i] = side[i] * (limit[i] + contact_sum(terms, phi, i, FORWARD, side[i]))
            j = only[i]
            if terms.loaded and j >= 0 and terms.load[j] >= 0:
                load = terms.registers[terms.load[j]]
                error = load + force[i] - rest[j]
                slope = 1.0 + side[i] * contact_sum(terms, phi, i, BY_LOAD, side[i])
                set_load(terms, j, load - error / slope)
                scale = abs(rest[j]) + abs(force[i])
                worst = max(worst, abs(error) - LOAD_TOLERANCE * scale)
        if worst <= 0.0:
            break


@kernel
def add_shapes(terms: Terms, phi: Any, slip: Any, share: Any, filled: int, W: Any) -> None:
    """Add the columns of the shapes, the parameters that enter terms nonlinearly, to the last of
    the `filled` columns of W; slip (c,) is 0 where a contact is held.
    """
    first = filled - terms.shape.shape[0]
    for t in range(terms.shape.shape[0]):
        for k in range(terms.table.shape[0]):
            ahead, back, c = terms.shape[t, k, 0], terms.shape[t, k, 1], terms.table[k, CONTACT]
            if ahead >= 0:
                change = terms.registers[ahead]
                if c >= 0:
                    change = change * max(slip[c], 0.0) + terms.registers[back] * min(slip[c], 0.0)
                for i in range(W.shape[0]):
                    reaches = 1.0 if terms.table[k, CONSERVATIVE] else share[i]
                    W[i, first + t] += reaches * terms.weight[k, i] * phi[k] * change


@entry(void(terms_type, _vector, *[_matrix] * 5, _vector, _cube, _matrix))
def term_slopes_batch(
    terms: Terms,
    phi: Any,
    q: Any,
    dq: Any,
    slip: Any,
    load: Any,
    channels: Any,
    share: Any,
    by_shape: Any,
    by_load: Any,
) -> None:
    """How the torque of terms with parameters phi (K,) changes with the shapes, by_shape (N, n, T),
    and with the load of each joint, by_load (N, n), over the rows of a motion; share (n,) is ones.
    """
    for t in range(q.shape[0]):
        for j in range(load.shape[1]):
            set_load(terms, j, load[t, j])
        for i in range(terms.channel.size):
            terms.registers[terms.channel[i]] = channels[t, i]
        evaluate_terms(terms, q[t], dq[t], True)
        for j in range(q.shape[1]):
            by_load[t, j] = 0.0
            for s in range(by_shape.shape[2]):
                by_shape[t, j, s] = 0.0
        add_shapes(terms, phi, slip[t], share, by_shape.shape[2], by_shape[t])
        for k in range(phi.size):
            c, j = terms.table[k, CONTACT], terms.only[k]
            if c >= 0 and j >= 0:
                by_load[t, j] += phi[k] * at_slip(terms, k, BY_LOAD, slip[t, c])
