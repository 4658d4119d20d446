"""Power of the drives = change of kinetic and potential energy + dissipation, which is never
negative.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson

import didim
from support.effects import channels, one_joint, parameters, with_effects
from support.energy import energy

T = np.arange(0, 2.0, 5e-4)
Q_REF = np.column_stack([0.8 * np.sin(4 * T), 0.6 * np.sin(5 * T) * np.sin(T)])
LOOP = didim.PD(natural_frequency=[30.0, 40.0], damping=1.0, inertia=[3.5, 0.1])


def stored(model, phi, motion):
    """(N,) kinetic and gravity energy, and that of the springs, by their integrals."""
    value = dict(zip(model.parameter_names, phi, strict=True)) | model.shape_values
    E = np.array([energy(model, *row, phi) for row in zip(motion.q, motion.dq, strict=True)])
    for j in range(model.robot.n):
        q, n = motion.q[:, j], j + 1
        if f"ks{n}" in value:
            E += 0.5 * value[f"ks{n}"] * (q - value[f"qs{n}"]) ** 2
        if f"Rs{n}" in value:
            order = value[f"order{n}"]
            E += (value[f"Rc{n}"] * np.sin(order * q) - value[f"Rs{n}"] * np.cos(order * q)) / order
        if f"mg{n}" in value:
            E += value[f"mg{n}"] * np.sin(q - value[f"qw{n}"])
    return E


@pytest.mark.parametrize(
    "effects",
    [
        ("stribeck",),
        ("load_friction",),
        ("asymmetric_load_friction",),
        ("viscous_power",),
        ("temperature",),
        ("back_emf",),
        ("stribeck", "load_friction", "spring", "ripple", "counterweight"),
    ],
    ids="-".join,
)
def test_what_the_drives_give_is_stored_or_dissipated(effects):
    """On the SCARA: the dissipation, found from energies alone, never falls, and is the integral of
    torque without stored torque, times velocity.
    """
    model, phi = with_effects("scara", *effects)
    signals = channels(model, T)
    motion = didim.simulate(model, phi, LOOP, t=T, q_ref=Q_REF, signals=signals)
    assert motion.completed
    E = stored(model, phi, motion)
    given = cumulative_simpson((motion.tau * motion.dq).sum(axis=1), x=T, initial=0.0)
    lost = given - (E - E[0])
    scale = np.abs(given).max()
    assert lost[-1] > 0.1 * scale
    assert np.diff(lost).min() > -2e-6 * scale
    conservative = phi.copy()
    rubs = ("Fc", "Fv", "dFs", "mu", "FvT", "FcT", "Kb")
    for i, each in enumerate(model.parameters):
        if each.symbol.startswith(rubs):
            conservative[i] = 0.0
    load = model.inverse_dynamics(
        motion.q, motion.dq, motion.ddq, conservative, motion.slip, motion.signals
    )
    power = ((motion.tau - load) * motion.dq).sum(axis=1)
    assert power.min() > -1e-9 * np.abs(power).max()
    assert lost == pytest.approx(cumulative_simpson(power, x=T, initial=0.0), abs=1e-5 * scale)


def test_a_pendulum_with_springs_alone_keeps_its_energy():
    """Gas spring too: its energy by quadrature of its torque."""
    effects = ["spring", "ripple", "counterweight", "gas_spring"]
    model, phi = one_joint(
        "revolute", effects, ZZ1=0.5, MX1=0.4, ks1=2.0, Rs1=0.3, Rc1=0.2, mg1=1.0, Fg1=30.0
    )
    t = np.linspace(0, 5, 2001)
    motion = didim.simulate(model, phi, None, t=t, tau=0 * t, initial=([0.9], [0.0]))
    grid = np.linspace(motion.q.min(), motion.q.max(), 4001)
    gas = parameters(model, **dict.fromkeys(model.parameter_names, 0.0)) * 0
    gas[model.parameter_names.index("Fg1")] = 30.0
    torque = model.inverse_dynamics(grid, 0 * grid, 0 * grid, gas)[:, 0]
    potential = cumulative_simpson(torque, x=grid, initial=0.0)
    E = stored(model, phi, motion) + np.interp(motion.q[:, 0], grid, potential)
    assert np.ptp(motion.q) > 0.5
    assert np.ptp(E) < 1e-6 * np.abs(E).max()
