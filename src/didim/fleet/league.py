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
from didim.errors import InputError, naming, nearest
from didim.fleet.league_limits import refuse_large_record, refuse_many_runs
from didim.fleet.league_names import distinct_names, refuse_equal_cases
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

LOOP, TRAJECTORY = "loop", "trajectory"
"""Names of those that have none."""

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
        """All but the method; of loop, trajectory, noise and fault what is not the usual one."""
        parts = (self.loop, self.trajectory, self.noise, self.fault)
        told = [each for each in parts if each not in (LOOP, TRAJECTORY, "none")]
        return ", ".join([self.robot, *told])


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
    names = _names(file)
    for name, table in zip(names, file.robot, strict=True):
        model, parameters = _described(table, folder)
        base = model.base
        values = base.matrix @ parameters
        truth[name] = dict(zip(base.parameter_names, values.tolist(), strict=True))
        methods = [each for each in file.method if each.robots is None or name in each.robots]
        loops = _with_names(f"loop of the robot {name}", table.loop, LOOP)
        paths = _with_names(f"trajectory of the robot {name}", table.trajectory, TRAJECTORY)
        for (of_loop, loop), (of_path, path) in product(loops, paths):
            true_loop = _controller(loop, model, folder)
            refuse_large_record(f"robot {name}, {of_path}", table, path, true_loop, model)
            motion, other = (_motion(path, model, more) for more in (0, HELD_OUT_SEED))
            clean = NoiseTable(name="")
            usual = FaultTable(name="")
            held_out = VirtualRecord(model, parameters, true_loop, other, table.rate, clean, usual)
            for noise, fault in product(file.noise, file.fault):
                record = VirtualRecord(
                    model, parameters, true_loop, motion, table.rate, noise, fault
                )
                with naming(f"fault {fault.name}, robot {name}, {of_loop}"):
                    known = _mistuned(true_loop, fault, model, parameters)
                for method in methods:
                    source = (model, record, _method(method, known), held_out)
                    entry = Entry(name, of_loop, of_path, noise.name, fault.name, method.name)
                    refuse_many_runs(len(tasks) + file.seeds)
                    for seed in range(file.first_seed, file.first_seed + file.seeds):
                        entries.append(entry)
                        tasks.append((source, {}, seed))
    refuse_equal_cases(entries)
    return League(file.name, file.seeds, tuple(entries), tuple(tasks), truth)


def _names(file: LeagueFile) -> list[str]:
    """The names of the robots. Those of noise, faults and methods are checked too."""
    for kind in ("noise", "fault", "method"):
        distinct_names(f"[[{kind}]]", [each.name for each in getattr(file, kind)])
    stems = [Path(each.robot).stem for each in file.robot]
    names = distinct_names("[[robot]]", [each.name for each in file.robot], stems)
    for method in file.method:
        if method.robots is not None and not method.robots:
            raise InputError(
                f"method {method.name}: robots is empty; name some, or leave it out for all."
            )
        for name in method.robots or ():
            if name not in names:
                raise InputError(f"method {method.name}: unknown robot; {nearest(name, names)}")
    return names


def _with_names(kind: str, tables: Sequence[Any], usual: str) -> list[tuple[str, Any]]:
    """Tables and their names."""
    names = distinct_names(kind, [each.name for each in tables], [usual] * len(tables))
    return [*zip(names, tables, strict=True)]


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


def _mistuned(loop: Controller, fault: FaultTable, model: DynamicModel, true: Array) -> Controller:
    """The loop as the methods are told, with the inertias that the true one is tuned for."""
    told = loop if fault.bandwidth == 0 else loop.faster(1.0 + fault.bandwidth)
    if told.by_poles and told.inertia is None:
        told = replace(told, inertia=largest_inertias(model, true))
    return told


def _method(table: MethodTable, loop: Controller) -> Any:
    try:
        if table.method == "idim":
            return IDIM(**table.settings)
        return _METHODS[table.method](controller=loop, **table.settings)
    except TypeError as problem:
        reason = str(problem).partition("() ")[2] or problem
        raise InputError(f"method {table.name}: settings: {reason}.") from None
