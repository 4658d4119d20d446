"""How much of a torque tells of the gains of a loop, in closed form: why a plan for unknown gains
gains little in a slow loop (docs/decisions/56-excitation.md).

A joint of inertia J in a critically damped loop (53) of bandwidth w, kp = w / 2 and kv = 2 w J,
follows a sine of r w whose acceleration has the amplitude a. Of the derivative of its torque by ln
kp, a part of amplitude 2 J a r / (1 + r^2)^2 is not that of ln kv; of that by ln kv, 2 J a r^2 /
((1 + r^2)^2 sqrt(r^2 + 4)) is not that of ln kp.
"""

from __future__ import annotations

import numpy as np
import pytest

import didim

J, OMEGA, ACCELERATION = 95.0, 2 * np.pi * 5.0, 3.0
PERIODS = 4


def visible(r: float) -> tuple[float, float]:
    """Amplitudes of the parts of kp and of kv that are not the other's, N."""
    common = 2 * J * ACCELERATION * r / (1 + r**2) ** 2
    return common, common * r / np.sqrt(r**2 + 4)


def simulated(r: float) -> tuple[float, float]:
    """The same from the exact sensitivities of a simulation, in its steady state."""
    model = didim.DynamicModel(didim.load_robot("emps"), [])
    loop = didim.PD(kp=OMEGA / 2, kv=2 * OMEGA * J, drive_gain=1.0)
    samples, w = 200, r * OMEGA
    t = np.arange(0, 3.0 + (PERIODS + 1) * 2 * np.pi / w, 2 * np.pi / w / samples)
    reference = didim.Reference(t, ACCELERATION / w**2 * np.sin(w * t))
    found = didim.sensitivities(model.base, [J], loop, t=t, q_ref=reference, gains=True)
    columns = {
        name: value * found.tau[-PERIODS * samples :, 0, found.names.index(name)]
        for name, value in (("kp1", OMEGA / 2), ("kv1", 2 * OMEGA * J))
    }
    kp, kv = columns["kp1"], columns["kv1"]
    parts = (kp - kv * (kv @ kp) / (kv @ kv), kv - kp * (kp @ kv) / (kp @ kp))
    return tuple(np.sqrt(2 * np.mean(each**2)) for each in parts)


@pytest.mark.parametrize("r", [0.2, 0.4, 1.0, 2.0])
def test_the_closed_form_is_what_a_simulated_loop_shows(r):
    assert simulated(r) == pytest.approx(visible(r), rel=2e-3)


def test_kp_is_seen_best_below_the_bandwidth_and_two_hertz_are_enough_in_a_loop_of_five():
    r = np.linspace(0.01, 3.0, 3000)
    of_kp, of_kv = np.transpose([visible(each) for each in r])
    assert r[of_kp.argmax()] == pytest.approx(1 / np.sqrt(3), abs=2e-3)
    in_five, in_ten = (
        visible(2 / hertz) / np.array([of_kp.max(), of_kv.max()]) for hertz in (5, 10)
    )
    assert in_five == pytest.approx([0.915, 0.517], abs=1e-3)
    assert in_ten == pytest.approx([0.569, 0.163], abs=1e-3)
