"""Inverse dynamics (1): joint torques of a motion, by recursive Newton-Euler in the standard
parameters.
"""

from __future__ import annotations

from typing import Any

from didim.dynamics.kernels.terms import (
    CONSERVATIVE,
    CONTACT,
    FORWARD,
    Terms,
    add_contact_terms,
    add_smooth_terms,
    add_term,
    evaluate_terms,
    get_loads,
    read_terms,
    run_terms,
    set_channels,
    set_load,
)
from didim.dynamics.kernels.ties import gather_torques, joint_rates, joint_torques
from didim.dynamics.kernels.tree import (
    Tree,
    Values,
    Work,
    move,
    place,
    plain,
    tree_type,
    values_type,
    work_type,
)
from didim.dynamics.kernels.vectors import (
    add,
    cross,
    first_moment,
    get,
    inertia_times,
    out_of,
    put,
    row_times,
    scale,
)
from didim.jit.compiled import entry, kernel, shared
from didim.jit.types import float64, void

_matrix = float64[:, ::1]


@kernel
def wrench(values: Values, i: int, work: Work) -> None:
    """Force and moment that link i itself needs: f = M dv + dw x MS + w x (w x MS), n = J dw + w x
    J w + MS x dv.
    """
    w, dw, dv = get(work.w, i), get(work.dw, i), get(work.dv, i)
    MS = first_moment(values.link, i)
    put(
        work.force, i, add(scale(values.link[i, 9], dv), add(cross(dw, MS), cross(w, cross(w, MS))))
    )
    Jw = inertia_times(values.link, i, w)
    put(work.moment, i, add(inertia_times(values.link, i, dw), add(cross(w, Jw), cross(MS, dv))))


@kernel
def link_torque(tree: Tree, values: Values, work: Work, tau: Any) -> None:
    """tau (m,) of the links alone at the motion held in `work` (Newton-Euler, backward)."""
    n = tree.parent.size
    for i in range(n):
        wrench(values, i, work)
    for i in range(n - 1, -1, -1):
        tau[i] = work.force[i, 2] if tree.prismatic[i] else work.moment[i, 2]
        p = tree.parent[i]
        if p >= 0:
            f = out_of(work.R, i, get(work.force, i))
            m = add(out_of(work.R, i, get(work.moment, i)), cross(get(work.P, i), f))
            put(work.force, p, add(get(work.force, p), f))
            put(work.moment, p, add(get(work.moment, p), m))


@kernel
def motion_torque(tree: Tree, values: Values, dq: Any, ddq: Any, work: Work, tau: Any) -> None:
    """tau (n,) of the links alone at the placement held in `work`."""
    rates, accelerations = joint_rates(tree.ties, dq, ddq)
    move(tree, rates, accelerations, work)
    torques = joint_torques(tree.ties, tau)
    link_torque(tree, values, work, torques)
    gather_torques(tree.ties, torques, tau)


@kernel
def add_dissipation(values: Values, dq: Any, tau: Any) -> None:
    """Viscous friction and offset: everything that depends on dq but is no Coulomb contact."""
    n = dq.size
    for i in range(n):
        forward, backward = (
            values.viscous_positive[i] * max(dq[i], 0.0),
            values.viscous_negative[i] * min(dq[i], 0.0),
        )
        tau[i] += (
            values.offset[i]
            + forward
            + backward
            + row_times(values.viscous, i, -1 if values.coupled else i, dq)
        )


@kernel
def contact_speed(values: Values, c: int, dq: Any) -> float:
    """Velocity of contact c, from those of the joints (n,)."""
    return row_times(values.contact, c, values.only[c], dq)


@kernel
def add_contact(values: Values, c: int, force: float, tau: Any) -> None:
    """Add the force of contact c to tau (n,)."""
    j = values.only[c]
    if j >= 0:
        tau[j] += values.contact[c, j] * force
    else:
        for i in range(tau.size):
            tau[i] += values.contact[c, i] * force


@kernel
def coulomb_force(values: Values, c: int, slip: float) -> float:
    """Coulomb force of contact c at its slip, without terms."""
    return values.limit_positive[c] * max(slip, 0.0) + values.limit_negative[c] * min(slip, 0.0)


@kernel
def add_coulomb(values: Values, slip: Any, tau: Any) -> None:
    """Coulomb torque of all contacts, tau += contact' (limit * slip), slip (c,) in [-1, 1]."""
    for c in range(slip.size):
        add_contact(values, c, coulomb_force(values, c, slip[c]), tau)


@kernel
def own_friction(terms: Terms, values: Values, dq: Any, tau: Any) -> None:
    """What is no load, into tau (n,): viscous friction and offset of the joints themselves, and the
    terms that do not count as load, without contacts; the terms as their registers hold them.
    """
    for i in range(dq.size):
        forward, backward = (
            values.viscous_positive[i] * max(dq[i], 0.0),
            values.viscous_negative[i] * min(dq[i], 0.0),
        )
        tau[i] = values.offset[i] + forward + backward + values.viscous[i, i] * dq[i]
    for k in range(terms.table.shape[0]):
        if terms.table[k, CONTACT] < 0 and not terms.table[k, CONSERVATIVE]:
            add_term(terms, k, values.term[k] * terms.registers[terms.table[k, FORWARD]], tau)


@shared
def add_terms(
    address: int, values: Values, q: Any, dq: Any, slip: Any, work: Work, tau: Any
) -> None:
    """Add all terms to tau (n,), which holds all other torques; leaves the loads in the
    registers.
    """
    terms = read_terms(address)
    evaluate_terms(terms, q, dq, False)
    add_smooth_terms(terms, values.term, tau)
    if terms.loaded:
        own_friction(terms, values, dq, work.bias)
        for c in range(slip.size):
            if values.only[c] >= 0:
                add_contact(values, c, coulomb_force(values, c, slip[c]), work.bias)
        for j in range(dq.size):
            set_load(terms, j, tau[j] - work.bias[j])
        run_terms(terms, False)
    add_contact_terms(terms, values.term, slip, tau)


@shared
def add_terms_batch(
    address: int,
    values: Values,
    q: Any,
    dq: Any,
    slip: Any,
    channels: Any,
    work: Work,
    tau: Any,
    load: Any,
) -> None:
    """`add_terms` over the rows of an `inverse_dynamics_batch`."""
    for k in range(q.shape[0]):
        set_channels(address, channels[k])
        add_terms(address, values, q[k], dq[k], slip[k], work, tau[k])
        get_loads(address, load[k])


@kernel
def inverse_dynamics_without_terms(
    tree: Tree, values: Values, q: Any, dq: Any, ddq: Any, slip: Any, work: Work, tau: Any
) -> None:
    """tau (n,) = M(q) ddq + N(q, dq), eq. 1, of one sample, but for the terms."""
    place(tree, q, work)
    motion_torque(tree, values, dq, ddq, work, tau)
    add_dissipation(values, dq, tau)
    add_coulomb(values, slip, tau)
    for i in range(ddq.size):
        tau[i] += row_times(values.armature, i, -1 if values.coupled else i, ddq)


@kernel
def inverse_dynamics(
    tree: Tree, values: Values, q: Any, dq: Any, ddq: Any, slip: Any, work: Work, tau: Any
) -> None:
    """tau (n,) = M(q) ddq + N(q, dq), eq. 1, one sample.

    Implements (1).
    """
    inverse_dynamics_without_terms(tree, values, q, dq, ddq, slip, work, tau)
    if tree.terms != 0:
        add_terms(tree.terms, values, q, dq, slip, work, tau)


@kernel
def inverse_rows(
    tree: Tree, values: Values, q: Any, dq: Any, ddq: Any, slip: Any, work: Work, tau: Any
) -> None:
    """`inverse_dynamics_without_terms` over the rows."""
    for k in range(q.shape[0]):
        inverse_dynamics_without_terms(tree, values, q[k], dq[k], ddq[k], slip[k], work, tau[k])


@entry(void(tree_type, values_type, *[_matrix] * 5, work_type, _matrix, _matrix))
def inverse_dynamics_batch(
    tree: Tree,
    values: Values,
    q: Any,
    dq: Any,
    ddq: Any,
    slip: Any,
    channels: Any,
    work: Work,
    tau: Any,
    load: Any,
) -> None:
    """`inverse_dynamics` over the rows of q, dq, ddq (N, n), slip (N, c) and channels (N, k), into
    tau (N, n), and the loads into load (N, n), or (N, 0) where no term needs them. Terms come in a
    loop of their own: robots without them run as if there were none.
    """
    if tree.ties != 0:
        inverse_rows(tree, values, q, dq, ddq, slip, work, tau)
    else:
        inverse_rows(plain(tree), values, q, dq, ddq, slip, work, tau)
    if tree.terms != 0:
        add_terms_batch(tree.terms, values, q, dq, slip, channels, work, tau, load)
