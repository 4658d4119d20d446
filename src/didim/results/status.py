"""What became of an identification, as values: `Status`, `StopReason`, `Failure`, `Guard`.

Programs compare these values; sentences are made from them at the edge and never read back.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum


class Status(StrEnum):
    """Whether an estimate may be looked at; equal to its word, `status == "converged"`."""

    CONVERGED = "converged"
    STOPPED = "stopped"
    """The iterations were used up, or the caller asked to stop."""
    DIVERGED = "diverged"
    """No step was possible, or the simulated loop does not reproduce the record."""
    UNEXCITED = "unexcited"
    """The record does not identify something; the message names it."""


class StopReason(Enum):
    """Why an iteration ended."""

    TOLERANCES = "tolerances"
    """The stopping tests are met (34)."""
    NOISE_FLOOR = "noise floor"
    """Only noise is left and the next step is small, but no step lowers the error further."""
    LIMIT = "limit"
    """The iterations were used up."""
    REQUEST = "request"
    """The progress callback returned False."""
    NO_STEP = "no step"
    """No part of the step was accepted."""

    @property
    def status(self) -> Status:
        """The status that follows from the iteration alone."""
        if self in (StopReason.TOLERANCES, StopReason.NOISE_FLOOR):
            return Status.CONVERGED
        return Status.DIVERGED if self is StopReason.NO_STEP else Status.STOPPED


ENDINGS = {
    StopReason.TOLERANCES: "Error and parameters settled after {steps} iterations.",
    StopReason.NOISE_FLOOR: (
        "The error settled after {steps} iterations; no step lowers it further (noise, encoder "
        "steps, saturation or sticking)."
    ),
    StopReason.LIMIT: "All {steps} iterations were used before the tolerances were met.",
    StopReason.REQUEST: "Stopped on request after {steps} iterations.",
    StopReason.NO_STEP: "No step is possible after {steps} iterations: {failure}.",
}
"""How an iteration ended, as sentences with {steps} and {failure}."""


class FailureKind(Enum):
    """What made a trial or a start impossible."""

    SIMULATION = "simulation failed"
    INERTIA = "inertia is not positive"
    SENSITIVITIES = "sensitivities diverge"
    FEW_EQUATIONS = "too few equations"
    ERROR_RISES = "error would rise"


@dataclass(frozen=True)
class Failure:
    """Why something could not be simulated or was not accepted."""

    kind: FailureKind
    detail: str = ""
    """What the simulation or the check says, for people."""
    time: float | None = None
    """s, where the simulation ended."""
    joint: int | None = None

    def __str__(self) -> str:
        if self.kind is FailureKind.SIMULATION:
            return f"simulation failed ({self.detail.rstrip('.')})"
        return self.detail.rstrip(".") or self.kind.value


class GuardKind(Enum):
    """How a step was kept feasible."""

    FRICTION = "friction"
    INERTIA = "inertia"
    HALVED = "halved"
    GAINS = "gains"
    SENTENCE = "sentence"
    """Read from a file of format 1, which kept sentences only."""


@dataclass(frozen=True)
class Guard:
    """One thing that changed a step."""

    kind: GuardKind
    names: tuple[str, ...] = ()
    """Parameters held at zero, the joint whose inertia was raised, or an old sentence."""
    failure: Failure | None = None
    """Why the step was halved."""

    def __str__(self) -> str:
        match self.kind:
            case GuardKind.FRICTION:
                return f"friction {', '.join(self.names)} held at zero"
            case GuardKind.INERTIA:
                return f"inertia raised, {', '.join(self.names)}"
            case GuardKind.HALVED:
                return f"step halved: {self.failure}"
            case GuardKind.GAINS:
                return "change of gains bounded"
        return ", ".join(self.names)


@dataclass(frozen=True)
class Verdict:
    """Status, what happened and what to do, and doubts that do not change the status."""

    status: Status
    message: str
    notes: tuple[str, ...] = ()
    unidentified: tuple[str, ...] = ()
    """Parameters and gains that the record does not identify, where nothing else is wrong."""
