"""The HTML report of an estimate, and its fragment for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

from didim.improvement.path import Improvement
from didim.output import Overwrite, write
from didim.payload.result import Payload
from didim.report.data import ReportData, report_data
from didim.report.html import Part, environment, free_page, rendered
from didim.report.sections import SECTIONS
from didim.report.sections.parameters import further_rows, parameter_rows, shape_units
from didim.results.estimate import Estimate
from didim.results.judgement import judge
from didim.results.table import lack_note
from didim.signals.experiment import Experiment


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
    file = free_page(path, overwrite)
    data = report_data(estimate, experiments, validation)
    data = replace(data, improvement=improvement, payload=payload)
    write({file: page(data)}, overwrite)
    return file


def page(data: ReportData) -> bytes:
    """The whole page, UTF-8."""
    parts = []
    for section in (each for each in SECTIONS if each.applies(data)):
        why = section.absent(data)
        template = "absent.html" if why else f"{section.anchor}.html"
        content = {"why": why} if why else section.content(data)
        parts.append(Part(section.anchor, section.title, template, {"data": data, **content}))
    name = f"{data.estimate.method} of {data.estimate.model.robot.name}"
    return rendered(f"{name}: {data.judgement.sentence}", parts)


def fragment(estimate: Estimate) -> str:
    """The estimate in a notebook: verdict and parameter table, without script or style sheet."""
    template = environment().get_template("notebook.html")
    return template.render(
        estimate=estimate,
        judged=judge(estimate),
        lacking=lack_note(estimate),
        rows=parameter_rows(estimate),
        further=further_rows({**estimate.shapes, **estimate.gains}, shape_units(estimate)),
    )
