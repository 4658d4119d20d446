"""Checks of the signals: movement and rest, saturation, jumps, units of the positions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from didim.checks.data import CheckData
from didim.checks.finding import Finding, graded
from didim.control.servo import Servo
from didim.signals.states import MIN_TRAVEL, still_joints

SMALL_RANGE = {"revolute": 0.05, "prismatic": 0.01}
"""Range of motion, rad or m, below which a joint is poorly excited."""

REST_SPEED_FRACTION, MAX_REST_FRACTION = 0.01, 0.07
"""Fraction of its top speed below which a joint rests; fraction of the time that it may rest."""

MIN_SATURATED_RUN = 5
"""Samples at the same extreme value, one after another, that look like saturation."""

MAX_TORQUE_LIMIT_RATIO = 1.5
"""Times a joint's torque limit that no drive reaches."""

MAX_POSITION_LIMIT_RATIO = 3.0
"""Times a joint's position limit that it cannot reach."""

JUMP_RATIO = 20.0
"""Times the largest usual step of a joint's position that makes a jump."""

MAX_OFFSET_FRACTION = 0.1
"""Fraction of a joint's range by which its mean may miss that of the reference."""

MAX_USUAL_ANGLE = 4 * np.pi
"""rad: few joints turn further."""

DEGREES_PER_RADIAN = 180 / np.pi


def movement(data: CheckData) -> Iterator[Finding]:
    """Joints that do not move, or hardly."""
    if data.states is None:
        yield Finding(
            "movement",
            "fail",
            "neither positions nor a reference are given",
            "name columns.q or columns.q_ref.",
        )
        return
    q, kinds = data.states.q, [joint.kind for joint in data.model.robot.coordinates]
    still = (
        still_joints(data.record.q) if data.record.q is not None else np.ptp(q, axis=0) < MIN_TRAVEL
    )
    small = ~still & (np.ptp(q, axis=0) < [SMALL_RANGE[kind] for kind in kinds])
    if still.any():
        yield Finding(
            "movement",
            "fail",
            f"{data.listed(np.flatnonzero(still))} does not move",
            "move it, or make it a fixed joint in the robot's description; check that its column "
            "is the right one.",
        )
    if small.any():
        widths = ", ".join(f"{data.label(j)} {np.ptp(q[:, j]):.2g}" for j in np.flatnonzero(small))
        yield Finding(
            "movement",
            "warn",
            f"small range of motion, rad or m: {widths}",
            "use more of the joint's range.",
        )
    if not (still | small).any():
        yield Finding(
            "movement",
            "pass",
            f"every joint moves, the least by {np.ptp(q, axis=0).min():.3g} rad or m",
        )


def rest(data: CheckData, handled: str) -> Iterator[Finding]:
    """Joints that are at rest for a large part of the record, where Coulomb friction is unknown."""
    if data.speeds is None:
        return
    top = data.speeds.max(axis=0)
    fraction = np.mean(data.speeds < REST_SPEED_FRACTION * np.where(top > 0, top, 1.0), axis=0)
    much = np.flatnonzero((fraction > MAX_REST_FRACTION) & (top > 0))
    if not much.size:
        most = fraction[top > 0].max(initial=0.0)
        yield Finding(
            "rest",
            "pass",
            f"every moving joint moves for at least {100 * (1 - most):.0f} % of the time",
        )
        return
    joints = ", ".join(f"{data.label(j)} {100 * fraction[j]:.0f} %" for j in much)
    if handled:
        yield Finding("rest", "pass", f"at rest for part of the time: {joints}; {handled}")
        return
    yield Finding(
        "rest",
        "warn",
        f"at rest for part of the time: {joints}",
        "friction at rest is not known; leave these equations out with rest_velocity (about "
        f"{0.05 * top[much].max():.2g}).",
    )


def saturation(data: CheckData) -> Iterator[Finding]:
    """Torques that stay at their extreme value, or reach a limit."""
    tau = data.tau
    saturated = []
    worst = 0.0
    for j, column in enumerate(tau.T):
        fraction = (
            max(_held(column, column.max()), _held(column, column.min()))
            if np.ptp(column) > 0
            else 0.0
        )
        limit = data.model.robot.coordinates[j].torque_limit
        beyond = (
            np.abs(column).max() > MAX_TORQUE_LIMIT_RATIO * limit
        )  # no drive does that: `torque_size` reports the units
        at_limit = 0.0 if beyond else float(np.mean(np.abs(column) >= 0.999 * limit))
        if max(fraction, at_limit) > 0:
            saturated.append(f"{data.label(j)} {100 * max(fraction, at_limit):.2g} %")
            worst = max(worst, fraction, at_limit)
    if saturated:
        yield Finding(
            "saturation",
            graded(worst, 0.0, 0.1),
            "the torque stays at its extreme value or at the joint's limit: "
            f"{', '.join(saturated)} of the samples",
            "slow the motion down; if the drive saturates, give controller.saturation; if the log "
            "is clipped, cut it out.",
        )
    else:
        yield Finding("saturation", "pass", "no torque stays at its extreme value")


def _held(column: np.ndarray, value: float) -> float:
    """Fraction of samples within runs at this value that are much longer than runs of the same
    value are elsewhere.
    """
    edges = np.flatnonzero(np.diff(column, prepend=np.nan, append=np.nan) != 0)
    lengths, values = np.diff(edges), column[edges[:-1]]
    long = (values == value) & (lengths >= MIN_SATURATED_RUN * np.median(lengths))
    return float(lengths[long].sum()) / column.size


def jumps(data: CheckData) -> Iterator[Finding]:
    """Positions that jump: an encoder that wraps around, samples that are lost or wrong."""
    if data.record.q is None:
        return
    t, q = data.record.t, data.record.q
    rate = np.abs(np.diff(q, axis=0)) / np.maximum(np.diff(t), 1.0 / data.rate)[:, None]
    usual = np.quantile(rate, 0.99, axis=0)
    worst = rate.max(axis=0)
    wrapped = np.abs(np.diff(q, axis=0)).max(axis=0) > np.pi
    turning = np.array([joint.kind == "revolute" for joint in data.model.robot.coordinates])
    found = np.flatnonzero(
        (usual > 0) & (worst > JUMP_RATIO * usual) | (wrapped & turning & (worst > 3 * usual))
    )
    if not found.size:
        yield Finding("jumps", "pass", "no jumps in the positions")
        return
    j = int(found[0])
    k = int(rate[:, j].argmax())
    yield Finding(
        "jumps",
        "fail",
        f"q of {data.label(j)} jumps by {q[k + 1, j] - q[k, j]:.3g} at t = {t[k]:.6g} s",
        "unwrap an encoder that wraps around; cut out lost samples (between).",
    )


def position_units(data: CheckData) -> Iterator[Finding]:
    """Positions that look like degrees, or like those of the motors; measured ones that contradict
    the reference.
    """
    record, robot = data.record, data.model.robot
    bad = False
    known = {
        "q": record.q,
        "q_ref": None if record.q_ref is None else record.reference().positions(record.t),
    }
    for name, value in known.items():
        if value is None:
            continue
        reached = np.abs(value).max(axis=0)
        far = [
            j
            for j, joint in enumerate(robot.coordinates)
            if joint.kind == "revolute" and reached[j] > MAX_USUAL_ANGLE
        ]
        beyond = np.flatnonzero(reached > 1.1 * np.abs(robot.position_limits).max(axis=1))
        if far or beyond.size:
            bad = True
            j = far[0] if far else int(beyond[0])
            impossible = (
                reached[j]
                > MAX_POSITION_LIMIT_RATIO * np.abs(robot.coordinates[j].position_limits).max()
            )
            yield Finding(
                "units",
                "fail" if impossible else "warn",
                f"{name} of {data.label(j)} reaches {reached[j]:.3g}"
                + (
                    " rad, many turns"
                    if far
                    else f", beyond its limits {robot.coordinates[j].position_limits}"
                ),
                "wrong unit? units = "
                f'{{ {name} = "{"mm" if robot.coordinates[j].kind == "prismatic" else "deg"}" }}; '
                "motor side? gear; other zero? position_offset.",
            )
    q, q_ref = known.values()
    follows = not isinstance(data.controller, Servo)  # which lags by its load, or swings freely
    if q is not None and q_ref is not None and follows:
        found = [*_against_reference(data, q, q_ref)]
        yield from (each for each in found if not (bad and each.level == "pass"))
    elif not bad:
        yield Finding("units", "pass", "the positions are plausible in radians and metres")


def _against_reference(data: CheckData, q: np.ndarray, q_ref: np.ndarray) -> Iterator[Finding]:
    """The slope of measured over reference positions, which should be 1."""
    fine = True
    for j in range(q.shape[1]):
        wanted, measured = q_ref[:, j] - q_ref[:, j].mean(), q[:, j] - q[:, j].mean()
        if not (wanted.std() > MIN_TRAVEL and measured.std() > MIN_TRAVEL):
            continue
        slope = float(wanted @ measured / (wanted @ wanted))
        apart = float(np.mean(q[:, j] - q_ref[:, j]))
        if 0.5 < slope < 2.0 and abs(apart) > MAX_OFFSET_FRACTION * np.ptp(q_ref[:, j]):
            fine = False
            yield Finding(
                "units",
                "warn",
                f"{data.label(j)}: q is {apart:.3g} rad or m away from q_ref on average",
                "different zeros? set position_offset for one of them; or a soft loop sags under "
                "its load.",
            )
        if 0.5 < slope < 2.0:
            continue
        fine = False
        degrees = any(
            0.8 < slope / factor < 1.25 for factor in (DEGREES_PER_RADIAN, 1 / DEGREES_PER_RADIAN)
        )
        hint = (
            "one of them is in degrees: set units"
            if degrees
            else (
                "one of them has the opposite sign: give its unit as -1.0"
                if -2 < slope < -0.5
                else "check columns, units and gear"
            )
        )
        yield Finding("units", "fail", f"{data.label(j)}: q is {slope:.3g} times q_ref", f"{hint}.")
    if fine:
        yield Finding("units", "pass", "measured and reference positions have the same units")
