"""The HTML report: one file that loads nothing. Every name from outside is escaped, and no other
script can run.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from didim.errors import InputError
from didim.improvement.path import Improvement
from didim.output import Overwrite, free, write
from didim.payload.result import Payload
from didim.report.data import ReportData, report_data
from didim.report.figures import Picture
from didim.report.sections import SECTIONS
from didim.report.sections.parameters import further_rows, parameter_rows, shape_units
from didim.results.estimate import Estimate
from didim.results.judgement import judge
from didim.results.table import lack_note
from didim.signals.experiment import Experiment

ENDINGS = (".html", ".htm")


def write_report(
    estimate: Estimate,
    path: str | PathLike[str],
    experiments: Sequence[Experiment] | None = None,
    validation: Sequence[Experiment] | None = None,
    overwrite: Overwrite = False,
    improvement: Improvement | None = None,
    payload: Payload | None = None,
) -> Path:
    """Write the report of an estimate to `path` (.html), with the path to it where `improvement`
    has one, and with the load of the robot where `payload` has one.
    """
    file = _free(path, overwrite)
    data = report_data(estimate, experiments, validation)
    data = replace(data, improvement=improvement, payload=payload)
    write({file: page(data)}, overwrite)
    return file


def _free(path: str | PathLike[str], overwrite: Overwrite) -> Path:
    file = free(path, overwrite)
    if file.suffix.lower() not in ENDINGS:
        raise InputError(f"{file}: a report must end in .html.")
    return file


def page(data: ReportData) -> bytes:
    """The whole page, UTF-8."""
    pictures: list[Picture] = []

    def placed(picture: Picture) -> int:
        """The number under which the script finds a picture."""
        pictures.append(picture)
        return len(pictures) - 1

    parts = []
    for section in (each for each in SECTIONS if each.applies(data)):
        why = section.absent(data)
        template = _environment().get_template("absent.html" if why else f"{section.anchor}.html")
        content = {"why": why} if why else section.content(data)
        parts.append(
            (
                section,
                Markup(template.render(section=section, data=data, placed=placed, **content)),
            )
        )
    script, style = _asset("plots.js"), _asset("report.css")
    text = (
        _environment()
        .get_template("page.html")
        .render(
            data=data,
            estimate=data.estimate,
            parts=parts,
            pictures=Markup(_harmless([picture.data() for picture in pictures])),
            script=Markup(script),
            script_hash=_hash(script),
            style=Markup(style),
            style_hash=_hash(style),
            made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        )
    )
    return text.encode("utf-8", "backslashreplace")


def fragment(estimate: Estimate) -> str:
    """The estimate in a notebook: verdict and parameter table, without script or style sheet."""
    template = _environment().get_template("notebook.html")
    return template.render(
        estimate=estimate,
        judged=judge(estimate),
        lacking=lack_note(estimate),
        rows=parameter_rows(estimate),
        further=further_rows({**estimate.shapes, **estimate.gains}, shape_units(estimate)),
    )


@cache
def _environment() -> Environment:
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
