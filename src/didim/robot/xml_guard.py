"""XML from outside as a tree of elements. A document type declaration is refused before anything is
expanded, and so is a tree that is nested too deeply.
"""

from __future__ import annotations

import xml.parsers.expat
from collections.abc import Callable
from xml.etree import ElementTree

from didim.errors import InputError

Element = ElementTree.Element
Look = Callable[[str, dict[str, str]], None]

MARK = "didim:"
"""At the head of a comment of didim's own."""

MAX_DEPTH = 100
"""Elements within elements."""


def guarded(data: bytes, where: str, comments: bool = False, look: Look | None = None) -> Element:
    """The root element of a file, with its comments on request; `look` sees the name and the
    attributes of every element first.
    """

    def refuse(*_: object) -> None:
        raise InputError(
            f"{where}: the XML has a document type declaration (DTD), which is refused; remove it."
        )

    guard = xml.parsers.expat.ParserCreate()
    guard.StartDoctypeDeclHandler = refuse
    depth = 0

    def enter(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if look is not None:
            look(name, attributes)
        if depth > MAX_DEPTH:
            raise InputError(f"{where}: elements are nested more than {MAX_DEPTH} deep.")

    def leave(*_: object) -> None:
        nonlocal depth
        depth -= 1

    guard.StartElementHandler, guard.EndElementHandler = enter, leave
    try:
        guard.Parse(data, True)
        builder = ElementTree.TreeBuilder(insert_comments=comments)
        return ElementTree.fromstring(data, ElementTree.XMLParser(target=builder))
    except (
        xml.parsers.expat.ExpatError,
        ElementTree.ParseError,
        LookupError,
        ValueError,
    ) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(f"{where}: not well-formed XML: {problem}.") from None


def put_comment(root: Element, text: str) -> None:
    """Let the root begin with a comment of didim's own, instead of an earlier one; empty: without
    one.
    """
    for child in list(root)[:1]:
        if not isinstance(child.tag, str) and (child.text or "").strip().startswith(MARK):
            root.remove(child)
    if text:
        comment = ElementTree.Comment(f" {MARK} {text.replace('--', '- -').rstrip('-')} ")
        comment.tail = root.text
        root.insert(0, comment)
