"""`Tied`: the joints of a tree over the coordinates of a robot, where some joints follow others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.kernels.ties import Ties, ties_type
from didim.jit.struct_pointers import StructMemory
from didim.robot.robot import Robot

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Tied:
    """m joints in the order of the tree, the k-th at q_k = ratio_k q_i + offset_k with i =
    coordinate_k. A joint that follows none has ratio 1 and offset 0.
    """

    number: Integers
    """(m,) index of each joint in `Robot.numbered`."""
    coordinate: Integers
    ratio: Array
    offset: Array

    def on_coordinates(self, weights: Mapping[int, float]) -> tuple[dict[int, float], float]:
        """A weighted sum of positions, by the numbers of joints, as one of coordinates and a
        constant.
        """
        found: dict[int, float] = {}
        constant = 0.0
        at = {int(number): k for k, number in enumerate(self.number)}
        for number, weight in weights.items():
            k = at[number]
            i = int(self.coordinate[k])
            found[i] = found.get(i, 0.0) + weight * float(self.ratio[k])
            constant += weight * float(self.offset[k])
        return {i: weight for i, weight in found.items() if weight != 0.0}, constant


def tied_of(robot: Robot) -> Tied | None:
    """The ties of a robot; None where every joint is a coordinate."""
    if robot.n == len(robot.joints):
        return None
    number = {joint.name: k for k, joint in enumerate(robot.numbered)}
    mimics = [joint.mimic for joint in robot.joints]
    follows = [joint.name if joint.mimic is None else joint.mimic.joint for joint in robot.joints]
    return Tied(
        np.array([number[joint.name] for joint in robot.joints], dtype=np.int64),
        np.array([number[name] for name in follows], dtype=np.int64),
        np.array([1.0 if mimic is None else mimic.ratio for mimic in mimics]),
        np.array([0.0 if mimic is None else mimic.offset for mimic in mimics]),
    )


class TiesMemory:
    """The ties of a model with scratch memory for regressors of `columns` columns, for one thread;
    the `address` is valid as long as this object lives. 0: there are none.
    """

    def __init__(self, tied: Tied | None, columns: int) -> None:
        self.address = 0
        if tied is not None:
            m = tied.number.size
            shapes = [(3, m), *[(m, m)] * 4, (m, columns)]
            scratch = (np.zeros(shape) for shape in shapes)
            ties = Ties(tied.coordinate, tied.ratio, tied.offset, *scratch)
            self._memory = StructMemory(ties_type, ties)
            self.address = self._memory.address
