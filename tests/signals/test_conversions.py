"""From the columns of a file to SI at the joints: patterns, units, gears, another zero, several
files.
"""

from __future__ import annotations

import numpy as np
import pytest

import didim
from support.files import numbered, write_table

T = np.arange(60) / 100.0
TAU = np.column_stack([np.sin(T), np.cos(T)])
NAMES = ("shoulder", "elbow")


def test_patterns(tmp_path):
    wide = np.column_stack([TAU] * 6)
    file = write_table(
        tmp_path / "a.csv", {"time": T, **numbered("m", wide), "p_shoulder": T, "p_elbow": 2 * T}
    )
    by_star = didim.load_experiment(file, {"t": "time", "tau": "m*"})
    assert np.array_equal(by_star.tau, wide), "m2 comes before m10"
    by_name = didim.load_experiment(
        file, {"t": "time", "tau": "m{j}", "q": "p_{joint}"}, joints=NAMES
    )
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
    ({"units": {"tau": "A"}}, "amperes are not a torque: give the torque constant"),
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


def test_names_of_records_and_odd_names_of_columns(tmp_path):
    file = write_table(tmp_path / "2024.05.01_run7.csv", {"t": T, "tau1²": T, "tau2²": T})
    assert didim.load_experiment(file, {"t": "t", "tau": "tau*"}).name == "2024.05.01_run7"
    numbered_file = write_table(tmp_path / "b.csv", {"t": T, **numbered("m", TAU)})
    assert np.array_equal(didim.load_experiment(numbered_file, {"t": "t", "tau": "m{j}"}).tau, TAU)
    with pytest.raises(didim.InputError, match="there are no positions"):
        didim.load_experiment(numbered_file, {"t": "t", "tau": "m*"}, position_offset=1.0)
    with pytest.raises(didim.InputError, match="No file is given"):
        didim.load_experiment({}, rate=100.0)
