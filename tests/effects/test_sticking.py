"""Joints at rest: they hold up to their limit, exactly, and stick-slip has the period of its closed
form.
"""

from __future__ import annotations

import numpy as np
import pytest

import didim
from support.effects import one_joint

T = np.linspace(0, 10, 1001)


def pushed(model, phi, torque, t=T, start=0.0):
    options = {"tau": np.full(t.size, torque), "initial": ([start], [0.0])}
    return didim.simulate(model, phi, None, t=t, **options)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_stribeck_joint_holds_up_to_its_static_limit(sign):
    """Fc + dFs = 5 N: it rests for 10 s below, creeps just above, where viscous friction balances
    the rest, and breaks away where the fall of the limit is faster than that.
    """
    effects = ["viscous", "coulomb", "stribeck"]
    model, phi = one_joint("prismatic", effects, M1=2.0, Fv1=1.0, Fc1=3.0, dFs1=2.0)
    held = pushed(model, phi, sign * 4.9999)
    assert held.stuck.all()
    assert np.abs(held.q).max() < 1e-12
    assert np.allclose(held.slip, sign * 4.9999 / 5.0, rtol=1e-12)
    creeping = pushed(model, phi, sign * 5.0001)
    speed = (1 - np.sqrt(1 - 4 * 200 * 1e-4)) / 400  # 1e-4 + 2 (v / vs)^2 = Fv v, vs = 0.1
    assert sign * creeping.dq[-1, 0] == pytest.approx(speed, rel=0.02)
    free = pushed(model, phi, sign * 5.01, np.linspace(0, 30, 1001))
    assert sign * free.dq[-1, 0] == pytest.approx(5.01 - 3.0, abs=1e-3)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_friction_under_load_holds_a_pendulum(sign):
    """The gear carries the load G = g MX: without torque it holds while G < Fc + mu G, with a
    torque tau upwards while |tau - G| < Fc + mu G.
    """
    G, mup, mun, Fc = 9.81 * 0.5, 0.2, 0.35, 3.5
    effects = ["coulomb", "asymmetric_load_friction"]
    model, phi = one_joint("revolute", effects, ZZ1=0.5, MX1=sign * 0.5, Fc1=Fc, mup1=mup, mun1=mun)
    falling, lifting = (mun, mup) if sign > 0 else (mup, mun)
    for torque, holds in (
        (0.0, Fc + falling * G > G),
        (G - Fc - falling * G + 1e-3, True),
        (G - Fc - falling * G - 1e-3, False),
        (G + Fc + lifting * G - 1e-3, True),
        (G + Fc + lifting * G + 1e-3, False),
    ):
        motion = pushed(model, phi, sign * torque)
        assert motion.stuck.all() == holds, torque
        if holds:
            assert np.abs(motion.q).max() < 1e-12
            assert np.allclose(motion.signals["load"], sign * G, rtol=1e-12)
            back = model.regressor(motion.q, motion.dq, motion.ddq, motion.slip, motion.signals)
            assert np.allclose(back @ phi, motion.tau, atol=1e-12)


def stick_slip_period(M, k, v, Fs, Fc):
    """Period of a mass M on a spring k whose end moves with v, on friction that falls from Fs to Fc
    as soon as it slides.

    With w = sqrt(k / M), z = x_end - x - Fc / k obeys z'' = -w^2 z while the mass slides. It starts
    at z = A = (Fs - Fc) / k with z' = v, the mass at rest: z = A cos(w t) + (v / w) sin(w t). The
    mass rests again when z' = v once more, at w t = 2 pi - 2 atan(A w / v), where z = -A. At rest z
    grows by v, back to A: T = 2 A / v + (2 pi - 2 atan(A w / v)) / w.
    """
    w, A = np.sqrt(k / M), (Fs - Fc) / k
    return 2 * A / v + (2 * np.pi - 2 * np.arctan(A * w / v)) / w


@pytest.mark.parametrize("speed", [0.05, 0.3])
def test_stick_slip_of_a_mass_on_a_belt_has_the_period_of_its_closed_form(speed):
    """A controller with a position gain alone is the spring, its reference the moving end. Its
    damping (the gain on velocity that the law needs) and vs are a thousandth of what would count.
    """
    M, k, Fc, dFs = 1.0, 100.0, 2.0, 3.0
    model, phi = one_joint("prismatic", ["coulomb", "stribeck"], M1=M, Fc1=Fc, dFs1=dFs)
    model = model.with_shapes({"vs1": 1e-4})
    kv = 1e-4
    loop = didim.PD(kp=k / kv, kv=kv, drive_gain=1.0)
    t = np.arange(0, 12, 1e-3)
    start = ([0.0], [0.0])
    motion = didim.simulate(model, phi, loop, t=t, q_ref=speed * t, initial=start, check=False)
    stuck = motion.stuck[:, 0]
    breaks = t[1:][stuck[:-1] & ~stuck[1:]]
    assert breaks.size > 4
    expected = stick_slip_period(M, k, speed, Fc + dFs, Fc)
    assert np.diff(breaks)[1:] == pytest.approx(expected, rel=0.01)
    assert np.mean(np.diff(breaks)[1:]) == pytest.approx(expected, rel=0.003)


@pytest.mark.parametrize("mu", [1.0, 3.0])
def test_a_joint_that_locks_itself_is_refused(mu):
    model, phi = one_joint(
        "revolute", ["load_friction", "viscous"], M1=1.0, ZZ1=0.1, MX1=0.1, mu1=mu
    )
    t = np.linspace(0.0, 1.0, 11)
    with pytest.raises(didim.InputError, match=r"locks itself .* mu must stay below 1"):
        didim.simulate(model, phi, None, t=t, tau=np.zeros((11, 1)))
