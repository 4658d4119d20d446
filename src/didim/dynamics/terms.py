"""`TermTable`: the terms of a robot's effects, compiled for the kernels (`kernels/terms.py`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.kernels import terms as kernels
from didim.dynamics.kernels.terms import Terms
from didim.dynamics.parameters import ParameterInfo
from didim.expressions.expression import derivative, names, substitute
from didim.expressions.nodes import Expression, Name, Number, negate
from didim.expressions.tape import Tape, tape
from didim.expressions.tape_code import TapeCode, tape_code
from didim.jit.struct_pointers import StructMemory

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Term:
    """weight * s * phi[column] on each joint of `weights`."""

    column: int
    weights: Mapping[int, float]
    contact: int
    """The contact whose limit it is a part of, -1: none."""
    conservative: bool
    expression: Expression
    """s, in q, dq, slip, load, channels, and shapes by their full names."""

    @property
    def joint(self) -> int:
        """Its first joint."""
        return next(iter(self.weights))


@dataclass(frozen=True, eq=False)
class TermTable:
    """The terms of a model, with the shapes and channels that they use."""

    n: int
    terms: tuple[Term, ...] = ()
    shapes: tuple[ParameterInfo, ...] = ()
    """Parameters that the torque is not linear in."""
    values: Array = field(default_factory=lambda: np.zeros(0))
    """Their values."""
    channels: tuple[str, ...] = ()
    own: tuple[bool, ...] = ()
    """(e,) of each entry of the regressor, whether it is friction or offset of the joint itself."""

    def __getstate__(self) -> dict[str, Any]:
        """Only the fields: addresses of machine code belong to a process."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @property
    def free(self) -> tuple[str, ...]:
        """(T,) names of the shapes that are estimated; the others are held at their values."""
        return tuple(shape.name for shape in self.shapes if not shape.known)

    @property
    def loaded(self) -> bool:
        """Whether a limit depends on a joint's load."""
        return any("load" in names(term.expression) for term in self.terms)

    @cached_property
    def _tape(self) -> tuple[Tape, Mapping[str, int]]:
        """The tape of all terms, and where each of its outputs is: "s3+" is the forward limit of
        term 3, "s3+q" its derivative by q; -1 where it vanishes.
        """
        values: dict[str, Expression] = {}
        more: dict[str, Expression] = {}
        inputs = [f"channel {name}" for name in self.channels]
        for k, term in enumerate(self.terms):
            inputs += [f"q {k}", f"dq {k}"]
            load = f"load {term.joint}"
            if "load" in names(term.expression) and load not in inputs:
                inputs.append(load)
            put: dict[str, Expression | float] = {
                "q": Name(f"q {k}"),
                "dq": Name(f"dq {k}"),
                "load": Name(load),
            }
            put |= {name: Name(f"channel {name}") for name in self.channels}
            for side, sign in (("+", 1.0), ("-", -1.0)):
                s = substitute(term.expression, put | {"slip": sign})
                s = negate(s) if side == "-" else s
                values[f"s{k}{side}"] = s
                values[f"s{k}{side}load"] = derivative(s, load)
                more[f"s{k}{side}q"] = derivative(s, f"q {k}")
                more[f"s{k}{side}dq"] = derivative(s, f"dq {k}")
                for shape in self.free:
                    more[f"s{k}{side}{shape}"] = derivative(s, shape)
        constants = {
            shape.name: float(value) for shape, value in zip(self.shapes, self.values, strict=True)
        }
        made = tape(list(values.values()), list(more.values()), inputs, constants)
        where = dict(zip([*values, *more], made.outputs.tolist(), strict=True))
        for name, each in (values | more).items():
            if each == Number(0.0):
                where[name] = -1
        return made, where

    @cached_property
    def code(self) -> TapeCode | None:
        """Machine code of the tape; must live as long as `kernel` is used."""
        return tape_code(self._tape[0]) if self.terms else None

    @cached_property
    def kernel(self) -> Terms:
        """The terms as the kernels read them; for one thread at a time, see
        `TermsMemory`.
        """
        K, T, n = len(self.terms), len(self.free), self.n
        table, load = np.full((K, kernels.WIDTH), -1, np.int64), np.full(n, -1, np.int64)
        weight, shape = np.zeros((K, n)), np.full((T, K, 2), -1, np.int64)
        made, where = self._tape
        zero = made.registers.size
        registers = np.append(made.registers, 0.0)
        for k, term in enumerate(self.terms):
            table[k, kernels.CONTACT] = term.contact
            table[k, kernels.CONSERVATIVE] = term.conservative
            table[k, kernels.X], table[k, kernels.V] = made.inputs[f"q {k}"], made.inputs[f"dq {k}"]
            for side, first in (("+", kernels.FORWARD), ("-", kernels.BACKWARD)):
                for offset, by in enumerate(("", "q", "dq", "load")):
                    at = where[f"s{k}{side}{by}"]
                    table[k, first + offset] = zero if at < 0 else at
            for t, each in enumerate(self.free):
                ahead, back = where[f"s{k}+{each}"], where[f"s{k}-{each}"]
                if ahead >= 0 or back >= 0:
                    shape[t, k] = zero if ahead < 0 else ahead, zero if back < 0 else back
            for j, w in term.weights.items():
                weight[k, j] = w
            if (at := made.inputs.get(f"load {term.joint}", -1)) >= 0:
                load[term.joint] = at
        return Terms(
            code=made.code,
            first=made.first,
            values_address=0 if self.code is None else self.code.first.address,
            all_address=0 if self.code is None else self.code.whole.address,
            table=table,
            weight=weight,
            only=np.array(
                [t.joint if len(t.weights) == 1 else -1 for t in self.terms], dtype=np.int64
            ),
            load=load,
            loaded=int(self.loaded),
            channel=np.array([made.inputs[f"channel {name}"] for name in self.channels], np.int64),
            shape=shape,
            own=np.array(self.own, dtype=np.int64),
            rest=np.zeros(n),
            registers=registers,
        )

    def at(self, shapes: Mapping[str, float], held: Collection[str] = ()) -> TermTable:
        """The same terms with other values of some shapes, those of `held` no longer estimated."""
        values = [
            float(shapes.get(shape.name, value))
            for shape, value in zip(self.shapes, self.values, strict=True)
        ]
        known = tuple(
            replace(shape, known=shape.known or shape.name in held) for shape in self.shapes
        )
        return replace(self, shapes=known, values=np.array(values))


class TermsMemory:
    """The terms of a model in memory of their own, for one thread; the `address` is valid as long
    as this object lives. 0: there are no terms.
    """

    def __init__(self, table: TermTable) -> None:
        self.address = 0
        if table.terms:
            self._table = table
            terms = table.kernel._replace(
                registers=table.kernel.registers.copy(), rest=table.kernel.rest.copy()
            )
            self._memory = StructMemory(kernels.terms_type, terms)
            self.address = self._memory.address
