"""IV where positions are noisy and not filtered: its intervals hold the truth, and those of IDIM do
not. The full table is in docs/instruments.md, by `benchmarks/instruments.py`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import didim
from support.coverage import LOOP_HZ, virtual_record
from support.virtual import model

SEEDS = range(1, 7)
LOOP = didim.PD(natural_frequency=2 * np.pi * LOOP_HZ)


def noisy(deviation: float, seed: int) -> didim.Experiment:
    record = virtual_record("scara", 1000.0, 0.0, seed, periods=1)
    white = np.random.default_rng([seed, 1]).standard_normal(record.q.shape)
    return replace(record, q=record.q + deviation * white)


@pytest.mark.slow
def test_intervals_hold_without_a_filter():
    away = {didim.IDIM: [], didim.IV: []}
    for seed in SEEDS:
        for method, errors in away.items():
            settings = method(controller=LOOP, cutoff=None, decimation=3)
            found = didim.identify(model(), noisy(2e-5, seed), settings)
            assert found.tests["durbin_wu_hausman"].rejects
            errors.append(np.abs(found.values - model().base.nominal) / found.corrected_sigma)
    idim, iv = (np.array(errors) for errors in away.values())
    assert np.mean(idim > 10) > 0.1
    assert np.mean(idim <= 1.96) < 0.7
    assert 0.87 < np.mean(iv <= 1.96) <= 1.0
    assert np.mean(iv <= 3) > 0.96


@pytest.mark.slow
def test_a_well_filtered_record_is_seldom_rejected():
    found = [
        didim.identify(model(), noisy(1e-7, seed), didim.IDIM(controller=LOOP)) for seed in SEEDS
    ]
    p_values = np.array([each.tests["durbin_wu_hausman"].p_value for each in found])
    assert np.sum(p_values < 0.05) <= 2
    assert p_values.min() > 1e-4
