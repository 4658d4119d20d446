"""The XML of a URDF file as a tree of joints and links."""

from __future__ import annotations

from collections.abc import Iterator

from didim.errors import InputError, nearest
from didim.robot.urdf.xacro import xacro_detector
from didim.robot.xml_guard import Element, guarded


def parsed(data: bytes, where: str, comments: bool = False) -> Element:
    """The root element of a URDF file, with its comments on request."""
    root = guarded(data, where, comments, xacro_detector(where))
    if root.tag != "robot":
        raise InputError(f"{where}: the root element must be <robot>, found <{root.tag}>.")
    return root


def named_elements(root: Element, tag: str, where: str) -> dict[str, Element]:
    """The elements of one kind, by name; each must have its own."""
    found: dict[str, Element] = {}
    for element in root.findall(tag):
        name = element.get("name", "")
        if not name:
            raise InputError(f"{where}: a <{tag}> has no name.")
        if name in found:
            raise InputError(f"{where}: two {tag}s are called {name!r}; give each its own name.")
        found[name] = element
    return found


def joints_in_order(
    joints: dict[str, Element], links: dict[str, Element], where: str
) -> Iterator[tuple[str, Element]]:
    """Joints from the root outwards, branch by branch, in the order of the file; a loop or a second
    root is refused.
    """
    below: dict[str, list[str]] = {}
    owner: dict[str, str] = {}
    for name, joint in joints.items():
        place = f"{where}, joint {name!r}"
        parent, child = link_of(joint, "parent", place), link_of(joint, "child", place)
        for link in (parent, child):
            if link not in links:
                raise InputError(f"{place}: no <link> is called {link!r}; {nearest(link, links)}")
        if child in owner:
            raise InputError(
                f"{place}: link {child!r} is already the child of joint {owner[child]!r}; a robot "
                "is a tree without loops."
            )
        owner[child] = name
        below.setdefault(parent, []).append(name)
    root = root_link(joints, links, where)
    waiting = list(reversed(below.get(root, [])))
    seen = 0
    while waiting:
        name = waiting.pop()
        seen += 1
        yield name, joints[name]
        waiting += reversed(below.get(link_of(joints[name], "child", where), []))
    if seen < len(joints):
        raise InputError(
            f"{where}: {len(joints) - seen} joints form a loop that is not connected to {root!r}."
        )


def root_link(joints: dict[str, Element], links: dict[str, Element], where: str) -> str:
    """The name of the link that is the child of no joint."""
    if not links:
        raise InputError(
            f"{where}: no <link>; a robot needs at least two and a joint between them."
        )
    children = {link_of(joint, "child", where) for joint in joints.values()}
    roots = [link for link in links if link not in children]
    if len(roots) != 1:
        found = (
            f"{len(roots)} ({', '.join(roots[:4])})" if roots else "none, so the joints form a loop"
        )
        raise InputError(f"{where}: exactly one link must be the child of no joint, found {found}.")
    return roots[0]


def link_of(joint: Element, role: str, where: str) -> str:
    """The name of a joint's "parent" or "child" link."""
    element = joint.find(role)
    link = "" if element is None else element.get("link", "")
    if not link:
        raise InputError(f'{where}: <{role} link="..."/> is missing.')
    return link
