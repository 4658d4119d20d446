"""In which directions a simulation is differentiated: the model's parameters, disturbances, the
gains of law and drive, delay and zeros of the reference.

Gains that are tuned for the simulated robot itself (58) change with its parameters: their
derivatives are folded into those of the parameters.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.kernels.law import COMPUTED_TORQUE, GAINS_ONLY, USER, Law
from didim.control.kernels.tangent import LawTangent
from didim.control.law import DRIVE_GAIN, GAINS, ZERO, Controller
from didim.control.tuning import inertia_slopes
from didim.dynamics.codegen.driven_code import driven_code
from didim.dynamics.codegen.motion_code import motion_code
from didim.dynamics.kernels.ground import allocate_ground
from didim.dynamics.torque import TorqueModel
from didim.errors import InputError
from didim.jit.lanes import padded_lanes
from didim.jit.machine_code import MachineCode
from didim.simulation.disturbances import NO_DISTURBANCES, Disturbances
from didim.simulation.kernels.contact import EXACT
from didim.simulation.kernels.linearised import STAGES, Linearised
from didim.simulation.kernels.plant import CONTINUOUS
from didim.simulation.kernels.tangent import Tangent
from didim.simulation.run import Run

Array = NDArray[np.float64]


class Codes(NamedTuple):
    """Machine code of a run with sensitivities, as far as there is any."""

    driven: MachineCode | None  # the kernel does what is left where the law is in the matrices
    free: MachineCode | None  # `driven` without d(tau), where the law is in the matrices
    ahead: MachineCode | None  # the same for stages behind the first, where steps are whole
    motion: MachineCode | None

    def address(self, name: str) -> int:
        """Of one of them, 0 where there is none."""
        code = getattr(self, name)
        return 0 if code is None else int(code.address)


@dataclass(frozen=True, eq=False)
class Directions:
    """The columns that a run carries along, and those that are requested."""

    names: tuple[str, ...]
    """(m,) parameters, then disturbances, shapes, gains such as "kp1", then "delay", in s, and
    zeros, in rad or m, such as "zero1".
    """
    gain: NDArray[np.int64]
    """(6, n) column of each gain, drive gain and zero in the run; -1: none."""
    delay: int
    """Column of the delay in the run; -1: none."""
    count: int
    """Columns of the run, M."""
    fold: Array | None
    """(M, m): requested sensitivities = those of the run @ fold; None: they are the same."""
    disturbances: Disturbances = NO_DISTURBANCES

    def folded(self, run: Array) -> Array:
        """(..., m) from (..., M)."""
        return run if self.fold is None else run @ self.fold

    def codes(self, run: Run, model: TorqueModel) -> Codes:
        """Machine code for a run, which must live as long as it.

        The stages of a step are linearised together unless something must be seen while the plant
        is at that stage: effects by expressions, smooth friction, laws with a model or integrals.
        """
        stages, n, plant = 4 * run.substeps * run.end / run.period, model.robot.n, run.plant
        width, contacts = padded_lanes(self.count), len(model.contacts)
        motion, law = motion_code(plant.tree, model.columns, contacts, width, stages), plant.law
        by_gains = law.kind == GAINS_ONLY and not law.coupled and run.size == 2 * n
        continuous = plant.drive == CONTINUOUS
        if (
            motion is None
            or plant.tree.terms != 0
            or plant.friction != EXACT
            or (continuous and not by_gains)
        ):
            return Codes(driven_code(n), None, None, motion)
        ahead = driven_code(n, not continuous, ahead=True)
        if continuous:
            return Codes(None, driven_code(n, torque=False), ahead, motion)
        return Codes(driven_code(n), None, ahead, motion)

    def tangent(
        self,
        run: Run,
        model: TorqueModel,
        kept: Array,
        codes: Codes,
        outputs: Collection[str] = ("tau", "q"),
    ) -> Tangent:
        """Derivatives at the start of a run, `kept` (2 n, M) those of its state, and scratch; those
        of the `outputs` are written down.
        """
        n, c, b = model.robot.n, len(model.contacts), len(model.parameter_names)
        M, rows = padded_lanes(self.count), run.size
        line = run.plant.controller_state.line.shape[0]
        place = self.disturbances.place + np.array([[0], [b]])
        table, square, state = np.zeros((n, M)), np.zeros((n, n)), np.zeros((rows, M))
        law = LawTangent(
            gain=self.gain,
            delay=self.delay,
            error=np.zeros((2, n, M)),
            integral=np.zeros((2, n, M)),
            past=np.zeros((2, n, M)),
            line=np.zeros((line, n, M)),
            v=table.copy(),
            drift=np.zeros((3, n)),
            model=table.copy(),
            M=square.copy(),
            by_q=square.copy(),
            by_dq=square.copy(),
            ground=allocate_ground(run.plant.work.R.shape[0]),
        )
        state[: 2 * n, : self.count] = kept
        at = Linearised(
            motion=np.zeros((5, n, STAGES)),
            slope=np.zeros((n, STAGES)),
            sliding=np.zeros((c, STAGES)),
            W=np.zeros((STAGES, n, M)),
            by_q=np.zeros((STAGES, n, n)),
            by_dq=np.zeros((STAGES, n, n)),
            L=np.zeros((STAGES, n, n)),
            slip=np.zeros((STAGES, c)),
            held=np.zeros((STAGES, c), dtype=np.int64),
            column=np.zeros((STAGES, c, n)),
            coupling=np.zeros((STAGES, c, c)),
        )
        return Tangent(
            driven_code=codes.address("driven"),
            free_code=codes.address("free"),
            ahead_code=codes.address("ahead"),
            motion_code=codes.address("motion"),
            group=1 if codes.ahead is None else STAGES,
            at=at,
            columns=model.columns,
            law=law,
            y=state,
            x=np.zeros((rows, M)),
            K=np.zeros((5, rows, M)),
            tau=table.copy(),
            seen=table.copy(),
            parameters=b,
            filled=b + self.disturbances.count + len(model.layout.terms.free),
            M=square.copy(),
            ground=allocate_ground(run.plant.work.R.shape[0]),
            A=np.zeros((c, c)),
            reaction=np.zeros((c, padded_lanes(n))),
            force=np.zeros((c, M)),
            share=np.ones(n),
            own=np.zeros((2, n, n)),
            jump=np.zeros(n),
            jolted=table.copy(),
            reach=np.zeros(2),
            none=np.zeros(max(n, 3)),
            disturbance=np.zeros((0, 0)),  # a few seconds at a time, as the run goes on
            time=np.zeros(0),
            place=place,
            cursor=np.zeros(1, dtype=np.int64),
            first=np.zeros(1, dtype=np.int64),
            out_tau=np.zeros((0, n, self.count if "tau" in outputs else 0)),
            out_q=np.zeros((0, n, self.count if "q" in outputs else 0)),
        )


def directions_of(
    model: TorqueModel,
    parameters: ArrayLike,
    loop: Controller | None,
    law: Law,
    gains: bool | Collection[str],
    delay: bool,
    disturbances: Disturbances,
) -> Directions:
    """The parameters and disturbances, and on request the gains that are not zero, or gains, drive
    gains and zeros of some names, and the delay.
    """
    if law.kind == USER:
        raise InputError(
            "Exact sensitivities need a built-in law; didim cannot differentiate a law of your "
            "own (OwnLaw)."
        )
    if loop is not None and loop.model is not None and loop.model.loaded:
        raise InputError(
            "Exact sensitivities need a controller whose own model has no friction that grows with "
            "the load; leave load_friction out of the controller's model."
        )
    n, shapes = model.robot.n, model.layout.terms.free
    pushed = [f"disturbance {k + 1}" for k in range(disturbances.count)]
    names, values = [*model.parameter_names, *pushed, *shapes], [law.kp, law.kv, law.ki, law.kiv]
    b = len(names)
    tuned = (
        loop is not None and loop.by_poles and loop.inertia is None and law.kind != COMPUTED_TORQUE
    )
    chosen = () if isinstance(gains, bool) else tuple(gains)
    gain, wanted = np.full((6, n), -1, dtype=np.int64), dict[str, int]()
    count = b
    for k in range(4) if loop is not None and (gains or tuned) else ():
        for j in map(int, np.flatnonzero(values[k])):
            name = f"{GAINS[k]}{j + 1}"
            is_wanted = gains if isinstance(gains, bool) else name in chosen
            if is_wanted:
                wanted[name] = count
            if is_wanted or (tuned and k > 0):
                gain[k, j], count = count, count + 1
    for k, kind in ((4, DRIVE_GAIN), (5, ZERO)):
        for j in range(n):
            if (name := f"{kind}{j + 1}") in chosen:
                wanted[name] = count
                gain[k, j], count = count, count + 1
        if k == 4 and delay and loop is not None:
            wanted["delay"] = count
            count += 1
    names += wanted
    fold = np.zeros((count, len(names)))
    fold[:b, :b] = np.eye(b)
    fold[list(wanted.values()), range(b, len(names))] = 1.0
    if tuned:
        J, slopes = inertia_slopes(model, parameters)
        for k in range(1, 4):
            for j in map(int, np.flatnonzero(gain[k] >= 0)):
                fold[gain[k, j], : slopes[j].size] += values[k][j] / J[j] * slopes[j]
    fold_ = fold if tuned else None
    delay_column = wanted.get("delay", -1)
    return Directions(tuple(names), gain, delay_column, count, fold_, disturbances)
