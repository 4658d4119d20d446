"""Measured records whose loop is taken for unknown: parameters and gains from the torque alone,
whatever was assumed.

The descriptions are stripped of their values: what is found comes from the record.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.io import loadmat

import didim
from support.records import record
from support.undescribed import undescribed


@pytest.fixture(scope="module")
def emps():
    data = {
        key: np.ravel(value)
        for key, value in loadmat(record("emps", "DATA_EMPS.mat")).items()
        if not key.startswith("_")
    }
    g = float(data["gtau"][0])
    experiment = didim.Experiment(t=data["t"], tau=g * data["vir"], q_ref=data["qg"], name="emps")

    def loop(factor: float) -> didim.PD:
        return didim.PD(
            kp=160.18 * factor,
            kv=243.45 * factor,
            drive_gain=g,
            rate=1000,
            saturation=10,
            velocity="mean_difference",
        )

    return undescribed("emps"), experiment, loop


@pytest.mark.long
@pytest.mark.parametrize(("mass", "factor"), [(50.0, 0.25), (300.0, 4.0)])
def test_emps(emps, mass, factor):
    model, experiment, loop = emps
    method = didim.DIDIM(
        controller=loop(factor), decimation=10, initial=[mass, 0, 0, 0], estimate_gains=True
    )
    found = didim.identify(model, experiment, method)
    assert found.status == "converged"
    M, _, Fc, _ = found.values
    assert abs(M / 95.1 - 1) < 0.005
    assert abs(Fc / 20.4 - 1) < 0.03
    assert abs(found.gains["kp1"][0] / 160.18 - 1) < 0.03
    assert found.residual <= 0.043


@pytest.mark.long
def test_emps_with_its_own_gains_and_the_delay(emps):
    model, experiment, loop = emps
    method = didim.DIDIM(
        controller=loop(1.0),
        decimation=10,
        initial=[50.0, 0, 0, 0],
        refine=True,
        estimate_delay=True,
    )
    found = didim.identify(model, experiment, method)
    assert found.status == "converged"
    relative = np.abs(found.values / [95.1089, 203.5034, 20.3935, -3.1648] - 1)
    np.testing.assert_array_less(relative, [0.01, 0.02, 0.02, 0.03])
    assert found.residual <= 0.043
    assert 0 < found.gains["delay"][0] < 1e-3


@pytest.mark.long
def test_double_pendulum():
    columns = {"t": "time", "tau": ["tau1", "tau2"], "q": ["pos1", "pos2"]}
    measured = didim.load_experiment(record("double_pendulum", "measured.csv.gz"), columns=columns)
    trajectory = didim.load_reference(
        record("double_pendulum", "reference.csv.gz"),
        columns={"t": "time", "q_ref": ["pos1", "pos2"]},
    )
    experiment = replace(measured, q_ref=trajectory)
    experiment = replace(experiment.aligned(didim.time_offset(experiment).seconds), q=None)
    experiment = experiment.between(0.0, 25.0)
    loop = didim.PD.parallel(Kp=5.0, Kd=0.3, rate=300.0, velocity="backward_difference")
    method = didim.DIDIM(controller=loop, decimation=10, initial="unit", estimate_gains=True)
    model = undescribed("double_pendulum")
    found = didim.identify(model, experiment, method)
    assert found.status == "converged"
    np.testing.assert_array_less(found.residual_by_joint, [0.065, 0.12])
    assert np.all(didim.largest_inertias(model.base, found.parameters) > 0)
    assert (
        np.linalg.eigvalsh(
            model.base.inertia_matrix(
                np.random.default_rng(0).uniform(-3, 3, (50, 2)), found.values
            )
        ).min()
        > 0
    )
