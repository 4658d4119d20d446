"""The plan that a study asks for: its robot in its loop, its tables [limits] and [excite]."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from didim.design import Limits, Plan, excite
from didim.design.capsules import GIVE_SHAPES, LinkCapsules, link_capsules, named_with_reason
from didim.design.known import Source
from didim.errors import InputError, naming
from didim.results.store import load_estimate
from didim.robot.robot import Robot
from didim.study.origin import RECORDS
from didim.study.paths import existing
from didim.study.study import Study

DEFAULT_CLEARANCE = 0.01
"""m between links, where the description has shapes of all of them."""

NO_FLOOR = "No floor is given (--floor Z): nothing keeps the links above it."


def limits_with_defaults(robot: Robot, **given: Any) -> tuple[Limits, list[str]]:
    """The limits of a plan, and notes on what they do not watch."""
    notes = []
    if given.get("self_collision") is None and len(robot.joints) > 1:
        without = [link for link in link_capsules(robot) if link.fitted]
        if without:
            notes.append(_not_watched(without))
        else:
            given["self_collision"] = DEFAULT_CLEARANCE
    if given.get("floor") is None and given.get("box") is None:
        notes.append(NO_FLOOR)
    return Limits(robot, **given), notes


def _not_watched(links: Sequence[LinkCapsules]) -> str:
    """The note on links without shapes that can be used."""
    return (
        "Self-collision is not watched: the description has no shapes that can be used of "
        f"{named_with_reason(links)}; {GIVE_SHAPES}, or a clearance (--self-collision 0.01), for "
        "which these links are fitted along their joints."
    )


def plan_study(
    study: Study,
    changed: Mapping[str, Any],
    limits: Mapping[str, Any],
    after: Sequence[Source] = (),
    progress: Callable[[float], Any] | None = None,
) -> tuple[Plan, list[str]]:
    """The plan, and notes on its limits. `changed` are arguments of `excite`, and `limits` those of
    `Limits`, that replace the study's.
    """
    given, table = study.settings, study.settings.excite
    settings = {} if table is None else table.given("after", "trajectories")
    if given.didim.estimate_gains and given.method != "idim":
        settings.setdefault("gains_unknown", True)
    settings |= changed
    with naming(study.name):
        loop = study.controller
        if given.method != "idim" and loop is None:
            raise InputError(
                f"method = {given.method!r} needs the loop; describe it in a table [controller], "
                'or plan for positions: --set method="idim".'
            )
        own, notes = limits_with_defaults(study.model.robot, **{**given.limits.given(), **limits})
        if (rate := getattr(loop, "rate", None)) is not None:
            settings.setdefault("rate", rate)
        method = "idim" if given.method == "idim" else "didim"
        known = [*_known(study), *after] or None
        plan = excite(
            study.model,
            loop=loop,
            limits=own,
            method=method,
            after=known,
            progress=progress,
            **settings,  # type: ignore[arg-type]
        )
    return plan, notes


def _known(study: Study) -> list[Source]:
    """What excite.after names."""
    table = study.settings.excite
    found: list[Source] = []
    for each in (table.after or ()) if table is not None else ():
        if each == RECORDS:
            found += study.experiments
        else:
            found.append(load_estimate(existing(each, study.folder, "excite.after")))
    return found
