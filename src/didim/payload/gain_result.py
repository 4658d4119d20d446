"""`DriveGains`: torque per unit of the control signal, joint by joint, and the robot that was
identified with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.model import BaseModel
from didim.payload.gain_least_squares import Gains
from didim.results.estimate import Estimate
from didim.results.formatting import joint_label, number, torque_unit
from didim.signals.experiment import Experiment, measured_torque

Array = NDArray[np.float64]


def plain_gains(model: BaseModel, values: Array, covariance: Array) -> dict[str, list[float]]:
    """Value and sigma of each gain by its joint, for files."""
    sigma = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    triples = zip(model.robot.joint_names, values.tolist(), sigma.tolist(), strict=True)
    return {name: [value, each] for name, value, each in triples}


def in_torque(experiment: Experiment, gains: Array) -> Experiment:
    """A record in control units, with its torques by gains (n,)."""
    return replace(experiment, tau=measured_torque(experiment) * gains)


@dataclass(frozen=True, eq=False)
class DriveGains:
    """The gains of all joints, found together with all dynamic parameters."""

    values: Array
    """(n,) N.m or N per unit of the control signal, such as amperes."""
    covariance: Array
    """(n, n) for the colour of the residuals."""
    estimate: Estimate
    """The empty robot in N.m and N; its covariance has the uncertainty of the gains."""
    method: str
    """"consistent", "wls" or "tls"."""
    known: Mapping[str, float] = field(default_factory=dict)
    """What was known of the load, M in kg, MX MY MZ in kg m, and of the robot."""
    load: Array | None = None
    """(10,) XX XY XZ YY YZ ZZ MX MY MZ M of the load; None without one."""
    others: Mapping[str, Gains] = field(default_factory=dict)
    """What the other methods give on the same rows, for comparison."""
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        pairs = zip(self.values, self.sigma, strict=True)
        return f"DriveGains({', '.join(f'{value:.4g} ± {sigma:.2g}' for value, sigma in pairs)})"

    @property
    def sigma(self) -> Array:
        """(n,) standard deviations."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def plain(self) -> dict[str, list[float]]:
        """Value and sigma of each gain by its joint, for files."""
        return plain_gains(self.estimate.model, self.values, self.covariance)

    @property
    def sentence(self) -> str:
        """The gains in a sentence."""
        shown = [f"{value:.4g} ± {sigma:.2g}" for value, sigma in self.plain.values()]
        return (
            f"Drive gains were identified with the parameters ({self._anchor}): "
            f"{', '.join(shown)}, torque per unit of the control signal."
        )

    def torque(self, experiment: Experiment) -> Experiment:
        """A record in control units, with its torques."""
        return in_torque(experiment, self.values)

    def summary(self) -> str:
        """The gains as a table, beside those of the other methods, with notes."""
        model, names = self.estimate.model, list(self.others)
        labels = [joint_label(model, j) for j in range(self.values.size)]
        width = max(map(len, labels))
        head = f"{'joint':<{width}} {'gain':>10} {'2 sigma':>10} {'% sigma':>8}"
        head += "".join(f" {name:>10}" for name in names)
        lines = [f"Drive gains of {model.robot.name}, {self.method}: {self._anchor}", "", head]
        lines.append("-" * len(head))
        for j, (value, sigma) in enumerate(zip(self.values, self.sigma, strict=True)):
            row = f"{labels[j]:<{width}} {number(value):>10} {number(2 * sigma):>10}"
            row += f" {100 * sigma / abs(value):>8.2g}"
            row += "".join(f" {number(self.others[name].values[j]):>10}" for name in names)
            lines.append(row)
        unit = torque_unit(model, 0)
        lines += ["", f"{unit} per unit of the control signal, such as A."]
        if self.notes:
            lines += ["", "Notes", *(f"[{k}] {note}" for k, note in enumerate(self.notes, 1))]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    @property
    def _anchor(self) -> str:
        """What the scale rests on."""
        return ", ".join(f"{name} = {number(value)}" for name, value in self.known.items())
