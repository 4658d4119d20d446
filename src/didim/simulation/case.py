"""A published case: robot, parameters, loop, trajectory, noise and seed of a virtual experiment in
one TOML file.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from didim.control.law import Controller
from didim.control.laws import PD, PID, Cascade
from didim.dynamics.model import DynamicModel
from didim.errors import InputError, nearest, shortened
from didim.robot.fields import Fields
from didim.robot.load import load_robot
from didim.signals.experiment import Experiment
from didim.signals.trajectories import Fourier
from didim.simulation.virtual import Truth, virtual_experiment
from didim.validation import real, whole

_LAWS: dict[str, type[Controller]] = {"pd": PD, "pid": PID, "cascade": Cascade}


@dataclass(frozen=True, eq=False)
class Case:
    """What a case file fixes."""

    name: str
    model: DynamicModel
    controller: Controller
    reference: Fourier
    rate: float
    """Of the measurement, 1/s."""
    noise: float
    """Torque noise over each joint's rms torque."""
    seed: int

    @property
    def t(self) -> np.ndarray:
        """Times of the measurement, s."""
        return np.arange(round(self.reference.span[1] * self.rate) + 1) / self.rate

    def experiment(self, seed: int | None = None) -> tuple[Experiment, Truth]:
        """The virtual experiment at the robot's nominal parameters, with the file's seed or
        another.
        """
        return virtual_experiment(
            self.model,
            self.model.nominal,
            self.controller,
            self.reference,
            rate=self.rate,
            noise=self.noise,
            seed=self.seed if seed is None else seed,
            name=self.name,
        )


def load_case(path: str | PathLike[str]) -> Case:
    """The case that a TOML file describes, for example `cases/tx40.toml`."""
    if not isinstance(path, str | PathLike):
        raise InputError(f"load_case takes a path, found {shortened(path)}.")
    file = Path(path)
    try:
        fields = Fields(tomllib.loads(file.read_text(encoding="utf-8")), file.name)
    except OSError as problem:
        raise InputError(f"{file}: cannot be read: {problem.strerror}.") from None
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{file.name}: not a TOML file: {str(problem).splitlines()[0]}.") from None
    model = DynamicModel(load_robot(fields.text("robot")), fields.texts("effects"))
    case = Case(
        name=fields.text("name", file.stem),
        model=model,
        controller=_controller(fields.table("controller"), file.name),
        reference=_fourier(fields.table("fourier"), model.robot.n, file.name),
        rate=real(fields.number("rate"), f"{file.name}: rate", above=0.0),
        noise=real(fields.number("noise"), f"{file.name}: noise", least=0.0),
        seed=whole(fields.number("seed"), f"{file.name}: seed", least=0),
    )
    fields.finish()
    return case


def _controller(fields: Fields | None, where: str) -> Controller:
    if fields is None:
        raise InputError(f"{where}: the table [controller] is missing.")
    law = fields.text("law")
    if law not in _LAWS:
        raise InputError(f"{fields.where}: unknown law {law!r}; {nearest(law, _LAWS)}")
    settings = fields.values(
        ("natural_frequency", "damping", "velocity_reference"), beside=("law",)
    )
    return _LAWS[law](**settings)  # type: ignore[arg-type]


def _fourier(fields: Fields | None, n: int, where: str) -> Fourier:
    if fields is None:
        raise InputError(f"{where}: the table [fourier] is missing.")
    harmonics = whole(fields.number("harmonics"), f"{fields.where}: harmonics", least=2)
    a, b = ([fields.numbers(f"{key}{j + 1}", harmonics) for j in range(n)] for key in "ab")
    trajectory = Fourier(a, b, fields.number("period"), fields.numbers("centre", n))
    fields.finish()
    return trajectory
