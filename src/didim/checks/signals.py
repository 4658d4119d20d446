"""Checks of the signals: movement and rest, saturation, jumps, units of the positions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from didim.checks.data import Subject
from didim.checks.finding import Finding, graded
from didim.signals.states import MIN_TRAVEL, still_joints

SMALL = {"revolute": 0.05, "prismatic": 0.01}
"""Range of motion, rad or m, below which little can be seen."""

RESTING, MUCH_REST = 0.01, 0.07
"""Share of its top speed below which a joint rests; share of the time that it may."""

RUN = 5
"""Samples at the same extreme value, one after another, that look like saturation."""

BEYOND = 1.5
"""Times a joint's torque limit that no drive reaches."""

IMPOSSIBLE = 3.0
"""Times a joint's position limit that it cannot reach."""

JUMP = 20.0
"""Times the largest usual step of a joint's position that makes a jump."""

OFFSET = 0.1
"""Share of a joint's range by which its mean may miss that of the reference."""

MANY_TURNS = 4 * np.pi
"""rad that few joints reach."""

DEGREES = 180 / np.pi


def movement(subject: Subject) -> Iterator[Finding]:
    """Joints that do not move, or hardly."""
    if subject.states is None:
        yield Finding(
            "movement",
            "fail",
            "neither positions nor a reference are given",
            "name columns.q or columns.q_ref.",
        )
        return
    q, kinds = subject.states.q, [joint.kind for joint in subject.model.robot.joints]
    still = (
        still_joints(np.asarray(subject.record.q))
        if subject.is_measured
        else np.ptp(q, axis=0) < MIN_TRAVEL
    )
    small = ~still & (np.ptp(q, axis=0) < [SMALL[kind] for kind in kinds])
    if still.any():
        yield Finding(
            "movement",
            "fail",
            f"{subject.listed(np.flatnonzero(still))} does not move",
            "move it, or make it fixed in the robot's description; and look whether its column is "
            "the right one.",
        )
    if small.any():
        widths = ", ".join(
            f"{subject.label(j)} {np.ptp(q[:, j]):.2g}" for j in np.flatnonzero(small)
        )
        yield Finding(
            "movement",
            "warn",
            f"hardly any motion, rad or m: {widths}",
            "use more of the joint's range.",
        )
    if not (still | small).any():
        yield Finding(
            "movement",
            "pass",
            f"every joint moves, the least by {np.ptp(q, axis=0).min():.3g} rad or m",
        )


def rest(subject: Subject, handled: str) -> Iterator[Finding]:
    """Joints that stand for a large part of the record, where Coulomb friction is not known."""
    if subject.speeds is None:
        return
    top = subject.speeds.max(axis=0)
    share = np.mean(subject.speeds < RESTING * np.where(top > 0, top, 1.0), axis=0)
    much = np.flatnonzero((share > MUCH_REST) & (top > 0))
    if not much.size:
        most = share[top > 0].max(initial=0.0)
        yield Finding(
            "rest",
            "pass",
            f"what moves at all moves for at least {100 * (1 - most):.0f} % of the time",
        )
        return
    told = ", ".join(f"{subject.label(j)} {100 * share[j]:.0f} %" for j in much)
    if handled:
        yield Finding("rest", "pass", f"at rest for some of the time: {told}; {handled}")
        return
    yield Finding(
        "rest",
        "warn",
        f"at rest for some of the time: {told}",
        "friction at rest is not known; leave these equations out with rest_velocity (about "
        f"{0.05 * top[much].max():.2g}).",
    )


def saturation(subject: Subject) -> Iterator[Finding]:
    """Torques that stay at their extreme value, or reach a limit."""
    tau = np.asarray(subject.record.tau)
    told = []
    worst = 0.0
    for j, column in enumerate(tau.T):
        share = (
            max(_held(column, column.max()), _held(column, column.min()))
            if np.ptp(column) > 0
            else 0.0
        )
        limit = subject.model.robot.joints[j].torque_limit
        beyond = (
            np.abs(column).max() > BEYOND * limit
        )  # no drive does that: `torque_size` doubts the units
        at_limit = 0.0 if beyond else float(np.mean(np.abs(column) >= 0.999 * limit))
        if max(share, at_limit) > 0:
            told.append(f"{subject.label(j)} {100 * max(share, at_limit):.2g} %")
            worst = max(worst, share, at_limit)
    if told:
        yield Finding(
            "saturation",
            graded(worst, 0.0, 0.1),
            f"the torque stays at its extreme or at the joint's limit: {', '.join(told)} of the "
            "samples",
            "slow the motion down; if the drive saturates, give controller.saturation; if the log "
            "is clipped, cut it out.",
        )
    else:
        yield Finding("saturation", "pass", "no torque stays at its extreme")


def _held(column: np.ndarray, value: float) -> float:
    """Share of samples within runs at this value that are much longer than runs of the same value
    are elsewhere.
    """
    edges = np.flatnonzero(np.diff(column, prepend=np.nan, append=np.nan) != 0)
    lengths, values = np.diff(edges), column[edges[:-1]]
    long = (values == value) & (lengths >= RUN * np.median(lengths))
    return float(lengths[long].sum()) / column.size


def jumps(subject: Subject) -> Iterator[Finding]:
    """Positions that jump: an encoder that wraps around, samples that are lost or wrong."""
    if subject.record.q is None:
        return
    t, q = np.asarray(subject.record.t), np.asarray(subject.record.q)
    rate = np.abs(np.diff(q, axis=0)) / np.maximum(np.diff(t), 1.0 / subject.rate)[:, None]
    usual = np.quantile(rate, 0.99, axis=0)
    worst = rate.max(axis=0)
    wrapped = np.abs(np.diff(q, axis=0)).max(axis=0) > np.pi
    turning = np.array([joint.kind == "revolute" for joint in subject.model.robot.joints])
    found = np.flatnonzero(
        (usual > 0) & (worst > JUMP * usual) | (wrapped & turning & (worst > 3 * usual))
    )
    if not found.size:
        yield Finding("jumps", "pass", "positions move without jumps")
        return
    j = int(found[0])
    k = int(rate[:, j].argmax())
    yield Finding(
        "jumps",
        "fail",
        f"q of {subject.label(j)} jumps by {q[k + 1, j] - q[k, j]:.3g} at t = {t[k]:.6g} s",
        "an encoder that wraps around must be unwrapped before; cut out samples that are lost "
        "(between).",
    )


def position_units(subject: Subject) -> Iterator[Finding]:
    """Positions that look like degrees, or like those of the motors; measured ones that contradict
    the reference.
    """
    record, robot = subject.record, subject.model.robot
    bad = False
    known = {
        "q": record.q,
        "q_ref": None if record.q_ref is None else record.reference().sample(record.t)[0],
    }
    for name, value in known.items():
        if value is None:
            continue
        reached = np.abs(np.asarray(value)).max(axis=0)
        far = [
            j
            for j, joint in enumerate(robot.joints)
            if joint.kind == "revolute" and reached[j] > MANY_TURNS
        ]
        beyond = np.flatnonzero(reached > 1.1 * np.abs(robot.position_limits).max(axis=1))
        if far or beyond.size:
            bad = True
            j = far[0] if far else int(beyond[0])
            impossible = reached[j] > IMPOSSIBLE * np.abs(robot.joints[j].position_limits).max()
            yield Finding(
                "units",
                "fail" if impossible else "warn",
                f"{name} of {subject.label(j)} reaches {reached[j]:.3g}"
                + (
                    " rad, many turns"
                    if far
                    else f", beyond its limits {robot.joints[j].position_limits}"
                ),
                "another unit? units = "
                f'{{ {name} = "{"mm" if robot.joints[j].kind == "prismatic" else "deg"}" }}; '
                "motor side? gear; another zero? position_offset.",
            )
    if known["q"] is not None and known["q_ref"] is not None:
        found = [*_against_reference(subject, np.asarray(known["q"]), np.asarray(known["q_ref"]))]
        yield from (each for each in found if not (bad and each.level == "pass"))
    elif not bad:
        yield Finding("units", "pass", "positions are of a size that radians and metres have")


def _against_reference(subject: Subject, q: np.ndarray, q_ref: np.ndarray) -> Iterator[Finding]:
    """The slope of measured over reference positions, which should be 1."""
    fine = True
    for j in range(q.shape[1]):
        asked, got = q_ref[:, j] - q_ref[:, j].mean(), q[:, j] - q[:, j].mean()
        if not (asked.std() > MIN_TRAVEL and got.std() > MIN_TRAVEL):
            continue
        slope = float(asked @ got / (asked @ asked))
        apart = float(np.mean(q[:, j] - q_ref[:, j]))
        if 0.5 < slope < 2.0 and abs(apart) > OFFSET * np.ptp(q_ref[:, j]):
            fine = False
            yield Finding(
                "units",
                "warn",
                f"{subject.label(j)}: q is {apart:.3g} rad or m away from q_ref on average",
                "another zero? position_offset for the one that has it; or a soft loop that hangs "
                "under its load.",
            )
        if 0.5 < slope < 2.0:
            continue
        fine = False
        degrees = any(0.8 < slope / factor < 1.25 for factor in (DEGREES, 1 / DEGREES))
        hint = (
            "one of them is in degrees: set units"
            if degrees
            else (
                "one of them has the other sign: give its unit as -1.0"
                if -2 < slope < -0.5
                else "check columns, units and gear"
            )
        )
        yield Finding(
            "units", "fail", f"{subject.label(j)}: q is {slope:.3g} times q_ref", f"{hint}."
        )
    if fine:
        yield Finding("units", "pass", "positions follow the reference in its own units")
