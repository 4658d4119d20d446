"""`Row`: what became of one task, as numbers and texts; `RunTable`: the rows of all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from didim.errors import InfeasibleError, InputError, as_utf_8, internal_error, readable, text_of
from didim.results.estimate import Estimate
from didim.results.judgement import judge
from didim.results.status import Status

if TYPE_CHECKING:
    import pandas

Array = NDArray[np.float64]

FAILED = "failed"
"""The status of a task that has no estimate."""


class FailureKind(StrEnum):
    """Why a task has no estimate."""

    NONE = ""
    INPUT = "input"
    """A file cannot be read, or a setting is wrong."""
    INFEASIBLE = "infeasible"
    """The simulated robot is not physically consistent."""
    MEMORY = "memory"
    WORKER = "worker"
    """Its process ended: killed, or out of memory."""
    INTERNAL = "internal"
    """A bug."""

    @property
    def is_lasting(self) -> bool:
        """Whether a second try on the same data would fail again."""
        return self not in (FailureKind.MEMORY, FailureKind.WORKER)


def _none() -> Array:
    return np.zeros(0)


@dataclass(frozen=True, eq=False)
class Row:
    """One task. Arrays are empty and numbers nan where there is no estimate."""

    key: str
    """Hash of the task: of its data, settings and seed."""
    name: str
    """Of the study or of the robot."""
    settings: str
    """What the task changes, as JSON."""
    seed: int
    status: str = FAILED
    """converged, stopped, diverged or unexcited; failed where there is no estimate."""
    failure: FailureKind = FailureKind.NONE
    reason: str = ""
    """The message of the estimate, or why there is none."""
    verdict: str = ""
    """Whether the model may be used: yes, care or no."""
    method: str = ""
    names: tuple[str, ...] = ()
    """(b,) base parameters."""
    values: Array = field(default_factory=_none)
    """(b,) SI units."""
    sigma: Array = field(default_factory=_none)
    """(b,) corrected for the colour of the residuals."""
    covariance: Array = field(default_factory=lambda: np.zeros((0, 0)))
    """(b, b) likewise."""
    half_width: Array = field(default_factory=_none)
    """(b,) of the 95 % intervals."""
    gain_names: tuple[str, ...] = ()
    gain_values: Array = field(default_factory=_none)
    gain_sigma: Array = field(default_factory=_none)
    residual: float = np.nan
    """||Y - W chi|| / ||Y||."""
    residual_by_joint: Array = field(default_factory=_none)
    held_out: float = np.nan
    """Residual of the held-out record that is predicted worst; nan: there is none."""
    seconds: float = np.nan
    """That the identification took."""

    @property
    def converged(self) -> bool:
        """Whether there is an estimate, and its status is CONVERGED."""
        return self.status == Status.CONVERGED

    def plain(self) -> dict[str, Any]:
        """Texts, numbers and lists."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        found["failure"] = str(self.failure)
        return {
            name: value.ravel().tolist() if isinstance(value, np.ndarray) else value
            for name, value in found.items()
        }


def row_of(data: dict[str, Any]) -> Row:
    """The row that `Row.plain` wrote."""
    given: dict[str, Any] = {
        name: np.array(value, dtype=float) if name in ARRAYS else value
        for name, value in data.items()
    }
    given["names"], given["gain_names"] = tuple(data["names"]), tuple(data["gain_names"])
    given["failure"] = FailureKind(data["failure"])
    given["covariance"] = given["covariance"].reshape(2 * (len(given["names"]),))
    return Row(**given)


ARRAYS = (
    "values",
    "sigma",
    "covariance",
    "half_width",
    "gain_values",
    "gain_sigma",
    "residual_by_joint",
)
"""Fields of a row that are arrays."""


def identified_row(task: dict[str, Any], estimate: Estimate, seconds: float) -> Row:
    """The row of an estimate; `task` has key, name, settings and seed."""
    low_high = estimate.interval(0.95)
    gains = estimate.gains
    held_out = [each.residual for each in estimate.validation]
    return Row(
        **task,
        status=str(estimate.status),
        reason=estimate.message,
        verdict=judge(estimate).level,
        method=estimate.method,
        names=tuple(estimate.names),
        values=np.array(estimate.values, dtype=float),
        sigma=estimate.corrected_sigma,
        covariance=np.array(estimate.corrected_covariance, dtype=float),
        half_width=0.5 * (low_high[:, 1] - low_high[:, 0]),
        gain_names=tuple(gains),
        gain_values=np.array([value for value, _ in gains.values()], dtype=float),
        gain_sigma=np.array([sigma for _, sigma in gains.values()], dtype=float),
        residual=float(estimate.residual),
        residual_by_joint=np.array(estimate.residual_by_joint, dtype=float),
        held_out=float(max(held_out)) if held_out else np.nan,
        seconds=seconds,
    )


def failed_row(task: dict[str, Any], problem: BaseException, seconds: float = np.nan) -> Row:
    """The row of a task that has no estimate."""
    kind = FailureKind.INTERNAL
    message = internal_error(problem)
    for error, of_error in _KINDS:
        if isinstance(problem, error):
            kind, message = of_error, text_of(problem) or type(problem).__name__
            break
    reason = as_utf_8(readable(" ".join(message.split())))
    return Row(**task, failure=kind, reason=reason, seconds=seconds)


class LostWorkerError(Exception):
    """The process of a task ended before the task."""


_KINDS: tuple[tuple[type[Exception], FailureKind], ...] = (
    (LostWorkerError, FailureKind.WORKER),
    (MemoryError, FailureKind.MEMORY),
    (InfeasibleError, FailureKind.INFEASIBLE),
    (InputError, FailureKind.INPUT),
    (OSError, FailureKind.INPUT),
)


@dataclass(frozen=True, eq=False)
class RunTable:
    """One row for each task, in the order of the tasks."""

    rows: tuple[Row, ...]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Row:
        return self.rows[index]

    def __repr__(self) -> str:
        return f"RunTable({len(self.rows)} tasks: {len(self.failed)} without an estimate)"

    @property
    def failed(self) -> tuple[Row, ...]:
        """The tasks that have no estimate."""
        return tuple(each for each in self.rows if each.status == FAILED)

    def to_frame(self) -> pandas.DataFrame:
        """One row for each task; one column, and one of sigma, for each parameter."""
        try:
            import pandas
        except ImportError:
            raise InputError('to_frame() needs pandas: pip install "didim[frames]".') from None
        scalars = [each.name for each in fields(Row) if each.name not in _WIDE]
        return pandas.DataFrame(
            [
                {name: getattr(row, name) for name in scalars}
                | dict(zip(row.names, row.values, strict=True))
                | {f"sigma_{name}": s for name, s in zip(row.names, row.sigma, strict=True)}
                | {f"residual_{j + 1}": each for j, each in enumerate(row.residual_by_joint)}
                for row in self.rows
            ]
        )


_WIDE = {*ARRAYS, "names", "gain_names", "key"}
