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
"""

from __future__ import annotations

from typing import Any, NamedTuple

from didim.dynamics.kernels.direct import factored, solve
from didim.dynamics.kernels.elementary import tanhs
from didim.dynamics.kernels.inverse import add_contact, contact_speed
from didim.dynamics.kernels.tree import Tree, Values, Work
from didim.jit.compiled import kernel, record_type, shared
from didim.jit.types import float64, int64

EXACT, SMOOTH = range(2)
SWEEPS = 200
ACCURACY = 1e-13
REST = 1e-9
"""A contact slower than this, rad/s or m/s, is at rest."""


class Touch(NamedTuple):
    """Scratch of the contacts."""

    speed: Any  # (c,) u
    force: Any  # (c,) f
    slow: Any  # (c,) int64 indices of the slow contacts, as many as found
    column: Any  # (c, n) M^-1 D_i'
    A: Any  # (c, c)
    count: Any  # (1,) int64 how many are slow
    held: Any  # (c,) int64 whether the contact was held from the beginning of the step
    smooth: Any  # (padded c,) scratch of smooth friction


touch_type = record_type(
    Touch,
    float64[::1],
    float64[::1],
    int64[::1],
    float64[:, ::1],
    float64[:, ::1],
    int64[::1],
    int64[::1],
    float64[::1],
)


@kernel
def slide(values: Values, i: int, u: float) -> float:
    """Coulomb force of contact i while it slides with velocity u."""
    return values.limit_positive[i] if u > 0.0 else (-values.limit_negative[i] if u < 0.0 else 0.0)


@kernel
def can_stick(values: Values, i: int) -> bool:
    """A contact without limits, or with a negative one, always slides."""
    forward, backward = values.limit_positive[i], values.limit_negative[i]
    return forward >= 0.0 and backward >= 0.0 and forward + backward > 0.0


@kernel
def find_slow(values: Values, h: float, known: int, touch: Touch, ddq: Any) -> int:
    """Add to the known slow contacts those that rest, or would reverse within h at the acceleration
    ddq; returns how many.
    """
    found = known
    for i in range(touch.speed.size):
        u, new = touch.speed[i], can_stick(values, i)
        for a in range(known):
            new = new and touch.slow[a] != i
        if new and u * (u + h * contact_speed(values, i, ddq)) <= 0.0:
            touch.slow[found] = i
            found += 1
    return found


@shared
def hold(values: Values, h: float, count: int, work: Work, touch: Touch, ddq: Any) -> None:
    """Solve for the forces of the slow contacts, starting from sliding, and correct ddq for
    them.
    """
    n = ddq.size
    for a in range(count):
        i = touch.slow[a]
        for j in range(n):
            touch.column[i, j] = values.contact[i, j]
        solve_row(work.M, touch.column, i)
        for j in range(n):
            ddq[j] += touch.column[i, j] * touch.force[i]
    for a in range(count):
        for b in range(count):
            i, k = touch.slow[a], touch.slow[b]
            touch.A[i, k] = row_products(values.contact, i, touch.column, k)
    for _ in range(SWEEPS):
        change = 0.0
        for a in range(count):
            i = touch.slow[a]
            rest = touch.speed[i] / h + contact_speed(values, i, ddq)
            for b in range(count):
                rest -= touch.A[i, touch.slow[b]] * touch.force[touch.slow[b]]
            free = touch.force[i] + rest / touch.A[i, i]
            held = min(max(free, -values.limit_negative[i]), values.limit_positive[i])
            change = max(
                change,
                abs(held - touch.force[i]) / (values.limit_positive[i] + values.limit_negative[i]),
            )
            touch.force[i] = held
        if change < ACCURACY or count == 1:
            break
    for a in range(count):
        i = touch.slow[a]
        for j in range(n):
            ddq[j] -= touch.column[i, j] * touch.force[i]


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
def settle(values: Values, touch: Touch, ddq: Any) -> None:
    """Acceleration as it is at this very instant, for the record.

    A contact that comes to rest, or passes through it, within the step has over the step another
    force than that of sliding; now it still slides.

    Implements (43).
    """
    for a in range(touch.count[0]):
        i = touch.slow[a]
        u = touch.speed[i]
        if abs(u) > REST:
            more = slide(values, i, u) - touch.force[i]
            for j in range(ddq.size):
                ddq[j] -= touch.column[i, j] * more


@kernel
def is_held(values: Values, touch: Touch, i: int) -> bool:
    """Whether the force of a slow contact lies within its limits, so that it comes to rest."""
    return -values.limit_negative[i] < touch.force[i] < values.limit_positive[i]


@kernel
def reverses(values: Values, touch: Touch) -> bool:
    """Whether a contact that moves comes to rest, or passes through it, within the step: its force
    is not that of sliding.
    """
    found = False
    for a in range(touch.count[0]):
        i = touch.slow[a]
        u = touch.speed[i]
        found = found or (abs(u) > REST and touch.force[i] != slide(values, i, u))
    return found


@kernel
def mark_held(values: Values, touch: Touch) -> None:
    """Remember, at the beginning of a step, which contacts are held."""
    for i in range(touch.held.size):
        touch.held[i] = 0
    for a in range(touch.count[0]):
        touch.held[touch.slow[a]] = is_held(values, touch, touch.slow[a])


@kernel
def arrest(values: Values, touch: Touch, dq: Any) -> None:
    """Take from dq (n,), at the end of a step, what the contacts that were held all through it
    still move: they rest.
    """
    for _ in range(SWEEPS):
        fastest = 0.0
        for a in range(touch.count[0]):
            i = touch.slow[a]
            if touch.held[i] and is_held(values, touch, i):
                u = contact_speed(values, i, dq)
                fastest = max(fastest, abs(u))
                for j in range(dq.size):
                    dq[j] -= touch.column[i, j] * u / touch.A[i, i]
        if fastest < 1e-15:
            break


@kernel
def accelerate(
    tree: Tree,
    values: Values,
    code_address: int,
    q: Any,
    dq: Any,
    tau: Any,
    friction: int,
    h: float,
    width: float,
    work: Work,
    touch: Touch,
    ddq: Any,
    slip: Any,
) -> int:
    """ddq (n,) and slip (c,) of one instant; the status of `factor`. Exact contacts look h ahead;
    smooth: tanh(u/width).

    Implements (23), (36).
    """
    failed = factored(tree, values, code_address, q, dq, work)
    if failed >= 0:
        return failed
    c, n = slip.size, q.size
    touch.count[0] = 0
    for j in range(n):
        ddq[j] = tau[j] - work.bias[j]
    for i in range(c):
        touch.speed[i] = contact_speed(values, i, dq)
        touch.smooth[i] = touch.speed[i] / width
    if friction == SMOOTH:
        tanhs(touch.smooth)
    for i in range(c):
        u = touch.speed[i]
        if friction == SMOOTH:
            slip[i] = touch.smooth[i]
            touch.force[i] = (
                values.limit_positive[i] if u > 0.0 else values.limit_negative[i]
            ) * slip[i]
        else:
            touch.force[i] = slide(values, i, u)
        add_contact(values, i, -touch.force[i], ddq)
    solve(work.M, ddq)
    if friction == EXACT:
        known, slow = 0, find_slow(values, h, 0, touch, ddq)
        while slow > known:
            hold(values, h, slow, work, touch, ddq)
            known, slow = slow, find_slow(values, h, slow, touch, ddq)
        touch.count[0] = slow
        for i in range(c):
            u, f = touch.speed[i], touch.force[i]
            limit = values.limit_positive[i] if f > 0.0 else values.limit_negative[i]
            if abs(u) > REST or not can_stick(values, i):
                slip[i] = 1.0 if u > 0.0 else (-1.0 if u < 0.0 else 0.0)
            else:
                slip[i] = f / limit if limit > 0.0 else 0.0
    return -1
