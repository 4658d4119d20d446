"""Exact sensitivities against central differences of the simulation, for parameters, gains and
delay.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import didim
from didim.control.simulated_loop import SimulatedLoop, numeric_gains
from didim.dynamics.codegen import motion_code
from didim.identification.problem import ClosedLoopProblem, Unknowns
from didim.signals.decimation import Decimation
from didim.signals.rows import RowSelection
from didim.simulation.decimated import decimated_sensitivities
from didim.simulation.prepare import SimulationRequest
from didim.simulation.record_set import RecordSet
from didim.simulation.steps import MAX_SUBSTEPS
from support.virtual import model

EFFECTS = ("rotor", "viscous", "coulomb")


def robot_case(name: str, seed: int = 0):
    """A base model, its parameters, a reference and the inertias that loops are tuned for."""
    base = model(name, None if name == "scara" else EFFECTS).base
    n = base.robot.n
    random = np.random.default_rng(seed)
    reference = didim.Fourier(*random.uniform(-0.5, 0.5, (2, n, 5)), 4.0, np.zeros(n))
    return base, base.nominal, reference, didim.largest_inertias(base, base.nominal)


def pd(J, **more):
    return didim.PD(kp=10.0, kv=40.0 * J, **more)


def difference(run, at: float, step: float, extrapolate: bool) -> np.ndarray:
    """Central difference of tau and q, side by side (N, 2 n); of order 4 where nothing can switch
    between the four runs.
    """
    up, down = run(at + step), run(at - step)
    assert up.completed
    assert down.completed
    first = np.hstack([up.tau - down.tau, up.q - down.q]) / (2 * step)
    return (4 * difference(run, at, step / 2, False) - first) / 3 if extrapolate else first


def worst(
    base,
    parameters,
    loop,
    reference,
    t,
    gains=True,
    delay=False,
    share: float = 1e-3,
    only=None,
    **settings,
):
    """Largest relative error, in norm, of any direction, for torque and position; and which
    direction it was.
    """
    found = didim.sensitivities(
        base, parameters, loop, t=t, q_ref=reference, gains=gains, delay=delay, **settings
    )
    assert found.motion.completed
    n, errors = base.robot.n, {}

    def simulated(beta, law, trajectory):
        return didim.simulate(
            base, beta, law, t=t, q_ref=trajectory, method="fixed", check=False, **settings
        )

    np.testing.assert_allclose(
        simulated(parameters, loop, reference).tau, found.motion.tau, atol=1e-9
    )
    for k, name in enumerate(found.names):
        if only is not None and name not in only:
            continue
        if k < parameters.size:
            at, unit = parameters[k], np.eye(parameters.size)[k]
            step = share * max(abs(at), 0.1 if share > 1e-5 else 0.01)

            def run(value, unit=unit, at=at):
                return simulated(parameters + (value - at) * unit, loop, reference)

        elif name == "delay":
            at, step = 0.0, 1e-5
            run = lambda value: simulated(parameters, loop, reference.delayed(value))  # noqa: E731
        else:
            kind, j = name.rstrip("0123456789"), int(name.lstrip("kpvi")) - 1
            gain = np.array(np.broadcast_to(np.asarray(getattr(loop, kind), dtype=float), (n,)))
            at, step = gain[j], share * gain[j]
            run = lambda value, kind=kind, j=j, gain=gain: simulated(  # noqa: E731
                parameters,
                replace(loop, **{kind: np.where(np.arange(n) == j, value, gain)}),
                reference,
            )
        expected = difference(run, at, step, share > 1e-5)
        ours = np.hstack([found.tau[:, :, k], found.q[:, :, k]])
        for part in (slice(0, n), slice(n, 2 * n)):
            size = max(np.linalg.norm(expected[:, part]), 1e-6)
            errors[name, part.start] = np.linalg.norm(ours[:, part] - expected[:, part]) / size
    return max(errors.values()), max(errors, key=lambda key: errors[key])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["scara", "tx40", pytest.param("panda", marks=pytest.mark.long)])
def test_smooth_friction_to_1e_5(name):
    """Tests (29), (30), (32), (38)."""
    base, beta, reference, J = robot_case(name)
    error, where = worst(base, beta, pd(J), reference, np.arange(0, 0.5, 1e-3), friction="smooth")
    assert error < 1e-5, where


@pytest.mark.slow
@pytest.mark.parametrize("name", ["scara", "tx40", pytest.param("panda", marks=pytest.mark.long)])
def test_exact_friction_to_1e_3(name):
    """Through reversals and sticking: between the two runs of a difference no contact changes what
    it does.
    """
    base, beta, reference, J = robot_case(name, seed=3)
    t = np.arange(0.3, 1.1, 1e-3)
    motion = didim.simulate(base, beta, pd(J), t=t, q_ref=reference)
    assert np.any(np.diff(np.sign(motion.dq), axis=0))
    error, where = worst(base, beta, pd(J), reference, t, share=1e-6)
    assert error < 1e-3, where


LAWS = {
    "PID": lambda J: didim.PID(kp=10.0, kv=40 * J, ki=600 * J, velocity_reference=0.5),
    "sampled cascade with delay": lambda J: didim.Cascade(
        kp=10.0, kv=40 * J, kiv=80 * J, rate=2000, delay=2, velocity="mean_difference"
    ),
    "backward difference": lambda J: pd(J, rate=700, velocity="backward_difference"),
}


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_every_law_its_gains_and_the_delay(law):
    base, beta, reference, J = robot_case("scara")
    error, where = worst(
        base, beta, LAWS[law](J), reference, np.arange(0, 0.6, 1e-3), delay=True, friction="smooth"
    )
    assert error < 5e-5, where


@pytest.mark.parametrize("rate", [None, 1000.0])
def test_saturated_commands_have_no_derivative(rate):
    base, beta, reference, J = robot_case("scara", seed=1)
    limits = {"saturation": [6.0, 0.5], "rate": rate}
    law = pd(J, **limits) if rate is None else didim.PID(kp=10.0, kv=40 * J, ki=600 * J, **limits)
    t = np.arange(0, 1.0, 1e-3)
    motion = didim.simulate(base, beta, law, t=t, q_ref=reference)
    limited = np.abs(np.abs(motion.tau) - [6.0, 0.5]) < 1e-9
    assert 0.05 < limited.mean() < 0.95
    error, where = worst(base, beta, law, reference, t, friction="smooth", share=1e-6)
    assert error < 1e-3, where
    found = didim.sensitivities(base, beta, law, t=t, q_ref=reference, friction="smooth")
    held = np.abs(np.abs(found.motion.tau) - [6.0, 0.5]) < 1e-9
    assert not found.tau[held].any()


@pytest.mark.parametrize("term", ["gravity", "feedforward", "computed_torque"])
def test_a_controller_with_its_own_model(term):
    base, beta, reference, J = robot_case("tx40")
    own = model("tx40", ("rotor", "viscous"))
    settings = {"model": own, "parameters": 1.1 * own.nominal}
    law = (
        didim.ComputedTorque(kp=5.0, kv=20.0, rate=1000, **settings)
        if term == "computed_torque"
        else pd(J, model_term=term, **settings)
    )
    only = {"ZZ1R", "MX2R", "Fv3", "Ia6", "kp2", "kv5"}
    error, where = worst(
        base, beta, law, reference, np.arange(0, 0.3, 1e-3), friction="smooth", only=only
    )
    assert error < 1e-5, where


@pytest.mark.slow
def test_gains_that_follow_the_parameters_are_folded_in():
    base, beta, reference, _ = robot_case("tx40")
    law = didim.PD(natural_frequency=20.0)
    t = np.arange(0, 0.4, 1e-3)
    only = {"ZZ1R", "MX2R", "Fv3", "Ia6"}
    error, where = worst(base, beta, law, reference, t, gains=False, friction="smooth", only=only)
    assert error < 1e-5, where
    fixed = law.retuned(didim.largest_inertias(base, beta))
    one, two = (
        didim.sensitivities(base, beta, each, t=t, q_ref=reference, friction="smooth").tau
        for each in (law, fixed)
    )
    assert np.abs(one - two).max() > 0.1 * np.abs(one).max()


def test_some_gains_of_a_loop_that_follows_the_parameters():
    """Columns of gains that were not asked for are folded away, whatever their order."""
    base, beta, reference, _ = robot_case("scara")
    law, t = didim.PID(natural_frequency=20.0, integral_time=0.5), np.arange(0, 0.3, 1e-3)
    request = SimulationRequest(
        base, beta, law, t, reference, None, "smooth", 0.05, None, None, MAX_SUBSTEPS
    )

    def columns(gains, delay=False):
        given = ("tau",), Decimation(1), (0, t.size)
        found = decimated_sensitivities(request, gains, delay, *given)
        return dict(zip(found.names, np.moveaxis(found.J, 2, 0), strict=True))

    every, some = columns(True, True), columns(("ki1", "kv2", "zero1"), True)
    assert list(some) == [*base.parameter_names, "kv2", "ki1", "delay", "zero1"]
    for name in every.keys() & some.keys():
        assert np.array_equal(some[name], every[name]), name


def test_open_loop():
    base, beta, _, _ = robot_case("scara")
    t = np.arange(0, 0.3, 1e-3)
    tau = np.column_stack([5 * np.sin(9 * t), 0.8 * np.cos(7 * t)])
    found = didim.sensitivities(base, beta, None, t=t, tau=tau, friction="smooth")
    assert found.names == base.parameter_names
    assert not found.tau.any()
    for k in range(beta.size):
        step = 1e-5 * np.eye(beta.size)[k]
        up, down = (
            didim.simulate(
                base, beta + sign * step, None, t=t, tau=tau, friction="smooth", method="fixed"
            )
            for sign in (1, -1)
        )
        expected = (up.q - down.q) / 2e-5
        assert np.linalg.norm(found.q[:, :, k] - expected) < 1e-5 * max(
            np.linalg.norm(expected), 1e-3
        )


def test_tracking_start_and_outputs_between_steps():
    base, beta, reference, J = robot_case("scara")
    t = np.cumsum(np.random.default_rng(2).uniform(2e-4, 3e-3, 250))
    error, where = worst(
        base, beta, pd(J), reference, t, friction="smooth", initial="tracking", step=1e-3
    )
    assert error < 1e-5, where


def test_a_stuck_joint_has_no_velocity_sensitivity():
    base, beta, _, J = robot_case("scara")
    t = np.arange(0, 1.0, 1e-3)
    q_ref = np.column_stack([0.02 * np.sin(3 * t), 1e-5 * np.sin(3 * t)])
    found = didim.sensitivities(base, beta, pd(J), t=t, q_ref=q_ref)
    stuck = found.motion.stuck[:, 1]
    assert stuck[100:].mean() > 0.9
    k = found.names.index("ZZ1R")
    rate = np.diff(found.q[:, 1, k])
    assert np.abs(rate[stuck[1:] & stuck[:-1]]).max() < 1e-12


@pytest.mark.parametrize("decimate", ["fir", "scipy"])
def test_decimated_as_they_are_produced(decimate):
    """The streamed rows are those of the whole sensitivities, decimated afterwards.

    Tests (33).
    """
    base, beta, reference, J = robot_case("scara")
    t = np.arange(0, 4.0, 2e-3)
    law = pd(J)
    record = didim.Experiment(t=t, tau=np.ones((t.size, 2)), q_ref=reference)
    selection = RowSelection(10, decimate, ends=True)
    record = replace(record, q=np.zeros((t.size, 2)))
    records = RecordSet((record,), selection, 0.5, None, "cubic", ("tau", "q"))
    gains = numeric_gains(base, law, J)
    problem = ClosedLoopProblem(base, records, SimulatedLoop(law, unknown_gains=gains))
    z = np.zeros(problem.loop.count)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("didim.simulation.run.BLOCK_NUMBERS", 3000)
        simulated, system = problem.linearise(Unknowns(beta, None, z), records.first_window)
    factors = problem.loop.column_factors(z)  # unknown gains count in logarithms
    slopes = np.concatenate([np.ones(beta.size), factors])
    whole = didim.sensitivities(base, beta, law, t=t, q_ref=reference, gains=True)
    for g, values in enumerate([whole.tau[:, 0], whole.tau[:, 1], whole.q[:, 0], whole.q[:, 1]]):
        expected = selection.columns(records.first_window.samples[0], values) * slopes
        np.testing.assert_allclose(system.W[system.joint == g], expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(simulated.motions[0].tau, whole.motion.tau, atol=1e-9)


def test_blocks_share_their_memory_and_results_do_not(monkeypatch):
    base, beta, reference, J = robot_case("scara")
    asked = base, beta, pd(J)
    given = {"t": np.arange(0, 1.0, 2e-3), "q_ref": reference, "gains": True}
    whole = didim.sensitivities(*asked, **given)
    monkeypatch.setattr("didim.simulation.run.BLOCK_NUMBERS", 3000)
    parts = didim.sensitivities(*asked, **given)
    np.testing.assert_array_equal(parts.tau, whole.tau)
    np.testing.assert_array_equal(parts.q, whole.q)


def test_a_law_of_the_users_own_is_a_closed_box():
    @didim.control_law
    def law(t, n, q_ref, dq_ref, ddq_ref, q, dq, memory, v):
        for j in range(n):
            v[j] = 20.0 * (q_ref[j] - q[j]) - 2.0 * dq[j]

    base, beta, reference, _ = robot_case("scara")
    with pytest.raises(didim.InputError, match="OwnLaw"):
        didim.sensitivities(base, beta, didim.OwnLaw(law=law), t=[0.0, 0.1], q_ref=reference)


LOOPS = {
    "PD": lambda J: pd(J),
    "velocity reference": lambda J: didim.PD.parallel(Kp=400.0 * J, Kd=40.0 * J),
    "sampled": lambda J: pd(J, rate=1000, velocity="mean_difference", delay=1),
    "saturated": lambda J: pd(J, saturation=60.0 * J),
    "PID": lambda J: didim.PID(kp=10.0, kv=40.0 * J, ki=500.0 * J),
}


@pytest.mark.parametrize(
    ("name", "loop", "times"),
    [
        *(("scara", loop, "on the clock") for loop in LOOPS),
        ("scara", "PD", "beside the clock"),
        ("scara", "sampled", "beside the clock"),
        ("tx40", "PD", "on the clock"),
        ("tx40", "sampled", "on the clock"),
    ],
)
def test_machine_code_of_its_own_changes_nothing(name, loop, times, monkeypatch):
    """Neither the robot's code nor that whole steps are linearised at once; the robot follows its
    reference and then stands still, so that its contacts stick.
    """
    base, parameters, reference, J = robot_case(name)
    t = np.arange(0.0, 0.4, 1e-3)
    table = reference.sample(np.minimum(t, 0.3))[0]
    q_ref = didim.Reference(t, table, interpolation="held" if loop == "sampled" else "cubic")
    t = t if times == "on the clock" else np.sort(np.random.default_rng(0).uniform(0, 0.399, 300))

    def found() -> didim.Sensitivities:
        return didim.sensitivities(
            base, parameters, LOOPS[loop](J), t=t, q_ref=q_ref, gains=True, delay=loop != "sampled"
        )

    monkeypatch.setattr(motion_code, "STAGES_PER_PAIR", 0)
    own = found()
    assert own.motion.stuck.any()
    monkeypatch.setenv("DIDIM_GENERIC", "1")
    generic = found()
    assert own.tau.shape == generic.tau.shape == (t.size, base.robot.n, len(own.names))
    for with_code, without in ((own.tau, generic.tau), (own.q, generic.q)):
        scale = np.abs(without).max(axis=(0, 1))  # rounding alone where a joint rests
        assert (scale > 1e-12).mean() > 0.5
        assert (np.abs(with_code - without) <= 1e-9 * scale + 1e-15).all()
