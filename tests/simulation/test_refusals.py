"""Wrong input gives one clear error; a simulation that fails says when and where, and returns only
finite numbers.
"""

from __future__ import annotations

import numpy as np
import pytest

import didim

T = np.linspace(0, 1, 101)
Q = np.zeros((101, 2))


@pytest.fixture
def scara():
    return didim.DynamicModel(didim.load_robot("scara"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"t": T[::-1]}, "t must rise"),
        ({"t": np.where(T[5] == T, np.nan, T)}, "t must be finite"),
        ({"t": "now"}, "t must be an array"),
        (
            {"q_ref": np.where(np.arange(202).reshape(101, 2) == 3, np.nan, Q)},
            "q_ref must be finite; sample 1, column 1",
        ),
        ({"q_ref": np.zeros((101, 3))}, r"q_ref must have shape \(N, 2\)"),
        ({"q_ref": np.zeros((50, 2))}, "q_ref must have 101 rows"),
        ({"q_ref": None}, "q_ref is missing"),
        ({"q_ref": didim.Reference([0, 0.5], np.zeros((2, 2)))}, "covers 0 to 0.5 s"),
        ({"q_ref": didim.Reference([0, 1], [0, 0])}, "q_ref has 1 joints"),
        ({"tau": Q}, "give tau only in open loop"),
        ({"friction": "sticky"}, "Unknown friction"),
        ({"width": 0.0}, "width must be one finite number above 0"),
        ({"method": "magic"}, "Unknown method"),
        ({"method": "adaptive"}, 'needs friction="smooth"'),
        ({"step": -1.0}, "step must be one finite number above"),
        ({"initial": 3}, "initial must be a pair"),
        ({"initial": ([0, 0, 0], [0, 0])}, "initial q must be one number or 2"),
    ],
)
def test_arguments(scara, change, message):
    settings = {"t": T, "q_ref": Q} | change
    with pytest.raises(didim.InputError, match=message):
        didim.simulate(scara, scara.nominal, didim.PD(natural_frequency=10.0), **settings)


def test_open_loop_arguments(scara):
    with pytest.raises(didim.InputError, match="give tau instead of q_ref"):
        didim.simulate(scara, scara.nominal, None, t=T, q_ref=Q)
    with pytest.raises(didim.InputError, match="tau is missing"):
        didim.simulate(scara, scara.nominal, None, t=T)
    with pytest.raises(didim.InputError, match="loop must be a controller"):
        didim.simulate(scara, scara.nominal, "pd", t=T, q_ref=Q)
    with pytest.raises(didim.InputError, match="phi must hold 25 values"):
        didim.simulate(scara, [1.0], didim.PD(natural_frequency=1.0), t=T, q_ref=Q)


@pytest.mark.parametrize(
    ("law", "settings", "message"),
    [
        (didim.PD, {}, "needs either natural_frequency"),
        (didim.PD, {"kp": 1.0}, "needs both kp and kv"),
        (didim.PD, {"kp": 1.0, "kv": -1.0}, "kv must be positive.*wrong sign"),
        (didim.PD, {"kp": -1.0, "kv": 1.0}, "kp must be positive"),
        (didim.PD, {"kp": "a", "kv": 1.0}, "kp must be a number"),
        (didim.PD, {"natural_frequency": np.nan}, "natural_frequency must be positive"),
        (didim.PD, {"natural_frequency": 1.0, "kp": 1.0, "kv": 1.0}, "needs either"),
        (didim.PD, {"natural_frequency": 1.0, "delay": 1}, "need a sampled law"),
        (
            didim.PD,
            {"natural_frequency": 1.0, "rate": 100, "delay": 0.5},
            "delay, in samples, must be a whole number",
        ),
        (
            didim.PD,
            {"natural_frequency": 1.0, "rate": -5},
            "rate, in samples per second, must be one finite number above 0",
        ),
        (
            didim.PD,
            {"natural_frequency": 1.0, "rate": 100, "velocity": "guess"},
            "unknown velocity",
        ),
        (didim.PD, {"natural_frequency": 1.0, "saturation": 0.0}, "saturation must be positive"),
        (didim.PD, {"natural_frequency": 1.0, "model_term": "gravity"}, "belong together"),
        (didim.PID, {"kp": 1.0, "kv": 1.0}, "needs ki"),
        (didim.PID, {"kp": 1.0, "kv": 1.0, "ki": -1.0}, "ki must be not negative"),
        (didim.PID, {"natural_frequency": 1.0, "ki": 1.0}, "give integral_time"),
        (didim.Cascade, {"kp": 1.0, "kv": 1.0}, "needs kiv"),
        (didim.ComputedTorque, {"natural_frequency": 1.0}, "belong together"),
        (didim.OwnLaw, {"law": max}, "must come from didim.control_law"),
    ],
)
def test_laws(law, settings, message):
    with pytest.raises(didim.InputError, match=message):
        law(**settings)
    with pytest.raises(didim.InputError, match="Kd must be positive"):
        didim.PD.parallel(Kp=1.0, Kd=-0.6)


def test_gains_of_the_wrong_number(scara):
    with pytest.raises(didim.InputError, match="natural_frequency must be one number or 2"):
        didim.simulate(
            scara, scara.nominal, didim.PD(natural_frequency=[1.0, 2.0, 3.0]), t=T, q_ref=Q
        )
    with pytest.raises(didim.InputError, match="too stiff"):
        didim.simulate(scara, scara.nominal, didim.PD(kp=1.0, kv=1e9), t=T, q_ref=Q)


def test_an_infeasible_inertia_stops_at_once_and_says_where(scara):
    phi = scara.nominal
    phi[scara.parameter_names.index("ZZ2")] = -1.0
    motion = didim.simulate(
        scara, phi, didim.PD(natural_frequency=10.0, inertia=1.0), t=T, q_ref=Q, check=False
    )
    assert motion.status == "infeasible"
    assert "t = 0 s, joint 2 (joint_2)" in motion.message
    assert motion.q.shape == (0, 2)
    assert "infeasible" in repr(motion)


def test_an_inertia_that_becomes_infeasible_on_the_way(scara):
    """MX2 so large that M is indefinite only for some q2: it stops there, with what came before."""
    phi = scara.nominal
    phi[scara.parameter_names.index("ZZ1")] = -0.8
    phi[scara.parameter_names.index("MX2")] = 0.6
    reference = didim.PointToPoint([0.0, 1.0], [[0.0, 1.57], [0.0, 3.0]])
    loop = didim.PD(natural_frequency=40.0, inertia=[1.0, 0.1])
    motion = didim.simulate(scara, phi, loop, t=T, q_ref=reference, check=False)
    assert motion.status == "infeasible"
    assert 0 < motion.t.size < 101
    assert np.isfinite(motion.tau).all()


@pytest.mark.parametrize("settings", [{}, {"friction": "smooth"}])
def test_a_run_that_blows_up_stops_and_is_finite(scara, settings):
    t = np.linspace(0, 60, 601)
    push = np.broadcast_to([1e9, 0.0], (601, 2))
    motion = didim.simulate(scara, scara.nominal, None, t=t, tau=push, **settings)
    assert motion.status == "diverged"
    assert "t = " in motion.message
    assert "joint" in motion.message
    for signal in (motion.q, motion.dq, motion.ddq, motion.tau, motion.slip):
        assert np.isfinite(signal).all()
    assert motion.t.size < 601


def test_progress_is_told_and_can_stop(scara):
    told = []
    t = np.arange(30001) / 1000
    reference = didim.Fourier.random(scara.robot, 0, period=30.0)
    loop = didim.PD(natural_frequency=10.0)
    didim.simulate(scara, scara.nominal, loop, t=t, q_ref=reference, progress=told.append)
    assert len(told) > 5
    assert told == sorted(told)
    assert told[-1] == 1.0
    motion = didim.simulate(
        scara, scara.nominal, loop, t=t, q_ref=reference, progress=lambda share: share < 0.3
    )
    assert motion.status == "cancelled"
    assert 0.3 <= motion.t.size / t.size < 0.6


def test_virtual_experiment_is_reproducible_and_honest(scara):
    reference = didim.Fourier.random(scara.robot, 0, period=4.0)
    settings = {
        "rate": 200,
        "noise": 0.02,
        "encoder": 1e-4,
        "start_offset": [0.01, -0.02],
        "seed": 3,
    }
    loop = didim.PD(natural_frequency=[6.0, 30.0], rate=1000)
    one, truth = didim.virtual_experiment(scara, scara.nominal, loop, reference, **settings)
    two, _ = didim.virtual_experiment(scara, scara.nominal, loop, reference, **settings)
    assert np.array_equal(one.tau, two.tau)
    assert one.t.size == 801
    assert np.allclose(truth.motion.q[0] - reference.sample([0.0])[0][0], [0.01, -0.02])
    noise = one.tau - truth.motion.tau
    assert np.allclose(
        noise.std(axis=0), 0.02 * np.sqrt(np.mean(truth.motion.tau**2, axis=0)), rtol=0.1
    )
    assert np.allclose(one.q / 1e-4, np.round(one.q / 1e-4), atol=1e-6)
    assert np.abs(one.q - truth.motion.q).max() <= 0.51e-4
    other, _ = didim.virtual_experiment(
        scara, scara.nominal, loop, reference, **(settings | {"seed": 4})
    )
    assert not np.array_equal(one.tau, other.tau)
    assert truth.controller.inertia is None or np.all(np.asarray(truth.controller.inertia) > 0)
    with pytest.raises(didim.InfeasibleError, match="virtual experiment failed"):
        didim.virtual_experiment(scara, -scara.nominal, didim.PD(kp=1.0, kv=1.0), reference)
    for wrong, message in [
        ({"rate": 0}, "rate"),
        ({"noise": -1}, "negative"),
        ({"duration": 9.0}, "at most 4 s"),
    ]:
        with pytest.raises(didim.InputError, match=message):
            didim.virtual_experiment(scara, scara.nominal, loop, reference, **wrong)
    with pytest.raises(didim.InputError, match="reference must be"):
        didim.virtual_experiment(scara, scara.nominal, loop, Q)


def test_the_case_file(tmp_path):
    from pathlib import Path

    source = Path(__file__).parents[2] / "cases" / "tx40.toml"
    case = didim.load_case(source)
    assert len(case.model.base.parameter_names) == 52
    _q, dq, ddq = case.reference.sample([0.0, 10.0])
    assert np.abs(dq).max() < 1e-12
    assert np.abs(ddq).max() < 1e-11
    for old, new, message in [
        ('law = "pd"', 'law = "pdd"', "unknown law"),
        ("seed = 2010", "sed = 2010", "'seed' is missing"),
        ("period = 10.0", "perod = 10.0", "'period' is missing"),
        ("damping", "dampng", "unknown key 'dampng'"),
        ("rate = 1000.0", "rate = 0", "rate must be one finite number above 0"),
        ("noise = 0.02", "noise = -1", "noise must be one finite number of at least 0"),
        ("seed = 2010", "seed = 1.5", "seed must be a whole number"),
        ("harmonics = 5", "harmonics = 2.5", "harmonics must be a whole number"),
    ]:
        broken = tmp_path / "broken.toml"
        broken.write_text(source.read_text().replace(old, new))
        with pytest.raises(didim.InputError, match=message):
            didim.load_case(broken)
    with pytest.raises(didim.InputError, match="cannot be read"):
        didim.load_case(tmp_path / "nowhere.toml")
