"""`Estimate.to_robot`: the identified parameters as a robot, in memory and as a .urdf, .xml (MJCF)
or .toml file.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from didim.dynamics.model import DynamicModel
from didim.errors import InputError
from didim.output import Overwrite, free, refuse_inputs, write
from didim.results.physical import physical_robot
from didim.results.servo_gains import servo_gains
from didim.robot.effect import Effect
from didim.robot.effects import EFFECT_STEMS, LINK, STEMS
from didim.robot.mjcf.update import updated_mjcf
from didim.robot.mjcf.write import robot_mjcf
from didim.robot.robot import Joint, Robot
from didim.robot.simulator_values import left_out
from didim.robot.urdf.update import updated_urdf
from didim.robot.urdf.write import robot_urdf
from didim.robot.write_toml import robot_toml

if TYPE_CHECKING:
    from didim.results.estimate import Estimate

_SOURCE, _GEOMETRY = "identified by didim,", "; geometry: "

_WRITERS = {".toml": robot_toml, ".urdf": robot_urdf, ".xml": robot_mjcf}
_LIKE = {".urdf": "URDF", ".xml": "MJCF"}


class InconsistentRobotWarning(UserWarning):
    """The written robot is not exactly the identified one, which is not physical, or on the border
    of what is.
    """


class LeftOutWarning(UserWarning):
    """The format of a written robot cannot express all of its effects."""


def to_robot(
    estimate: Estimate,
    path: str | PathLike[str] | None,
    overwrite: Overwrite,
    name: str | None,
    like: str | PathLike[str] | None,
    project: bool,
    stiff_friction: bool = False,
) -> Robot:
    """The physical robot with identified values, or, with `project`, the nearest to them; written
    to `path` where one is given, in the image of the URDF or MJCF `like`.
    """
    file = None
    if like is not None and (
        path is None
        or Path(path).suffix.lower() not in _LIKE
        or Path(like).suffix.lower() != Path(path).suffix.lower()
    ):
        raise InputError(
            "like is a URDF or MJCF file that a written one is to resemble; give a path that ends "
            "in .urdf or .xml as it does."
        )
    if stiff_friction and (path is None or Path(path).suffix.lower() != ".xml"):
        raise InputError("stiff_friction is of MuJoCo; give a path that ends in .xml.")
    if path is not None:
        file = free(path, overwrite)
        if file.suffix.lower() not in _WRITERS:
            raise InputError(f"{file}: a robot is written as .urdf, .xml (MJCF) or .toml.")
        refuse_inputs([file], [] if like is None else [Path(like)])
    physical = physical_robot(estimate, project)
    if physical.changes:
        kind = "on the border of" if estimate.consistency.physical else "outside"
        warnings.warn(
            f"The identified parameters are {kind} the physically consistent set; this is the "
            f"nearest robot inside it. Changed: {'; '.join(physical.changes)}.",
            InconsistentRobotWarning,
            stacklevel=3,
        )
    robot = robot_with(estimate.model.full, physical.values, name)
    source = (
        robot.reference.partition(_GEOMETRY)[2]
        if robot.reference.startswith(_SOURCE)
        else robot.reference
    )
    described = f"{_GEOMETRY}{source}" if source else ""
    robot = replace(robot, reference=f"{_SOURCE} {estimate.method} ({estimate.status}){described}")
    if file is not None:
        write({Path(file): _text(estimate, robot, file, like, stiff_friction).encode()}, overwrite)
    return robot


def _text(
    estimate: Estimate,
    robot: Robot,
    file: Path,
    like: str | PathLike[str] | None,
    stiff_friction: bool,
) -> str:
    """The text of the file, of the kind that its ending names."""
    kind = file.suffix.lower()
    if kind == ".xml":
        gains = servo_gains(estimate)
        if lost := left_out(robot, springs=True):
            warnings.warn(
                f"MJCF cannot express all effects: {'; '.join(lost)}.",
                LeftOutWarning,
                stacklevel=4,
            )
        if like is None:
            return robot_mjcf(robot, gains)
        return updated_mjcf(
            robot, _readable(like), file, gains if estimate.gains else None, stiff_friction
        )
    return _WRITERS[kind](robot) if like is None else updated_urdf(robot, _readable(like))


def _readable(path: str | PathLike[str]) -> Path:
    if not Path(path).is_file():
        raise InputError(f"{path}: no such file.")
    return Path(path)


def robot_with(model: DynamicModel, phi: np.ndarray, name: str | None = None) -> Robot:
    """The model's robot with phi (p,) for its nominal values, and with the effects that the model
    has.
    """
    single: list[dict[str, float]] = [{} for _ in model.robot.numbered]
    several: dict[tuple[str | None, str | None], dict[str, float]] = {}
    shapes = zip(model.layout.terms.shapes, model.layout.terms.values, strict=True)
    for each, value in (*zip(model.parameters, phi, strict=True), *shapes):
        group = (each.coupling, each.effect)
        own = single[each.joint] if group == (None, None) else several.setdefault(group, {})
        own[each.symbol] = float(value)
    robot = model.robot
    by_name = {joint.name: own for joint, own in zip(robot.numbered, single, strict=True)}
    return replace(
        robot,
        name=robot.name if name is None else name,
        joints=tuple(_joint(joint, by_name[joint.name]) for joint in robot.joints),
        couplings=tuple(
            replace(each, nominal=several[each.name, None])
            for each in robot.couplings
            if (each.name, None) in several
        ),
        effects=tuple(_effect(each, several[None, each.name]) for each in model.layout.own),
    )


def _effect(effect: Effect, values: Mapping[str, float]) -> Effect:
    """The effect with the values of its parameters, by symbol."""
    unknown = {
        symbol: replace(each, value=values[symbol]) for symbol, each in effect.unknown.items()
    }
    return replace(effect, unknown=unknown)


def _joint(joint: Joint, values: Mapping[str, float]) -> Joint:
    """The joint with the values of its parameters, by symbol, and the effects that these are of."""
    return replace(
        joint,
        effects=frozenset(
            effect for effect, stems in STEMS.items() if all(stem in values for stem in stems)
        ),
        link=np.array([values[stem] for stem in LINK]),
        nominal={stem: value for stem, value in values.items() if stem in EFFECT_STEMS},
    )
