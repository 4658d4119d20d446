"""Contacts whose limits depend on what effects by expressions make of them, and on the load: the
limits of an instant, and the slip of contacts at rest.
"""

from __future__ import annotations

from typing import Any

from didim.dynamics.kernels.inverse import own_friction
from didim.dynamics.kernels.terms import (
    FORWARD,
    contact_sum,
    read_terms,
    run_terms,
    set_load,
    solve_loads,
)
from didim.dynamics.kernels.tree import Values
from didim.jit.compiled import kernel
from didim.simulation.kernels.contact import BACK, FORTH, REST_SPEED, ContactWorkspace, can_stick


@kernel
def add_term_limits(
    address: int, values: Values, dq: Any, tau: Any, contacts: ContactWorkspace
) -> None:
    """Add the terms, as their registers hold them, to both limits of all contacts."""
    terms, phi, force = read_terms(address), values.term, contacts.force
    own_friction(terms, values, dq, terms.rest)
    for j in range(tau.size):
        terms.rest[j] = tau[j] - terms.rest[j]
    for i in range(force.size):
        contacts.smooth[i] = -1.0
    side = contacts.smooth[: force.size]
    solve_loads(terms, phi, contacts.limit[BACK], values.only, side, terms.rest, force)
    for i in range(force.size):
        contacts.limit[BACK, i] = -force[i]
        side[i] = 1.0
    solve_loads(terms, phi, contacts.limit[FORTH], values.only, side, terms.rest, force)
    for i in range(force.size):
        contacts.limit[FORTH, i] = force[i]


@kernel
def slip_under_load(address: int, values: Values, contacts: ContactWorkspace, slip: Any) -> None:
    """The slip of the contacts at rest where limits depend on the load: the force over the limit at
    the load that it leaves, which stays in the registers.
    """
    terms = read_terms(address)
    if not terms.loaded:
        return
    for i in range(slip.size):
        if values.only[i] >= 0:
            set_load(terms, values.only[i], terms.rest[values.only[i]] - contacts.force[i])
    run_terms(terms, False)
    for i in range(slip.size):
        f = contacts.force[i]
        if abs(contacts.speed[i]) <= REST_SPEED and can_stick(contacts, i):
            constant = values.limit_positive[i] if f > 0.0 else values.limit_negative[i]
            limit = constant + contact_sum(terms, values.term, i, FORWARD, f)
            slip[i] = f / limit if limit > 0.0 else 0.0


@kernel
def limits_under_load(address: int, values: Values, contacts: ContactWorkspace, slip: Any) -> None:
    """The limits of all contacts by smooth friction, contacts.smooth, where they depend on the
    load: at the load that the force leaves.
    """
    terms, phi, force = read_terms(address), values.term, contacts.force
    if not terms.loaded:
        return
    for i in range(slip.size):
        slip[i] = contacts.smooth[i]
        ahead = slip[i] >= 0.0
        contacts.smooth[i] = values.limit_positive[i] if ahead else values.limit_negative[i]
    constant = contacts.smooth[: slip.size]
    solve_loads(terms, phi, constant, values.only, slip, terms.rest, force)
    for i in range(slip.size):
        forward = values.limit_positive[i] + contact_sum(terms, phi, i, FORWARD, 1.0)
        backward = values.limit_negative[i] + contact_sum(terms, phi, i, FORWARD, -1.0)
        contacts.limit[FORTH, i], contacts.limit[BACK, i] = forward, backward
        contacts.smooth[i] = slip[i]
