"""Instrumental variables on the EMPS, beside the published values of IDIM."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import didim
from support.records import DATA, record

PUBLISHED = np.array([95.1089, 203.5034, 20.3935, -3.1648])
STUDY = Path(__file__).parents[2] / "examples" / "emps.toml"


@pytest.fixture(autouse=True)
def data(monkeypatch):
    record("emps", "DATA_EMPS.mat")
    monkeypatch.setenv("DIDIM_DATA", str(DATA))


def run(method: str, cutoff: object) -> didim.Estimate:
    return didim.load_study(STUDY, [f"method={method}", f"idim.cutoff={cutoff}"]).run()


@pytest.mark.parametrize("cutoff", [100.0, 499.0, "none"])
def test_published_values_are_within_a_sigma(cutoff):
    """With the published filter, one that is five times higher, and none."""
    found = run("iv", cutoff)
    assert found.status == "converged"
    assert np.all(np.abs(found.values - PUBLISHED) < found.corrected_sigma)


def test_a_filter_that_is_too_low_biases_iv_less_than_idim():
    idim, iv = run("idim", 20.0), run("iv", 20.0)
    assert idim.tests["durbin_wu_hausman"].rejects
    assert abs(idim.values[0] - PUBLISHED[0]) > 1.0
    assert abs(iv.values[0] - PUBLISHED[0]) < 0.6
