"""What must hold for every effect: tau = W chi, inverse and direct dynamics, derivatives,
sensitivities, the tape and its machine code, threads, copies.
"""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import didim
from didim.robot.effect import ParameterKind
from support.effects import NEW, channels, name_of, with_effects

T = np.arange(0, 1.5, 2e-3)
Q_REF = np.column_stack(
    [0.8 * np.sin(4.4 * T) ** 2 * np.sin(3 * T), 0.6 * np.sin(5.6 * T) * (T < 0.8)]
)
LOOP = didim.PD(natural_frequency=[40.0, 60.0], damping=1.0, inertia=[3.5, 0.1])
SLOW = pytest.mark.slow
SEVERAL = ("stribeck", "load_friction", "spring", "ripple", "viscous_power")


def random_motion(model, seed=0, rows=40):
    rng = np.random.default_rng(seed)
    motion = rng.uniform(-1, 1, (3, rows, model.robot.n))
    signals = {name: rng.uniform(0, 40, rows) for name in model.channels}
    return *motion, rng.uniform(-1, 1, (rows, len(model.contacts))), signals


@pytest.mark.parametrize("effect", NEW, ids=name_of)
def test_the_torque_is_the_regressor_times_the_parameters(effect):
    """Along a simulated motion that sticks and slides.

    Tests (43).
    """
    model, phi = with_effects("scara", effect)
    base, beta = model.base, model.base.matrix @ phi
    signals = channels(model, T)
    for friction in ("exact", "smooth"):
        options = {"t": T, "q_ref": Q_REF, "signals": signals, "friction": friction}
        motion = didim.simulate(base, beta, LOOP, **options)
        assert motion.completed
        assert friction == "smooth" or 0.02 < motion.stuck.mean() < 0.9
        W = base.regressor(motion.q, motion.dq, motion.ddq, motion.slip, motion.signals)
        assert np.abs(W @ beta - motion.tau).max() < 1e-9 * np.abs(motion.tau).max()


@pytest.mark.parametrize("robot", ["scara", "tx40"])
@pytest.mark.parametrize("effect", NEW, ids=name_of)
def test_inverse_and_direct_dynamics_invert_each_other(effect, robot):
    """At random states, slips and channels; and the regressor gives the same torque."""
    model, phi = with_effects(robot, effect)
    q, dq, ddq, slip, signals = random_motion(model)
    tau = model.inverse_dynamics(q, dq, ddq, phi, slip, signals)
    back = model.direct_dynamics(q, dq, tau, phi, slip, signals)
    assert np.abs(back - ddq).max() < 1e-9 * np.abs(ddq).max()
    if model.loaded:
        signals["load"] = model.loads(q, dq, ddq, phi, slip, signals)
    W = model.regressor(q, dq, ddq, slip, signals)
    assert np.abs(W @ phi - tau).max() < 1e-11 * np.abs(tau).max()


@pytest.mark.parametrize("effect", NEW, ids=name_of)
def test_derivatives_of_the_torque_are_those_of_central_differences(effect):
    """Torques of contacts count as constant: they are left out."""
    model, phi = with_effects("tx40", effect)
    for i, each in enumerate(model.parameters):
        phi[i] *= each.kind is not ParameterKind.COULOMB
    q, dq, ddq, slip, signals = random_motion(model, rows=5)
    by_q, by_dq = model.derivatives(q, dq, ddq, phi, signals)
    step = 1e-6
    for j in range(model.robot.n):
        up = step * np.eye(model.robot.n)[j]
        for found, shift in ((by_q, (up, 0 * up)), (by_dq, (0 * up, up))):
            ends = [
                model.inverse_dynamics(
                    q + sign * shift[0], dq + sign * shift[1], ddq, phi, slip, signals
                )
                for sign in (1, -1)
            ]
            expected = (ends[0] - ends[1]) / (2 * step)
            scale = np.abs(expected).max() + np.abs(by_q).max()
            assert np.abs(found[:, :, j] - expected).max() < 1e-7 * scale


@pytest.mark.parametrize("friction", ["exact", "smooth"])
@pytest.mark.parametrize("effect", NEW, ids=name_of)
def test_the_tape_and_its_machine_code_give_the_same_motion(effect, friction, monkeypatch):
    options = {"t": T[:400], "q_ref": Q_REF[:400], "friction": friction, "method": "fixed"}
    found = []
    for generic in ("0", "1"):
        monkeypatch.setenv("DIDIM_GENERIC", generic)
        model, phi = with_effects("scara", effect)
        assert (model.layout.terms.code is None) == (generic == "1")
        options["signals"] = channels(model, T[:400])
        found.append(didim.simulate(model, phi, LOOP, **options))
    assert np.abs(found[0].tau - found[1].tau).max() < 1e-12 * np.abs(found[0].tau).max()
    assert np.abs(found[0].q - found[1].q).max() < 1e-12


def worst_sensitivity(model, phi, loop, t, q_ref, friction, only=None, gains=False):
    """Largest relative error, in norm, of the sensitivities against central differences."""
    base, beta = model.base, model.base.matrix @ phi
    run = {"t": t, "q_ref": q_ref, "signals": channels(model, t), "friction": friction}
    found = didim.sensitivities(base, beta, loop, gains=gains, **run)
    assert found.motion.completed
    errors = {}
    for k, name in enumerate(found.names):
        if only is not None and not name.startswith(only):
            continue
        ends = []
        if name in base.parameter_names:
            step = 1e-6 * max(abs(beta[k]), 1e-2)
        else:
            step = 1e-6 * max(abs(model.shape_values[name]), 1e-2)
        for sign in (1, -1):
            changed, values = base, beta.copy()
            if name in base.parameter_names:
                values[k] += sign * step
            else:
                at = model.shape_values[name] + sign * step
                changed = model.with_shapes({name: at}).base
            ends.append(
                didim.simulate(changed, values, loop, method="fixed", check=False, **run).tau
            )
        expected = (ends[0] - ends[1]) / (2 * step)
        error = np.linalg.norm(found.tau[:, :, k] - expected)
        errors[name] = error / max(np.linalg.norm(expected), 1e-9)
    return max(errors.values()), errors


@pytest.mark.parametrize("friction", ["exact", "smooth"])
@pytest.mark.parametrize(
    "effects",
    [*(pytest.param((each,), id=name_of(each)) for each in NEW), pytest.param(SEVERAL, marks=SLOW)],
)
def test_sensitivities_are_those_of_central_differences(effects, friction):
    """Tests (39)."""
    model, phi = with_effects("scara", *effects)
    error, errors = worst_sensitivity(model, phi, LOOP, T[:400], Q_REF[:400], friction)
    assert error < 1e-4, errors


@pytest.mark.slow
@pytest.mark.parametrize("friction", ["exact", "smooth"])
def test_sensitivities_of_a_robot_of_seven_joints_under_gravity(friction):
    model, phi = with_effects("panda", "stribeck", "asymmetric_load_friction", "gas_spring")
    t = np.arange(0, 0.6, 2e-3)
    q_ref = 0.3 * np.sin(np.outer(t, np.linspace(3, 6, 7)))
    J = didim.largest_inertias(model, phi)
    loop = didim.PD(natural_frequency=40.0, inertia=J)
    only = ("ZZ1", "MX3", "Fc2", "dFs2", "mup4", "mun4", "vs2", "Fg2", "Fv4", "MY2")
    error, errors = worst_sensitivity(model, phi, loop, t, q_ref, friction, only)
    assert len(errors) >= 7
    assert error < 1e-4, errors


@pytest.mark.parametrize("exponent", [0.5, 1.0])
def test_sensitivities_by_a_stribeck_exponent_are_finite_at_rest(exponent):
    """0^0.5 and 0^ds log 0 occur in the derivatives of a joint that sticks."""
    own = didim.Effect(
        "stiction",
        "dFs * slip * exp(-abs(dq / vs) ^ ds)",
        {"dFs": {"value": 0.3}, "vs": {"value": 0.1}, "ds": {"value": exponent}},
        joint=1,
    )
    model, phi = with_effects("scara", own)
    error, errors = worst_sensitivity(model, phi, LOOP, T[:400], Q_REF[:400], "exact")
    assert {"vs_stiction", "ds_stiction"} <= set(errors)
    assert error < 1e-4, errors


@pytest.mark.parametrize("term", ["feedforward", "computed_torque"])
@pytest.mark.parametrize("rate", [None, 500.0])
def test_a_controller_whose_own_model_has_effects_cancels_them(term, rate):
    """With the true model inside, a robot that slides all the time follows its reference, whatever
    effects and channels it has.
    """
    effects = ("stribeck", "load_friction", "spring", "ripple", "temperature")
    model, phi = with_effects("scara", *effects)
    t = np.arange(0, 0.5, 1e-3)
    q_ref = np.column_stack([0.5 * t + 0.1 * t**2, 0.4 * t + 0.2 * t**3])
    law = {"model": model, "parameters": phi, "model_term": term, "velocity_reference": 1.0}
    gains = {"kp": 20.0, "kv": 40.0} if term == "computed_torque" else {"kp": 20.0, "kv": 5.0}
    loop = didim.PD(drive_gain=1.0, rate=rate, **gains, **law)
    reference = didim.Reference(t, q_ref)
    motion = didim.simulate(model, phi, loop, t=t, q_ref=reference, signals=channels(model, t))
    assert np.abs(motion.q - q_ref).max() < (1e-6 if rate is None else 2e-3)


@pytest.mark.parametrize("effect", ["stribeck", "spring", "viscous_power"])
def test_sensitivities_with_effects_in_computed_torque(effect):
    model, phi = with_effects("scara", effect)
    law = {"model": model, "parameters": 0.9 * phi, "model_term": "computed_torque"}
    loop = didim.PD(kp=20.0, kv=40.0, drive_gain=1.0, velocity_reference=1.0, **law)
    error, errors = worst_sensitivity(model, phi, loop, T[:400], Q_REF[:400], "exact")
    assert error < 1e-4, errors


def test_runs_in_two_threads_do_not_disturb_each_other():
    model, phi = with_effects("scara", *SEVERAL, "temperature")
    signals = channels(model, T)

    def run(scale):
        return didim.simulate(model, phi, LOOP, t=T, q_ref=scale * Q_REF, signals=signals).tau

    scales = [0.5, 1.0, 1.5, 0.8]
    alone = [run(scale) for scale in scales]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(run, scales * 3))
    for k, tau in enumerate(together):
        assert np.array_equal(tau, alone[k % 4])


def test_a_model_with_effects_can_be_pickled():
    """Addresses of machine code belong to a process and must not travel."""
    model, phi = with_effects("scara", *SEVERAL)
    q, dq, ddq, slip, _ = random_motion(model)
    expected = model.inverse_dynamics(q, dq, ddq, phi, slip)
    text = pickle.dumps(model)
    kernel = model.tree.terms
    for address in {kernel.values_address, kernel.all_address}:
        assert address.to_bytes(8, "little") not in text
        assert address.to_bytes(6, "little") not in text
    copy = pickle.loads(text)
    assert np.array_equal(copy.inverse_dynamics(q, dq, ddq, phi, slip), expected)
    assert np.array_equal(pickle.loads(pickle.dumps(model.base)).nominal, model.base.nominal, True)
