"""The XML of an MJCF file as one tree: includes are expanded, and every body, joint and actuator
has a name, since MuJoCo's model is matched with the file by names.

Includes must lie in the folder of the file, and plugins are refused, before MuJoCo sees anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from didim.errors import InputError, shortened
from didim.reading import read_bytes
from didim.robot.xml_guard import Element, guarded

ROOT = "mujoco"
JOINTS = ("joint", "freejoint")
_FILES = ("include", "model")
"""Elements that name other files with elements."""


@dataclass(frozen=True, eq=False)
class MjcfTree:
    """An MJCF file with its includes, all of whose elements have names."""

    root: Element
    path: Path
    given: frozenset[tuple[str, str]]
    """Tag and name of the elements that the file itself does not name."""
    included: tuple[Path, ...]
    """The other files that the tree is made of."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that it is read from beside its own: those that it includes, and the meshes
        that are there.
        """
        compilers = [dict(each.attrib) for each in self.root.iter("compiler")]
        folders = [each.get("meshdir", each.get("assetdir", "")) for each in compilers]
        strips = any(each.get("strippath") == "true" for each in compilers)
        names = [each.get("file", "") for each in self.root.iter("mesh")]
        meshes = {
            self.path.parent / folder / (Path(name).name if strips else name)
            for folder in {"", *folders}
            for name in names
        }
        return (*self.included, *sorted(each for each in meshes if each.is_file()))

    @property
    def text(self) -> str:
        """The whole as XML."""
        return ElementTree.tostring(self.root, encoding="unicode")

    def elements(self, kind: str) -> dict[str, Element]:
        """The bodies ("body"), joints ("joint") or actuators ("actuator") by name."""
        return {each.get("name", ""): each for each in _all(self.root, kind)}


def is_mjcf(data: bytes, where: str) -> bool:
    """Whether XML is MJCF, rather than URDF; neither is refused."""
    tag = guarded(data, where).tag
    if tag not in (ROOT, "robot"):
        raise InputError(
            f"{where}: the root element must be <mujoco> (MJCF) or <robot> (URDF), found <{tag}>."
        )
    return bool(tag == ROOT)


def read_tree(path: Path) -> MjcfTree:
    """The tree of a file, with its comments."""
    root = guarded(read_bytes(path), path.name, comments=True)
    if root.tag != ROOT:
        raise InputError(f"{path.name}: the root element must be <mujoco>, found <{root.tag}>.")
    seen = {path.resolve()}
    _expand(root, path, seen)
    for element in root.iter():
        if element.tag in ("plugin", "extension"):
            name = element.get("plugin") or element.get("instance") or _plugin_of(element)
            raise InputError(
                f"{path.name}: the plugin {name!r} is refused, since its code is not part of the "
                "file; remove it."
            )
    included = sorted(seen - {path.resolve()})
    return MjcfTree(root, path, frozenset(_name_all(root)), tuple(included))


def _plugin_of(element: Element) -> str:
    inner = element.find("plugin")
    return "" if inner is None else inner.get("plugin", "")


def _expand(root: Element, main: Path, seen: set[Path]) -> None:
    """Put what an <include> names in its place; names are relative to the main file."""
    for parent in list(root.iter()):
        for k, child in reversed(list(enumerate(parent))):
            if child.tag not in _FILES or (file := child.get("file")) is None:
                continue
            place = f"{main.name}, <{child.tag} file={shortened(file)}>"
            found = (main.parent / file).resolve()
            if not found.is_relative_to(main.parent.resolve()):
                raise InputError(
                    f"{place}: lies outside the folder of the file; copy it there, or merge both."
                )
            if not found.is_file():
                raise InputError(f"{place}: no such file.")
            if found in seen:
                raise InputError(f"{place}: is included twice, or includes itself.")
            seen.add(found)
            inner = guarded(read_bytes(found), found.name, comments=True)
            _expand(inner, main, seen)
            if child.tag == "include":
                parent.remove(child)
                for offset, each in enumerate(inner):
                    parent.insert(k + offset, each)


def _all(root: Element, kind: str) -> Iterator[Element]:
    if kind == "actuator":
        for section in root.findall("actuator"):
            yield from (each for each in section if isinstance(each.tag, str))
        return
    tags = JOINTS if kind == "joint" else (kind,)
    for world in root.findall("worldbody"):
        yield from (each for each in world.iter() if each.tag in tags)


def _name_all(root: Element) -> Iterator[tuple[str, str]]:
    """Name what has no name: a joint after its body, an actuator after its joint."""
    for kind in ("body", "joint", "actuator"):
        elements = list(_all(root, kind))
        taken = {each.get("name") for each in elements}
        owners = {
            joint: body.get("name", "")
            for body in _all(root, "body")
            for joint in body.iter()
            if joint.tag in JOINTS
        }
        for element in elements:
            if element.get("name"):
                continue
            stem = {
                "body": "body",
                "joint": f"{owners.get(element, 'world')}_joint",
                "actuator": f"{element.get('joint', element.get('tendon', kind))}_{element.tag}",
            }[kind]
            name = next(each for each in _candidates(stem) if each not in taken)
            taken.add(name)
            element.set("name", name)
            yield kind, name


def _candidates(stem: str) -> Iterator[str]:
    yield stem
    number = 2
    while True:
        yield f"{stem}_{number}"
        number += 1
