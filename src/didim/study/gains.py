"""The drive gains that a study asks for in a table [drive_gains]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from didim.dynamics.model import DynamicModel
from didim.errors import InputError
from didim.identification.methods.idim import IDIM
from didim.signals.experiment import Experiment
from didim.study.records import used_records
from didim.study.schema import StudyFile

if TYPE_CHECKING:
    from didim.payload import DriveGains


def drive_gains_of(
    settings: StudyFile,
    model: DynamicModel,
    logged: Sequence[Experiment],
    origin: Mapping[str, Any],
) -> DriveGains | None:
    """The gains from the records of a study, in control units; None where it does not ask."""
    table, tables = settings.drive_gains, settings.experiment
    if table is None:
        if any(each.load for each in tables):
            raise InputError(
                "experiment.load belongs to a table [drive_gains]; give records with a load to "
                "didim payload RESULT FILE."
            )
        return None
    from didim.payload import identify_drive_gains

    empty, held_out = (used_records(use, logged, tables) for use in ("fit", "validate"))
    if not empty:
        raise InputError(
            '[drive_gains] needs a record of the empty robot: use = "fit", without load = true.'
        )
    loaded = [record for record, each in zip(logged, tables, strict=True) if each.load]
    return identify_drive_gains(
        model,
        empty,
        loaded or None,
        known=table.known,
        fixed=table.fixed,
        link=table.link,
        method=table.method or "consistent",
        rows=IDIM(**settings.idim.given()),  # type: ignore[arg-type]
        validation=held_out or None,
        origin=origin,
    )
