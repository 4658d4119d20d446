"""Identification from positions alone: what is found, what a common factor leaves open, and what
users are told.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import didim
from support.virtual import model


@cache
def positions(velocity_reference=0.0):
    """The virtual SCARA in a loop with gains of its own, without torques; and its truth."""
    scara = model()
    trajectory = didim.Fourier.random(scara.robot, 1, period=4.0, periods=2)
    J = didim.largest_inertias(scara, scara.nominal)
    kv = np.array([40.0, 100.0]) * J
    loop = didim.PD(kp=[10.0, 25.0], kv=kv, velocity_reference=velocity_reference)
    made = {"rate": 200.0, "encoder": 1e-4}
    record, _ = didim.virtual_experiment(scara, scara.nominal, loop, trajectory, **made)
    truth = dict(zip(scara.base.parameter_names, scara.base.nominal, strict=True))
    return replace(record, tau=None), loop, truth


def found_with(loop, fixed=None, **settings):
    experiment, _, _ = positions(loop.velocity_reference)
    described = didim.DynamicModel(didim.load_robot("scara"), fixed=fixed)
    method = didim.OutputError(controller=loop, decimation=5, **settings)
    return didim.identify(described, experiment, method)


def worst(estimate, truth):
    """Largest distance from the truth in standard deviations."""
    half = 0.5 * np.ptp(estimate.interval(0.954), axis=1)
    off = [(v - truth[name]) / s for name, v, s in zip(
        estimate.names, estimate.values, half / 2, strict=True) if s > 0]  # fmt: skip
    return np.abs(off).max()


def test_known_gains():
    _, loop, truth = positions()
    found = found_with(loop)
    assert found.status == "converged"
    assert worst(found, truth) < 4.0
    assert found.residual < 1e-3


def test_gains_and_a_known_parameter():
    _, loop, truth = positions(1.0)
    found = found_with(loop.faster(1.1), {"MX2": truth["MX2"]}, estimate_gains=True)
    assert found.status == "converged"
    assert worst(found, truth) < 4.0
    kv = np.broadcast_to(loop.kv, 2)
    for j, (value, sigma) in enumerate([found.gains["kv1"], found.gains["kv2"]]):
        assert abs(value - kv[j]) < 5 * sigma


def test_viscous_friction_and_a_velocity_gain_are_one_number():
    """v = kv (kp e - dq): Fv + kv acts on the velocity, and on nothing else."""
    _, loop, truth = positions()
    found = found_with(loop, {"MX2": truth["MX2"]}, estimate_gains=True)
    assert found.status == "unexcited"
    assert "Fv1" in found.message
    assert "kv1" in found.message


@pytest.mark.parametrize("gains", [True, ["kv", "kp"], ["drive_gain"]])
def test_a_common_factor_is_told_before_anything_is_run(gains, monkeypatch):
    _, loop, _ = positions()
    monkeypatch.setattr("didim.identification.problem.prepared", lambda *_: pytest.fail("it ran"))
    found = found_with(loop, estimate_gains=gains)
    assert found.status == "unexcited"
    assert "common factor" in found.message
    assert "fixed" in found.message


def test_gains_that_follow_the_parameters_leave_it_open_too():
    found = found_with(didim.PD(natural_frequency=[20.0, 50.0]))
    assert found.status == "unexcited"
    assert "common factor" in found.message


def test_a_known_value_that_determines_nothing_closes_nothing():
    _, loop, _ = positions()
    found = found_with(loop, {"M2": 3.0}, estimate_gains=True)
    assert found.status == "unexcited"
    assert "M2 determines no base parameter" in found.message


def test_one_known_torque_gain_closes_it():
    _, loop, truth = positions()
    found = found_with(loop, estimate_gains=["kv1"])
    assert found.status == "converged"
    assert worst(found, truth) < 4.0


@pytest.mark.parametrize(
    "method",
    [
        didim.IDIM(decimation=5),
        didim.DIDIM(controller=didim.PD(natural_frequency=20.0)),
        didim.IV(controller=didim.PD(natural_frequency=20.0), decimation=5),
        didim.OutputError(controller=None),
        didim.OutputError(controller=didim.PD(natural_frequency=20.0), output="both"),
    ],
    ids=["idim", "didim", "iv", "open loop", "both"],
)
def test_other_methods_need_torques(method):
    experiment, _, _ = positions()
    with pytest.raises(didim.InputError, match=r"has no torque, which .* needs; give") as caught:
        didim.identify(model(), experiment, method)
    assert "\n" not in str(caught.value)


def test_records_need_torques_or_positions():
    with pytest.raises(didim.InputError, match="tau or positions q"):
        didim.Experiment(t=[0.0, 0.1], q_ref=[0.0, 0.1])


def test_validation_compares_positions():
    experiment, loop, _ = positions()
    method = didim.OutputError(controller=loop, decimation=5)
    found = didim.identify(model(), experiment.between(0.0, 5.0), method, experiment)
    assert found.validation[0].residual < 1e-3
    assert found.validation[0].seen > 0.5
    assert found.predict(experiment).shape == (experiment.t.size, 2)
    assert "no torque" not in found.summary() or found.status == "converged"


def test_it_is_stored_and_reported(tmp_path):
    experiment, loop, _ = positions()
    found = didim.identify(model(), experiment, didim.OutputError(controller=loop, decimation=5))
    found.save(tmp_path / "x.json")
    again = didim.load_estimate(tmp_path / "x.json")
    np.testing.assert_allclose(again.values, found.values)
    found.report(tmp_path / "x.html")
    assert (tmp_path / "x.html").stat().st_size > 10_000


def pendulum(zero=0.0, bias=0.0):
    """A virtual servo whose model's zero lies `zero` above that of its log, which reads `bias` more
    than the controller.
    """
    described = didim.DynamicModel(
        didim.load_robot("xl330"),
        effects=["rotor", "viscous"],
        fixed={"MX1": 0.049, "MY1": 0.0},
    )
    beta = np.array([{"ZZ1R": 0.0068, "MX1": 0.049, "Fv1": 0.03}.get(name, 0.0)
                     for name in described.base.parameter_names])  # fmt: skip
    loop = didim.Servo(kp=3.0, drive_gain=0.6, rate=500.0)
    t = np.arange(0.0, 4.0, 5e-3)
    q_ref = 0.8 * np.sin(3 * t) + 0.4 * np.sin(7 * t)
    trajectory = didim.Reference(t, q_ref + zero, interpolation="linear")
    motion = didim.simulate(described.base, beta, loop, t=t, q_ref=trajectory,
                            initial=([zero], [0.0]))  # fmt: skip
    random = np.random.default_rng(0)
    q = motion.q[:, 0] - zero + bias + 1e-4 * random.standard_normal(t.size)
    reference = didim.Reference(t, q_ref, interpolation="linear")
    return described, didim.Experiment(t, None, reference, q), loop


def test_zeros_and_biases():
    described, record, loop = pendulum(0.04, -0.02)
    method = didim.OutputError(
        controller=loop, decimation=2, estimate_gains=["drive_gain"], start=([0.0], [0.0]),
        estimate_offsets=["zero", "bias1"],
    )  # fmt: skip
    found = didim.identify(described, record, method)
    assert found.status == "converged"
    for name, value in (("zero1", 0.04), ("bias1", -0.02), ("drive_gain1", 0.6)):
        estimate, sigma = found.gains[name]
        assert abs(estimate - value) < 5 * sigma + 1e-4
    assert found.validate(record).residual < 0.01


def test_offsets_that_do_not_exist():
    described, record, loop = pendulum()
    with pytest.raises(didim.InputError, match="there is no 'zero7'"):
        didim.identify(
            described, record, didim.OutputError(controller=loop, estimate_offsets=["zero7"])
        )
    with pytest.raises(didim.InputError, match="estimate_offsets needs a controller"):
        didim.OutputError(controller=None, estimate_offsets=["zero"])
    with pytest.raises(didim.InputError, match="list of names"):
        didim.OutputError(controller=loop, estimate_offsets="zero")


def test_a_duty_that_never_leaves_its_limit():
    described, record, loop = pendulum()
    always = replace(loop, kp=1e6)
    method = didim.OutputError(controller=always)
    with pytest.raises(didim.InputError, match="at its limit, 1, throughout the records"):
        didim.identify(described, record, method)


def test_outliers_count_less_with_irls():
    described, record, loop = pendulum()
    q = np.array(record.q)
    q[::9] += 0.05 * np.sign(np.gradient(q[::9, 0]))[:, None]
    truth = np.array([0.0068, 0.03])
    settings = {"controller": loop, "decimation": 1, "start": ([0.0], [0.0])}
    off = []
    for weights in ("wls", "irls"):
        method = didim.OutputError(**settings, weights=weights)
        found = didim.identify(described, replace(record, q=q), method)
        values = dict(zip(found.names, found.values, strict=True))
        off.append(np.abs(np.array([values["ZZ1R"], values["Fv1"]]) / truth - 1.0).max())
    assert off[1] < 0.5 * off[0]
