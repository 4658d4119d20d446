"""In soft loops the simulated motion moves with the parameters: DIDIM's intervals must know it."""

from __future__ import annotations

import numpy as np
import pytest

import didim
from support.virtual import model, scara_record

RUNS = 16


@pytest.mark.long
def test_intervals_of_didim_in_a_soft_loop():
    """The spread over noise seeds is that of the corrected sigma; what W alone would give is too
    small for some.
    """
    scara, errors, ours, printed = model(), [], [], []
    for seed in range(RUNS):
        experiment, truth = scara_record((2.0, 5.0), rate=100.0, noise=0.03, seed=seed, periods=2)
        method = didim.DIDIM(
            controller=truth.controller, decimation=4, initial="nominal", gain_update=False
        )
        found = didim.identify(scara, experiment, method)
        assert found.status == "converged"
        errors.append(found.parameters - scara.base.nominal)
        ours.append(found.corrected_sigma)
        printed.append(found.sigma)
    spread = np.sqrt(np.mean(np.square(errors), axis=0))
    ratio, old = (spread / np.median(sigma, axis=0) for sigma in (ours, printed))
    assert 0.75 < np.sqrt(np.mean(ratio**2)) < 1.25
    assert ratio.max() < 1.5
    assert old.max() > 1.5
