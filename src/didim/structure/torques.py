"""The torques of suspects along a record, a few seconds at a time: as disturbances of the loop, and
as what is recorded at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from didim.simulation.disturbances import Disturbances
from didim.structure.suspect import Course, Suspect, Torques, earlier

Array = NDArray[np.float64]

_FEW = 4
"""Samples that tell which joints a suspect acts on."""


@dataclass(frozen=True, eq=False)
class SuspectTorques:
    """Of suspects that are a torque or a command, column after column."""

    course: Course
    suspects: Sequence[Suspect]

    @cached_property
    def disturbances(self) -> Disturbances:
        """All of them; a command c is a disturbance -c."""
        place = np.array([(j, c) for c, j, _ in self._acting], dtype=np.int64).reshape(-1, 2).T
        return Disturbances(self.count, np.ascontiguousarray(place), self._pushed)

    @cached_property
    def count(self) -> int:
        """Columns."""
        return len(self._signals(self.course.part(0, _FEW)))

    @cached_property
    def commands(self) -> list[tuple[int, int]]:
        """Column and joint of what is recorded at once."""
        return [(c, j) for c, j, is_command in self._acting if is_command]

    def recorded(self, start: int, stop: int) -> Array:
        """(stop - start, C) the commands, at the samples from start to stop."""
        found = self._signals(self.course.part(start, stop))
        return np.column_stack([found[c][0][j] for c, j in self.commands])

    @cached_property
    def _acting(self) -> list[tuple[int, int, bool]]:
        """Column, joint, and whether it is a command, of each torque."""
        found = self._signals(self.course.part(0, _FEW))
        return [(c, j, command) for c, (each, command) in enumerate(found) for j in each]

    def _signals(self, part: Course) -> list[tuple[Torques, bool]]:
        """The torques or commands of each column along a part of the record."""
        found = []
        for each in self.suspects:
            if each.torque is not None:
                found += [(torques, False) for torques in each.torque(part)]
            elif each.command is not None:
                found += [(torques, True) for torques in each.command(part)]
        return found

    def _pushed(self, start: int, stop: int) -> Array:
        """(stop - start, S) the disturbances; a command of a sampled law is held until the next
        sample.
        """
        course = self.course
        assert course.law is not None
        late = 0.5 * course.law.period
        first = max(int(np.searchsorted(course.t, course.t[start] - late)) - 1, 0)
        part = course.part(first, stop)
        columns, found = [], self._signals(part)
        for c, j, is_command in self._acting:
            signal = found[c][0][j]
            if is_command:
                signal = -earlier(part.t, signal[:, None], late)[:, 0]
            columns.append(signal[start - first :])
        return np.column_stack(columns)
