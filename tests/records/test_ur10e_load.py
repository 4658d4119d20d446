"""The UR10e with and without a load of 2.805 kg: the load, and the drive gains."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import didim
from support.records import record

MASS = 2.805
GIVEN = np.array([14.87, 13.26, 11.13, 10.62, 11.03, 11.47])
"""N.m/A, that come with the records."""
ROWS = {"empty": (195, 4966), "load": (308, 5071)}


@cache
def arm() -> didim.DynamicModel:
    robot = didim.load_robot(record("ur10e", "ur10e.urdf"))
    return didim.DynamicModel(robot, ["rotor", "viscous", "coulomb", "offset"])


def log(name: str, gains=1.0) -> didim.Experiment:
    columns = {"t": 1, "q": "2-7", "dq": "8-13", "control": "14-19"}
    joints, path = arm().robot.joint_names, record("ur10e", f"{name}.csv.gz")
    made = {"rows": ROWS[name], "joints": joints, "drive_gain": gains, "name": name}
    return didim.load_experiment(path, columns, **made)


@cache
def drives() -> didim.DriveGains:
    return didim.identify_drive_gains(arm(), log("empty"), log("load"), mass=MASS)


@pytest.mark.slow
def test_all_gains_are_positive_and_equal_motors_have_equal_gains():
    found = drives()
    assert np.all(found.values > 0)
    wrist = found.values[3:]
    assert np.ptp(wrist) < 0.03 * wrist.mean()
    assert np.all(found.sigma < 0.1 * found.values)
    assert found.estimate.consistency.physical
    assert found.others["wls"].values[0] < 0.6 * found.values[0]


@pytest.mark.slow
@pytest.mark.parametrize("order", [("empty", "load"), ("load", "empty")])
def test_the_load_in_either_order(order):
    gains = drives().values
    first = didim.identify(arm(), log(order[0], gains), didim.IDIM(consistent=True))
    found = didim.identify_payload(first, log(order[1], gains))
    low, high = found.interval()
    assert low < MASS < high
    assert found.mass == pytest.approx(MASS, rel=0.05)


@pytest.mark.slow
def test_the_gains_that_come_with_the_records_make_the_load_too_heavy():
    """They are of another robot of the type; see docs/payload.md."""
    first = didim.identify(
        arm(), log("empty", GIVEN), didim.IDIM(consistent=True), log("load", GIVEN)
    )
    assert first.summary().startswith("Record 'load' carries a load of about 3.0")
    found = didim.identify_payload(first, log("load", GIVEN))
    assert 1.05 < found.mass / MASS < 1.1
