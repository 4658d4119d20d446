"""A league: every method on every virtual robot, loop, trajectory, noise and fault, many seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.control.tuning import largest_inertias
from didim.dynamics.model import DynamicModel
from didim.errors import InputError, nearest
from didim.fleet.league_schema import (
    FaultTable,
    LeagueFile,
    LoopTable,
    MethodTable,
    NoiseTable,
    RobotTable,
    TrajectoryTable,
)
from didim.identification.methods.didim import DIDIM
from didim.identification.methods.idim import IDIM
from didim.identification.methods.iv import IV
from didim.identification.methods.output_error import OutputError
from didim.signals.experiment import Experiment
from didim.signals.trajectories import Fourier
from didim.signals.trajectory import Trajectory
from didim.simulation.virtual import virtual_experiment
from didim.study.loop_schema import ControllerTable
from didim.study.loops import controller_of, load_named_robot
from didim.study.reading import check_table, read_toml

Array = NDArray[np.float64]

HELD_OUT_SEED = 977
"""Added to the seed of a trajectory for that of the held-out motion."""

_METHODS: dict[str, Any] = {"iv": IV, "didim": DIDIM, "output_error": OutputError}


@dataclass(frozen=True, eq=False)
class VirtualRecord:
    """The record of a seed: a function that workers call."""

    model: DynamicModel
    parameters: Array
    loop: Controller
    reference: Trajectory
    rate: float
    noise: NoiseTable
    fault: FaultTable

    def __call__(self, seed: int) -> Experiment:
        """Simulate the robot, and add what the sensors and the faults add."""
        record, _ = virtual_experiment(
            self.model,
            self.parameters,
            self.loop,
            self.reference,
            rate=self.rate,
            noise=self.noise.torque,
            encoder=self.noise.encoder,
            start_offset=self.fault.start_offset,
            seed=seed,
        )
        q, tau = np.asarray(record.q), np.asarray(record.tau)
        of_position, of_torque = np.random.default_rng([seed, 1]).standard_normal((2, *q.shape))
        tau = (tau + self.noise.torque_sigma * of_torque) * (1.0 + self.fault.torque_scale)
        return replace(record, q=q + self.noise.position * of_position, tau=tau)


@dataclass(frozen=True)
class Entry:
    """One combination of robot, loop, trajectory, noise, fault and method."""

    robot: str
    loop: str
    trajectory: str
    noise: str
    fault: str
    method: str

    @property
    def case(self) -> str:
        """All but the method."""
        parts = (self.robot, self.loop, self.trajectory, self.noise, self.fault)
        return ", ".join(each for each in parts if each not in ("loop", "trajectory", "none"))


@dataclass(frozen=True, eq=False)
class League:
    """The entries of a league, their tasks and the true values."""

    name: str
    seeds: int
    entries: tuple[Entry, ...]
    """One for each task."""
    tasks: tuple[Any, ...]
    truth: dict[str, dict[str, float]]
    """From the robot to its base parameters, SI."""


def load_league(path: Path, settings: Sequence[str] = ()) -> League:
    """The league that a TOML file describes, changed by texts "key=value"."""
    data = read_toml(path, settings, "league", "; docs/league.md has one to start from")
    return league_of(check_table(LeagueFile, data, path.name), path.parent)


def league_of(file: LeagueFile, folder: Path) -> League:
    """Every combination of the tables of a file."""
    entries: list[Entry] = []
    tasks: list[Any] = []
    truth: dict[str, dict[str, float]] = {}
    names = [Path(each.robot).stem for each in file.robot]
    for method in file.method:
        for name in method.robots or ():
            if name not in names:
                raise InputError(f"method {method.name}: unknown robot; {nearest(name, names)}")
    for name, table in zip(names, file.robot, strict=True):
        model, parameters = _described(table, folder)
        base = model.base
        values = base.matrix @ parameters
        truth[name] = dict(zip(base.parameter_names, values.tolist(), strict=True))
        for loop, path in product(table.loop, table.trajectory):
            true_loop = _controller(loop, model, folder)
            motion, other = (_motion(path, model, more) for more in (0, HELD_OUT_SEED))
            clean = NoiseTable(name="")
            usual = FaultTable(name="")
            held_out = VirtualRecord(model, parameters, true_loop, other, table.rate, clean, usual)
            for noise, fault in product(file.noise, file.fault):
                record = VirtualRecord(
                    model, parameters, true_loop, motion, table.rate, noise, fault
                )
                for method in file.method:
                    if method.robots is not None and name not in method.robots:
                        continue
                    known = _controller(_mistuned(loop, fault), model, folder)
                    if known.by_poles and known.inertia is None:  # the gains of the true loop
                        known = replace(known, inertia=largest_inertias(model, parameters))
                    source = (model, record, _method(method, known), held_out)
                    entry = Entry(name, loop.name, path.name, noise.name, fault.name, method.name)
                    for seed in range(file.first_seed, file.first_seed + file.seeds):
                        entries.append(entry)
                        tasks.append((source, {}, seed))
    return League(file.name, file.seeds, tuple(entries), tuple(tasks), truth)


def _described(table: RobotTable, folder: Path) -> tuple[DynamicModel, Array]:
    model = DynamicModel(load_named_robot(table.robot, folder, "robot"), table.effects)
    parameters = np.array(model.nominal, dtype=float)
    names = list(model.parameter_names)
    for name, value in (table.values or {}).items():
        if name not in names:
            raise InputError(f"robot {table.robot}: values: {nearest(name, names)}")
        parameters[names.index(name)] = value
    missing = [name for name, x in zip(names, parameters, strict=True) if not np.isfinite(x)]
    if missing:
        raise InputError(
            f"robot {table.robot}: the description has no value of {', '.join(missing[:6])}; give "
            "them as values = { ... }."
        )
    return model, parameters


def _motion(table: TrajectoryTable, model: DynamicModel, more: int) -> Fourier:
    return Fourier.random(
        model.robot,
        seed=table.seed + more,
        period=table.period,
        periods=table.periods,
        harmonics=table.harmonics,
        share=table.share,
    )


def _controller(loop: LoopTable, model: DynamicModel, folder: Path) -> Controller:
    data = loop.model_dump(exclude_unset=True, exclude={"name"})
    return controller_of(ControllerTable.model_validate(data), model, folder)


def _mistuned(loop: LoopTable, fault: FaultTable) -> LoopTable:
    """The loop as the methods are told."""
    if fault.bandwidth == 0:
        return loop
    wrong = {
        name: (np.asarray(value) * (1.0 + fault.bandwidth)).tolist()
        for name in ("natural_frequency", "kp")
        if (value := getattr(loop, name)) is not None
    }
    return loop.model_copy(update=wrong)


def _method(table: MethodTable, loop: Controller) -> Any:
    try:
        if table.method == "idim":
            return IDIM(**table.settings)
        return _METHODS[table.method](controller=loop, **table.settings)
    except TypeError as problem:
        reason = str(problem).partition("() ")[2] or problem
        raise InputError(f"method {table.name}: settings: {reason}.") from None
