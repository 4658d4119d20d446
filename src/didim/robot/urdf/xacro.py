"""Recognises xacro, the macro language that URDF files are often written in, and names the command
that expands it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from didim.errors import InputError

PREFIX, EXPRESSION = "xacro", "${"


def xacro_detector(where: str) -> Callable[[str, Mapping[str, str]], None]:
    """A handler of start tags (name as written, attributes) that refuses a file with elements of
    xacro or expressions ${...} in it. A declared namespace alone is no macro: expanded files keep
    it.
    """
    prefixes = {PREFIX}

    def look(name: str, attributes: Mapping[str, str]) -> None:
        prefixes.update(
            key.removeprefix("xmlns:")
            for key, value in attributes.items()
            if key.startswith("xmlns:") and PREFIX in value
        )
        if name.partition(":")[0] in prefixes and ":" in name:
            raise _refused(where, f"<{name}>")
        for key, value in attributes.items():
            if EXPRESSION in value:
                raise _refused(where, f"{EXPRESSION}...}} in {key} of <{name}>")

    return look


def _refused(where: str, seen: str) -> InputError:
    stem = where.removesuffix(".xacro").removesuffix(".urdf").removesuffix(".xml")
    expanded = f"{stem}.urdf" if where != f"{stem}.urdf" else f"{stem}-expanded.urdf"
    return InputError(
        f"{where}: this is a xacro file ({seen}); expand it to plain URDF first: "
        f"xacro {where} > {expanded}."
    )
