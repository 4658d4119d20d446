"""HTML pages of didim: one file that loads nothing. Every name from outside is escaped, and no
other script can run.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from didim.errors import InputError
from didim.output import PAGE_ENDINGS, Overwrite, free
from didim.report.figures import Picture
from didim.report.scene import Scene


@dataclass(frozen=True, eq=False)
class Part:
    """One section of a page."""

    anchor: str
    title: str
    template: str
    """Name of its file in `templates/`."""
    content: dict[str, Any]
    """What the template shows."""


def free_page(path: str | PathLike[str], overwrite: Overwrite) -> Path:
    """The path of a page that may be written."""
    file = free(path, overwrite)
    if file.suffix.lower() not in PAGE_ENDINGS:
        raise InputError(f"{file}: a report must end in .html.")
    return file


def rendered(title: str, parts: Sequence[Part]) -> bytes:
    """The whole page, UTF-8."""
    pictures: list[Picture | Scene] = []

    def placed(picture: Picture | Scene) -> int:
        """The number under which the script finds a picture."""
        pictures.append(picture)
        return len(pictures) - 1

    texts = []
    for part in parts:
        template = environment().get_template(part.template)
        texts.append((part, Markup(template.render(section=part, placed=placed, **part.content))))
    script, style = _asset("scene.js") + _asset("plots.js"), _asset("report.css")
    text = (
        environment()
        .get_template("page.html")
        .render(
            title=title,
            parts=texts,
            pictures=Markup(_harmless([picture.data() for picture in pictures])),
            script=Markup(script),
            script_hash=_hash(script),
            style=Markup(style),
            style_hash=_hash(style),
            made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        )
    )
    return text.encode("utf-8", "backslashreplace")


@cache
def environment() -> Environment:
    """Templates escape whatever they are given, and refuse what they are not."""
    return Environment(
        loader=PackageLoader("didim.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _asset(name: str) -> str:
    return resources.files("didim.report").joinpath("assets", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """What the page's content security policy names a script or style by."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _harmless(content: Any) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
