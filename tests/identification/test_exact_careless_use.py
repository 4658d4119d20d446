"""What careless or unlucky users do with the exact method, and what they are told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import didim
from support.virtual import model, scara_record


def case():
    experiment, truth = scara_record(
        (6.28, 30.0), rate=200.0, noise=0.02, encoder=1e-4, period=6.0, periods=2
    )
    law = truth.controller
    return experiment, law.with_gains(law.gains(2, np.ones(2), np.asarray(law.inertia)))


def output_error(law, **settings):
    return didim.OutputError(controller=law, decimation=5, **settings)


def slower(law, factor: float = 0.5):
    return law.faster(factor)


def changed(experiment, change):
    q = np.array(experiment.q)
    return replace(experiment, q=change(q))


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [np.degrees, lambda q: q * [1, -1], lambda q: q[:, ::-1]],
    ids=["degrees", "sign", "swapped columns"],
)
def test_positions_that_go_astray(change):
    experiment, law = case()
    found = didim.identify(model(), changed(experiment, change), output_error(law))
    assert found.status == "diverged"
    assert "check its unit, sign and column" in found.message


@pytest.mark.slow
def test_positions_of_another_loop():
    experiment, law = case()
    assert didim.identify(model(), experiment, output_error(slower(law))).status == "diverged"


def test_positions_that_never_change():
    experiment, law = case()
    with pytest.raises(didim.InputError, match="never changes"):
        didim.identify(model(), changed(experiment, lambda q: 0 * q), output_error(law))


@pytest.mark.slow
def test_positions_and_a_loop_that_follows_the_parameters():
    experiment, _ = case()
    found = didim.identify(
        model(), experiment, output_error(didim.PD(natural_frequency=[6.28, 30.0]))
    )
    assert found.status == "unexcited"
    assert "Positions alone" in found.message


@pytest.mark.parametrize(
    ("loop", "which", "message"),
    [
        ({"kp": [10.0, 10.0], "kv": [50.0, 1.0]}, ["ki"], "the law has no gain 'ki'"),
        ({"kp": [10.0, 10.0], "kv": [50.0, 1.0]}, ["kp3"], "Known: kp, kp1, kp2, kv, kv1, kv2"),
        ({"kp": [10.0, 10.0], "kv": [50.0, 1.0]}, "kp", "True, False or a list of gains such as"),
        ({"kp": [10.0, 10.0], "kv": [50.0, 1.0]}, [], "True, False or a list of gains such as"),
        ({"natural_frequency": 10.0}, ["kp"], "needs a loop that is given by its gains"),
    ],
)
def test_gains_that_the_law_does_not_have_are_refused(loop, which, message):
    experiment, _ = scara_record((20.0, 30.0), rate=100.0, periods=1)

    def run():
        method = didim.DIDIM(controller=didim.PD(**loop), estimate_gains=which)
        didim.identify(model(), experiment, method, progress=told.append)

    told = []
    with pytest.raises(didim.InputError, match=message):
        run()
    assert not told, "before any work"


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"estimate_gains": True}, {}])
def test_both_outputs_with_a_scan_or_a_trial(settings):
    experiment, law = case()
    found = didim.identify(
        model(), experiment, output_error(slower(law), output="both", **settings)
    )
    assert found.status == ("converged" if settings else "diverged")


@pytest.mark.parametrize("output", ["torque", "position"])
def test_no_rows_are_left(output):
    experiment, law = case()
    with pytest.raises(didim.InputError, match="0 equations remain"):
        didim.identify(model(), experiment, output_error(law, output=output, rest_velocity=100.0))


@pytest.mark.slow
def test_no_rows_of_one_joint():
    experiment, law = case()
    found = didim.identify(
        model(), experiment, output_error(law, output="both", rest_velocity=[0.0, 1e3])
    )
    assert found.status == "unexcited"
    assert found.message.count("joint 2") == 1


@pytest.mark.slow
def test_an_infinite_sigma_survives_the_file(tmp_path):
    experiment, law = case()
    method = didim.DIDIM(controller=law, decimation=5, estimate_gains=True, scan=False)
    found = didim.identify(model(), experiment, method)
    endless = replace(found, gains={"kp1": (3.0, np.inf)})
    again = didim.load_estimate(endless.save(tmp_path / "x.json"))
    assert again.gains == {"kp1": (3.0, np.inf)}
    assert "kp1" in again.summary()


@pytest.mark.slow
def test_stop_on_request_stops():
    experiment, law = case()
    calls = []
    method = didim.DIDIM(controller=slower(law), decimation=5, estimate_gains=True)
    found = didim.identify(
        model(), experiment, method, progress=lambda share: (calls.append(share), False)[1]
    )
    assert found.status == "stopped"
    assert "on request" in found.message
    assert len(calls) <= 2


@pytest.mark.long
def test_gains_a_hundred_times_too_small():
    """A loop that moves nothing leaves all of the torque, whatever its bandwidth: the scan goes
    up.
    """
    experiment, law = case()
    method = didim.DIDIM(controller=slower(law, 0.01), decimation=5, estimate_gains=True)
    found = didim.identify(model(), experiment, method)
    assert found.status == "converged"
    assert found.residual < 0.01


@pytest.mark.slow
def test_a_held_reference_has_no_delay():
    experiment, law = case()
    t = np.asarray(experiment.t)
    held = didim.Reference(t, experiment.q_ref.sample(t)[0], interpolation="held")
    sampled = replace(law, rate=200.0)
    with pytest.raises(didim.InputError, match="shifted by less than a sample"):
        didim.identify(
            model(),
            replace(experiment, q_ref=held),
            didim.DIDIM(controller=sampled, decimation=5, estimate_delay=True),
        )
    with pytest.raises(didim.InputError, match="held reference"):
        didim.sensitivities(
            model().base, model().base.nominal, sampled, t=t[:50], q_ref=held, delay=True
        )
    found = didim.identify(
        model(),
        replace(experiment, q_ref=held),
        didim.DIDIM(controller=sampled, decimation=5, estimate_gains=True),
    )
    assert "delay" not in found.gains


@pytest.mark.slow
def test_an_assumed_inertia_is_no_secret_of_the_exact_stage():
    """Gains follow the parameters (59) in both stages, whatever inertia the loop was given."""
    experiment, _ = case()
    J = didim.largest_inertias(model(), model().nominal)
    assumed = didim.PD(natural_frequency=[6.28, 30.0], inertia=0.5 * J)
    found = didim.identify(
        model(), experiment, didim.DIDIM(controller=assumed, decimation=5, refine=True)
    )
    assert found.status == "converged"
    assert found.residual < 0.01


def test_a_negative_drive_gain():
    experiment, _ = case()
    assumed = didim.PD(natural_frequency=[6.28, 30.0], drive_gain=-1.0)
    with pytest.raises(didim.InputError, match="drive gains"):
        didim.identify(
            model(), experiment, didim.DIDIM(controller=assumed, decimation=5, estimate_gains=True)
        )


def test_open_loop_warns_of_its_input_and_predicts_from_the_motion():
    experiment, _ = case()
    found = didim.identify(
        model(),
        experiment.between(0.0, 2.0),
        didim.OutputError(controller=None, decimation=5),
        validation=experiment,
    )
    assert any("not in sigma" in note for note in found.notes)
    assert found.validation[0].residual < 0.2


@pytest.mark.long
def test_a_long_delay_is_pointed_out():
    rod = model("emps")
    trajectory = didim.Fourier.random(rod.robot, seed=1, period=5.0, periods=2, share=1.0)
    law = {"kp": 30.0, "kv": 243.0, "rate": 200.0, "velocity": "backward_difference"}
    experiment, _ = didim.virtual_experiment(
        rod, rod.nominal, didim.PD(delay=1, **law), trajectory, rate=200.0, noise=0.02
    )
    found = didim.identify(
        rod, experiment, didim.DIDIM(controller=didim.PD(**law), decimation=5, estimate_gains=True)
    )
    assert any("samples of the loop" in note for note in found.notes)


@pytest.mark.long
def test_a_law_without_the_velocity_reference_is_named():
    """Gains imitate the missing term as well as they can and settle; only a fit of the other law
    tells.
    """
    scara = model()
    trajectory = didim.Fourier.random(scara.robot, 1, period=7.3, periods=1, share=1.0)
    J = didim.largest_inertias(scara, scara.nominal)
    true = didim.PD(natural_frequency=[20.0, 50.0], inertia=J, velocity_reference=1.0, rate=500)
    record, _ = didim.virtual_experiment(
        scara, scara.nominal, true, trajectory, rate=200, noise=0.03
    )
    for share, status in ((0.0, "diverged"), (1.0, "converged")):
        loop = didim.PD(natural_frequency=[30.0, 30.0], velocity_reference=share, rate=500)
        found = didim.identify(
            scara, record, didim.DIDIM(controller=loop, decimation=4, estimate_gains=True)
        )
        assert found.status == status
        assert ("velocity_reference = 1 leaves less" in found.message) == (share == 0.0)
