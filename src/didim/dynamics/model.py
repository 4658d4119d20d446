"""`DynamicModel`: the equations (1)-(6) of a robot, over its standard parameters and, as
`model.base`, its base parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.dynamics.base import Regrouping, regroup
from didim.dynamics.base.numerical import random_regressor
from didim.dynamics.build_layout import layout_of
from didim.dynamics.kernels.regressor import Columns
from didim.dynamics.kernels.tree import Tree
from didim.dynamics.known import Affine, Known
from didim.dynamics.layout import Layout, tree_of
from didim.dynamics.parameters import ParameterInfo, Sign, base_parameters
from didim.dynamics.torque import TorqueModel
from didim.errors import InputError, nearest, shortened
from didim.robot.effect import Effect
from didim.robot.robot import Robot
from didim.validation import real, vector

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DynamicModel(TorqueModel):
    """The dynamic model of a robot, linear in its standard parameters (2), (3)."""

    robot: Robot
    """The robot description; see `didim.load_robot`."""
    effects: Iterable[str | Effect] | None = None
    """Names from the catalogue (`didim.effects()`), "coupling", names of the robot's own effects,
    and `didim.Effect` objects; None: all that the robot declares. An effect of the catalogue goes
    to the joints that declare it, or to all joints if none does.
    """
    shapes: Mapping[str, float] | None = None
    """Values of parameters that the torque is not linear in, such as vs1 of Stribeck friction, in
    place of the robot's.
    """
    held: frozenset[str] = frozenset()
    """Names of those that are known, and not estimated."""
    fixed: Mapping[str, float] | None = None
    """Known values, SI: of standard parameters ("M1"), of base parameters ("ZZ1R") and of shapes
    ("vs1"). Every method holds them.
    """

    def __post_init__(self) -> None:
        if not isinstance(self.robot, Robot):
            raise InputError(
                "robot must be a didim.Robot (see didim.load_robot), found "
                f"{type(self.robot).__name__}."
            )
        if self.effects is not None and not isinstance(self.effects, str):
            if not isinstance(self.effects, Iterable):
                raise InputError(
                    f"effects must be a list of names or None, found {self.effects!r}."
                )
            object.__setattr__(self, "effects", tuple(self.effects))
        known = self.shape_names
        for name in (*(self.shapes or {}), *self.held):
            if name not in known:
                raise InputError(f"There is no shape {name!r}; {nearest(name, known)}")
        if self.fixed is not None:
            self._fix()

    def _fix(self) -> None:
        """Check the known values; those of shapes are values that are held."""
        if not isinstance(self.fixed, Mapping):
            raise InputError(
                'fixed must be a table of names and values, such as {"M1": 0.49}, found '
                f"{shortened(self.fixed)}."
            )
        shapes = {each.name: each for each in self.layout.terms.shapes}
        signs = {each.name: each.sign for each in (*self.base.parameters, *self.parameters)}
        signs |= {name: shape.sign for name, shape in shapes.items()}
        values = {}
        for name, value in self.fixed.items():
            if name not in signs:
                raise InputError(
                    f"fixed: there is no parameter {shortened(name)}; {nearest(str(name), signs)}"
                )
            zero = 0.0 if signs[name] is Sign.POSITIVE else None
            bound = {"above" if name in shapes else "least": zero}
            values[name] = real(value, f"fixed: {name}", **bound)
        own = {name: value for name, value in values.items() if name in shapes}
        object.__setattr__(self, "fixed", values)
        if own:
            object.__setattr__(self, "shapes", {**(self.shapes or {}), **own})
            object.__setattr__(self, "held", self.held | own.keys())
            base = self.base
            for name in ("layout", "tree", "columns"):
                self.__dict__.pop(name, None)
            self.__dict__["base"] = replace(base, full=self)
        if self.known is not None and not self.known.affine.kept.size:
            raise InputError(
                "fixed: these values determine every base parameter; nothing is left to identify."
            )

    @cached_property
    def known(self) -> Known | None:
        """The known values of standard and base parameters; None: all are to be identified."""
        base = self.base.regrouping
        linear = {*self.parameter_names, *base.names}
        values = {name: value for name, value in (self.fixed or {}).items() if name in linear}
        order = tuple(np.argsort(~self.base.frictional, kind="stable").tolist())
        return Known(values, self.parameter_names, base, order) if values else None

    def __getstate__(self) -> dict[str, Any]:
        """Without the tree, whose addresses of machine code belong to a process."""
        return {name: value for name, value in self.__dict__.items() if name != "tree"}

    def __repr__(self) -> str:
        return (
            f"DynamicModel({self.robot.name!r}, {self.robot.n} joints, "
            f"{len(self.parameter_names)} parameters)"
        )

    @cached_property
    def layout(self) -> Layout:
        """Names and meaning of the standard parameters."""
        layout = layout_of(self.robot, self.effects)
        if not self.shapes and not self.held:
            return layout
        return replace(layout, terms=layout.terms.at(self.shapes or {}, self.held))

    @property
    def shape_names(self) -> tuple[str, ...]:
        """Names of the parameters that the torque is not linear in, such as "vs1"."""
        return tuple(shape.name for shape in self.layout.terms.shapes)

    @property
    def shape_values(self) -> dict[str, float]:
        """Their values in this model."""
        values = self.layout.terms.values.tolist()
        return dict(zip(self.shape_names, values, strict=True))

    def with_shapes(self, values: Mapping[str, float]) -> DynamicModel:
        """The same model with other values of these parameters; its columns stay the same ones."""
        return self._with(shapes={**(self.shapes or {}), **values})

    def with_held_shapes(self) -> DynamicModel:
        """The same model, in which no shape is estimated."""
        return self._with(held=frozenset(self.shape_names))

    def _with(self, **changes: Any) -> DynamicModel:
        """Another model with the same columns, and so the same base parameters and known ones."""
        model = replace(self, fixed=None, **changes)
        object.__setattr__(model, "fixed", self.fixed)
        model.__dict__.update(base=replace(self.base, full=model), known=self.known)
        return model

    @cached_property
    def tree(self) -> Tree:
        """The geometry as the kernels read it."""
        return tree_of(self.robot)

    @cached_property
    def columns(self) -> Columns:
        """Where the kernels put each standard parameter's column."""
        return self.layout.columns()

    @property
    def parameters(self) -> tuple[ParameterInfo, ...]:
        """Kind, joint, unit and sign of each parameter, in the order of `parameter_names`."""
        return self.layout.parameters

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names in the order of the columns, for example "ZZ1", "Fc2"."""
        return self.layout.names

    @property
    def nominal(self) -> Array:
        """(p,) values in the robot's description, nan where it gives none."""
        return self.layout.nominal.copy()

    @property
    def described(self) -> Array:
        """(p,) `nominal` with zero for effects of which nothing is known; links that are not
        described stay nan.
        """
        phi, links = self.nominal, np.zeros(len(self.parameter_names), dtype=bool)
        links[self.layout.link] = True
        return np.where(np.isnan(phi) & ~links, 0.0, phi)

    def standard(self, parameters: ArrayLike) -> Array:
        """phi itself, checked."""
        return vector(parameters, "phi", self.parameter_names)

    @cached_property
    def base(self) -> BaseModel:
        """The same model over its base parameters (4)-(6)."""
        return BaseModel(self, regroup(self.robot, self.layout))


@dataclass(frozen=True, eq=False)
class BaseModel(TorqueModel):
    """A dynamic model over its b base parameters beta: the fewest from which the torque can be
    computed (4)-(6).

    Implements (4).
    """

    full: DynamicModel
    """The same model over the standard parameters."""
    regrouping: Regrouping

    def __repr__(self) -> str:
        return (
            f"BaseModel({self.robot.name!r}, {self.robot.n} joints, {len(self.parameter_names)} "
            "base parameters)"
        )

    @property
    def robot(self) -> Robot:
        """The robot description."""
        return self.full.robot

    @cached_property
    def parameters(self) -> tuple[ParameterInfo, ...]:
        """Each base parameter as the leading standard parameter that it stands for, in the order of
        `parameter_names`; a sign is positive only where that holds for all that is regrouped.
        """
        found = self.regrouping
        return base_parameters(self.layout.parameters, found.kept, found.matrix, found.names)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names in the order of the columns, for example "ZZ1", "Fc2"; a base parameter that
        regroups others ends in R.
        """
        return self.regrouping.names

    @property
    def formulas(self) -> dict[str, str]:
        """What each base parameter regroups, by name."""
        return dict(self.regrouping.formulas)

    @property
    def matrix(self) -> Array:
        """(b, p): beta = matrix @ phi."""
        return self.regrouping.matrix.copy()

    @property
    def lift(self) -> Array:
        """(p, b): phi = lift @ beta, one of the many standard vectors with the same torque; matrix
        @ lift = I.
        """
        return self.regrouping.lift.copy()

    @cached_property
    def defect(self) -> float:
        """Relative torque error of the base parameters: rounding error, or that of angles printed
        with few digits.
        """
        return self.regrouping.defect(random_regressor(self.tree, self.layout))

    @property
    def nominal(self) -> Array:
        """(b,) matrix @ phi; nan where a regrouped value is unknown."""
        phi, used = self.full.nominal, self.regrouping.matrix != 0
        known = np.where(np.isnan(phi), 0.0, phi)
        return np.where((used & np.isnan(phi)).any(axis=1), np.nan, self.regrouping.matrix @ known)

    @property
    def frictional(self) -> NDArray[np.bool_]:
        """(b,) parameters that are the friction of one joint or the Coulomb limit of a contact,
        which cannot be negative.
        """
        return np.array(
            [each.kind.is_friction and each.sign is Sign.POSITIVE for each in self.parameters]
        )

    def standard(self, parameters: ArrayLike) -> Array:
        """phi = lift @ beta."""
        return self.regrouping.lift @ vector(parameters, "beta", self.parameter_names)

    @property
    def affine(self) -> Affine | None:
        """The base parameters that known values leave; None: all."""
        return None if self.full.known is None else self.full.known.affine

    @property
    def known_notes(self) -> tuple[str, ...]:
        """The known values that determine nothing, and why."""
        return () if self.full.known is None else self.full.known.notes

    @property
    def fixed_names(self) -> tuple[str, ...]:
        """The base parameters that known values determine."""
        if self.affine is None:
            return ()
        pairs = zip(self.parameter_names, self.affine.known, strict=True)
        return tuple(name for name, is_known in pairs if is_known)

    @property
    def free_shapes(self) -> dict[str, float]:
        """The shapes that are estimated, with their values in this model."""
        return {name: self.full.shape_values[name] for name in self.layout.terms.free}

    def with_shapes(self, values: Mapping[str, float]) -> BaseModel:
        """The same model with other values of its shapes."""
        return self.full.with_shapes(values).base if values else self

    def with_held_shapes(self) -> BaseModel:
        """The same model, in which no shape is estimated."""
        return self.full.with_held_shapes().base if self.layout.terms.free else self

    @property
    def layout(self) -> Layout:
        """Names and meaning of the standard parameters."""
        return self.full.layout

    @property
    def tree(self) -> Tree:
        """The geometry as the kernels read it."""
        return self.full.tree

    @cached_property
    def columns(self) -> Columns:
        """Where the kernels put each standard parameter's column."""
        return self.layout.columns(self.regrouping.kept)
