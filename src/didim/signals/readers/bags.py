"""ROS 1 and ROS 2 bags and MCAP files, through rosbags (extra `ros`): the messages
`sensor_msgs/JointState`.

Columns are called "t", "position/<joint>", "velocity/<joint>" and "effort/<joint>". Where several
topics, or several sets of joints on one topic, carry such messages, the topic stands before:
"/commands:position/<joint>".
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError
from didim.reading import refuse_too_many

KINDS = ("position", "velocity", "effort")

_JOINT_STATE = ("sensor_msgs/msg/JointState", "sensor_msgs/JointState")


def read_bag(path: Path) -> dict[str, NDArray[np.float64]]:
    """The joint states of a bag: a .bag or .mcap file, or the folder of a ROS 2 bag."""
    try:
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise InputError(
            f'{path.name}: ROS bags and MCAP files need rosbags: pip install "didim[ros]".'
        ) from None
    numbers = 0
    series: dict[tuple[str, tuple[str, ...]], list[tuple[float, Any]]] = {}
    try:
        with AnyReader([path], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
            chosen = [each for each in reader.connections if each.msgtype in _JOINT_STATE]
            if not chosen:
                topics = (
                    ", ".join(
                        sorted({f"{each.topic} ({each.msgtype})" for each in reader.connections})
                    )
                    or "none"
                )
                raise InputError(
                    f"{path.name}: no topic carries sensor_msgs/JointState; topics: {topics}."
                )
            for connection, received, raw in reader.messages(connections=chosen):
                message: Any = reader.deserialize(raw, connection.msgtype)
                names = tuple(message.name)
                numbers += len(KINDS) * len(names)
                refuse_too_many(numbers, path.name)
                if len(set(names)) < len(names):
                    raise InputError(
                        f"{path.name}: messages of {connection.topic} name a joint twice: "
                        f"{', '.join(names)}."
                    )
                series.setdefault((connection.topic, names), []).append((1e-9 * received, message))
    except InputError:
        raise
    except Exception as problem:  # rosbags raises what its many decoders raise
        reason = (next(iter(str(problem).splitlines()), "") or type(problem).__name__).rstrip(".")
        raise InputError(f"{path.name}: is not a readable bag: {reason}.") from None
    table: dict[str, NDArray[np.float64]] = {}
    for k, (topic, joints) in enumerate(series):
        again = sum(other == topic for other, _ in list(series)[:k])
        label = "" if len(series) == 1 else f"{topic}{f'#{again + 1}' if again else ''}:"
        table.update(
            {f"{label}{name}": values for name, values in _columns(series[topic, joints], joints)}
        )
    if not table:
        raise InputError(f"{path.name}: the topics of joint states hold no message.")
    return table


def _columns(
    messages: list[tuple[float, Any]], joints: tuple[str, ...]
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Time and signals of the messages of one topic, each with the time of its receipt; a signal
    that one lacks is left out.

    The time is that of the stamps, or of the receipt where no message has a stamp.
    """
    stamps = np.array(
        [message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec for _, message in messages]
    )
    yield "t", stamps if stamps.any() else np.array([received for received, _ in messages])
    for kind in KINDS:
        rows = [getattr(message, kind) for _, message in messages]
        if all(len(row) == len(joints) for row in rows):
            values = np.array(rows, dtype=np.float64).reshape(len(rows), len(joints))
            for j, joint in enumerate(joints):
                yield f"{kind}/{joint}", np.ascontiguousarray(values[:, j])
