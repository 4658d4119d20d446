"""Acceleration with Coulomb contacts that stick: the friction of the slow contacts is an unknown
within its limits.

A contact that keeps sliding over the step h has its full Coulomb torque against its velocity. One
that would reverse is slow (and holding it may slow others, so they are looked for until none is
added): its force f within [-Fc-, Fc+] is the one that brings its velocity to zero within the step,
or the nearest that it can give,

    u + h D ddq = 0,   ddq = M^-1 (tau - N - D' f),   u = D dq,

a box-constrained linear problem with the matrix A = D M^-1 D', solved by projected Gauss-Seidel. A
contact at rest whose force lies within its limits thus stays at rest exactly; the same f makes
`slip`, so that tau = W phi holds always (43).

The limits are those of this instant: what velocity, position or load make of them
(`contact_terms.py`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from didim.dynamics.kernels.direct import factored_by_code, solve
from didim.dynamics.kernels.elementary import tanhs
from didim.dynamics.kernels.inverse import add_contact, add_dissipation, contact_speed
from didim.dynamics.kernels.tree import Tree, Values, Work
from didim.jit.compiled import kernel, shared
from didim.jit.function_pointers import call_int64
from didim.jit.types import float64, int64, record_type

EXACT, SMOOTH = range(2)
FORTH, BACK = range(2)
"""Rows of the limits."""
MAX_SWEEPS = 200
FORCE_TOLERANCE = 1e-13
REST_SPEED = 1e-9
"""A contact slower than this, rad/s or m/s, is at rest."""


TERMS_AND_LIMITS, SMOOTH_UNDER_LOAD, REST_UNDER_LOAD = range(3)
"""What the code of the terms is called for, in this order."""


class Code(NamedTuple):
    """Addresses of code that is compiled apart, where it is needed; 0: it is not."""

    robot: int  # the robot's own machine code
    recursion: int  # in its place, the recursions that serve every robot
    terms: int  # of effects by expressions
    model: int  # of the controller's own model
    rates: int  # dy/dt
    sample: int  # a sample of the controller
    instant: int  # machine code of law, friction and acceleration, for most instants
    instant_table: int  # addresses of its arrays
    ordinary: int  # its conditions before those of contacts
    all_rates: int  # dy/dt at the others


class ContactWorkspace(NamedTuple):
    """Scratch memory of the contacts."""

    speed: Any  # (c,) u
    force: Any  # (c,) f
    slow: Any  # (c,) int64 indices of the slow contacts, as many as found
    column: Any  # (c, n) M^-1 D_i'
    A: Any  # (c, c)
    count: Any  # (1,) int64 how many are slow
    held: Any  # (c,) int64 whether the contact was held from the beginning of the step
    smooth: Any  # (padded c,) scratch of smooth friction
    limit: Any  # (2, c) limit of each contact at this instant, forward and backward


code_type = record_type(Code, *[int64] * 10)
contact_workspace_type = record_type(
    ContactWorkspace,
    float64[::1],
    float64[::1],
    int64[::1],
    float64[:, ::1],
    float64[:, ::1],
    int64[::1],
    int64[::1],
    float64[::1],
    float64[:, ::1],
)


@kernel
def slide(contacts: ContactWorkspace, i: int, u: float) -> float:
    """Force of contact i while it slides with velocity u."""
    return contacts.limit[FORTH, i] if u > 0.0 else (-contacts.limit[BACK, i] if u < 0.0 else 0.0)


@kernel
def can_stick(contacts: ContactWorkspace, i: int) -> bool:
    """A contact without limits, or with a negative one, always slides."""
    forward, backward = contacts.limit[FORTH, i], contacts.limit[BACK, i]
    return forward >= 0.0 and backward >= 0.0 and forward + backward > 0.0


@kernel
def find_slow(values: Values, h: float, known: int, contacts: ContactWorkspace, ddq: Any) -> int:
    """Add to the known slow contacts those that rest, or would reverse within h at the acceleration
    ddq; returns how many.
    """
    found = known
    for i in range(contacts.speed.size):
        u, new = contacts.speed[i], can_stick(contacts, i)
        for a in range(known):
            new = new and contacts.slow[a] != i
        if new and u * (u + h * contact_speed(values, i, ddq)) <= 0.0:
            contacts.slow[found] = i
            found += 1
    return found


@shared
def hold(
    values: Values, h: float, count: int, work: Work, contacts: ContactWorkspace, ddq: Any
) -> None:
    """Solve for the forces of the slow contacts, starting from sliding, and correct ddq for
    them.
    """
    n = ddq.size
    for a in range(count):
        i = contacts.slow[a]
        for j in range(n):
            contacts.column[i, j] = values.contact[i, j]
        solve_row(work.M, contacts.column, i)
        for j in range(n):
            ddq[j] += contacts.column[i, j] * contacts.force[i]
    for a in range(count):
        for b in range(count):
            i, k = contacts.slow[a], contacts.slow[b]
            contacts.A[i, k] = row_products(values.contact, i, contacts.column, k)
    for _ in range(MAX_SWEEPS):
        change = 0.0
        for a in range(count):
            i = contacts.slow[a]
            rest = contacts.speed[i] / h + contact_speed(values, i, ddq)
            for b in range(count):
                rest -= contacts.A[i, contacts.slow[b]] * contacts.force[contacts.slow[b]]
            free = contacts.force[i] + rest / contacts.A[i, i]
            held = min(max(free, -contacts.limit[BACK, i]), contacts.limit[FORTH, i])
            width = contacts.limit[FORTH, i] + contacts.limit[BACK, i]
            change = max(change, abs(held - contacts.force[i]) / width)
            contacts.force[i] = held
        if change < FORCE_TOLERANCE or count == 1:
            break
    for a in range(count):
        i = contacts.slow[a]
        for j in range(n):
            ddq[j] -= contacts.column[i, j] * contacts.force[i]


@kernel
def stick(
    values: Values, h: float, work: Work, contacts: ContactWorkspace, ddq: Any, slip: Any
) -> None:
    """Find the contacts that are slow at the acceleration ddq (n,) of sliding, hold them, and write
    the slip of all.
    """
    known, slow = 0, find_slow(values, h, 0, contacts, ddq)
    while slow > known:
        hold(values, h, slow, work, contacts, ddq)
        known, slow = slow, find_slow(values, h, slow, contacts, ddq)
    contacts.count[0] = slow
    for i in range(slip.size):
        u, f = contacts.speed[i], contacts.force[i]
        limit = contacts.limit[FORTH, i] if f > 0.0 else contacts.limit[BACK, i]
        if abs(u) > REST_SPEED or not can_stick(contacts, i):
            slip[i] = 1.0 if u > 0.0 else (-1.0 if u < 0.0 else 0.0)
        else:
            slip[i] = f / limit if limit > 0.0 else 0.0


@kernel
def solve_row(L: Any, table: Any, i: int) -> None:
    """Row i of `table` <- (L L')^-1 times it."""
    solve(L, table[i])


@kernel
def row_products(A: Any, i: int, B: Any, k: int) -> float:
    """Row i of A times row k of B."""
    total = 0.0
    for j in range(A.shape[1]):
        total += A[i, j] * B[k, j]
    return total


@kernel
def settle(contacts: ContactWorkspace, ddq: Any) -> None:
    """Acceleration at this instant, for the output.

    A contact that comes to rest, or passes through it, within the step has over the step another
    force than that of sliding; at this instant it still slides.

    Implements (43).
    """
    for a in range(contacts.count[0]):
        i = contacts.slow[a]
        u = contacts.speed[i]
        if abs(u) > REST_SPEED:
            more = slide(contacts, i, u) - contacts.force[i]
            for j in range(ddq.size):
                ddq[j] -= contacts.column[i, j] * more


@kernel
def is_held(contacts: ContactWorkspace, i: int) -> bool:
    """Whether the force of a slow contact lies within its limits, so that it comes to rest."""
    return -contacts.limit[BACK, i] < contacts.force[i] < contacts.limit[FORTH, i]


@kernel
def reverses(contacts: ContactWorkspace) -> bool:
    """Whether a contact that moves comes to rest, or passes through it, within the step: its force
    is not that of sliding.
    """
    found = False
    for a in range(contacts.count[0]):
        i = contacts.slow[a]
        u = contacts.speed[i]
        found = found or (abs(u) > REST_SPEED and contacts.force[i] != slide(contacts, i, u))
    return found


@kernel
def mark_held(contacts: ContactWorkspace) -> None:
    """Remember, at the beginning of a step, which contacts are held."""
    for i in range(contacts.held.size):
        contacts.held[i] = 0
    for a in range(contacts.count[0]):
        contacts.held[contacts.slow[a]] = is_held(contacts, contacts.slow[a])


@kernel
def arrest(values: Values, contacts: ContactWorkspace, dq: Any) -> None:
    """Take from dq (n,), at the end of a step, what the contacts that were held all through it
    still move: they rest.
    """
    for _ in range(MAX_SWEEPS):
        fastest = 0.0
        for a in range(contacts.count[0]):
            i = contacts.slow[a]
            if contacts.held[i] and is_held(contacts, i):
                u = contact_speed(values, i, dq)
                fastest = max(fastest, abs(u))
                for j in range(dq.size):
                    dq[j] -= contacts.column[i, j] * u / contacts.A[i, i]
        if fastest < 1e-15:
            break


@kernel
def accelerate(
    tree: Tree,
    values: Values,
    code: Code,
    plant: int,
    q: Any,
    dq: Any,
    tau: Any,
    friction: int,
    h: float,
    width: float,
    work: Work,
    contacts: ContactWorkspace,
    ddq: Any,
    slip: Any,
) -> int:
    """ddq (n,) and slip (c,) of one instant; the status of `factor`. Exact contacts look h ahead;
    smooth: tanh(u/width). `plant` is the address that the code of recursion and terms needs.

    Implements (23), (36).
    """
    if code.robot != 0:
        failed = factored_by_code(tree, values, code.robot, q, dq, work)
    else:
        failed = call_int64(code.recursion, (plant, q, dq))
    add_dissipation(values, dq, work.bias)
    if failed >= 0:
        return failed
    c, n = slip.size, q.size
    contacts.count[0] = 0
    for i in range(c):
        contacts.speed[i] = contact_speed(values, i, dq)
        contacts.limit[FORTH, i] = values.limit_positive[i]
        contacts.limit[BACK, i] = values.limit_negative[i]
    if code.terms != 0:
        call_int64(code.terms, (plant, TERMS_AND_LIMITS, q, dq))
    for j in range(n):
        ddq[j] = tau[j] - work.bias[j]
    if friction == SMOOTH:
        per_width = 1.0 / width
        for i in range(c):
            contacts.smooth[i] = contacts.speed[i] * per_width
        tanhs(contacts.smooth)
        if code.terms != 0:
            call_int64(code.terms, (plant, SMOOTH_UNDER_LOAD, q, dq))
    for i in range(c):
        u = contacts.speed[i]
        if friction == SMOOTH:
            slip[i] = contacts.smooth[i]
            contacts.force[i] = contacts.limit[FORTH if u > 0.0 else BACK, i] * slip[i]
        else:
            contacts.force[i] = slide(contacts, i, u)
        add_contact(values, i, -contacts.force[i], ddq)
    solve(work.M, ddq)
    if friction == EXACT:
        stick(values, h, work, contacts, ddq, slip)
        if code.terms != 0:
            call_int64(code.terms, (plant, REST_UNDER_LOAD, q, dq))
    return -1
