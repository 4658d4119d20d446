"""What every method must do, whatever it computes: one suite over all of them."""

from __future__ import annotations

import copy
from functools import cache

import numpy as np
import pytest

import didim
from didim.identification.stopping import STOPPING
from didim.results.provenance import data_hash, described
from support.virtual import loop, model, scara_record

PRINTED = {"guards": False, "stopping": "printed", "accelerate": False}
METHODS = {
    "IDIM": lambda: didim.IDIM(decimation=10),
    "IDIM essential": lambda: didim.IDIM(decimation=10, essential=True),
    "IV": lambda: didim.IV(controller=loop(), decimation=10),
    "DIDIM": lambda: didim.DIDIM(controller=loop(), decimation=10),
    "DIDIM as printed": lambda: didim.DIDIM(controller=loop(), decimation=10, **PRINTED),
    "DIDIM refined": lambda: didim.DIDIM(controller=loop(), decimation=10, refine=True),
    "DIDIM with unknown gains": lambda: didim.DIDIM(
        controller=loop(), decimation=10, estimate_gains=True
    ),
    "output error, torque": lambda: didim.OutputError(
        controller=loop(), output="torque", decimation=10
    ),
    "output error, both": lambda: didim.OutputError(
        controller=didim.PD(kp=[10.0, 25.0], kv=[150.0, 6.0]), output="both", decimation=10
    ),
    "output error, plain": lambda: didim.OutputError(
        controller=loop(), output="torque", decimation=10, barrier=False, initial="nominal"
    ),
}
ITERATIVE = [name for name in METHODS if not name.startswith("IDIM")]


@cache
def record(name: str = "", seed: int = 0) -> didim.Experiment:
    if name == "output error, both":
        scara = model()
        motion = didim.Fourier.random(scara.robot, 1, period=7.3, periods=4, share=1.0)
        own = didim.PD(kp=[10.0, 25.0], kv=[150.0, 6.0])
        return didim.virtual_experiment(
            scara, scara.nominal, own, motion, rate=200, noise=0.02, encoder=1e-5, seed=seed
        )[0]
    return scara_record(noise=0.02, encoder=1e-5, seed=seed)[0]


@cache
def found(name: str) -> didim.Estimate:
    return didim.identify(model(), record(name), METHODS[name](), validation=record(name, seed=1))


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_the_estimate_is_complete(name):
    """Typed status, finite values near the truth, a covariance that is one, held-out records."""
    estimate = found(name)
    b = len(estimate.names)
    assert isinstance(estimate.status, didim.Status)
    assert estimate.status is didim.Status.CONVERGED
    assert estimate.status == "converged"
    assert set(estimate.names) <= set(model().base.parameter_names)
    assert estimate.values.shape == estimate.sigma.shape == (b,)
    truth = dict(zip(model().base.parameter_names, model().base.nominal, strict=True))
    for which in ("ZZ1R", "ZZ2"):
        assert estimate.values[estimate.names.index(which)] == pytest.approx(truth[which], rel=0.03)
    for covariance in (estimate.covariance, estimate.corrected_covariance):
        np.testing.assert_allclose(covariance, covariance.T, rtol=1e-6, atol=1e-12)
        assert np.linalg.eigvalsh(covariance / np.outer(estimate.sigma, estimate.sigma))[0] > -1e-9
    low, high = estimate.interval().T
    assert np.all(low < estimate.values)
    assert np.all(estimate.values < high)
    assert 0 < estimate.residual < 0.1
    assert estimate.residual_by_joint.shape == (2,)
    assert estimate.rows > b
    assert estimate.freedom == estimate.rows - b - len(estimate.gains)
    assert len(estimate.validation) == 1
    assert list(estimate.predictions) == [estimate.validation[0].record]
    assert estimate.validation[0].residual < 0.1
    assert estimate.validation[0].record == data_hash(estimate.held_out[0])
    assert estimate.provenance["data"][0]["sha256"] == data_hash(estimate.experiments[0])


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_runs_repeat_to_the_bit_and_change_nothing_that_they_are_given(name):
    method, given = METHODS[name](), record(name)
    settings, before = copy.deepcopy(described(method)), data_hash(given)
    once = didim.identify(model(), given, method)
    np.testing.assert_array_equal(once.values, found(name).values)
    np.testing.assert_array_equal(once.corrected_covariance, found(name).corrected_covariance)
    assert described(method) == settings
    assert data_hash(given) == before


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_what_is_saved_is_what_is_loaded(name, tmp_path):
    estimate = found(name)
    again = didim.load_estimate(estimate.save(tmp_path / "x.json"))
    assert again.status is estimate.status
    assert again.notes == estimate.notes
    assert again.coloured == estimate.coloured
    np.testing.assert_array_equal(again.values, estimate.values)
    assert [step.guards for step in again.history] == [step.guards for step in estimate.history]
    assert again.summary().splitlines()[3:] == estimate.summary().splitlines()[3:]
    if "essential" not in name:  # its frozen zeros are a model of their own
        np.testing.assert_allclose(again.predict(record(name)), estimate.predict(record(name)))


@pytest.mark.parametrize("name", METHODS)
def test_the_fitted_record_is_no_held_out_record(name, tmp_path):
    """A record given later for validation is judged by its own hash, also after a first one."""
    estimate = found(name)
    file = estimate.report(tmp_path / "x.html", validation=[record(name)])
    page = file.read_text()
    assert "the only held-out record is one that was fitted to" in page
    assert "did not see (" not in page


@pytest.mark.parametrize("name", ITERATIVE)
def test_a_history_leads_from_the_start_to_the_estimate(name):
    estimate = found(name)
    last = estimate.history[-1]
    np.testing.assert_array_equal(last.parameters, estimate.parameters)
    if name != "IV":  # its residual is that of the measured motion
        assert last.residual == pytest.approx(estimate.residual, rel=1e-9)
    assert estimate.history[0].residual > last.residual
    assert all(0 < step.fraction <= 1 for step in estimate.history)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in ITERATIVE if name != "IV"])  # one step arrives
def test_progress_can_stop_a_run(name):
    fractions = []

    def stop(fraction):
        fractions.append(fraction)
        return False

    estimate = didim.identify(model(), record(name), METHODS[name](), progress=stop)
    assert estimate.status is didim.Status.STOPPED
    assert "request" in estimate.message
    assert all(0 <= fraction <= 1 for fraction in fractions)


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_a_joint_that_stands_still_is_named(name):
    given = record(name)
    q_ref = given.reference().sample(given.t)[0] * [1.0, 0.0]
    still = didim.Experiment(given.t, given.tau, q_ref, q=given.q * [1.0, 0.0])
    if "both" in name:
        with pytest.raises(didim.InputError, match="joint 2"):
            didim.identify(model(), still, METHODS[name]())
        return
    estimate = didim.identify(model(), still, METHODS[name]())
    assert estimate.status is didim.Status.UNEXCITED
    assert "joint 2" in estimate.message.lower()
    assert np.isfinite(estimate.values).all()


@pytest.mark.parametrize("kind", [didim.DIDIM, didim.OutputError])
@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("max_iterations", 0),
        ("tol_residual", -1.0),
        ("tol_parameters", "small"),
        ("transient", -1.0),
        ("estimate_gains", "yes"),
        ("estimate_delay", 1),
        ("start", "somewhere"),
        ("decimation", 0),
        ("controller", 3),
    ],
)
def test_settings_that_cannot_be_are_refused(kind, setting, value):
    settings = {"controller": loop(), setting: value}
    if kind is didim.OutputError:
        settings["output"] = "torque"
    with pytest.raises(
        didim.InputError,
        match=r"controller|n_d|decimat" if setting in ("controller", "decimation") else setting,
    ):
        kind(**settings)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("max_iterations", 0),
        ("tol_residual", -1.0),
        ("start", "somewhere"),
        ("decimation", 0),
        ("controller", None),
        ("cutoff", "low"),
        ("cutoff", -1.0),
        ("weights", "irls"),
        ("gain_update", 1),
        ("initial", "somehow"),
    ],
)
def test_settings_of_iv_that_cannot_be_are_refused(setting, value):
    with pytest.raises(didim.InputError, match=setting):
        didim.IV(**{"controller": loop(), setting: value})


@pytest.mark.parametrize(
    ("setting", "value"), [("guards", 1), ("accelerate", None), ("stopping", "sigmas")]
)
def test_settings_of_didim_that_cannot_be_are_refused(setting, value):
    with pytest.raises(didim.InputError, match=setting):
        didim.DIDIM(controller=loop(), **{setting: value})
    assert STOPPING == ("sigma", "printed")
