"""TSV, MAT 7.3, Parquet, ROS bags and MCAP; columns by pattern; units, gears and several files."""

from __future__ import annotations

import sys

import h5py
import numpy as np
import pyarrow
import pytest
from pyarrow import parquet
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_typestore
from scipy import io

import didim

T = np.arange(60) / 100.0
TAU = np.column_stack([np.sin(T), np.cos(T)])
NAMES = ("shoulder", "elbow")


def write_table(path, columns: dict[str, np.ndarray], separator=","):
    rows = np.column_stack(list(columns.values()))
    path.write_text(
        "\n".join([separator.join(columns), *(separator.join(f"{value:.17g}" for value in row) for row in rows)]) + "\n"
    )
    return path


def numbered(stem, values):
    return {f"{stem}{j + 1}": values[:, j] for j in range(values.shape[1])}


def test_tsv(tmp_path):
    file = write_table(tmp_path / "a.tsv", {"t": T, **numbered("tau", TAU)}, "\t")
    assert np.array_equal(didim.load_experiment(file).tau, TAU)


def matlab73(path, content):
    """A file as MATLAB's save -v7.3 lays it out: a block of 512 bytes before an HDF5 file whose matrices are transposed."""
    with h5py.File(path, "w", userblock_size=512) as out:
        content(out)
    with path.open("r+b") as out:
        out.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM")
    return path


def test_mat_73_with_a_structure(tmp_path):
    def content(out):
        out["time"] = T[None, :]
        out["log/tau"] = TAU.T
        out.create_dataset("#refs#/a", data=TAU.T)

    file = matlab73(tmp_path / "a.mat", content)
    assert np.array_equal(didim.load_experiment(file, {"t": "time", "tau": "log.tau"}).tau, TAU)


def test_mat_5_with_a_structure(tmp_path):
    io.savemat(tmp_path / "a.mat", {"log": {"time": T, "joint": {"tau": TAU}}})
    assert np.array_equal(didim.load_experiment(tmp_path / "a.mat", {"t": "log.time", "tau": "log.joint.tau"}).tau, TAU)


def test_links_out_of_an_hdf5_file_are_not_followed(tmp_path):
    with h5py.File(tmp_path / "secret.h5", "w") as out:
        out["tau"] = TAU.T

    def content(out):
        out["t"] = T
        out["tau"] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "/tau")
        out.create_dataset("q", (60,), dtype="f8", external=[(str(tmp_path / "secret.h5"), 0, 480)])

    with pytest.raises(didim.InputError, match="there are t\\."):
        didim.load_experiment(matlab73(tmp_path / "a.mat", content))


def test_parquet_with_stamps_lists_and_texts(tmp_path):
    stamps = (1.7e18 + 1e7 * np.arange(60)).astype("datetime64[ns]")
    table = pyarrow.table({"t": stamps, "tau": list(TAU), "label": ["a"] * 60, **numbered("q", TAU)})
    parquet.write_table(table, tmp_path / "a.parquet")
    experiment = didim.load_experiment(tmp_path / "a.parquet")
    assert np.array_equal(experiment.tau, TAU)
    assert np.array_equal(experiment.q, TAU)
    np.testing.assert_allclose(np.diff(experiment.t), 0.01, atol=1e-6)


def test_an_empty_cell_of_parquet_is_refused(tmp_path):
    parquet.write_table(pyarrow.table({"t": T, "tau": [None, *TAU[1:, 0]]}), tmp_path / "a.parquet")
    with pytest.raises(didim.InputError, match="must be finite; sample 0, column 0"):
        didim.load_experiment(tmp_path / "a.parquet")


def joint_states(store, order=NAMES, effort=True):
    """Messages with the joints in the given order; values tell joint and signal apart."""
    kinds = store.types
    state, header, stamp = (
        kinds[name] for name in ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
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
    course = didim.load_reference(path, {"t": "/commands:t", "q_ref": "/commands:position/{joint}"}, joints=NAMES)
    experiment = didim.load_experiment(path, columns, joints=NAMES, reference=course)
    assert np.array_equal(experiment.tau, TAU)
    with pytest.raises(didim.InputError, match="there are /joint_states:t, "):
        didim.load_experiment(path)


def test_a_bag_without_joint_states_names_its_topics(tmp_path):
    store = get_typestore(Stores.ROS2_HUMBLE)
    with Writer2(tmp_path / "run", version=9) as bag:
        bag.add_connection("/chatter", "std_msgs/msg/String", typestore=store)
    with pytest.raises(didim.InputError, match=r"no topic carries sensor_msgs/JointState; topics: /chatter"):
        didim.load_experiment(tmp_path / "run")


def test_patterns(tmp_path):
    wide = np.column_stack([TAU] * 6)
    file = write_table(tmp_path / "a.csv", {"time": T, **numbered("m", wide), "p_shoulder": T, "p_elbow": 2 * T})
    by_star = didim.load_experiment(file, {"t": "time", "tau": "m*"})
    assert np.array_equal(by_star.tau, wide), "m2 comes before m10"
    by_name = didim.load_experiment(file, {"t": "time", "tau": "m{j}", "q": "p_{joint}"}, joints=NAMES)
    assert np.array_equal(by_name.q, np.column_stack([T, 2 * T]))
    assert np.array_equal(by_name.tau, TAU)
    with pytest.raises(didim.InputError, match="no column 'x\\*' for tau"):
        didim.load_experiment(file, {"t": "time", "tau": "x*"})


def test_units_gears_and_zero(tmp_path):
    gear = np.array([[10.0, 0.0], [2.0, 20.0]])
    q = 0.1 * TAU
    motor = {"t": 1e3 * T, **numbered("q", np.degrees(q @ gear.T)), **numbered("tau", TAU)}
    found = didim.load_experiment(
        write_table(tmp_path / "a.csv", motor),
        units={"t": "ms", "q": "deg", "tau": [0.5, -2.0]},
        gear=gear,
        position_offset=[0.0, 1.0],
    )
    np.testing.assert_allclose(found.t, T, atol=1e-15)
    np.testing.assert_allclose(found.q, q + np.array([0, 1]), atol=1e-14)
    np.testing.assert_allclose(found.tau, (TAU * [0.5, -2.0]) @ gear, atol=1e-14)


def test_one_file_for_each_signal_and_a_rate(tmp_path):
    position = write_table(tmp_path / "p.csv", numbered("J", 2 * TAU))
    torque = write_table(tmp_path / "u.csv", numbered("J", TAU))
    found = didim.load_experiment({"q": position, "tau": torque}, rate=100.0, gear=4.0)
    np.testing.assert_allclose(found.t, T, atol=1e-15)
    np.testing.assert_allclose(found.tau, 4 * TAU)
    np.testing.assert_allclose(found.q, TAU / 2)


WRONG = [
    ({"units": {"tau": "A"}}, "amperes are no torque: give the torque constant"),
    ({"units": {"q": "counts"}}, "give rad \\(or m\\) per count"),
    ({"units": {"q": "degree"}}, "did you mean 'deg'"),
    ({"units": {"q": 0.0}}, "must not be zero"),
    ({"units": {"q": [1.0, 2.0, 3.0]}}, "one number or 2"),
    ({"units": {"velocity": "deg"}}, "unknown signal 'velocity'"),
    ({"units": {"dq": "deg/s"}}, "not among the signals"),
    ({"units": "deg"}, "units must be a table"),
    ({"gear": [1.0, 2.0, 3.0]}, "gear must be one number, 2 or 2 x 2"),
    ({"gear": [1.0, 0.0]}, "invertible"),
    ({"gear": "ten"}, "gear must be"),
    ({"rate": 100.0}, "the time is given twice"),
    ({"position_offset": [1.0]}, "position_offset must be"),
]


@pytest.mark.parametrize(("settings", "message"), WRONG)
def test_wrong_conversions_are_named(tmp_path, settings, message):
    file = write_table(tmp_path / "a.csv", {"t": T, **numbered("tau", TAU), **numbered("q", TAU)})
    with pytest.raises(didim.InputError, match=message):
        didim.load_experiment(file, **settings)


BROKEN = {
    "a.parquet": "is not a Parquet file",
    "a.bag": "is not a bag that can be read",
    "a.mcap": "is not a bag that can be read",
    "b.mat": "is not a MAT file",
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_named(tmp_path, name):
    (tmp_path / name).write_bytes(b"MATLAB 7.3 MAT-file and nothing more" if name == "b.mat" else b"nothing of the kind")
    with pytest.raises(didim.InputError, match=BROKEN[name]) as caught:
        didim.load_experiment(tmp_path / name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [("a.parquet", "pyarrow", "files"), ("a.mcap", "rosbags.highlevel", "ros"), ("a.mat", "h5py", "files")],
)
def test_a_missing_package_names_the_extra(tmp_path, monkeypatch, name, module, extra):
    (tmp_path / name).write_bytes(b"MATLAB 7.3 MAT-file")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(didim.InputError, match=rf'pip install "didim\[{extra}\]"'):
        didim.load_experiment(tmp_path / name)
