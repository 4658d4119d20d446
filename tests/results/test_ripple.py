"""A ripple that the model lacks is found in what is left, over the position of the joint."""

import numpy as np
import pytest
from scipy.signal import lombscargle

import didim
from didim.errors import InputError
from didim.results.ripple import spectrum
from support.effects import LOOP

T = np.arange(0.0, 8.0005, 1e-3)
Q_REF = np.column_stack([1.5 * np.sin(0.9 * T) * np.sin(0.5 * T), 1.2 * np.sin(1.1 * T + 0.3)])


def record(order, amplitude):
    """A virtual SCARA whose joint 2 ripples, with 1 % noise."""
    robot = didim.load_robot("scara")
    ripple = didim.Effect(
        "gear",
        "A * sin(order * q + 0.4)",
        {"A": {"value": amplitude}},
        {"order": order},
        joint=2,
    )
    model = didim.DynamicModel(robot, effects=["rotor", "viscous", "coulomb", ripple])
    reference = didim.Reference(T, Q_REF)
    phi = np.nan_to_num(model.nominal)
    return didim.virtual_experiment(model, phi, LOOP, reference, noise=0.01)[0]


@pytest.mark.parametrize("order", [7.0, 16.3])
def test_the_order_of_a_ripple_is_found(order):
    found = record(order, 0.02)
    model = didim.DynamicModel(didim.load_robot("scara"))
    before = didim.identify(model, found, didim.IDIM(decimation=10))
    spectrum = before.ripple(1)
    assert spectrum.order == pytest.approx(order, abs=0.3)
    assert spectrum.p_value < 1e-6
    better = didim.DynamicModel(
        model.robot, ["rotor", "viscous", "coulomb", spectrum.effect(order)]
    )
    after = didim.identify(better, found, didim.IDIM(decimation=10))
    size = np.hypot(*(after.values[after.names.index(f"{s}_ripple2")] for s in ("Rs", "Rc")))
    assert size == pytest.approx(0.02, rel=0.1)
    assert after.residual_by_joint[1] < 0.9 * before.residual_by_joint[1]


def test_noise_has_no_order():
    found = record(7.0, 0.0)
    estimate = didim.identify(
        didim.DynamicModel(didim.load_robot("scara")), found, didim.IDIM(decimation=20)
    )
    assert estimate.ripple(1).p_value > 1e-3


def test_a_spectrum_needs_records():
    found = record(7.0, 0.0)
    model = didim.DynamicModel(didim.load_robot("scara"))
    estimate = didim.identify(model, found.between(0.0, 2.0), didim.IDIM(decimation=200))
    with pytest.raises(InputError, match="decimate less"):
        estimate.ripple("elbow" if "elbow" in model.robot.joint_names else 1)


@pytest.mark.parametrize(
    ("rows", "reach"), [(40, 0.3), (700, 2.0), pytest.param(1601, 40.0, marks=pytest.mark.long)]
)
def test_the_spectrum_is_the_periodogram_of_lomb_and_scargle(rows, reach):
    rng = np.random.default_rng(rows)
    q = reach * (rng.uniform(size=rows) ** 2 + 3.0)
    rho = 1.0 + rng.standard_normal(rows) + 0.5 * np.sin(11.0 * q)
    found = spectrum(0, q, rho)
    expected = lombscargle(q, rho - rho.mean(), found.orders, normalize=True)
    assert found.power == pytest.approx(expected, abs=1e-12)
