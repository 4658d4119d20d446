"""Attributes of a URDF file: their numbers and names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError, nearest
from didim.robot.robot import LARGEST_VALUE

Array = NDArray[np.float64]

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def numbers(
    element: Element | None, key: str, default: tuple[float, ...] | None, where: str
) -> Array:
    """The finite numbers of an attribute, as many as the default has (one where it has none and is
    thus required).
    """
    text = None if element is None else element.get(key)
    if text is None:
        if default is None:
            tag = "" if element is None else f" of <{element.tag}>"
            raise InputError(f"{where}: the attribute {key!r}{tag} is missing.")
        return np.array(default)
    count = 1 if default is None else len(default)
    try:
        values = np.array([float(word) for word in text.split()])
    except ValueError:
        values = np.array([])
    plain = all(_NUMBER.fullmatch(word) for word in text.split())
    if not plain or values.size != count or not np.all(np.abs(values) < LARGEST_VALUE):
        raise InputError(
            f"{where}: {key} must be {count} finite number{'s'[: count > 1]}, found {text!r}."
        )
    return values


def origin_of(element: Element, where: str) -> tuple[Array, Array]:
    """Rotation (3, 3) and translation (3,) of an element's <origin>; the identity without one."""
    origin = element.find("origin")
    roll, pitch, yaw = numbers(origin, "rpy", (0.0, 0.0, 0.0), where)
    return _rotation(roll, pitch, yaw), numbers(origin, "xyz", (0.0, 0.0, 0.0), where)


def _rotation(roll: float, pitch: float, yaw: float) -> Array:
    """Rz(yaw) Ry(pitch) Rx(roll), the URDF convention."""
    cr, sr, cp, sp, cy, sy = (
        np.cos(roll),
        np.sin(roll),
        np.cos(pitch),
        np.sin(pitch),
        np.cos(yaw),
        np.sin(yaw),
    )
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def written(values: object) -> str:
    """Numbers as an attribute, in as many digits as bring them back."""
    return " ".join(repr(float(value)) for value in np.ravel(np.asarray(values, dtype=float)))


def check_keys(
    element: Element, known: Sequence[str], where: str, children: Sequence[str] = ()
) -> None:
    """Refuse attributes and elements of an element that are not known."""
    for child in element:
        if child.tag not in children:
            hint = nearest(str(child.tag), children)
            raise InputError(
                f"{where}: <{element.tag}> has the unknown element <{child.tag}>; {hint}"
            )
    for key in element.attrib:
        if key not in known:
            raise InputError(
                f"{where}: <{element.tag}> has the unknown attribute {key!r}; {nearest(key, known)}"
            )
