"""`load_experiment` and `load_reference`: from files and the names of their columns to an
`Experiment` or a `Reference`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.errors import InputError, naming, shortened
from didim.robot.drive import Drive
from didim.signals.cleaning import Rows, in_order, part_of, usable
from didim.signals.columns import Columns
from didim.signals.experiment import Experiment
from didim.signals.filters import integral
from didim.signals.gather import Files, Gathered, gather
from didim.signals.reference import Reference
from didim.signals.tables import KINDS
from didim.signals.trajectory import Trajectory
from didim.signals.units import Units, declared, in_si
from didim.validation import per_joint

Array = NDArray[np.float64]

_EXPERIMENT = ("t", "tau", "control", "q_ref", "dq_ref", "q", "dq")
_REFERENCE = ("t", "q_ref", "dq_ref", "ddq_ref")

SLOWEST_PERIOD = 0.5
"""s between samples, from which on the time is probably in another unit."""


@dataclass(frozen=True, eq=False)
class Conversion:
    """How logged numbers become joint-side SI: units, then gears, then the zero of the
    positions.
    """

    units: Units | None = None
    """From a signal to a unit's name, or to the factor that brings it to SI."""
    gear: ArrayLike | None = None
    """(n,) or (n, n) Kr, motor velocity per joint velocity, where the log is of the motors: q =
    Kr^-1 q_m, tau = Kr' tau_m. A control signal is not geared: g of (9) contains the gears.
    """
    position_offset: ArrayLike | None = None
    """(n,) added to the positions, rad or m: the model's zero where the log has another."""

    def __call__(self, signals: Mapping[str, Array], where: str) -> dict[str, Array]:
        """The signals (N, n) of a log, converted."""
        found = in_si(signals, self.units, where)
        if self.gear is not None:
            for key in [key for key in found if key not in ("t", "control")]:
                drive = _drive(self.gear, found[key].shape[1], where)
                found[key] = (
                    drive.joint_torque(found[key])
                    if key == "tau"
                    else drive.joint_position(found[key])
                )
        if self.position_offset is not None:
            if not {"q", "q_ref"} & set(found):
                raise InputError(f"{where}: position_offset is given, but there are no positions.")
            for key in [key for key in ("q", "q_ref") if key in found]:
                n = found[key].shape[1]
                found[key] = found[key] + per_joint(
                    self.position_offset, f"{where}: position_offset", n
                )
        return found


def load_experiment(
    path: Files,
    columns: Columns | None = None,
    *,
    reference: ArrayLike | Trajectory | None = None,
    drive_gain: ArrayLike | None = None,
    usual_gain: ArrayLike | None = None,
    name: str | None = None,
    rate: float | None = None,
    joints: Sequence[str] | None = None,
    units: Units | None = None,
    gear: ArrayLike | None = None,
    position_offset: ArrayLike | None = None,
    rows: Sequence[int] | None = None,
    torque_delay: float | None = None,
    q_ref_start: ArrayLike | None = None,
    channels: Sequence[str] = (),
    gains: Mapping[str, ArrayLike] | None = None,
) -> Experiment:
    """Read a record.

    Rows that are damaged, have no value or come too late are left out, with a note; above 1 % of
    them the record is refused.

    Parameters
    ----------
    path
        A .csv, .tsv, .txt, .dat, .log (also .gz), .mat, .npz, .parquet, .bag or .mcap file, or the
        folder of a ROS 2 bag; or one for each signal, or a list of one for each joint.
    columns
        Which column is what: keys t, tau (or control), q_ref (or dq_ref), q, dq; values a name, a
        number or a range such as "2-7" (1 is the first), or a list of them, one for each joint;
        patterns "pos*", "pos{j}" and, with `joints`, "pos_{joint}". None: columns called t, tau1,
        tau2, ... (or arrays called t, tau, ...), or the joint states of a bag; of a file that is
        given for one signal, all.
    reference
        The reference, where the file has none: a `Reference` from `load_reference`, a trajectory or
        an array on t.
    drive_gain
        With `control`: g of (8), one number, (n,) or (n, n); tau = g v.
    usual_gain
        The same, where the record may have tau or control and `drive_gain` is not given.
    name
        Of the experiment; None: that of the file.
    rate
        Samples per second, where there is no time.
    joints
        (n,) names of the robot's joints, in its order, for patterns and bags.
    units, gear, position_offset
        See `Conversion`: what brings the log to SI and to the joint side.
    rows
        First and last row that are used, both included, counted from 1, the header not counted.
    torque_delay
        s by which the log has the torque later than the positions; the torque is shifted back.
    q_ref_start
        (n,) rad or m, with dq_ref and no q_ref: where the integral of the velocities starts.
    channels
        Names of further signals that effects need, `model.channels`: keys of `columns` too, one
        column each, taken as they are logged.
    gains
        Gains that the controller had during this record, where records differ in them.
    """
    found = gather(path, columns, _EXPERIMENT, rate, joints, channels)
    where = found.where
    given = {"tau", "control"} & {*found.signals}
    if len(given) == 2 or (not given and "q" not in found.signals):
        raise InputError(
            f"{where}: give either tau or control (with drive_gain) in columns; there are "
            f"{found.there}."
        )
    if reference is not None and {"q_ref", "dq_ref"} & {*found.signals}:
        raise InputError(f"{where}: the reference is given twice, as a column and as reference=.")
    kept = _cleaned(found, rows, Conversion(units, gear, position_offset), channels)
    chosen = kept.signals
    logged = {name: chosen.pop(name)[:, 0] for name in channels if name in chosen}
    if "control" in chosen:
        chosen["tau"] = _torque(
            chosen.pop("control"), usual_gain if drive_gain is None else drive_gain, where
        )
    elif drive_gain is not None:
        raise InputError(f"{where}: drive_gain belongs to control; tau is in N.m already.")
    if (
        reference is not None
        and not isinstance(reference, Trajectory)
        and (len(chosen["t"]) < len(found.signals["t"]))
    ):
        raise InputError(
            f"{where}: rows are left out, so that a reference on t is ambiguous; give a "
            "didim.Reference."
        )
    t, notes = chosen["t"][:, 0], [*found.notes, *kept.notes]
    if "dq_ref" in chosen:
        if "q_ref" in chosen:
            raise InputError(
                f"{where}: name either q_ref or dq_ref; a reference of both is a file of its own."
            )
        chosen["q_ref"] = _integrated(t, chosen["dq_ref"], q_ref_start, chosen.get("q"), where)
        notes.append("The reference is the integral of its velocities from q_ref_start.")
    elif q_ref_start is not None:
        raise InputError(f"{where}: q_ref_start belongs to dq_ref without q_ref.")
    if rate is None and not (units and "t" in units):
        notes += _slow(float(np.median(np.diff(t))))
    title = _stem(where) if name is None else name
    q_ref = chosen.get("q_ref") if reference is None else reference
    with naming(where):
        signals = chosen.get("tau"), q_ref, chosen.get("q"), chosen.get("dq")
        record = Experiment(t, *signals, title, notes, logged, gains)
        return record if torque_delay is None else record.torque_advanced(torque_delay)


def load_reference(
    path: Files,
    columns: Columns | None = None,
    *,
    interpolation: str = "cubic",
    rate: float | None = None,
    joints: Sequence[str] | None = None,
    units: Units | None = None,
    gear: ArrayLike | None = None,
    position_offset: ArrayLike | None = None,
    q_ref_start: ArrayLike | None = None,
) -> Reference:
    """Read a reference: keys t, q_ref, dq_ref, ddq_ref of `columns`, everything else as for
    `load_experiment`.
    """
    found = gather(path, columns, _REFERENCE, rate, joints)
    if not {"q_ref", "dq_ref"} & {*found.signals}:
        raise InputError(
            f"{found.where}: which columns are q_ref? Name them in columns; there are "
            f"{found.there}."
        )
    kept = _cleaned(found, None, Conversion(units, gear, position_offset)).signals
    t = kept["t"][:, 0]
    if "q_ref" not in kept:
        kept["q_ref"] = _integrated(t, kept["dq_ref"], q_ref_start, None, found.where)
    elif q_ref_start is not None:
        raise InputError(f"{found.where}: q_ref_start belongs to dq_ref without q_ref.")
    with naming(found.where):
        return Reference(t, kept["q_ref"], kept.get("dq_ref"), kept.get("ddq_ref"), interpolation)


def _cleaned(
    found: Gathered,
    rows: Sequence[int] | None,
    conversion: Conversion,
    channels: Sequence[str] = (),
) -> Rows:
    """The rows that are used, in SI units and on the joint side; `channels` as they are logged."""
    declared(found.units, conversion.units, found.where)
    kept = in_order(usable(part_of(found.signals, rows, found.where), found.damaged))
    if len(kept.number) < 2:
        raise InputError(f"{found.where}: there is one row only; a record needs two at least.")
    logged = {key: value for key, value in kept.signals.items() if key in channels}
    motion = {key: value for key, value in kept.signals.items() if key not in channels}
    return replace(kept, signals=conversion(motion, found.where) | logged)


def _integrated(t: Array, dq: Array, start: ArrayLike | None, q: Array | None, where: str) -> Array:
    """Positions (N, n) that begin at `start` (n,) and move with the velocities dq (N, n)."""
    if start is None:
        first = "" if q is None else f"; the first measured one is {np.round(q[0], 6).tolist()}"
        raise InputError(
            f"{where}: a reference of velocities alone needs q_ref_start, the position where it "
            f"starts{first}."
        )
    begin = per_joint(start, f"{where}: q_ref_start", dq.shape[1])
    return begin + integral(t, dq)


def _slow(step: float) -> list[str]:
    """A note where the time is probably not in seconds."""
    if step < SLOWEST_PERIOD:
        return []
    return [
        f"A sample comes every {step:.4g} s, if the time is in seconds as it was taken; declare "
        'units = { t = "ms" } or the like if it is not.'
    ]


def _stem(name: str) -> str:
    """A file's name without its ending."""
    ending = next(
        (kind for kind in sorted(KINDS, key=len, reverse=True) if name.lower().endswith(kind)), ""
    )
    return name[: len(name) - len(ending)]


def _drive(gear: ArrayLike, n: int, where: str) -> Drive:
    try:
        matrix = np.asarray(gear, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            f"{where}: gear must be {n} or {n} x {n} numbers, found {shortened(gear)}."
        ) from None
    matrix = np.diag(np.broadcast_to(matrix, (n,))) if matrix.shape in ((), (n,)) else matrix
    if matrix.shape != (n, n):
        raise InputError(
            f"{where}: gear must be one number, {n} or {n} x {n}, found shape {matrix.shape}."
        )
    return Drive(matrix)


def _torque(control: Array, drive_gain: ArrayLike | None, where: str) -> Array:
    """tau (N, n) = g v of a control signal v (N, n).

    Implements (8).
    """
    if drive_gain is None:
        raise InputError(
            f"{where}: control needs drive_gain, the torque per unit of the control signal (8)."
        )
    n = control.shape[1]
    try:
        g = np.asarray(drive_gain, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            f"{where}: drive_gain must be one number, {n} or {n} x {n}, found "
            f"{shortened(drive_gain)}."
        ) from None
    return (
        control @ g.T
        if g.shape == (n, n) and n > 1
        else control * per_joint(g.reshape(-1) if g.size == n else g, "drive_gain", n)
    )
