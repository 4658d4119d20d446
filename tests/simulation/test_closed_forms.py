"""Motions that are known in closed form: stopping times, energy, observed order."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import didim
from support.energy import energy


def cart(effects) -> didim.DynamicModel:
    return didim.DynamicModel(didim.load_robot("emps"), effects)


def values(model, **chosen) -> np.ndarray:
    phi = np.zeros(len(model.parameter_names))
    for name, value in chosen.items():
        phi[model.parameter_names.index(name)] = value
    return phi


def test_a_mass_slides_to_rest_on_a_table():
    """M dv/dt = -Fc: it stops at t = M v / Fc after v^2 M / (2 Fc), and stays.

    Tests (23).
    """
    model = cart(["coulomb"])
    phi = values(model, M1=2.0, Fc1=3.0)
    t = np.linspace(0, 2, 2001)
    motion = didim.simulate(model, phi, None, t=t, tau=np.zeros(2001), initial=([0.0], [1.0]))
    stop = 2.0 * 1.0 / 3.0
    moving = t < stop - 2e-3
    assert np.allclose(motion.q[moving, 0], t[moving] - 0.5 * 1.5 * t[moving] ** 2, atol=1e-10)
    assert motion.stuck[t > stop + 5e-3].all()
    assert motion.q[-1, 0] == pytest.approx(1.0**2 * 2.0 / (2 * 3.0), abs=2e-6)
    first_stuck = t[np.argmax(motion.stuck[:, 0])]
    assert first_stuck == pytest.approx(stop, abs=2e-3)
    assert np.abs(motion.dq[t > stop + 0.05]).max() < 1e-12


def test_asymmetric_friction_stops_at_its_own_time():
    model = cart(["asymmetric_coulomb"])
    phi = values(model, M1=2.0, Fcp1=3.0, Fcn1=6.0)
    t = np.linspace(0, 1, 1001)
    for sign, limit in ((1.0, 3.0), (-1.0, 6.0)):
        motion = didim.simulate(model, phi, None, t=t, tau=np.zeros(1001), initial=([0.0], [sign]))
        assert abs(motion.q[-1, 0]) == pytest.approx(2.0 / (2 * limit), abs=2e-6)


def test_a_mass_with_viscous_friction_and_constant_force():
    """Tests (22), (23)."""
    model = cart(["viscous"])
    phi = values(model, M1=2.0, Fv1=4.0)
    t = np.linspace(0, 3, 301)
    motion = didim.simulate(model, phi, None, t=t, tau=np.full(301, 8.0))
    speed = 2.0 * (1 - np.exp(-2.0 * t))
    assert np.allclose(motion.dq[:, 0], speed, atol=1e-11)


def test_a_pendulum_swings_by_elliptic_functions():
    """q = 2 asin(k sn(K - w t)) from amplitude A at rest, k = sin(A/2).

    Tests (22), (25).
    """
    model = pendulum([])
    phi = values(model, ZZ1=0.5, MX1=1.0)
    amplitude, omega = 2.0, np.sqrt(9.81 * 1.0 / 0.5)
    t = np.linspace(0, 5, 501)
    k = np.sin(amplitude / 2)
    expected = 2 * np.arcsin(k * ellipj(ellipk(k**2) - omega * t, k**2)[0])
    for settings in ({"method": "fixed"}, {"friction": "smooth", "tolerance": 1e-11}):
        motion = didim.simulate(
            model, phi, None, t=t, tau=np.zeros(501), initial=([amplitude], [0.0]), **settings
        )
        assert np.abs(motion.q[:, 0] - expected).max() < 1e-7


def test_a_pendulum_with_coulomb_friction_loses_its_energy_swing_by_swing():
    """Between two turning points the potential falls by Fc times the angle swept; at the end it
    sticks within its band.
    """
    model = pendulum(["coulomb"])
    phi = values(model, ZZ1=0.5, MX1=1.0, Fc1=0.3)
    t = np.linspace(0, 40, 40001)
    motion = didim.simulate(model, phi, None, t=t, tau=np.zeros(40001), initial=([1.5], [0.0]))
    q = motion.q[:, 0]
    turns = [0] + [k for k in range(1, 40000) if (q[k] - q[k - 1]) * (q[k + 1] - q[k]) < 0]
    assert len(turns) > 8
    for one, two in pairwise(turns[:7]):
        lost = 9.81 * (np.cos(q[two]) - np.cos(q[one]))
        assert lost == pytest.approx(0.3 * abs(q[two] - q[one]), rel=2e-3)
    assert motion.stuck[-1, 0]
    assert abs(9.81 * np.sin(q[-1])) < 0.3
    assert abs(q[-1] - q[-10000]) < 1e-12


def pendulum(effects) -> didim.DynamicModel:
    one = didim.load_robot("double_pendulum")
    return didim.DynamicModel(dataclasses.replace(one, joints=one.joints[:1]), effects)


@pytest.mark.parametrize("name", ["double_pendulum", "panda"])
def test_energy_is_conserved_without_friction(name):
    model = didim.DynamicModel(didim.load_robot(name), [])
    phi, n = model.nominal, model.robot.n
    t = np.linspace(0, 2, 201)
    start = np.linspace(0.5, -0.4, n)
    motion = didim.simulate(
        model, phi, None, t=t, tau=np.zeros((201, n)), initial=(start, np.zeros(n)), step=2.5e-4
    )
    total = np.array([energy(model, q, dq, phi) for q, dq in zip(motion.q, motion.dq, strict=True)])
    exchanged = (
        0.5
        * np.einsum("ki,kij,kj->k", motion.dq, model.inertia_matrix(motion.q, phi), motion.dq).max()
    )
    assert np.abs(total - total[0]).max() < 1e-8 * exchanged


def test_observed_order_of_the_fixed_step():
    """At least 3.8 away from friction events, in the closed loop with smooth friction and PID."""
    model = didim.DynamicModel(didim.load_robot("scara"))
    reference = didim.Fourier.random(model.robot, 2, period=1.0, harmonics=3, share=0.5)
    loop = didim.PID(natural_frequency=[20.0, 40.0])
    t = np.array([0.0, 0.8])
    ends = []
    for step in (4e-3, 2e-3, 1e-3, 1.25e-4):
        motion = didim.simulate(
            model,
            model.nominal,
            loop,
            t=t,
            q_ref=reference,
            friction="smooth",
            width=2.0,
            method="fixed",
            step=step,
        )
        ends.append(motion.q[-1])
    errors = [np.abs(end - ends[-1]).max() for end in ends[:-1]]
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert orders.min() > 3.8
