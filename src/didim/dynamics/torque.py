"""`TorqueModel`: the interface that models over standard and over base parameters share, equations
(1), (2), (4), (21).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.dynamics.kernels.derivatives import motion_derivatives_batch
from didim.dynamics.kernels.direct import direct_dynamics_batch, inertia_matrix_batch
from didim.dynamics.kernels.ground import allocate_ground
from didim.dynamics.kernels.inverse import inverse_dynamics_batch
from didim.dynamics.kernels.regressor import Columns, regressor_batch, regressor_entries_batch
from didim.dynamics.kernels.terms import term_slopes_batch
from didim.dynamics.kernels.tree import Tree, Values, Work
from didim.dynamics.layout import Layout
from didim.dynamics.parameters import ParameterInfo
from didim.dynamics.tree_memory import TreeMemory, work_of_thread
from didim.errors import InfeasibleError, InputError
from didim.expressions.expression import names
from didim.robot.robot import Robot
from didim.validation import samples

Array = NDArray[np.float64]
Signals = Mapping[str, ArrayLike]
"""Logged channels (N,) by name, and "load" (N, n)."""
Integers = NDArray[np.int64]


ZEROED_MEMORY_BYTES = 1 << 25
"""Above this size memory comes from the system, which hands it out zeroed."""


class TorqueModel(ABC):
    """The interface that standard and base models share. N samples, n joints, c contacts; p
    parameters.

    Arrays q, dq, ddq, tau are (N, n) in rad or m, per s, per s^2, and N.m or N; (N,) is accepted
    where n = 1, (n,) for a single sample. `phi` (p,) are the model's own parameters, for a base
    model beta. `slip` (N, c) is each contact's Coulomb torque over its limit, by default the sign
    of its velocity. `signals` are what effects need beside the motion, by name: logged channels
    (N,), and for the regressor "load" (N, n), see `loads`.
    """

    if TYPE_CHECKING:  # declared for the reader; each model has them as fields or cached properties

        @property
        def robot(self) -> Robot:
            """The robot description."""

        @property
        def layout(self) -> Layout:
            """Names and meaning of the standard parameters."""

        @property
        def tree(self) -> Tree:
            """The geometry as the kernels read it."""

    @property
    @abstractmethod
    def parameters(self) -> tuple[ParameterInfo, ...]:
        """Kind, joint, unit and sign of each parameter, in the order of `parameter_names`."""

    @property
    @abstractmethod
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the p parameters, in the order of the regressor's columns."""

    @property
    @abstractmethod
    def nominal(self) -> Array:
        """(p,) values in the robot's description, nan where it gives none."""

    @property
    @abstractmethod
    def columns(self) -> Columns:
        """Where the kernels put each standard parameter's column."""

    @abstractmethod
    def standard(self, parameters: ArrayLike) -> Array:
        """The standard parameters phi that stand for `parameters` (p,)."""

    @abstractmethod
    def with_held_shapes(self) -> Self:
        """The same model, in which no shape is estimated."""

    def values(self, parameters: ArrayLike) -> Values:
        """The parameters (p,) sorted by what they do, for the kernels."""
        return self.layout.values(self.standard(parameters))

    @property
    def contacts(self) -> tuple[str, ...]:
        """Names of the Coulomb contacts, joints first, then couplings: the columns of `slip`."""
        return self.layout.contacts

    def contact_velocities(self, dq: ArrayLike) -> Array:
        """(N, c) velocity of each contact: the joint's own, or the weighted sum that a coupling
        declares.
        """
        return np.ascontiguousarray(samples(dq, "dq", self.robot.n) @ self.layout.contact.T)

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of the logged channels that effects use."""
        return self.layout.terms.channels

    @property
    def loaded(self) -> bool:
        """Whether friction depends on the loads of the joints."""
        return self.layout.terms.loaded

    def no_signals(self, rows: int) -> dict[str, Array]:
        """Channels and loads that are zero throughout, where only the links matter."""
        signals = {name: np.zeros(rows) for name in self.channels}
        if self.loaded:
            signals["load"] = np.zeros((rows, self.robot.n))
        return signals

    def regressor(
        self,
        q: ArrayLike,
        dq: ArrayLike,
        ddq: ArrayLike,
        slip: ArrayLike | None = None,
        signals: Signals | None = None,
    ) -> Array:
        """IDM(q, dq, ddq) (N, n, p), eq. 2 and 4: tau = IDM @ phi."""
        q_, dq_, ddq_, slip_ = self._motion(q, dq, ddq, slip, "ddq")
        more = self._signals(signals, q_.shape[0], self.loaded)
        shape = (q_.shape[0], self.robot.n, len(self.parameter_names))
        clean = np.dtype(float).itemsize * math.prod(shape) > ZEROED_MEMORY_BYTES
        W = np.zeros(shape) if clean else np.empty(shape)
        with self._memory() as (tree, work):
            regressor_batch(tree, self.columns, q_, dq_, ddq_, slip_, *more, work, clean, W)
        return self._checked(W)

    def regressor_entries(
        self,
        q: ArrayLike,
        dq: ArrayLike,
        ddq: ArrayLike,
        slip: ArrayLike | None,
        row: Integers,
        column: Integers,
        signals: Signals | None = None,
    ) -> Array:
        """(N, m) entries (row, column), each (m,), of the regressor: those that are zero by
        structure need no memory.
        """
        q_, dq_, ddq_, slip_ = self._motion(q, dq, ddq, slip, "ddq")
        more = self._signals(signals, q_.shape[0], self.loaded)
        W, out = (
            np.empty((self.robot.n, len(self.parameter_names))),
            np.empty((q_.shape[0], row.size)),
        )
        with self._memory() as (tree, work):
            regressor_entries_batch(
                tree, self.columns, q_, dq_, ddq_, slip_, *more, work, W, row, column, out
            )
        return self._checked(out)

    def inverse_dynamics(
        self,
        q: ArrayLike,
        dq: ArrayLike,
        ddq: ArrayLike,
        phi: ArrayLike,
        slip: ArrayLike | None = None,
        signals: Signals | None = None,
    ) -> Array:
        """tau (N, n) = M(q) ddq + N(q, dq), eq. 1."""
        return self._torque_and_load(q, dq, ddq, phi, slip, signals)[0]

    def loads(
        self,
        q: ArrayLike,
        dq: ArrayLike,
        ddq: ArrayLike,
        phi: ArrayLike,
        slip: ArrayLike | None = None,
        signals: Signals | None = None,
    ) -> Array:
        """(N, n) torque of each joint without its own friction and offset, where friction depends
        on it; else (N, 0).
        """
        return self._torque_and_load(q, dq, ddq, phi, slip, signals)[1]

    def slopes(
        self,
        q: ArrayLike,
        dq: ArrayLike,
        ddq: ArrayLike,
        phi: ArrayLike,
        slip: ArrayLike | None = None,
        signals: Signals | None = None,
    ) -> tuple[Array, Array]:
        """d tau/d shapes (N, n, T), of the shapes that are estimated, and d f/d load (N, n), by
        which friction f grows with the load of its joint.
        """
        q_, dq_, _, slip_ = self._motion(q, dq, ddq, slip, "ddq")
        rows, n = q_.shape
        load, channels = self._signals(signals, rows, self.loaded)
        by_shape = np.empty((rows, n, len(self.layout.terms.free)))
        by_load = np.empty((rows, n))
        terms = self.layout.terms.kernel
        terms = terms._replace(registers=terms.registers.copy())
        phi_, share = self.values(phi).term, np.ones(n)
        term_slopes_batch(terms, phi_, q_, dq_, slip_, load, channels, share, by_shape, by_load)
        return by_shape * (1.0 + by_load[:, :, None] * self._passes_on), by_load

    @cached_property
    def _passes_on(self) -> Array:
        """(n, T) 1 where a shape belongs to an effect that counts as load, else 0."""
        terms = self.layout.terms
        found = np.zeros((self.robot.n, len(terms.free)))
        for term in terms.terms:
            for t, shape in enumerate(terms.free):
                if term.conservative and shape in names(term.expression):
                    found[list(term.weights), t] = 1.0
        return found

    def _torque_and_load(
        self,
        q: ArrayLike,
        dq: ArrayLike,
        ddq: ArrayLike,
        phi: ArrayLike,
        slip: ArrayLike | None,
        signals: Signals | None,
    ) -> tuple[Array, Array]:
        q_, dq_, ddq_, slip_ = self._motion(q, dq, ddq, slip, "ddq")
        channels = self._signals(signals, q_.shape[0], False)[1]
        tau, load = np.empty_like(q_), np.empty((q_.shape[0], q_.shape[1] * self.loaded))
        with self._memory() as (tree, work):
            inverse_dynamics_batch(
                tree, self.values(phi), q_, dq_, ddq_, slip_, channels, work, tau, load
            )
        return self._checked(tau), load

    def direct_dynamics(
        self,
        q: ArrayLike,
        dq: ArrayLike,
        tau: ArrayLike,
        phi: ArrayLike,
        slip: ArrayLike | None = None,
        signals: Signals | None = None,
    ) -> Array:
        """ddq (N, n) with M(q) ddq = tau - N(q, dq), eq. 21; `InfeasibleError` where M is not
        positive definite.
        """
        q_, dq_, tau_, slip_ = self._motion(q, dq, tau, slip, "tau")
        channels = self._signals(signals, q_.shape[0], False)[1]
        ddq, joint = np.empty_like(q_), np.zeros(1, dtype=np.int64)
        with self._memory() as (tree, work):
            failed = direct_dynamics_batch(
                tree, self.values(phi), q_, dq_, tau_, slip_, channels, work, ddq, joint
            )
        if failed >= 0:
            raise InfeasibleError(
                f"The inertia matrix is not positive definite at sample {failed}, joint "
                f"{joint[0] + 1} "
                f"({self.robot.joint_names[joint[0]]}): these parameters are not "
                "physically consistent."
            )
        return ddq

    def inertia_matrix(self, q: ArrayLike, phi: ArrayLike) -> Array:
        """M(q) (N, n, n) of eq. 1, kg m^2 or kg, rotors included; its diagonal is what a joint's
        loop is tuned for.

        Implements (49), (50).
        """
        q_ = samples(q, "q", self.robot.n)
        M = np.empty((q_.shape[0], self.robot.n, self.robot.n))
        with self._memory() as (tree, work):
            inertia_matrix_batch(tree, self.values(phi), q_, work, M)
        return M

    def derivatives(
        self,
        q: ArrayLike,
        dq: ArrayLike,
        ddq: ArrayLike,
        phi: ArrayLike,
        signals: Signals | None = None,
    ) -> tuple[Array, Array]:
        """d tau/d q and d tau/d dq (N, n, n) of eq. 1, [sample, torque, joint], exact; torques of
        contacts count as constant.
        """
        q_, dq_, ddq_, _ = self._motion(q, dq, ddq, None, "ddq")
        n, rows = self.robot.n, q_.shape[0]
        channels = self._signals(signals, rows, False)[1]
        ground = allocate_ground(len(self.robot.joints))
        M, by_q, by_dq = (np.empty((rows, n, n)) for _ in range(3))
        with self._memory() as (tree, work):
            motion_derivatives_batch(
                tree, self.values(phi), q_, dq_, ddq_, channels, work, ground, M, by_q, by_dq
            )
        return by_q, by_dq

    def _memory(self) -> AbstractContextManager[tuple[Tree, Work]]:
        """The tree with its terms and ties, and scratch memory, for one thread."""
        layout = self.layout
        work, more = work_of_thread(layout), layout.terms.terms or layout.tied is not None
        return self._with_memory(work) if more else nullcontext((self.tree, work))

    @contextmanager
    def _with_memory(self, work: Work) -> Iterator[tuple[Tree, Work]]:
        memory = TreeMemory(self.layout)
        yield memory.on(self.tree), work

    def _signals(self, signals: Signals | None, rows: int, needs_load: bool) -> tuple[Array, Array]:
        """load (N, n) or (N, 0), and channels (N, k), from the signals by name."""
        if not needs_load and not self.channels:
            return np.zeros((rows, 0)), np.zeros((rows, 0))
        given, n = signals or {}, self.robot.n
        load, channels = np.zeros((rows, 0)), np.zeros((rows, len(self.channels)))
        if needs_load:
            if "load" not in given:
                raise InputError(
                    "Friction depends on the load of the joints: give the regressor "
                    'signals={"load": model.loads(q, dq, ddq, phi)}, or that of a simulated motion.'
                )
            load = samples(given["load"], "load", n, rows)
        for k, name in enumerate(self.channels):
            if name not in given:
                raise InputError(
                    f"An effect of {self.robot.name!r} needs the channel {name!r}: give "
                    f"signals={{{name!r}: ...}}, or log it with the experiment."
                )
            channels[:, k] = samples(given[name], name, 1, rows)[:, 0]
        return load, channels

    def _checked(self, numbers: Array) -> Array:
        """The numbers, refused where a term is not finite: a division by zero, say."""
        if self.layout.terms.terms and not np.isfinite(numbers).all():
            raise InputError(
                f"The effects of {self.robot.name!r} are not finite at some of these states: does "
                "an expression divide by zero, or take the root or logarithm of a negative number?"
            )
        return numbers

    def _motion(
        self, q: ArrayLike, dq: ArrayLike, third: ArrayLike, slip: ArrayLike | None, name: str
    ) -> tuple[Array, Array, Array, Array]:
        """The four inputs of a sample-wise function, converted and checked against each other."""
        n, c = self.robot.n, len(self.contacts)
        q_ = samples(q, "q", n)
        rows = q_.shape[0]
        dq_, third_ = samples(dq, "dq", n, rows), samples(third, name, n, rows)
        if slip is None:
            return q_, dq_, third_, np.sign(dq_ @ self.layout.contact.T)
        if c == 0 and np.size(slip) == 0:
            return q_, dq_, third_, np.zeros((rows, 0))
        slip_ = samples(slip, "slip", c, rows)
        if np.any(np.abs(slip_) > 1 + 1e-9):
            raise InputError(
                "slip must lie between -1 and 1, found "
                f"{slip_[np.unravel_index(np.abs(slip_).argmax(), slip_.shape)]}."
            )
        return q_, dq_, third_, slip_
