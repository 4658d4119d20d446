"""The shipped TX40 against the public URDF of the same robot: two descriptions, one machine."""

from __future__ import annotations

import numpy as np

import didim
from support.records import record


def test_shipped_and_public_descriptions_agree():
    public = didim.DynamicModel(didim.load_robot(record("tx40", "tx40.urdf")), [])
    shipped = didim.DynamicModel(didim.load_robot("tx40"), [])
    assert len(public.base.parameter_names) == 36
    q, dq, ddq = np.random.default_rng(0).uniform(-2, 2, (3, 100, 6))
    half_turn = np.array([0, 0, 0, 0, 0, np.pi])
    phi = public.nominal
    six = [public.parameter_names.index(f"{name}6") for name in ("XX", "YY", "ZZ")]
    phi[six] += 2e-4
    expected = public.inverse_dynamics(q, dq, ddq, phi)
    found = shipped.inverse_dynamics(q + half_turn, dq, ddq, shipped.nominal)
    assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()
