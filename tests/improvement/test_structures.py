"""From a wrong law or a missing friction to the true structure, on the virtual SCARA."""

from __future__ import annotations

import numpy as np
import pytest

import didim
from support.virtual import model

RATE = 200.0


def loops(kind: str) -> tuple[didim.PD | didim.PID | didim.Cascade, didim.PD]:
    """The true loop, and the PD that is assumed."""
    scara, w = model(), 30.0
    inertia = didim.largest_inertias(scara, scara.nominal)
    g = didim.PD(natural_frequency=w, inertia=inertia).gains(
        2, np.diag(scara.robot.drive_gain), inertia
    )
    assumed = didim.PD(kp=g.kp, kv=g.kv, rate=RATE)
    true = {
        "cascade": didim.Cascade(kp=g.kp, kv=g.kv, kiv=g.kv * w / 10, rate=RATE),
        "pid": didim.PID(kp=g.kp, kv=g.kv, ki=g.kp * g.kv * w / 10, rate=RATE),
        "velocity reference": didim.PD(kp=g.kp, kv=g.kv, velocity_reference=1.0, rate=RATE),
        "stribeck": assumed,
    }
    return true[kind], assumed


@pytest.mark.long
@pytest.mark.parametrize("kind", ["cascade", "pid", "velocity reference", "stribeck"])
def test_the_true_structure_is_found_and_predicts_as_well(kind):
    true, assumed = loops(kind)
    start = larger = model()
    if kind == "stribeck":
        names = ["rotor", "viscous", "coulomb", "stribeck"]
        larger = didim.DynamicModel(start.robot, names, {"vs1": 0.2, "vs2": 0.3})
    phi = larger.nominal
    for j in (1, 2) if kind == "stribeck" else ():
        friction = phi[larger.parameter_names.index(f"Fc{j}")]
        phi[larger.parameter_names.index(f"dFs{j}")] = friction
    records = [
        didim.virtual_experiment(
            larger,
            phi,
            true,
            didim.Fourier.random(start.robot, seed, period=4.3, periods=2, share=0.7),
            rate=RATE,
            noise=0.02,
            seed=seed,
        )[0]
        for seed in (1, 2)
    ]
    method = didim.DIDIM(controller=assumed, decimation=5)
    found = didim.improve(start, records[0], method)
    loop = found.estimate.controller
    assert found.improved
    if kind == "stribeck":
        assert {"dFs_stribeck1", "dFs_stribeck2"} <= set(found.model.parameter_names)
    else:
        assert type(loop) is type(true)
        assert np.array_equal(
            np.broadcast_to(loop.velocity_reference, (2,)),
            np.broadcast_to(true.velocity_reference, (2,)),
        )
    best = didim.identify(larger, records[0], didim.DIDIM(controller=true, decimation=5))
    error, least = (each.validate(records[1]).residual for each in (found.estimate, best))
    assert error < 1.05 * least
