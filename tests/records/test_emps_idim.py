"""The published IDIM figures of the EMPS, by its published recipe."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import didim
from support.records import DATA, record

GAIN = 35.15065188248547
PUBLISHED = {
    ("viscous", "coulomb", "offset"): (
        {
            "M1": (95.1089, 0.1085),
            "Fv1": (203.5034, 1.1460),
            "Fc1": (20.3935, 0.1012),
            "off1": (-3.1648, 0.0444),
        },
        0.040834,
        25.9883,
    ),
    ("asymmetric_viscous", "asymmetric_coulomb"): (
        {
            "M1": (95.1540, 0.0827),
            "Fvp1": (166.7061, 1.2326),
            "Fcp1": (20.1440, 0.1088),
            "Fvn1": (240.4236, 1.2346),
            "Fcn1": (20.6277, 0.1091),
        },
        0.031117,
        26.0197,
    ),
}


@pytest.fixture(scope="module")
def experiment():
    columns = {"t": "t", "q": "qm", "q_ref": "qg", "control": "vir"}
    return didim.load_experiment(record("emps", "DATA_EMPS.mat"), columns, drive_gain=GAIN)


@pytest.mark.parametrize("effects", PUBLISHED, ids=["symmetric", "asymmetric"])
def test_published_figures(effects, monkeypatch):
    """By the study file alone."""
    record("emps", "DATA_EMPS.mat")
    monkeypatch.setenv("DIDIM_DATA", str(DATA))
    parameters, residual, condition = PUBLISHED[effects]
    study = Path(__file__).parents[2] / "examples" / "emps.toml"
    found = didim.load_study(study, ["method=idim", f"effects={json.dumps(effects)}"]).run()
    for name, (value, sigma) in parameters.items():
        at = found.names.index(name)
        assert found.values[at] == pytest.approx(value, rel=1e-4)
        assert found.sigma[at] == pytest.approx(sigma, rel=2e-3)
    assert found.residual == pytest.approx(residual, rel=1e-4)
    assert found.condition == pytest.approx(condition, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("mass", [50.0, 300.0])
def test_didim_finds_the_mass_without_the_position(experiment, mass):
    from dataclasses import replace

    model = didim.DynamicModel(didim.load_robot("emps"), ["viscous", "coulomb", "offset"])
    loop = didim.PD(
        kp=160.18, kv=243.45, drive_gain=GAIN, rate=1000, saturation=10, velocity="mean_difference"
    )
    method = didim.DIDIM(controller=loop, decimation=10, initial=[mass, 0.0, 0.0, 0.0])
    found = didim.identify(model, replace(experiment, q=None), method)
    assert found.status == "converged"
    assert found.values[0] == pytest.approx(95.1089, rel=0.01)
    assert np.abs(found.values / [95.1089, 203.5034, 20.3935, -3.1648] - 1).max() < 0.03
    assert found.residual < 0.05


@pytest.mark.slow
def test_wrong_gains_are_noticed(experiment):
    model = didim.DynamicModel(didim.load_robot("emps"), ["viscous", "coulomb", "offset"])
    loop = didim.PD(
        kp=80.09, kv=121.7, drive_gain=GAIN, rate=1000, saturation=10, velocity="mean_difference"
    )
    found = didim.identify(
        model,
        experiment,
        didim.DIDIM(controller=loop, decimation=10, initial=[50.0, 0.0, 0.0, 0.0]),
    )
    assert found.status == "diverged"
    assert "2 times the assumed bandwidth" in found.message
