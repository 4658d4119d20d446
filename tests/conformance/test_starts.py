"""Where output error ends does not depend on where it starts."""

from __future__ import annotations

import numpy as np
import pytest

import didim
from support.virtual import loop, model, scara_record


@pytest.mark.slow
@pytest.mark.parametrize(("output", "seed"), [("torque", 0), ("torque", 1), ("both", 0)])
def test_output_error_from_unit_and_from_the_prior(output, seed):
    """The barrier is centred on the prior whatever the start: 0.1 sigma between both ends."""
    record, _ = scara_record(noise=0.05, encoder=1e-5, seed=seed, law_rate=None, periods=2)
    law = loop()
    found = [
        didim.identify(
            model(),
            record,
            didim.OutputError(controller=law, output=output, initial=initial, decimation=10),
        )
        for initial in ("prior", "unit")
    ]
    assert [each.status for each in found] == ["converged", "converged"]
    difference = np.abs(found[0].values - found[1].values) / found[0].corrected_sigma
    assert difference.max() < 0.1


@pytest.mark.slow
def test_plain_gauss_newton_reaches_the_minimum_that_the_barrier_is_near():
    """(29)-(34) without barrier: from close by, the same values within a fraction of sigma.

    Tests (33), (34).
    """
    record, _ = scara_record(noise=0.05, seed=3)
    settings = {"controller": loop(), "output": "torque", "decimation": 10}
    near = didim.identify(model(), record, didim.OutputError(**settings))
    plain = didim.identify(
        model(), record, didim.OutputError(**settings, barrier=False, initial="nominal")
    )
    assert plain.status is didim.Status.CONVERGED
    assert all(step.fraction == 1.0 and not step.guards for step in plain.history)
    difference = np.abs(plain.values - near.values) / near.corrected_sigma
    assert difference.max() < 0.5
    gradient = plain.history[-1].parameters - plain.history[-2].parameters
    assert np.all(np.abs(gradient) <= 1e-2 * np.abs(plain.history[-2].parameters))
