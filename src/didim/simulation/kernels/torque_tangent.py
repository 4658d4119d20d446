"""How the torque of a loop changes in m directions: after a sample of its controller, or at a stage
of a continuous law.
"""

from __future__ import annotations

from typing import Any

from didim.control.kernels.law import GAINS_ONLY, ControllerState, Law
from didim.control.kernels.tangent import (
    LawTangent,
    command_tangent,
    counted,
    error_tangent,
    sampled_tangent,
)
from didim.dynamics.kernels.tree import Tree, Values, Work
from didim.jit.compiled import kernel, spliced
from didim.jit.lanes import LANES, load, store
from didim.signals.kernels.piecewise_cubic import PiecewiseCubic, slope
from didim.simulation.kernels.linearised import law_torque
from didim.simulation.kernels.plant import CONTINUOUS, Plant
from didim.simulation.kernels.tangent import Tangent
from didim.simulation.kernels.variation import apply_tangent, copy_rows


@kernel
def drift(cubic: PiecewiseCubic, i: int, t: float, rates: Any) -> None:
    """Rates of the reference's three signals in interval i, into rates (3, n)."""
    slope(cubic.value, cubic.time, i, t, rates[0])
    slope(cubic.rate, cubic.time, i, t, rates[1])
    slope(cubic.acceleration, cubic.time, i, t, rates[2])


@spliced
def instant_tangent(
    law: Law,
    tree: Tree,
    own: Values,
    controller_state: ControllerState,
    work: Work,
    v: Any,
    T: LawTangent,
    x: Any,
    tau: Any,
    rate: Any,
) -> None:
    """The torque tau (n, m) of a continuous law, and the rates of its integrals, at a stage whose
    sensitivities are x.
    """
    n, m = tau.shape
    q, dq = x[:n], x[n : 2 * n]
    integrates = x.shape[0] > 2 * n
    if integrates:
        for k in range(2):
            copy_rows(x[(2 + k) * n : (3 + k) * n], T.integral[k])
    error_tangent(law, controller_state, q, dq, integrates, T)
    command_tangent(law, tree, own, controller_state, q, dq, T.integral, work, v, T)
    apply_tangent(law.gain, T.v, tau)
    for k in range(2 if integrates else 0):
        for j in range(n):
            enters = 1.0 * counted(law, controller_state, v, k, j)
            for c in range(0, m, LANES):
                store(rate, (2 + k) * n + j, c, enters * load(T.error[k], j, c))


@spliced
def torque_tangent(
    plant: Plant, T: Tangent, slot: int, t: float, recorded: bool, x: Any, rate: Any
) -> None:
    """How the torque changes at sensitivities x (s, m): after a sample of the controller, or at a
    stage of a continuous law; of one that is in the matrices only where it is recorded.
    """
    n = plant.instant.tau.size
    if T.free_code != 0:
        if recorded:
            law_torque(T.at, slot, plant.law, T.filled, x, T.tau)
        return
    if T.law.delay >= 0:
        drift(plant.reference, plant.cursor[0], t, T.law.drift)
    law, tree, own, controller_state, work, v = (
        plant.law,
        plant.own_tree,
        plant.own,
        plant.controller_state,
        plant.work,
        plant.instant.v,
    )
    if plant.drive == CONTINUOUS:
        instant_tangent(law, tree, own, controller_state, work, v, T.law, x, T.tau, rate)
        if law.kind != GAINS_ONLY:  # the controller's own model was placed where the robot was
            for j in range(n):
                work.angle[j] = T.at.motion[0, j, 0]
    else:
        sampled_tangent(
            law, tree, own, controller_state, x[:n], x[n : 2 * n], work, v, T.law, T.seen
        )
        apply_tangent(law.gain, T.law.v, T.tau)
    for j in range(n):
        if T.law.gain[4, j] >= 0:
            T.tau[j, T.law.gain[4, j]] += v[j]
    if plant.enabled >= 0:
        on = plant.instant.channels[plant.enabled]
        for j in range(n):
            for c in range(0, T.tau.shape[1], LANES):
                store(T.tau, j, c, on * load(T.tau, j, c))
