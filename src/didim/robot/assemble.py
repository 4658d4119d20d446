"""From the bodies that a file lists to a `Robot`: fixed bodies are merged into the link that
carries them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError
from didim.robot.inertia import transformed
from didim.robot.mimic import Mimic
from didim.robot.robot import BASE, Joint, unknown_link
from didim.robot.shape import Shape

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Body:
    """One joint and its link as a file states them; the parent is named, None: the base."""

    name: str
    kind: str
    parent: str | None
    rotation: Array
    translation: Array
    link: Array | None
    """(10,) in the link's own axes; None where the file gives no inertia."""
    axes: Array = field(default_factory=lambda: np.eye(3))
    """(3, 3) axes of the joint's frame (z along the joint) in those of the link."""
    position_limits: tuple[float, float] = (-np.inf, np.inf)
    velocity_limit: float = np.inf
    torque_limit: float = np.inf
    effects: frozenset[str] = frozenset()
    nominal: Mapping[str, float] = field(default_factory=dict)
    mimic: Mimic | None = None
    shapes: tuple[Shape, ...] = ()
    """In the link's own axes."""
    passive: bool = False


@dataclass(frozen=True, eq=False)
class _Placement:
    """Where a body is: x in the frame of moving joint `index` = rotation @ x in the body's own
    axes + translation.
    """

    index: int
    rotation: Array
    translation: Array


def assemble(bodies: Sequence[Body], where: str) -> tuple[Joint, ...]:
    """The moving joints of `bodies`, which must list parents before children."""
    placements: dict[str | None, _Placement] = {None: _Placement(BASE, np.eye(3), np.zeros(3))}
    moving: list[tuple[Body, _Placement]] = []
    links: list[Array | None] = []
    shapes: list[tuple[Shape, ...]] = []
    for body in bodies:
        if body.parent not in placements:
            raise InputError(
                f"{where}: the parent {body.parent!r} of joint {body.name!r} is not listed before "
                "it; "
                "a robot is a tree without loops, and parents come first."
            )
        if body.name in placements:
            raise InputError(
                f"{where}: two joints are called {body.name!r}; give each its own name."
            )
        place = _below(placements[body.parent], body)
        if body.kind == "fixed":
            placements[body.name] = place
            if place.index != BASE:
                shapes[place.index] += _moved(body.shapes, place)
            if place.index != BASE and body.link is not None:
                links[place.index] = _sum(
                    links[place.index], transformed(body.link, place.rotation, place.translation)
                )
        else:
            placements[body.name] = own = _Placement(len(moving), body.axes.T, np.zeros(3))
            moving.append((body, place))
            shapes.append(_moved(body.shapes, own))
            links.append(
                None if body.link is None else transformed(body.link, body.axes.T, np.zeros(3))
            )
    return tuple(
        _joint(body, place, link, around)
        for (body, place), link, around in zip(moving, links, shapes, strict=True)
    )


def base_shapes(own: tuple[Shape, ...], bodies: Sequence[Body]) -> tuple[Shape, ...]:
    """The shapes of the base: its own and those of the bodies that are fixed to it."""
    places: dict[str | None, _Placement] = {None: _Placement(BASE, np.eye(3), np.zeros(3))}
    for body in bodies:
        if body.kind == "fixed" and body.parent in places:
            places[body.name] = place = _below(places[body.parent], body)
            own += _moved(body.shapes, place)
    return own


def _below(parent: _Placement, body: Body) -> _Placement:
    return _Placement(
        parent.index,
        parent.rotation @ body.rotation,
        parent.rotation @ body.translation + parent.translation,
    )


def _moved(shapes: tuple[Shape, ...], place: _Placement) -> tuple[Shape, ...]:
    return tuple(shape.moved(place.rotation, place.translation) for shape in shapes)


def _sum(one: Array | None, other: Array) -> Array:
    return other if one is None else one + other


def _joint(body: Body, place: _Placement, link: Array | None, shapes: tuple[Shape, ...]) -> Joint:
    frame = np.eye(4)
    frame[:3, :3] = body.axes
    return Joint(
        name=body.name,
        kind=body.kind,
        parent=place.index,
        rotation=place.rotation @ body.axes,
        translation=place.translation,
        position_limits=body.position_limits,
        velocity_limit=body.velocity_limit,
        torque_limit=body.torque_limit,
        effects=body.effects,
        link=unknown_link() if link is None else link,
        nominal=body.nominal,
        link_frame=frame,
        mimic=body.mimic,
        shapes=shapes,
        passive=body.passive,
    )
