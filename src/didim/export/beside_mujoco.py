"""The identified robot in its loop, simulated by didim and by MuJoCo: what an exported MJCF does
beside the model that it came from, and beside the record.

MuJoCo's friction is soft: below its limit a joint creeps instead of sticking. What that costs is
part of the difference.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from didim.control.laws import PD
from didim.errors import InputError, shortened
from didim.export.mujoco_run import mujoco_positions, unsupported
from didim.results.estimate import Estimate
from didim.results.identified import InconsistentRobotWarning, to_robot
from didim.results.prediction import simulated
from didim.results.servo_gains import servo_gains
from didim.robot.mjcf.tree import read_tree
from didim.robot.mjcf.write import robot_mjcf
from didim.signals.experiment import Experiment
from didim.signals.states import measured_positions
from didim.simulation.motion import Motion
from didim.simulation.records import check_joints

Array = NDArray[np.float64]

POSES = 50
"""At which the poles of a loop are computed."""


@dataclass(frozen=True, eq=False)
class BesideMujoco:
    """Two simulations of one record."""

    record: str
    joints: tuple[str, ...]
    t: Array
    """(N,) s."""
    didim: Array
    """(N, n) positions of didim's simulation, rad or m."""
    mujoco: Array
    """(N, n) positions of MuJoCo's."""
    measured: Array | None
    """(N, n) positions of the record, where it has them."""

    @property
    def difference(self) -> Array:
        """(n,) root mean square of the difference of the simulations, rad or m."""
        return _rms(self.mujoco - self.didim)

    @property
    def errors(self) -> tuple[Array, Array] | None:
        """(n,) root mean square errors of didim and of MuJoCo against the record."""
        if self.measured is None:
            return None
        return _rms(self.didim - self.measured), _rms(self.mujoco - self.measured)

    def __str__(self) -> str:
        lines = [f"{self.record or 'record'}: MuJoCo beside didim, rms of positions, rad or m"]
        for j, name in enumerate(self.joints):
            line = f"  {name}: difference {self.difference[j]:.3g}"
            if self.errors is not None:
                one, other = self.errors
                line += f"; error of didim {one[j]:.3g}, of MuJoCo {other[j]:.3g}"
            lines.append(line)
        return "\n".join(lines)


def beside_mujoco(
    estimate: Estimate,
    experiment: Experiment,
    file: str | PathLike[str] | None = None,
    motion: Motion | None = None,
) -> BesideMujoco:
    """Simulate a record of the identified robot by didim and by MuJoCo, in the loop of the
    estimate.

    Parameters
    ----------
    estimate
        With a loop: a PD.
    experiment
        Its reference is followed.
    file
        The MJCF that `to_robot` wrote; None: a new one of the identified robot.
    motion
        Didim's simulation of the record, where there is one already.
    """
    if not isinstance(estimate, Estimate) or not isinstance(experiment, Experiment):
        raise InputError(
            "beside_mujoco takes a didim.Estimate and a didim.Experiment, found "
            f"{shortened(estimate)} and {shortened(experiment)}."
        )
    loop = estimate.controller
    if why := unsupported(loop):
        raise InputError(f"MuJoCo is not stepped: {why}")
    assert isinstance(loop, PD)
    check_joints(estimate.model, experiment)
    gains = servo_gains(estimate)
    if not gains:
        raise InputError("MuJoCo is not stepped: the loop is not one servo for each joint.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InconsistentRobotWarning)
        robot = to_robot(estimate, None, False, None, None, True)
    path = Path("identified.xml") if file is None else Path(file)
    if file is not None and not path.is_file():
        raise InputError(f"{file}: no such file.")
    text = robot_mjcf(robot, gains) if file is None else read_tree(path).text
    preprocessing = estimate.preprocessing
    if motion is None:
        motion = simulated(estimate.model, estimate.parameters, loop, experiment, preprocessing)
    if not motion.completed:
        raise InputError(f"MuJoCo is not stepped: {motion.message}")
    trajectory = experiment.reference(preprocessing.interpolation).delayed(preprocessing.delay)
    start = (motion.q[0], motion.dq[0])
    fastest = _fastest_pole(estimate, motion, np.array([each.kv for each in gains.values()]))
    found = mujoco_positions(text, path, robot, loop, gains, trajectory, motion.t, start, fastest)
    measured = None if experiment.q is None else measured_positions(experiment)
    return BesideMujoco(experiment.name, robot.joint_names, motion.t, motion.q, found, measured)


def _fastest_pole(estimate: Estimate, motion: Motion, kv: Array) -> float:
    """rad/s: the largest eigenvalue of M(q)^-1 kv along the motion."""
    few = np.linspace(0, len(motion.t) - 1, POSES).astype(int)
    M = estimate.model.inertia_matrix(motion.q[few], estimate.parameters)
    return float(
        np.abs(np.linalg.eigvals(np.linalg.solve(M, np.broadcast_to(np.diag(kv), M.shape)))).max()
    )


def _rms(values: Array) -> Array:
    return np.asarray(np.sqrt(np.mean(values**2, axis=0)))
