"""What a run needs before it starts: the plant for the kernels, the reference and the channels."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.kernels.law import GAINS_ONLY, USER, Law
from didim.control.law import Controller
from didim.control.laws import PD
from didim.dynamics.kernels.elementary import padded
from didim.dynamics.kernels.tree import Values
from didim.dynamics.torque import Signals, TorqueModel
from didim.dynamics.tree_memory import TreeMemory, work_of
from didim.errors import InputError
from didim.signals.kernels.piecewise_cubic import PiecewiseCubic
from didim.signals.reference import Reference
from didim.signals.trajectory import Trajectory
from didim.simulation.instant_code import RunCode
from didim.simulation.kernels.contact import Code, ContactWorkspace
from didim.simulation.kernels.plant import (
    CONTINUOUS,
    HELD,
    OPEN,
    Instant,
    Plant,
    own_model,
    rates,
    rates_by_code,
    recursion,
    sample,
    terms,
)
from didim.validation import samples

Array = NDArray[np.float64]
ENABLED = "enabled"
"""The logged channel that switches the drives on (1) and off (0), where an effect uses it."""


def trajectory_of(
    value: ArrayLike | Trajectory | None, t: Array, n: int, interpolation: str, name: str
) -> Trajectory:
    """The reference (or torque) as a trajectory of n joints that covers the times t."""
    if value is None:
        raise InputError(f"{name} is missing: an array on t, a Reference or a trajectory.")
    if not isinstance(value, Trajectory):
        rows = samples(value, name, n, t.size)
        if t.size == 1:
            t, rows = np.array([t[0], t[0] + 1.0]), np.vstack([rows, rows])
        return Reference(t, rows, interpolation=interpolation)
    if value.n != n:
        raise InputError(f"{name} has {value.n} joints, the robot has {n}.")
    start, end = value.span
    spacing = value.spacing if isinstance(value, Reference) else 0.0
    slack = 1e-6 + min(spacing, 0.05)
    if start > t[0] + slack or end < t[-1] - slack:
        raise InputError(
            f"{name} covers {start:g} to {end:g} s, but the simulation runs from {t[0]:g} to "
            f"{t[-1]:g} s."
        )
    return value


def channels_of(
    model: TorqueModel, loop: Controller | None, t: Array, signals: Signals | None
) -> Reference | None:
    """The logged channels that the effects of the model, then those of the controller's own model,
    need, as functions of time: linear between the times t (N,) of the record. None: they need none.
    """
    given, rows = signals or {}, []
    own = () if loop is None or loop.model is None else loop.model.channels
    for name in (*model.channels, *own):
        if name not in given:
            raise InputError(
                f"An effect of {model.robot.name!r} needs the channel {name!r}: give "
                f"signals={{{name!r}: ...}}, or log it with the experiment."
            )
        rows.append(samples(given[name], name, 1, t.size)[:, 0])
    if not rows:
        return None
    table = np.column_stack(rows)
    if t.size == 1:
        t, table = np.array([t[0], t[0] + 1.0]), np.vstack([table, table])
    return Reference(t, table, interpolation="linear")


def drive_of(loop: Controller | None) -> int:
    """What drives the robot: a held command, a law at every instant, or a given torque."""
    return OPEN if loop is None else (CONTINUOUS if loop.rate is None else HELD)


def law_of(loop: Controller | None, model: TorqueModel, inertia: Array) -> Law:
    """The compiled law's numbers; idle ones in open loop."""
    return (loop or PD(kp=1.0, kv=1.0, drive_gain=1.0)).resolve(model, inertia)


def memory_of(model: TorqueModel, loop: Controller | None) -> tuple[TreeMemory, TreeMemory]:
    """The terms and ties of the robot and of the controller's own model, in memory of their own."""
    own = None if loop is None else loop.model
    layout = (model if own is None else own).layout
    return TreeMemory(model.layout), TreeMemory(layout, with_terms=own is not None)


def code_of(model: TorqueModel, machine_code: RunCode, law: Law, drive: int) -> Code:
    """The addresses of what a run needs, compiled now unless it was; 0 for what it does not."""
    robot, instant, ordinary = machine_code
    return Code(
        0 if robot is None else robot.address,
        recursion.address if robot is None else 0,
        terms.address if model.layout.terms.terms else 0,
        0 if law.kind in (GAINS_ONLY, USER) else own_model.address,
        (rates if instant is None else rates_by_code).address,
        sample.address if drive == HELD else 0,
        0 if instant is None else instant.address,
        0,  # the table is that of a plant
        ordinary,
        rates.address,
    )


def make_plant(
    model: TorqueModel,
    values: Values,
    code: RunCode,
    loop: Controller | None,
    law: Law,
    reference: PiecewiseCubic,
    channels: PiecewiseCubic,
    memory: tuple[TreeMemory, TreeMemory],
    friction: int,
    width: float,
) -> Plant:
    """A plant whose memory is zero; `memory` is that of the robot and of the controller's own
    model, see `memory_of`.
    """
    n, c = model.robot.n, len(model.contacts)
    own_model = loop.model if loop is not None and loop.model is not None else None
    own_tree = (model if own_model is None else own_model).tree
    own_channels = () if own_model is None else own_model.channels
    own = values if loop is None else loop.own_values(values)
    state = (loop or PD(kp=1.0, kv=1.0)).controller_state(n, own.contact.shape[0])
    return Plant(
        memory[0].on(model.tree),
        values,
        code_of(model, code, law, drive_of(loop)),
        memory[1].on(own_tree),
        own,
        law,
        state,
        reference,
        channels,
        len(model.channels),
        model.channels.index(ENABLED) if ENABLED in model.channels else -1,
        np.zeros(2, dtype=np.int64),
        work_of(model.layout, own_tree.parent.size),
        ContactWorkspace(
            np.zeros(c),
            np.zeros(c),
            np.zeros(c, dtype=np.int64),
            np.zeros((c, n)),
            np.zeros((c, c)),
            np.zeros(1, dtype=np.int64),
            np.zeros(c, dtype=np.int64),
            np.zeros(padded(c)),
            np.zeros((2, c)),
        ),
        drive_of(loop),
        friction,
        width,
        Instant(
            np.zeros(n),
            np.zeros(n),
            np.zeros(n),
            np.zeros(c),
            np.zeros(len(model.channels) + len(own_channels)),
        ),
        np.zeros((10, 4 * n)),
    )
