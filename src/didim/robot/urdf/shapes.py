"""The collision shapes of a URDF's links. What cannot be read is kept as such: a robot can be
identified without them.
"""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from didim.errors import InputError
from didim.robot.shape import Shape
from didim.robot.urdf.numbers import numbers, origin_of

MAX_FOLDERS_UP = 8
"""Folders above a file in which a ROS package is looked for."""


def shapes_of(link: Element, folder: Path, where: str) -> tuple[Shape, ...]:
    """The shapes of the <collision> elements of a link, in its own axes."""
    return tuple(_shape(each, folder, where) for each in link.findall("collision"))


def _shape(collision: Element, folder: Path, where: str) -> Shape:
    geometry = collision.find("geometry")
    given = [] if geometry is None else [*geometry]
    if len(given) != 1:
        return Shape("unreadable", file=f"{where}: a <collision> needs one shape.")
    element = given[0]
    try:
        rotation, translation = origin_of(collision, where)
        if element.tag == "mesh":
            scale = tuple(numbers(element, "scale", (1.0, 1.0, 1.0), where).tolist())
            name = element.get("filename", "")
            return Shape("mesh", scale, rotation, translation, str(mesh_file(name, folder)))
        return Shape(element.tag, _size(element, where), rotation, translation)
    except (InputError, OSError, ValueError) as problem:
        return Shape("unreadable", file=f"{where}: {problem}")


def _size(element: Element, where: str) -> tuple[float, ...]:
    if element.tag == "box":
        return tuple(numbers(element, "size", (0.0, 0.0, 0.0), where).tolist())
    keys = ("radius",) if element.tag == "sphere" else ("radius", "length")
    return tuple(float(numbers(element, key, None, where)[0]) for key in keys)


def mesh_file(name: str, folder: Path) -> Path:
    """Where the file of a mesh is: beside the URDF, or in a ROS package (package://name/path) that
    a folder above it holds or ROS_PACKAGE_PATH names.
    """
    scheme, found, rest = name.partition("://")
    if not found:
        return folder / name
    if scheme == "file":
        return Path(unquote(rest))
    package, _, inside = rest.partition("/")
    above = [folder.resolve(), *folder.resolve().parents][:MAX_FOLDERS_UP]
    listed = [Path(each) for each in os.environ.get("ROS_PACKAGE_PATH", "").split(":") if each]
    for place in (*above, *listed):
        for root in (place, place / package, place / "share" / package):
            if root.name == package and (root / inside).is_file():
                return root / inside
    return folder / inside
