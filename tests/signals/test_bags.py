"""ROS 1 and ROS 2 bags and MCAP files, written by the tests: joint states by name, stamps, several
topics.
"""

from __future__ import annotations

import numpy as np
import pytest
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_typestore

import didim

T = np.arange(60) / 100.0
TAU = np.column_stack([np.sin(T), np.cos(T)])
NAMES = ("shoulder", "elbow")


def joint_states(store, order=NAMES, effort=True):
    """Messages with the joints in the given order; values tell joint and signal apart."""
    kinds = store.types
    state, header, stamp = (
        kinds[name]
        for name in (
            "sensor_msgs/msg/JointState",
            "std_msgs/msg/Header",
            "builtin_interfaces/msg/Time",
        )
    )
    pick = [NAMES.index(name) for name in order]
    for k, seconds in enumerate(T):
        at = stamp(sec=100 + int(seconds), nanosec=round(1e9 * (seconds % 1)))
        extra = {"seq": k} if "seq" in header.__dataclass_fields__ else {}
        yield (
            100_000_000_000 + round(1e9 * seconds),
            state(
                header=header(stamp=at, frame_id="", **extra),
                name=list(order),
                position=2 * TAU[k, pick],
                velocity=3 * TAU[k, pick],
                effort=TAU[k, pick] if effort else np.zeros(0),
            ),
        )


def write_bag1(path, topics):
    store = get_typestore(Stores.ROS1_NOETIC)
    with Writer1(path) as bag:
        for topic, settings in topics.items():
            connection = bag.add_connection(topic, "sensor_msgs/msg/JointState", typestore=store)
            for received, message in joint_states(store, **settings):
                bag.write(connection, received, store.serialize_ros1(message, connection.msgtype))
    return path


def write_bag2(path, topics, plugin):
    store = get_typestore(Stores.ROS2_HUMBLE)
    with Writer2(path, version=9, storage_plugin=plugin) as bag:
        for topic, settings in topics.items():
            connection = bag.add_connection(topic, "sensor_msgs/msg/JointState", typestore=store)
            for received, message in joint_states(store, **settings):
                bag.write(connection, received, store.serialize_cdr(message, connection.msgtype))
    return path


ONE = {"/joint_states": {"order": ("elbow", "shoulder")}}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ros1", "sqlite", "mcap folder", "mcap file"])
def test_bags_by_joint_name_whatever_their_order(tmp_path, kind):
    if kind == "ros1":
        path = write_bag1(tmp_path / "a.bag", ONE)
    else:
        plugin = StoragePlugin.SQLITE3 if kind == "sqlite" else StoragePlugin.MCAP
        path = write_bag2(tmp_path / "run", ONE, plugin)
        path = path if kind != "mcap file" else next(path.glob("*.mcap"))
    experiment = didim.load_experiment(path, joints=NAMES)
    assert np.array_equal(experiment.tau, TAU)
    assert np.array_equal(experiment.q, 2 * TAU)
    assert np.array_equal(experiment.dq, 3 * TAU)
    np.testing.assert_allclose(experiment.t, 100 + T, atol=1e-9)


def test_a_bag_with_states_and_commands(tmp_path):
    topics = {"/joint_states": {}, "/commands": {"effort": False}}
    path = write_bag1(tmp_path / "a.bag", topics)
    columns = {"t": "/joint_states:t", "tau": "/joint_states:effort/{joint}"}
    trajectory = didim.load_reference(
        path, {"t": "/commands:t", "q_ref": "/commands:position/{joint}"}, joints=NAMES
    )
    experiment = didim.load_experiment(path, columns, joints=NAMES, reference=trajectory)
    assert np.array_equal(experiment.tau, TAU)
    with pytest.raises(didim.InputError, match="there are /joint_states:t, "):
        didim.load_experiment(path)


def test_a_bag_without_joint_states_names_its_topics(tmp_path):
    store = get_typestore(Stores.ROS2_HUMBLE)
    with Writer2(tmp_path / "run", version=9) as bag:
        bag.add_connection("/chatter", "std_msgs/msg/String", typestore=store)
    with pytest.raises(
        didim.InputError, match=r"no topic carries sensor_msgs/JointState; topics: /chatter"
    ):
        didim.load_experiment(tmp_path / "run")


def test_a_joint_that_a_bag_lacks_is_named(tmp_path):
    """Falling back to the bag's own order would swap joints silently."""
    path = write_bag1(tmp_path / "a.bag", ONE)
    with pytest.raises(
        didim.InputError, match="no column 'effort/Elbow' for tau; did you mean 'effort/elbow'"
    ):
        didim.load_experiment(path, joints=("shoulder", "Elbow"))
    with pytest.raises(didim.InputError, match="joints must be a list of names"):
        didim.load_experiment(path, joints="ab")


def stamped(store, stamps, names=NAMES):
    kinds = store.types
    state, header, stamp = (
        kinds[name]
        for name in (
            "sensor_msgs/msg/JointState",
            "std_msgs/msg/Header",
            "builtin_interfaces/msg/Time",
        )
    )
    for k, seconds in enumerate(stamps):
        at = stamp(sec=int(seconds), nanosec=round(1e9 * (seconds % 1)))
        values = TAU[k]
        yield (
            5_000_000_000 + 20_000_000 * k,
            state(
                header=header(stamp=at, frame_id=""),
                name=list(names),
                position=values,
                velocity=values,
                effort=values,
            ),
        )


def write_stamped(path, stamps, names=NAMES):
    store = get_typestore(Stores.ROS2_HUMBLE)
    with Writer2(path, version=9) as bag:
        connection = bag.add_connection(
            "/joint_states", "sensor_msgs/msg/JointState", typestore=store
        )
        for received, message in stamped(store, stamps, names):
            bag.write(connection, received, store.serialize_cdr(message, connection.msgtype))
    return path


def test_stamps_that_begin_at_zero_and_stamps_that_are_not_there(tmp_path):
    simulated = didim.load_experiment(write_stamped(tmp_path / "simulated", T))
    np.testing.assert_allclose(simulated.t, T, atol=1e-9)
    bare = didim.load_experiment(write_stamped(tmp_path / "bare", 0 * T))
    np.testing.assert_allclose(bare.t, 5 + 0.02 * np.arange(T.size), atol=1e-9)
    with pytest.raises(didim.InputError, match="name a joint twice"):
        didim.load_experiment(write_stamped(tmp_path / "twice", T, ("elbow", "elbow")))
