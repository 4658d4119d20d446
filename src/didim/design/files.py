"""A plan as files: CSV and JSON, and ROS 2 `trajectory_msgs/JointTrajectory` as YAML or MCAP."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError
from didim.output import Overwrite, free, write
from didim.results.serialisation import finite
from didim.signals.write_csv import csv_of
from didim.validation import real

if TYPE_CHECKING:
    from didim.design.plan import Plan

Array = NDArray[np.float64]

TOPIC = "/joint_trajectory_controller/joint_trajectory"
"""Of the message in an MCAP file: where ros2_control listens."""

MAX_SAMPLES = 5_000_000
"""Of a file."""

_TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"


def save(
    plan: Plan, path: str | PathLike[str], rate: float | None = None, overwrite: Overwrite = False
) -> Path:
    """Write the trajectory with `rate` samples per second, by default those of the loop's
    controller or else of the planned record. The ending decides: .csv (t, q_ref, dq_ref, ddq_ref,
    which didim reads as a reference), .json (with what the plan predicts), .yaml or .mcap
    (JointTrajectory).
    """
    file = free(path, overwrite)
    kind = file.suffix.lower()
    if kind not in KINDS:
        raise InputError(f"{file}: a plan is written as {', '.join(KINDS)}.")
    write({file: KINDS[kind](plan, sampled(plan, rate))}, overwrite)
    return file


def sampled(plan: Plan, rate: float | None = None) -> tuple[Array, Array, Array, Array]:
    """t (N,) from 0, and q, dq, ddq (N, n) of the trajectory; the last sample is at rest."""
    own = getattr(plan.loop, "rate", None) or plan.rate
    rate = real(own if rate is None else rate, "rate, samples per second,", above=0.0)
    start, end = plan.trajectory.span
    count = int(np.ceil((end - start) * rate - 1e-6)) + 1
    if not 2 <= count <= MAX_SAMPLES:
        raise InputError(
            f"rate = {rate:g} samples per second makes {count} samples of {end - start:g} s; there "
            f"must be from 2 to {MAX_SAMPLES}."
        )
    t: Array = np.arange(count) / rate
    q, dq, ddq = plan.trajectory.sample(start + t)
    return t, q, dq, ddq


def _csv(plan: Plan, samples: tuple[Array, Array, Array, Array]) -> bytes:
    del plan
    t, q, dq, ddq = samples
    return csv_of(t, {"q_ref": q, "dq_ref": dq, "ddq_ref": ddq})


def plain_plan(plan: Plan) -> dict[str, Any]:
    """What a plan predicts, as numbers, lists and texts; None for what is not finite."""
    limits, robot = plan.limits, plan.model.robot
    return finite(
        {
            "robot": robot.name,
            "joints": list(robot.joint_names),
            "method": plan.method,
            "duration": plan.duration,
            "seed": plan.seed,
            "gains_unknown": plan.gains_unknown,
            "stopped": plan.stopped,
            "messages": list(plan.messages),
            "names": list(plan.names),
            "values": plan.values.tolist(),
            "sigma": plan.sigma.tolist(),
            "relative_sigma": plan.relative_sigma.tolist(),
            "sigma_random": None if plan.sigma_random is None else plan.sigma_random.tolist(),
            "sigma_before": None if plan.sigma_before is None else plan.sigma_before.tolist(),
            "noise": plan.noise.tolist(),
            "rate": plan.rate,
            "settings": dict(plan.settings),
            "margins": dict(plan.margins),
            "binding": list(plan.binding),
            "limits": {
                "position": limits.position.tolist(),
                "velocity": limits.velocity.tolist(),
                "acceleration": limits.acceleration.tolist(),
                "jerk": limits.jerk.tolist(),
                "torque": limits.torque.tolist(),
                "torque_reserve": limits.torque_reserve,
                "floor": limits.floor,
                "box": None if limits.box is None else limits.box.tolist(),
                "self_collision": limits.self_collision,
            },
        }
    )


def _json(plan: Plan, samples: tuple[Array, Array, Array, Array]) -> bytes:
    t, q, dq, ddq = samples
    content = plain_plan(plan)
    content["samples"] = {
        "t": t.tolist(),
        "q": q.tolist(),
        "dq": dq.tolist(),
        "ddq": ddq.tolist(),
    }
    return json.dumps(content, allow_nan=False).encode()


def _yaml(plan: Plan, samples: tuple[Array, Array, Array, Array]) -> bytes:
    """Numbers with a point, since YAML 1.1 reads 1e-5 as a text."""

    def row(values: Array) -> str:
        return ", ".join(f"{value:.9f}" for value in values)

    names = ", ".join(json.dumps(name) for name in plan.model.robot.joint_names)
    lines = ["header: {stamp: {sec: 0, nanosec: 0}, frame_id: ''}", f"joint_names: [{names}]"]
    lines.append("points:")
    for t, *signals in zip(*samples, strict=True):
        positions, velocities, accelerations = map(row, signals)
        seconds, nanoseconds = _from_start(t)
        lines.append(
            f"- {{positions: [{positions}], velocities: [{velocities}], accelerations: "
            f"[{accelerations}], time_from_start: {{sec: {seconds}, nanosec: {nanoseconds}}}}}"
        )
    return "\n".join([*lines, ""]).encode()


def _mcap(plan: Plan, samples: tuple[Array, Array, Array, Array]) -> bytes:
    """One message, at time 0."""
    try:
        from rosbags.rosbag2 import StoragePlugin, Writer
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise InputError('MCAP files need rosbags: pip install "didim[ros]".') from None
    store = get_typestore(Stores.ROS2_HUMBLE)
    header, stamp, duration, point, trajectory = (
        store.types[name]
        for name in (
            "std_msgs/msg/Header",
            "builtin_interfaces/msg/Time",
            "builtin_interfaces/msg/Duration",
            "trajectory_msgs/msg/JointTrajectoryPoint",
            _TRAJECTORY,
        )
    )
    points = [
        point(
            positions=q,
            velocities=dq,
            accelerations=ddq,
            effort=np.zeros(0),
            time_from_start=duration(*_from_start(t)),
        )
        for t, q, dq, ddq in zip(*samples, strict=True)
    ]
    message = trajectory(
        header=header(stamp=stamp(sec=0, nanosec=0), frame_id=""),
        joint_names=list(plan.model.robot.joint_names),
        points=points,
    )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "plan"
        with Writer(place, version=9, storage_plugin=StoragePlugin.MCAP) as bag:
            connection = bag.add_connection(TOPIC, _TRAJECTORY, typestore=store)
            bag.write(connection, 0, store.serialize_cdr(message, _TRAJECTORY))
        return next(place.glob("*.mcap")).read_bytes()


def _from_start(t: float) -> tuple[int, int]:
    """Seconds and nanoseconds."""
    return divmod(round(1e9 * t), 1_000_000_000)


KINDS: dict[str, Callable[[Plan, tuple[Array, Array, Array, Array]], bytes]] = {
    ".csv": _csv,
    ".json": _json,
    ".yaml": _yaml,
    ".mcap": _mcap,
}
