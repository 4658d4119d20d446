"""Monte-Carlo on the virtual SCARA: 95 % intervals hold the truth 95 times in a hundred, for IDIM
and for DIDIM.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import didim
from support.virtual import loop, model, scara_record

MANY = 100
"""Seeds from which the coverage of every single parameter is tested."""


def coverage(experiment, truth, method, seeds: int) -> tuple[np.ndarray, int]:
    scara, beta = model(), model().base.nominal
    deviation = 0.2 * np.sqrt(np.mean(truth.motion.tau**2, axis=0))
    hits, iterations = np.zeros(beta.size), 0
    for seed in range(seeds):
        noise = deviation * np.random.default_rng(seed).standard_normal(truth.motion.tau.shape)
        estimate = didim.identify(scara, replace(experiment, tau=truth.motion.tau + noise), method)
        low, high = estimate.interval(0.95).T
        hits += (low <= beta) & (beta <= high)
        assert estimate.status == "converged", estimate.message
        iterations = max(iterations, estimate.iterations)
    return hits / seeds, iterations


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "seeds"),
    [
        ("IDIM", 40),
        ("DIDIM", 20),
        pytest.param("IDIM", 200, marks=pytest.mark.long),
        pytest.param("DIDIM", 100, marks=pytest.mark.long),
    ],
)
def test_intervals_cover(method, seeds):
    """IDIM with good filtering: 1 kHz, Butterworth far above the motion; DIDIM on torque alone,
    with default tolerances.
    """
    if method == "IDIM":
        experiment, truth = scara_record((20.0, 100.0), rate=1000.0, periods=1)
        settings = didim.IDIM(cutoff=200.0, decimation=20, trim=(1000, 500))
    else:
        experiment, truth = scara_record((20.0, 100.0), rate=200.0, periods=1)
        experiment = replace(experiment, q=None)
        settings = didim.DIDIM(controller=loop((20.0, 100.0)), initial="unit")
    covered, iterations = coverage(experiment, truth, settings, seeds)
    assert iterations <= 4
    if seeds < MANY:
        assert 0.90 <= covered.mean() <= 0.99
        return
    assert covered.min() >= 0.90, covered
    assert covered.max() <= 0.99, covered
    assert 0.93 <= covered.mean() <= 0.97
