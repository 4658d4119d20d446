"""The EMPS law at the published parameters, fed the recorded reference, gives the recorded
force.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.io import loadmat

import didim
from support.records import record


def relative(found, expected) -> float:
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))


@pytest.fixture(scope="module")
def emps():
    data = {
        key: np.ravel(value)
        for key, value in loadmat(record("emps", "DATA_EMPS.mat")).items()
        if not key.startswith("_")
    }
    model = didim.DynamicModel(didim.load_robot("emps")).base
    loop = didim.PD(
        kp=160.18,
        kv=243.45,
        drive_gain=float(data["gtau"][0]),
        rate=1000,
        saturation=10,
        velocity="mean_difference",
    )
    return data, model, loop


def test_from_the_reference(emps):
    data, model, loop = emps
    motion = didim.simulate(model, model.nominal, loop, t=data["t"], q_ref=data["qg"])
    force = data["gtau"][0] * data["vir"]
    assert relative(motion.tau[50:-50, 0], force[50:-50]) < 0.05
    assert relative(motion.q[:, 0], data["qm"]) < 2e-5


def test_the_whole_record_from_the_reference_alone(emps):
    """The record begins in motion; a loop that has been tracking starts behind the reference."""
    data, model, loop = emps
    motion = didim.simulate(
        model, model.nominal, loop, t=data["t"], q_ref=data["qg"], initial="tracking"
    )
    assert relative(motion.tau[:, 0], data["gtau"][0] * data["vir"]) < 0.055
    assert relative(motion.q[:, 0], data["qm"]) < 2e-5


def test_from_the_measured_state_the_whole_record(emps):
    """Started where the machine was, the first samples agree too."""
    data, model, loop = emps
    speed = (data["qm"][1] - data["qm"][0]) * 1000
    motion = didim.simulate(
        model, model.nominal, loop, t=data["t"], q_ref=data["qg"], initial=(data["qm"][0], speed)
    )
    assert relative(motion.tau[:, 0], data["gtau"][0] * data["vir"]) < 0.055
    assert relative(motion.q[:, 0], data["qm"]) < 2e-5
