"""Joints without a motor: simulated, identified, written and read back."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import didim


@cache
def acrobot():
    """The double pendulum, its elbow without a motor, in a loop that swings its shoulder."""
    robot = didim.load_robot("double_pendulum", passive=["elbow"])
    described = didim.DynamicModel(robot)
    loop = didim.PD(kp=[5.0, 5.0], kv=[2.0, 2.0])
    t = np.arange(0.0, 6.0, 5e-3)
    q_ref = np.column_stack([0.5 * np.sin(4 * t) + 0.4 * np.sin(1.7 * t), 0 * t])
    motion = didim.simulate(described, described.nominal, loop, t=t, q_ref=q_ref,
                            initial=([0.0, 0.3], [0.0, 0.0]), check=False)  # fmt: skip
    random = np.random.default_rng(0)
    q = motion.q + 1e-4 * random.standard_normal(motion.q.shape)
    tau = motion.tau + [0.02, 0.0] * random.standard_normal(motion.tau.shape)
    return described, loop, didim.Experiment(t, tau, q_ref, q), motion


def test_its_torque_is_zero():
    described, _, _, motion = acrobot()
    assert not motion.tau[:, 1].any()
    assert np.ptp(motion.q[:, 1]) > 0.2
    states = motion.q, motion.dq, motion.ddq
    tau = described.inverse_dynamics(*states, described.nominal, motion.slip)
    np.testing.assert_allclose(tau[:, 1], 0.0, atol=1e-6)


def within(estimate, sigmas=5.0):
    truth = estimate.model.nominal
    half = 0.25 * np.ptp(estimate.interval(0.954), axis=1)
    return np.all(np.abs(estimate.values - truth) < sigmas * half + 1e-9)


@pytest.mark.parametrize("output", ["position", "both", "torque"])
def test_output_error(output):
    described, loop, record, _ = acrobot()
    method = didim.OutputError(
        controller=loop, output=output, decimation=4, start="measured", initial="nominal"
    )
    found = didim.identify(described, record, method)
    assert found.status == "converged"
    assert within(found)


def test_idim_takes_its_equations():
    described, _, record, _ = acrobot()
    found = didim.identify(described, record, didim.IDIM(cutoff=15.0, decimation=5))
    assert found.status == "converged"
    k = found.names.index("MX2")
    assert abs(found.values[k] / described.base.nominal[k] - 1.0) < 0.1


def test_didim_takes_those_of_the_motors():
    described, loop, record, _ = acrobot()
    method = didim.DIDIM(
        controller=loop, decimation=4, start="measured", initial="nominal", transient=0.0
    )
    found = didim.identify(described, record, method)
    assert found.status in ("converged", "unexcited")
    assert np.isfinite(found.values).all()


def test_gains_by_poles_leave_it_free():
    described, _, record, _ = acrobot()
    loop = didim.PD(natural_frequency=10.0)
    motion = didim.simulate(described, described.nominal, loop, t=record.t, q_ref=record.q_ref,
                            check=False)  # fmt: skip
    assert not motion.tau[:, 1].any()
    assert motion.tau[:, 0].any()


@pytest.mark.parametrize("ending", [".toml", ".urdf"])
def test_files(tmp_path, ending):
    robot = didim.load_robot("double_pendulum", passive=["elbow"])
    from didim.robot.urdf.write import robot_urdf
    from didim.robot.write_toml import robot_toml

    path = tmp_path / f"acrobot{ending}"
    path.write_text(robot_toml(robot) if ending == ".toml" else robot_urdf(robot))
    again = didim.load_robot(path)
    assert list(again.driven) == [True, False]
    assert again.coordinates[1].effects == robot.coordinates[1].effects


def test_saved_estimates(tmp_path):
    described, _, record, _ = acrobot()
    found = didim.identify(described, record, didim.IDIM(cutoff=15.0, decimation=5))
    found.save(tmp_path / "x.json")
    assert list(didim.load_estimate(tmp_path / "x.json").model.robot.driven) == [True, False]


def test_refusals(tmp_path):
    with pytest.raises(didim.InputError, match="no joint that moves is called 'wrist'"):
        didim.load_robot("double_pendulum", passive=["wrist"])
    with pytest.raises(didim.InputError, match="every joint is passive"):
        didim.load_robot("double_pendulum", passive=["elbow", "shoulder"])
    with pytest.raises(didim.InputError, match="list of joint names"):
        didim.load_robot("double_pendulum", passive="elbow")
    _, _, record, _ = acrobot()
    moved = didim.DynamicModel(didim.load_robot("double_pendulum"))
    silent = replace(record, tau=np.asarray(record.tau) * [1.0, 0.0])
    with pytest.raises(didim.InputError, match="zero throughout"):
        didim.identify(moved, silent, didim.IDIM(decimation=5))
    path = tmp_path / "wrong.toml"
    path.write_text('name = "x"\n[[joint]]\nname = "a"\npassive = 1\n')
    with pytest.raises(didim.InputError, match="passive must be true or false"):
        didim.load_robot(path)
