"""A payload by DIDIM: torque and reference are enough."""

from __future__ import annotations

import numpy as np
import pytest

import didim
from support.loads import BODY, carrying, pendulum


def virtual(phi, loop, seed, noise=0.02):
    chosen = pendulum()
    trajectory = didim.Fourier.random(chosen.robot, seed, period=5.0, periods=3, harmonics=5)
    made = {"rate": 200.0, "noise": noise, "seed": seed}
    record, truth = didim.virtual_experiment(chosen, phi, loop, trajectory, **made)
    return didim.Experiment(record.t, record.tau, record.q_ref), truth


@pytest.mark.slow
@pytest.mark.parametrize("keeps_gains", [True, False])
def test_the_loop_may_keep_its_gains_or_be_tuned_again(keeps_gains):
    chosen = pendulum()
    loop = didim.PD(natural_frequency=30.0)
    record, truth = virtual(np.nan_to_num(chosen.nominal), loop, 1)
    empty = didim.identify(chosen, record, didim.DIDIM(controller=loop, decimation=5))
    assert empty.status == "converged"
    used = truth.controller if keeps_gains else loop
    heavy, _ = virtual(carrying(chosen, BODY), used, 2)
    found = didim.identify_payload(empty, heavy)
    assert abs(found.mass - BODY[9]) < 4 * found.sigma.mass
    assert found.sigma.mass < 0.1 * BODY[9]
    assert any("tuned for the loaded robot" in note for note in found.notes) != keeps_gains


@pytest.mark.slow
def test_a_saved_result_is_enough(tmp_path):
    chosen = pendulum()
    loop = didim.PD(kp=15.0, kv=4.0)
    record, _ = virtual(np.nan_to_num(chosen.nominal), loop, 1)
    empty = didim.identify(chosen, record, didim.DIDIM(controller=loop, decimation=5))
    saved = didim.load_estimate(empty.save(tmp_path / "empty.json"))
    heavy, _ = virtual(carrying(chosen, BODY), loop, 2)
    one, two = (didim.identify_payload(each, heavy) for each in (empty, saved))
    assert one.mass == pytest.approx(two.mass, rel=1e-9)
    assert abs(one.mass - BODY[9]) < 4 * one.sigma.mass
