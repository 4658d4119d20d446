"""What a careless user does, and the error or status that names it. No nan ever leaves as a
result.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import didim
from support.virtual import loop, model, scara_record

METHODS = {
    "IDIM": didim.IDIM(),
    "DIDIM": didim.DIDIM(controller=didim.PD(natural_frequency=[20.0, 50.0])),
}


def is_clean(estimate) -> bool:
    arrays = (
        estimate.values,
        estimate.sigma,
        estimate.relative_sigma,
        estimate.interval(),
        estimate.residual_by_joint,
    )
    return not any(np.isnan(array).any() for array in arrays) and not np.isnan(estimate.residual)


@pytest.mark.parametrize("name", METHODS)
def test_too_short_a_record(name):
    experiment, _ = scara_record()
    with pytest.raises(didim.InputError, match="too short"):
        didim.identify(model(), experiment.between(0.0, 0.15), METHODS[name])


def frozen_joint(j: int = 1):
    """A reference that leaves one joint where it is, and the record of a robot whose brake holds it
    there.
    """
    scara = model()
    trajectory = didim.Fourier.random(scara.robot, 1, period=7.3, periods=4, share=1.0)
    a, b = np.array(trajectory.a), np.array(trajectory.b)
    a[j] = b[j] = 0.0
    still = didim.Fourier(a, b, 7.3, periods=4)
    experiment, _ = didim.virtual_experiment(
        scara, scara.nominal, loop(), still, rate=200, noise=0.01
    )
    q = np.array(experiment.q)
    q[:, j] = 0.3
    return replace(experiment, q=q)


@pytest.mark.parametrize("name", METHODS)
def test_a_joint_that_never_moves(name):
    found = didim.identify(model(), frozen_joint(), METHODS[name])
    assert found.status == "unexcited"
    assert "oint 2 (joint_2) never moves" in found.message
    assert is_clean(found)


def test_an_encoder_that_flickers_is_no_motion():
    experiment = frozen_joint()
    q = np.array(experiment.q)
    q[:, 1] += 1e-3 * (np.random.default_rng(0).uniform(size=len(q)) > 0.5)
    found = didim.identify(model(), replace(experiment, q=q), didim.IDIM())
    assert found.status == "unexcited"
    assert is_clean(found)


@pytest.mark.parametrize("name", METHODS)
def test_a_torque_column_of_zeros(name):
    experiment, _ = scara_record()
    tau = np.array(experiment.tau)
    tau[:, 1] = 0.0
    with pytest.raises(didim.InputError, match=r"torque of joint 2 .joint_2. is zero throughout"):
        didim.identify(model(), replace(experiment, tau=tau), METHODS[name])


def test_a_reference_that_does_not_match_in_length():
    t = np.arange(100) / 100
    with pytest.raises(
        didim.InputError, match="q_ref must have 100 rows like the other signals, found 99"
    ):
        didim.Experiment(t, np.zeros((100, 2)), np.zeros((99, 2)))


def test_a_reference_that_ends_before_the_record():
    experiment, _ = scara_record()
    t = np.asarray(experiment.t)
    short = didim.Reference(t[:1000], experiment.q_ref.sample(t[:1000])[0])
    with pytest.raises(didim.InputError, match="q_ref covers 0 to"):
        didim.identify(model(), replace(experiment, q_ref=short), METHODS["DIDIM"])


def test_no_reference_and_no_positions():
    experiment, _ = scara_record()
    with pytest.raises(didim.InputError, match="has no reference"):
        didim.identify(model(), replace(experiment, q_ref=None), METHODS["DIDIM"])
    with pytest.raises(didim.InputError, match="no measured positions, which IDIM needs"):
        didim.identify(model(), replace(experiment, q=None), METHODS["IDIM"])


def test_every_joint_at_rest():
    experiment, _ = scara_record()
    with pytest.raises(didim.InputError, match="0 equations remain"):
        didim.identify(model(), experiment, didim.IDIM(rest_velocity=100.0))


def test_one_joint_at_rest_by_its_threshold():
    experiment, _ = scara_record()
    found = didim.identify(model(), experiment, didim.IDIM(rest_velocity=[0.0, 100.0]))
    assert found.status == "unexcited"
    assert "no equation of joint 2" in found.message.lower()
    assert is_clean(found)


def test_an_unstable_assumed_loop():
    experiment, _ = scara_record()
    wild = didim.PD(kp=100.0, kv=1e6, rate=200)
    found = didim.identify(model(), experiment, didim.DIDIM(controller=wild))
    assert found.status == "diverged"
    assert "first simulation" in found.message
    assert is_clean(found)
    assert "diverged" in found.summary()


def test_a_standing_robot_is_unexcited_not_a_crash():
    t = np.arange(2000) / 200.0
    rng = np.random.default_rng(0)
    still = didim.Experiment(
        t, rng.standard_normal((2000, 2)), np.zeros((2000, 2)), q=np.zeros((2000, 2))
    )
    found = didim.identify(model(), still, didim.IDIM())
    assert found.status == "unexcited"
    assert is_clean(found)


def test_time_in_milliseconds_is_doubted():
    experiment, _ = scara_record()
    t = np.asarray(experiment.t)
    slow = didim.Experiment(1e5 * t, experiment.tau, experiment.q_ref.sample(t)[0])
    with pytest.raises(didim.InputError, match="Is t in seconds"):
        didim.identify(model(), slow, didim.DIDIM(controller=loop(rate=200.0)))


@pytest.mark.slow
def test_a_two_valued_reference_moves():
    scara = model()
    t = np.arange(6000) / 200.0
    steps = np.column_stack(
        [np.where((t // 1.5) % 2 > 0, 0.5, -0.5), np.where((t // 1.1) % 2 > 0, 0.7, -0.7)]
    )
    trajectory = didim.Reference(t, steps, interpolation="held")
    experiment, _ = didim.virtual_experiment(scara, scara.nominal, loop(), trajectory, rate=200)
    found = didim.identify(scara, experiment, didim.DIDIM(controller=loop()))
    assert found.status == "converged"
    assert np.abs(found.values / scara.base.nominal - 1).max() < 1e-3


def test_a_wrong_sign_of_the_torque_is_noticed_by_idim():
    experiment, _ = scara_record()
    found = didim.identify(
        model(), replace(experiment, tau=-np.asarray(experiment.tau)), didim.IDIM()
    )
    assert "no robot has these parameters" in found.summary()


def test_little_explained_is_noticed_by_idim():
    experiment, _ = scara_record()
    found = didim.identify(
        model(), replace(experiment, tau=np.asarray(experiment.tau)[:, ::-1]), didim.IDIM()
    )
    assert "Much of the torque is unexplained" in found.summary()


@pytest.mark.slow
def test_a_missing_effect_is_noticed_by_didim():
    experiment, _ = scara_record(noise=0.001, share=1.0)
    frictionless = didim.DynamicModel(didim.load_robot("scara"), ["rotor", "viscous"])
    found = didim.identify(frictionless, experiment, didim.DIDIM(controller=loop()))
    assert found.status == "diverged" or "More is unexplained than noise" in found.summary()


@pytest.mark.slow
def test_a_quantised_torque_does_not_accuse_the_loop():
    experiment, truth = scara_record()
    tau = 0.05 * np.round(truth.motion.tau / 0.05)
    found = didim.identify(model(), replace(experiment, tau=tau), didim.DIDIM(controller=loop()))
    assert found.status == "converged"


@pytest.mark.slow
def test_an_exact_model_without_friction_converges():
    pendulum = model("double_pendulum", ())
    controller = didim.PD(natural_frequency=[20.0, 30.0])
    trajectory = didim.Fourier.random(pendulum.robot, 1, period=8.0)
    experiment, _ = didim.virtual_experiment(pendulum, pendulum.nominal, controller, trajectory)
    found = didim.identify(pendulum, experiment, didim.DIDIM(controller=controller))
    assert found.status == "converged"
    assert np.allclose(found.values, pendulum.base.nominal, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [50.0, 200.0, 1000.0])
def test_validation_of_the_record_itself_is_the_residual(rate):
    """The reference is read alike: held, linear where the log is slower than the law."""
    controller = loop(rate=200.0)
    scara = model()
    trajectory = didim.Fourier.random(scara.robot, 1, period=7.3, periods=4, share=1.0)
    experiment, _ = didim.virtual_experiment(
        scara, scara.nominal, controller, trajectory, rate=rate, noise=0.02
    )
    t = np.asarray(experiment.t)
    array = replace(experiment, q_ref=trajectory.sample(t)[0])
    found = didim.identify(scara, array, didim.DIDIM(controller=controller, decimation=5))
    assert found.validate(array).residual == pytest.approx(found.residual, rel=1e-6)


@pytest.mark.slow
def test_rows_at_rest_do_not_count():
    experiment, _ = scara_record(noise=0.05)
    found = didim.identify(model(), experiment, didim.DIDIM(controller=loop(), rest_velocity=0.05))
    assert found.history[-1].residual == pytest.approx(found.residual, rel=1e-6)
    assert found.rows < didim.identify(model(), experiment, didim.DIDIM(controller=loop())).rows


WRONG = [
    (lambda: didim.DIDIM(controller=loop(), start="x"), "start must be None"),
    (lambda: didim.DIDIM(controller=loop(), start=(1, 2, 3)), "start must be None"),
    (lambda: didim.DIDIM(controller=loop(), accelerate="no"), "accelerate must be"),
    (lambda: didim.DIDIM(controller=loop(), initial=[[1], [2, 3]]), "initial must be one of"),
    (lambda: didim.DIDIM(controller=loop(), gain_update=np.array([1, 2])), "gain_update must be"),
    (lambda: didim.IDIM(rest_velocity=-1), "rest_velocity must be"),
    (lambda: didim.DIDIM(controller="pd"), "controller must be a loop"),
    (lambda: didim.DIDIM(controller=loop(), initial="nominl"), "did you mean 'nominal'"),
    (lambda: didim.DIDIM(controller=loop(), initial=3.0), "initial must be one of"),
    (lambda: didim.DIDIM(controller=loop(), weights="xls"), "Unknown weights"),
    (lambda: didim.DIDIM(controller=loop(), transient=-1), "transient"),
    (lambda: didim.DIDIM(controller=loop(), max_iterations=0), "max_iterations"),
    (lambda: didim.DIDIM(controller=loop(), tol_residual=0), "tol_residual"),
    (lambda: didim.DIDIM(controller=didim.PD(kp=1, kv=1), gain_update=True), "needs the inertia"),
    (lambda: didim.DIDIM(controller=loop(), gain_update="yes"), "gain_update must be"),
    (lambda: didim.IDIM(cutoff=-1), "cutoff"),
    (lambda: didim.IDIM(trim=3), "trim must be two numbers"),
    (lambda: didim.IDIM(states="simulated"), "states 'simulated' is unknown"),
    (lambda: didim.IDIM(decimate="matalb"), "did you mean 'matlab'"),
    (lambda: didim.IDIM(essential="yes"), "essential must be"),
]


@pytest.mark.parametrize(("make", "message"), WRONG, ids=[message for _, message in WRONG])
def test_wrong_settings_are_named(make, message):
    with pytest.raises(didim.InputError, match=message):
        make()


def test_wrong_arguments_are_named():
    experiment, _ = scara_record()
    with pytest.raises(didim.InputError, match="method must be a method with its settings"):
        didim.identify(model(), experiment, didim.IDIM)
    with pytest.raises(didim.InputError, match="model must be"):
        didim.identify("scara", experiment, didim.IDIM())
    with pytest.raises(didim.InputError, match="experiment must be"):
        didim.identify(model(), [], didim.IDIM())
    with pytest.raises(didim.InputError, match="has 2 joints, robot 'emps' has 1"):
        didim.identify(model("emps"), experiment, didim.IDIM())
    with pytest.raises(didim.InputError, match="initial must hold 8 values"):
        didim.identify(model(), experiment, didim.DIDIM(controller=loop(), initial=[1.0, 2.0]))
    refined = didim.DIDIM(controller=loop(), initial=[1.0, 2.0], refine=True)
    with pytest.raises(didim.InputError, match="initial must hold 8 values"):
        didim.identify(model(), experiment, refined)
    for method in (
        didim.IDIM(decimation=10**9),
        didim.IDIM(decimation=100_000),
        didim.IDIM(cutoff=1e-9),
    ):
        with pytest.raises(didim.InputError, match="too short"):
            didim.identify(model(), experiment, method)
    with pytest.raises(didim.InputError, match="experiment must be a"):
        didim.identify(model(), experiment, didim.IDIM()).predict(None)
    with pytest.raises(didim.InputError, match="is zero throughout"):
        didim.identify(model(), experiment, didim.IDIM()).validate(
            replace(experiment, tau=0 * np.asarray(experiment.tau))
        )
    with pytest.raises(didim.InputError, match="cutoff must lie between 0 and 100 Hz"):
        didim.identify(model(), experiment, didim.IDIM(cutoff=150.0))
