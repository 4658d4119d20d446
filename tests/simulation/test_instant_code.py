"""The machine code of an instant gives what the kernel `rates` gives, to the last bit: laws,
frictions, saturation, contacts that stick, couplings.
"""

import numpy as np
import pytest

import didim
from didim.simulation.kernels.plant import rates, rates_by_code
from didim.simulation.prepare import SimulationRequest, prepared

LAWS = {
    "poles": lambda _: didim.PD(natural_frequency=30.0),
    "gains": lambda J: didim.PD(kp=15.0, kv=60.0 * J),
    "velocity reference": lambda J: didim.PD.parallel(Kp=900.0 * J, Kd=60.0 * J),
    "PID": lambda J: didim.PID(kp=15.0, kv=60.0 * J, ki=500.0 * J),
    "cascade": lambda J: didim.Cascade(kp=10.0, kv=60.0 * J, kiv=200.0 * J),
    "sampled": lambda J: didim.PD(kp=15.0, kv=60.0 * J, rate=1000, velocity="backward_difference"),
    "saturated": lambda J: didim.PD(kp=15.0, kv=60.0 * J, saturation=4.0 * J),
}


ONE_WAY = ["rotor", "asymmetric_viscous", "asymmetric_coulomb"]


def run_of(name, law, friction, effects=None):
    """A robot that follows a sine and then stands still, so that its contacts stick."""
    model = didim.DynamicModel(didim.load_robot(name), effects)
    n, symmetric = model.robot.n, didim.DynamicModel(didim.load_robot(name))
    known = dict(zip(symmetric.parameter_names, np.nan_to_num(symmetric.nominal), strict=True))
    phi = [
        known.get(each, {"Fvp": 0.4, "Fvn": 0.6, "Fcp": 0.5, "Fcn": 0.3}.get(each[:3], 0.0))
        for each in model.parameter_names
    ]
    J = didim.largest_inertias(model, phi)
    t = np.arange(0.0, 0.8, 1e-3)
    wave = np.where(t < 0.5, 1 - np.cos(4 * np.pi * t), 0.0)[:, None]
    middle = np.clip(model.robot.position_limits, -3.0, 3.0).mean(axis=1)
    q_ref = middle + wave * (0.1 + 0.02 * np.arange(n))
    request = SimulationRequest(
        model, phi, LAWS[law](J), t, q_ref, None, friction, 0.05, None, None, 1000
    )
    return prepared(request)


@pytest.mark.parametrize("friction", ["exact", "smooth"])
@pytest.mark.parametrize(
    ("robot", "law", "effects"),
    [
        *(("scara", law, None) for law in LAWS),
        ("scara", "gains", ONE_WAY),
        ("tx40", "gains", None),
        ("tx40", "sampled", None),
        ("panda", "PID", None),
    ],
)
def test_it_is_rates_to_the_last_bit(robot, law, effects, friction):
    found = []
    for by_code in (True, False):
        run = run_of(robot, law, friction, effects)
        assert run.plant.code.rates == rates_by_code.address
        if not by_code:
            run.plant = run.plant._replace(code=run.plant.code._replace(rates=rates.address))
        motion = run.fixed(None)
        assert motion.status == "completed"
        found.append(motion)
    if friction == "exact":
        assert found[0].stuck.any()
    for signal in ("q", "dq", "ddq", "tau", "slip", "stuck"):
        np.testing.assert_array_equal(*(getattr(each, signal) for each in found))


def test_a_saturated_command_is_left_to_rates():
    run = run_of("scara", "saturated", "exact")
    tau = run.fixed(None).tau
    limit = run.plant.law.gain.diagonal() * run.plant.law.saturation
    assert (np.abs(tau) == limit).any()


def test_a_run_that_diverges_says_so():
    run = run_of("scara", "gains", "exact")
    run.plant.law.kv[:] *= -1.0
    assert run.fixed(None).status == "diverged"


@pytest.mark.parametrize("kind", ["open loop", "computed torque"])
def test_what_it_does_not_cover_has_none(kind):
    model = didim.DynamicModel(didim.load_robot("scara"))
    t = np.arange(0.0, 0.1, 1e-3)
    still = np.zeros((t.size, 2))
    loop = didim.ComputedTorque(natural_frequency=30.0, model=model)
    driven = (None, t, None, still) if kind == "open loop" else (loop, t, still, None)
    request = SimulationRequest(model, model.nominal, *driven, "exact", 0.05, None, None, 1000)
    code = prepared(request).plant.code
    assert code.instant == 0
    assert code.rates == rates.address
