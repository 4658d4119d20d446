"""What the robot of a study would do in its loop, and the table that is written of it."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError
from didim.results.estimate import Estimate
from didim.results.prediction import simulated
from didim.signals.experiment import Experiment
from didim.signals.write_csv import csv_of
from didim.simulation.motion import Motion
from didim.simulation.records import check_joints
from didim.simulation.run import Progress
from didim.simulation.simulate import simulate
from didim.study.study import Study

KINDS = (".csv", ".npz")


@dataclass(frozen=True, eq=False)
class Simulated:
    """One record's reference and the motion that follows it."""

    experiment: Experiment
    motion: Motion


def simulate_study(
    study: Study, estimate: Estimate | None = None, progress: Progress | None = None
) -> list[Simulated]:
    """Every record of the study in its loop, at the described parameters or at those of an
    estimate, in its own loop.
    """
    base = study.model.base if estimate is None else estimate.model
    if base.robot.n != study.model.robot.n:
        raise InputError(
            f"The result is of {base.robot.name!r} with {base.robot.n} joints, {study.name} of "
            f"{study.model.robot.name!r} with "
            f"{study.model.robot.n}."
        )
    loop = study.controller
    parameters = base.nominal if estimate is None else estimate.parameters
    if loop is None and (estimate is None or estimate.controller is None):
        raise InputError(
            f"{study.name}: there is no loop to simulate; describe it in a table [controller]."
        )
    if not np.isfinite(parameters).all():
        raise InputError(
            f"{study.name}: the description of {base.robot.name!r} does not give all parameters a "
            "value; identify first, and "
            "give the result: didim simulate FILE --with result.json."
        )
    found = []
    for record in study.records:
        check_joints(base, record)
        if (
            estimate is not None
            and estimate.preprocessing.states == "simulated"
            and estimate.controller is not None
        ):
            motion = simulated(
                base, parameters, estimate.controller, record, estimate.preprocessing
            )
        else:
            motion = simulate(
                base,
                parameters,
                loop,
                t=record.t,
                q_ref=_reference(record),
                progress=progress,
                signals=record.channels,
            )
        found.append(Simulated(record, motion))
    return found


def _reference(record: Experiment) -> Any:
    if record.q_ref is None:
        raise InputError(
            f"Experiment {record.name!r} has no reference to follow; name columns.q_ref."
        )
    return record.q_ref


def motion_table(simulated: Simulated, kind: str) -> bytes:
    """t, q_ref, q, dq, ddq, tau as a CSV with a header, or as the arrays of an NPZ."""
    motion = simulated.motion
    q_ref = simulated.experiment.reference().sample(motion.t)[0]
    signals: dict[str, NDArray[np.float64]] = {
        "q_ref": q_ref,
        "q": motion.q,
        "dq": motion.dq,
        "ddq": motion.ddq,
        "tau": motion.tau,
    }
    if kind == ".npz":
        packed = io.BytesIO()
        arrays: dict[str, Any] = {"t": motion.t, **signals}
        np.savez_compressed(packed, **arrays)
        return packed.getvalue()
    return csv_of(motion.t, signals)


def files_for(path: Path, records: list[Experiment]) -> list[Path]:
    """One file for each record: `path` itself where there is one, else with the number before the
    ending.
    """
    if path.suffix.lower() not in KINDS:
        raise InputError(f"{path}: a motion is written as .csv or .npz.")
    if len(records) == 1:
        return [path]
    return [path.with_name(f"{path.stem}-{k}{path.suffix}") for k in range(len(records))]
