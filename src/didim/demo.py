"""The demonstration: IDIM and DIDIM side by side on a virtual SCARA."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from didim.paper.experiments import PaperExperiments
from didim.paper.virtual_scara import PERIOD, RATE, SHORT
from didim.results.estimate import Estimate
from didim.simulation.compiling import compile_loop_ahead

INTRODUCTION = f"""\
A virtual SCARA follows a trajectory for {PERIOD * SHORT:.0f} s in its PD loop, sampled at
{RATE:.0f} Hz, with noise on its torques and steps on its encoders. IDIM differentiates the
positions; DIDIM simulates the same loop and uses the torques alone.
"""
FIRST_RUN = """\
This is the first run on this machine: the simulator is compiled for its processor, which takes
about half a minute, once. Later runs take a few seconds.
"""


@dataclass(frozen=True)
class Demo:
    """The record and both estimates."""

    runs: PaperExperiments
    idim: Estimate
    didim: Estimate

    def text(self) -> str:
        """The table, the residuals, and their interpretation."""
        head = f"{'':<6} {'':>9}   {'IDIM: torque and position':^32}   {'DIDIM: torque only':^32}"
        columns = f"{'':<6} {'true':>9}   " + "   ".join(
            [f"{'value':>10} {'2 sigma':>10} {'% sigma':>10}"] * 2
        )
        rows = [
            f"{name:<6} {true:>9.4g}   {_cells(self.idim, i)}   {_cells(self.didim, i)}"
            for i, (name, true) in enumerate(zip(self.idim.names, self.runs.truth, strict=True))
        ]
        joints = "; ".join(map(_residual, (self.idim, self.didim)))
        return "\n".join(
            [
                head,
                columns,
                *rows,
                "",
                f"residual: {joints}",
                f"IDIM: {self.idim.status}. DIDIM: {self.didim.status} after "
                f"{self.didim.iterations} iterations from "
                "chi0 = (1, 0, 0, 1, 0, ...).",
                "Viscous friction of joint 1 is a few thousandths of its torque: neither method "
                "identifies it well.",
                "On another motion, which the fit did not use, the residual of DIDIM's model is "
                f"{100 * self.didim.validation[0].residual:.2f} % of the torque.",
            ]
        )


def _cells(estimate: Estimate, i: int) -> str:
    return (
        f"{estimate.values[i]:>10.4g} {2 * estimate.sigma[i]:>10.2g} "
        f"{estimate.relative_sigma[i]:>10.2g}"
    )


def _residual(estimate: Estimate) -> str:
    """Of all joints and joint by joint."""
    joints = ", ".join(
        f"joint {j + 1}: {100 * fraction:.2f} %"
        for j, fraction in enumerate(estimate.residual_by_joint)
    )
    return f"{estimate.method} {100 * estimate.residual:.2f} % ({joints})"


def demo(show: Callable[[str], object] = str) -> Demo:
    """Run both methods on the record; `show` is called with what is known on the way."""
    runs = PaperExperiments()
    show(INTRODUCTION)
    if compile_loop_ahead(sampled=True, sensitive=False):
        show(FIRST_RUN)
    idim = runs.idim
    show(f"The record is made. Residual of {_residual(idim)}. DIDIM follows.\n")
    return Demo(runs, idim, runs.didim(runs.usual, initial="unit", validation=runs.other))
