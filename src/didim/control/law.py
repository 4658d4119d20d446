"""`Controller`: what all control laws share, and how they become the numbers of the compiled law.

A law outputs the control signal v; gains and saturation are in its units, and tau = g v (8). Gains
are given by poles, natural frequency and damping of (55), or as the controller has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.kernels.law import (
    COMPUTED_TORQUE,
    FEEDFORWARD,
    GAINS_ONLY,
    GRAVITY,
    ControllerState,
    Law,
)
from didim.control.settings import is_default, refuse_unless
from didim.dynamics.kernels.tree import Values
from didim.dynamics.torque import TorqueModel
from didim.errors import InputError, nearest, shortened
from didim.validation import per_joint, real, whole

Array = NDArray[np.float64]

GAINS = ("kp", "kv", "ki", "kiv")
"""Of the one law, in the order in which kernels number them."""

DRIVE_GAIN, ZERO, BIAS = "drive_gain", "zero", "bias"
"""Further unknowns of a loop, joint by joint: g of (8); what is added to logged positions and
reference to reach the zero of the model; by how much the log reads more than the controller.
"""

VELOCITIES = ("true", "backward_difference", "mean_difference", "none")
MAX_DELAY_SAMPLES = 100_000
MODEL_TERMS = {
    "none": GAINS_ONLY,
    "gravity": GRAVITY,
    "feedforward": FEEDFORWARD,
    "computed_torque": COMPUTED_TORQUE,
}


@dataclass(frozen=True)
class Gains:
    """Gains of the one law, each (n,), in the units of v."""

    kp: Array
    kv: Array
    ki: Array
    kiv: Array
    ff: Array

    def of_driven(self, driven: NDArray[np.bool_]) -> Gains:
        """The same with zeros where a joint (n,) is passive."""
        if driven.all():
            return self
        return Gains(*(np.where(driven, getattr(self, each.name), 0.0) for each in fields(self)))


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Controller:
    """A joint control law. Numbers may be one for all joints or one for each."""

    natural_frequency: ArrayLike | None = None
    """omega_n of (55), rad/s."""
    damping: ArrayLike = 1.0
    """zeta of (55)."""
    kp: ArrayLike | None = None
    """The controller's own position gain, 1/s, law (53)."""
    kv: ArrayLike | None = None
    """The controller's own velocity gain, v per rad/s or m/s."""
    inertia: ArrayLike | None = None
    """(n,) a priori J_j of (58); None: max over q of M_jj at the simulated parameters."""
    velocity_reference: ArrayLike = 0.0
    """Fraction of the reference velocity in s = kp e + ff dq_r - dq: 0 in (53), 1 for full velocity
    feedforward.
    """
    drive_gain: ArrayLike | None = None
    """g of (8): one number, (n,) or (n, n); None: the robot's own."""
    rate: float | None = None
    """Samples per second; None: continuous."""
    saturation: ArrayLike = np.inf
    """Limit on |v|."""
    delay: int = 0
    """Whole samples between reading the encoders and applying the command."""
    velocity: str = "true"
    """The velocity that the controller uses: "true", "backward_difference" of the position,
    "mean_difference", the backward difference of the mean of two positions, or "none".
    """
    encoder: ArrayLike = 0.0
    """Step of the position sensor, rad or m; 0: none."""
    model: TorqueModel | None = None
    """The controller's own model, for gravity compensation, feedforward or computed torque."""
    parameters: ArrayLike | None = None
    """Its parameters; None: the model's nominal ones."""
    model_term: str = "none"
    """What it adds: "none", "gravity" at q, "feedforward" along the reference,
    "computed_torque".
    """

    def __post_init__(self) -> None:
        where = type(self).__name__
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                object.__setattr__(self, name, value.copy())
        self._check_gains(where)
        for name in ("natural_frequency", "damping", "kp", "kv", "inertia", "saturation"):
            refuse_unless(
                getattr(self, name),
                f"{where}: {name}",
                "positive",
                lambda x: x > 0,
                infinite=name == "saturation",
            )
        for name in ("velocity_reference", "encoder"):
            refuse_unless(getattr(self, name), f"{where}: {name}", "not negative", lambda x: x >= 0)
        if self.drive_gain is not None:
            refuse_unless(self.drive_gain, f"{where}: drive_gain", "finite", lambda x: x == x)
        if not isinstance(self.velocity, str) or self.velocity not in VELOCITIES:
            raise InputError(
                f"{where}: unknown velocity {self.velocity!r}; "
                f"{nearest(str(self.velocity), VELOCITIES)}"
            )
        if self.rate is not None:
            object.__setattr__(
                self, "rate", real(self.rate, f"{where}: rate, in samples per second,", above=0.0)
            )
        object.__setattr__(
            self, "delay", whole(self.delay, f"{where}: delay, in samples,", least=0)
        )
        if self.delay > MAX_DELAY_SAMPLES:
            raise InputError(
                f"{where}: a delay of {self.delay} samples is beyond the limit of "
                f"{MAX_DELAY_SAMPLES}."
            )
        if self.rate is None and (
            self.delay or self.velocity != "true" or np.any(np.asarray(self.encoder) != 0)
        ):
            raise InputError(
                f"{where}: delay, encoder and velocity differences need a sampled law; give rate."
            )
        if not isinstance(self.model_term, str) or self.model_term not in MODEL_TERMS:
            raise InputError(
                f"{where}: unknown model_term {self.model_term!r}; "
                f"{nearest(str(self.model_term), MODEL_TERMS)}"
            )
        if self.model is not None and not isinstance(self.model, TorqueModel):
            raise InputError(
                f"{where}: model must be a didim.DynamicModel or its base, found "
                f"{type(self.model).__name__}."
            )
        if (self.model_term != "none") != (self.model is not None):
            raise InputError(f"{where}: model and model_term belong together; give both or none.")
        if self.parameters is not None and self.model is None:
            raise InputError(
                f"{where}: parameters are those of the controller's own model; give model and "
                "model_term."
            )

    def __repr__(self) -> str:
        shown = [
            f
            for f in fields(self)
            if f.name not in ("model", "law") and not is_default(getattr(self, f.name), f.default)
        ]
        settings = [f"{f.name}={shortened(getattr(self, f.name))}" for f in shown]
        return f"{type(self).__name__}({', '.join(settings)})"

    def _check_gains(self, where: str) -> None:
        own, poles = self.kp is not None or self.kv is not None, self.natural_frequency is not None
        if own == poles:
            raise InputError(
                f"{where} needs either natural_frequency (poles) or kp and kv (the controller's "
                "own gains)."
            )
        if own and (self.kp is None or self.kv is None):
            raise InputError(f"{where} needs both kp and kv.")

    @property
    def unknown_kinds(self) -> tuple[str, ...]:
        """Kinds of gains that may be unknown, where they are not zero."""
        return GAINS

    def during(self, gains: Mapping[str, ArrayLike]) -> Self:
        """The same law with the gains that it had during a record, by name: {"kp": 400.0}."""
        if not gains:
            return self
        names = [kind for kind in GAINS if hasattr(self, kind)]
        for name in gains:
            if name not in names or self.by_poles:
                raise InputError(
                    f"A record has its own {name!r}, but the {type(self).__name__} of the method "
                    f"is given by {'its poles' if self.by_poles else ', '.join(names)}; give it "
                    "the gains that the records change."
                )
        changed: dict[str, Any] = dict(gains)
        return replace(self, **changed)

    @property
    def by_poles(self) -> bool:
        """Whether the gains follow from natural frequency and damping."""
        return self.natural_frequency is not None

    def gains(self, n: int, g: Array, inertia: Array) -> Gains:
        """The gains for n joints with drive gains g (n,) and inertias J (n,), by (58) or as given.

        Implements (56)-(58).
        """
        if self.by_poles:
            omega, zeta = (
                per_joint(np.asarray(self.natural_frequency), "natural_frequency", n),
                per_joint(self.damping, "damping", n),
            )
            kp, kv = omega / (2 * zeta), 2 * zeta * omega * inertia / g
        else:
            kp, kv = (
                per_joint(np.asarray(self.kp), "kp", n),
                per_joint(np.asarray(self.kv), "kv", n),
            )
        ki, kiv = self._integral_gains(n, kp, kv)
        return Gains(kp, kv, ki, kiv, per_joint(self.velocity_reference, "velocity_reference", n))

    def _integral_gains(self, n: int, kp: Array, kv: Array) -> tuple[Array, Array]:
        del kp, kv
        return np.zeros(n), np.zeros(n)

    def retuned(self, inertia: ArrayLike) -> Self:
        """The same law for another J (59): by poles kv follows J; own torque gains are scaled by J
        over the a priori one.

        Implements (59).
        """
        refuse_unless(inertia, "inertia", "positive", lambda x: x > 0)
        J = np.asarray(inertia, dtype=float)
        if self.by_poles:
            return replace(self, inertia=J)
        if self.inertia is None:
            raise InputError(
                "To retune own gains, give the controller the inertia that they were tuned for."
            )
        try:
            kv = np.asarray(self.kv) * J / np.asarray(self.inertia)
        except ValueError:
            raise InputError(
                "kv, the old and the new inertia must have as many numbers as there are joints."
            ) from None
        return replace(self, kv=kv, inertia=J)

    def faster(self, factor: float) -> Self:
        """The same law with its bandwidth times `factor` and its damping kept: omega_n^2 = kp kv g
        / J (56).
        """
        if self.by_poles:
            return replace(self, natural_frequency=np.asarray(self.natural_frequency) * factor)
        return replace(self, kp=np.asarray(self.kp) * factor, kv=np.asarray(self.kv) * factor)

    def with_gains(self, gains: Gains) -> Self:
        """The same law with these numbers for its own gains, instead of poles."""
        return replace(
            self, natural_frequency=None, damping=1.0, inertia=None, kp=gains.kp, kv=gains.kv
        )

    def drive(self, model: TorqueModel) -> Array:
        """g (n, n) of (8), zero for passive joints."""
        n, driven = model.robot.n, model.robot.driven
        if self.drive_gain is None:
            return model.robot.drive_gain
        given = np.asarray(self.drive_gain, dtype=float)
        g = given if given.ndim == 2 else np.diag(per_joint(given, "drive_gain", n))
        if g.shape != (n, n) or not np.isfinite(g).all():
            invertible = False
        else:
            g = np.where(np.outer(driven, driven), g, 0.0)
            invertible = abs(np.linalg.det(g[np.ix_(driven, driven)])) > 1e-300
        if not invertible:
            raise InputError(
                f"drive_gain must be one number, {n}, or an invertible {n} x {n} matrix, found "
                f"{given.tolist()}."
            )
        return g

    def resolve(self, model: TorqueModel, inertia: Array) -> Law:
        """The numbers that the compiled law runs on, for inertias J (n,) where the law itself has
        none.
        """
        n, g = model.robot.n, self.drive(model)
        if self.model is not None and self.model.robot.n != n:
            raise InputError(
                f"The controller's own model has {self.model.robot.n} joints, the robot has {n}."
            )
        driven = model.robot.driven
        if self.by_poles and not np.all(np.diagonal(g)[driven]):
            raise InputError(
                "Gains by poles need a drive gain on the diagonal for every joint; give kp and kv "
                "instead."
            )
        J = inertia if self.inertia is None else per_joint(self.inertia, "inertia", n)
        gains = self.gains(n, np.where(driven, np.diag(g), 1.0), J).of_driven(driven)
        return Law(
            gains.kp,
            gains.kv,
            gains.ki,
            gains.kiv,
            gains.ff,
            self._limits(n),
            per_joint(self.encoder, "encoder", n),
            np.ascontiguousarray(g),
            np.linalg.inv(g) if driven.all() else np.linalg.pinv(g),
            int(np.count_nonzero(g) > np.count_nonzero(np.diagonal(g))),
            self._kind(),
            (2 if np.any(gains.ff) else 1) if self._kind() in (GAINS_ONLY, GRAVITY) else 3,
            VELOCITIES.index(self.velocity),
            0.0 if self.rate is None else 1.0 / self.rate,
            self._address(),
            0.0,
        )

    def _limits(self, n: int) -> Array:
        limits = np.asarray(self.saturation, dtype=float)
        if limits.shape not in ((), (n,)):
            raise InputError(
                f"saturation must be one number or {n} (one for each joint), found shape "
                f"{limits.shape}."
            )
        return np.broadcast_to(limits, (n,)).copy()

    def _kind(self) -> int:
        return MODEL_TERMS[self.model_term]

    def _address(self) -> int:
        return 0

    def _memory(self) -> int:
        return 0

    def own_values(self, simulated: Values) -> Values:
        """Parameters of the controller's own model; the simulated ones, unused, where it has
        none.
        """
        if self.model is None:
            return simulated
        return self.model.values(self.model.nominal if self.parameters is None else self.parameters)

    def controller_state(self, n: int, c: int) -> ControllerState:
        """The initial state, all zero, for n joints and c contacts of the controller's own
        model.
        """
        return ControllerState(
            np.zeros((2, n)),
            np.zeros((2, n)),
            np.zeros((self.delay + 1, n)),
            np.zeros(1, dtype=np.int64),
            np.zeros(self._memory()),
            np.zeros((3, n)),
            np.zeros((2, n)),
            np.zeros((2, n)),
            np.zeros((4, n)),
            np.zeros(c),
        )
