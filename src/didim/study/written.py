"""A study as text: values, tables and lists of tables; and its paths as seen from another
folder.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from didim.robot.load import shipped_robots
from didim.robot.write_toml import toml_key, toml_value
from didim.study.origin import NOT_FILES
from didim.study.paths import VARIABLE


def study_lines(data: dict[str, Any]) -> list[str]:
    """Values first, then tables, then lists of tables."""
    tables = {key: each for key, each in data.items() if isinstance(each, dict) or _tables(each)}
    lines = _lines({key: each for key, each in data.items() if key not in tables})
    for key, each in tables.items():
        if isinstance(each, dict):
            lines += ["", f"[{toml_key(key)}]", *_lines(each)]
        else:
            for table in each:
                lines += ["", f"[[{toml_key(key)}]]", *_lines(table)]
    return [*lines, ""]


def _tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)


def _lines(table: dict[str, Any]) -> list[str]:
    return [
        f"{toml_key(key)} = {toml_value(plain(each))}"
        for key, each in table.items()
        if each is not None
    ]


def plain(value: Any) -> Any:
    """Numbers and lists, as TOML has them."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    return value


def rebase(data: dict[str, Any], old: Path, new: Path) -> None:
    """Relative paths of a study, for another folder."""
    if old.resolve() == new.resolve():
        return

    def moved(text: Any) -> Any:
        known = not isinstance(text, str) or text in {*shipped_robots(), *NOT_FILES}
        if known or "${" + VARIABLE + "}" in text or Path(text).is_absolute():
            return text
        return Path(os.path.relpath(old.resolve() / text, new.resolve())).as_posix()

    def move(table: dict[str, Any], key: str) -> None:
        if key in table:
            value = table[key]
            if isinstance(value, dict):
                for name in value:
                    move(value, name)
            else:
                table[key] = (
                    [moved(each) for each in value] if isinstance(value, list) else moved(value)
                )

    if "." in data["robot"] or "/" in data["robot"]:
        move(data, "robot")
    for table in data["experiment"]:
        move(table, "file")
        move(table.get("reference", {}), "file")
    model = data.get("controller", {}).get("model", "")
    if "." in model or "/" in model:
        move(data["controller"], "model")
    for name in ("iv", "didim", "output_error"):
        if isinstance(data.get(name, {}).get("initial"), str):
            move(data[name], "initial")
