"""How the inverse dynamics (1) changes with the motion: d tau/d q and d tau/d dq of links
(`ground.py`), rotors, friction and terms.
"""

from __future__ import annotations

from typing import Any

from didim.dynamics.kernels.ground import add_link_derivatives
from didim.dynamics.kernels.terms import (
    BY_V,
    BY_X,
    CONTACT,
    Terms,
    at_slip,
    evaluate_terms,
    read_terms,
    set_channels,
)
from didim.dynamics.kernels.ties import gather_matrix, joint_rates, read_ties
from didim.dynamics.kernels.tree import Tree, Values, Work, place, tree_type, values_type, work_type
from didim.jit.compiled import entry, kernel, shared
from didim.jit.types import float64, void

_matrix, _cube = float64[:, ::1], float64[:, :, ::1]


@kernel
def add_term_derivatives(
    terms: Terms, k: int, by_x: float, by_v: float, by_q: Any, by_dq: Any
) -> None:
    """Add w w' by_x and w w' by_v, the derivatives of term k, to by_q and by_dq (n, n)."""
    for i in range(by_q.shape[0]):
        for j in range(by_q.shape[0]):
            both = terms.weight[k, i] * terms.weight[k, j]
            by_q[i, j] += both * by_x
            by_dq[i, j] += both * by_v


@shared
def add_smooth_derivatives(address: int, phi: Any, q: Any, dq: Any, by_q: Any, by_dq: Any) -> None:
    """Evaluate all terms with their derivatives at q, dq (n,), and add those of the terms that
    belong to no contact to by_q and by_dq (n, n).
    """
    terms = read_terms(address)
    evaluate_terms(terms, q, dq, True)
    for k in range(terms.table.shape[0]):
        if terms.table[k, CONTACT] < 0:
            by_x = phi[k] * terms.registers[terms.table[k, BY_X]]
            by_v = phi[k] * terms.registers[terms.table[k, BY_V]]
            add_term_derivatives(terms, k, by_x, by_v, by_q, by_dq)


@shared
def add_sliding_derivatives(address: int, phi: Any, slip: Any, by_q: Any, by_dq: Any) -> None:
    """`add_sliding_terms` of the terms at an address."""
    add_sliding_terms(read_terms(address), phi, slip, by_q, by_dq)


@kernel
def add_sliding_terms(terms: Terms, phi: Any, slip: Any, by_q: Any, by_dq: Any) -> None:
    """Add how the limits of contacts change with the motion to by_q, by_dq (n, n); slip (c,) is 0
    where a contact is held.
    """
    for k in range(terms.table.shape[0]):
        c = terms.table[k, CONTACT]
        if c >= 0:
            by_x = phi[k] * at_slip(terms, k, BY_X, slip[c])
            by_v = phi[k] * at_slip(terms, k, BY_V, slip[c])
            add_term_derivatives(terms, k, by_x, by_v, by_q, by_dq)


@kernel
def own_derivatives(values: Values, dq: Any, M: Any, by_q: Any, by_dq: Any) -> None:
    """Rotors and viscous friction alone, into M, by_q and by_dq (n, n)."""
    for i in range(dq.size):
        for j in range(dq.size):
            M[i, j] = values.armature[i, j]
            by_q[i, j] = 0.0
            by_dq[i, j] = values.viscous[i, j]
    add_one_way(values, dq, by_dq)


@kernel
def add_one_way(values: Values, dq: Any, by_dq: Any) -> None:
    """Add the viscous friction that depends on the direction to by_dq (n, n)."""
    for i in range(dq.size):
        by_dq[i, i] += (
            values.viscous_positive[i]
            if dq[i] > 0.0
            else (values.viscous_negative[i] if dq[i] < 0.0 else 0.0)
        )


@shared
def empty_derivatives(address: int) -> None:
    """Zeros where the derivatives of the joints are gathered from."""
    ties = read_ties(address)
    for k in range(ties.ratio.size):
        for l in range(ties.ratio.size):
            ties.M[k, l], ties.by_q[k, l], ties.by_dq[k, l] = 0.0, 0.0, 0.0


@shared
def gather_derivatives(address: int, M: Any, by_q: Any, by_dq: Any) -> None:
    """Add T' A T of the joints' matrices (m, m) to those of the coordinates (n, n)."""
    ties = read_ties(address)
    gather_matrix(ties, ties.M, M)
    gather_matrix(ties, ties.by_q, by_q)
    gather_matrix(ties, ties.by_dq, by_dq)


@kernel
def motion_derivatives(
    tree: Tree, values: Values, dq: Any, ddq: Any, work: Work, g: Any, M: Any, by_q: Any, by_dq: Any
) -> None:
    """M, d tau/d q and d tau/d dq (n, n), row: torque, at the placement held in `work`; friction by
    dq, no Coulomb contact.

    Implements (39).
    """
    own_derivatives(values, dq, M, by_q, by_dq)
    of_joints = (M, by_q, by_dq)
    if tree.ties != 0:
        empty_derivatives(tree.ties)
        ties = read_ties(tree.ties)
        of_joints = (ties.M, ties.by_q, ties.by_dq)
    rates, accelerations = joint_rates(tree.ties, dq, ddq)
    add_link_derivatives(tree, values, rates, accelerations, work, g, *of_joints)
    if tree.ties != 0:
        gather_derivatives(tree.ties, M, by_q, by_dq)
    if tree.terms != 0:
        add_smooth_derivatives(tree.terms, values.term, work.angle[: dq.size], dq, by_q, by_dq)


@entry(void(tree_type, values_type, *[_matrix] * 4, work_type, _matrix, _cube, _cube, _cube))
def motion_derivatives_batch(
    tree: Tree,
    values: Values,
    q: Any,
    dq: Any,
    ddq: Any,
    channels: Any,
    work: Work,
    g: Any,
    M: Any,
    by_q: Any,
    by_dq: Any,
) -> None:
    """`motion_derivatives` over the rows of q, dq, ddq (N, n) and channels (N, k), into three
    (N, n, n) arrays.
    """
    for k in range(q.shape[0]):
        if tree.terms != 0:
            set_channels(tree.terms, channels[k])
        place(tree, q[k], work)
        motion_derivatives(tree, values, dq[k], ddq[k], work, g, M[k], by_q[k], by_dq[k])
