"""An estimate that version 0.1 saved is read by this version: parameters, gains, history, loop, and
the way back to a robot.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import didim

FILE = Path(__file__).parent / "stored" / "scara_didim_0_1.json"


def test_a_stored_estimate_is_read(tmp_path):
    estimate = didim.load_estimate(FILE)
    assert estimate.method == "DIDIM"
    assert estimate.status == "converged"
    assert estimate.names == ("ZZ1R", "Fv1", "Fc1", "ZZ2", "MX2", "MY2", "Fv2", "Fc2")
    truth = didim.DynamicModel(didim.load_robot("scara")).base.nominal
    assert np.all(np.abs(estimate.values - truth) < 4 * estimate.corrected_sigma)
    assert set(estimate.gains) == {"kp1", "kp2", "kv1", "kv2"}
    assert estimate.gains["kp1"][0] == estimate.controller.gains(2, np.ones(2), np.ones(2)).kp[0]
    assert len(estimate.history) > 3
    assert estimate.validation[0].residual < 0.1
    assert estimate.provenance["versions"]["didim"] == "0.1.0"
    assert "95 % interval" in estimate.summary()


def test_what_was_stored_still_works(tmp_path):
    estimate = didim.load_estimate(FILE)
    t = np.arange(0, 4, 0.01)
    trajectory = didim.Fourier.random(estimate.model.robot, 5, period=4.0)
    predicted = estimate.predict(didim.Experiment(t, np.zeros((t.size, 2)), trajectory))
    assert np.all(np.isfinite(predicted))
    robot = estimate.to_robot(tmp_path / "identified.urdf")
    model = didim.DynamicModel(robot)
    np.testing.assert_allclose(model.base.nominal, estimate.values, rtol=1e-9)
    again = didim.load_estimate(estimate.save(tmp_path / "again.json"))
    np.testing.assert_array_equal(again.values, estimate.values)
