"""The page of a plan: does it stay inside every limit, and what will it tell?"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from didim.design.plan import Plan
from didim.output import Overwrite, write
from didim.report.html import Part, free_page, rendered
from didim.report.plan.gain import gain
from didim.report.plan.headline import headline
from didim.report.plan.margins import margins
from didim.report.plan.motion import motion
from didim.report.plan.origin import origin
from didim.report.plan.sigma import sigma
from didim.report.plan.space import space


def write_plan_report(
    plan: Plan, path: str | PathLike[str], overwrite: Overwrite = False, command: str = ""
) -> Path:
    """Write the report of a plan to `path` (.html)."""
    file = free_page(path, overwrite)
    write({file: plan_page(plan, command)}, overwrite)
    return file


def plan_page(plan: Plan, command: str = "") -> bytes:
    """The whole page, UTF-8."""
    sections = [
        ("headline", "What is planned?", headline(plan)),
        ("sigma", "How well will each parameter be known?", sigma(plan)),
        ("gain", "What will be gained over what is known already?", gain(plan)),
        ("motion", "Does each joint stay inside its limits?", motion(plan)),
        ("margins", "Which limits bind?", margins(plan)),
        ("space", "Where do the links move?", space(plan)),
        ("origin", "How to reproduce it", origin(plan, command)),
    ]
    parts = [
        Part(anchor, title, f"plan/{anchor}.html", content)
        for anchor, title, content in sections
        if content
    ]
    name = plan.model.robot.name
    return rendered(f"Excitation of {name}: {plan.duration:g} s for {plan.method}", parts)
