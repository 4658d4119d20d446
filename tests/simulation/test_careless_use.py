"""Things that a careless user hands in, anywhere in data, control and simulation: always one clear
`InputError`.
"""

from __future__ import annotations

import numpy as np
import pytest

import didim

T = np.linspace(0, 1, 11)
Z = np.zeros((11, 2))
S = didim.DynamicModel(didim.load_robot("scara"))
PD = didim.PD(natural_frequency=10.0)
MOVE = didim.PointToPoint([0.0, 1.0], [[0.0, 0.0], [0.3, 0.3]])


def simulate(**change):
    return didim.simulate(
        change.pop("model", S), S.nominal, change.pop("loop", PD), **({"t": T, "q_ref": Z} | change)
    )


def virtual(**change):
    model, loop = change.pop("model", S), change.pop("loop", PD)
    return didim.virtual_experiment(model, S.nominal, loop, MOVE, **change)


def uncompilable(t, n, q_ref, dq_ref, ddq_ref, q, dq, memory, v):
    v[0] = object()


def wrong_signature(t, q):
    return t


@didim.control_law
def NOTHING(t, n, q_ref, dq_ref, ddq_ref, q, dq, memory, v):
    v[0] = 0.0


MISTAKES = [
    lambda: didim.Experiment(t=T, tau=5.0, q_ref=Z),
    lambda: didim.Experiment(t=T, tau=None, q_ref=Z),
    lambda: didim.Experiment(t=T, tau="abc", q_ref=Z),
    lambda: didim.Experiment(t=T, tau=[[1, 2], [3]], q_ref=Z),
    lambda: didim.Experiment(t=T, tau=np.zeros((11, 0)), q_ref=None),
    lambda: didim.Experiment(t=T, tau=Z, q_ref=Z).between("a", 1),
    lambda: didim.Experiment(t=T, tau=Z, q_ref=Z).between(None, 1),
    lambda: didim.Reference(T, 5.0),
    lambda: didim.Reference(T, None),
    lambda: didim.Reference(T, Z, interpolation="spline"),
    lambda: didim.PointToPoint([0, 1], 3.0),
    lambda: didim.Fourier([[1, 2]], [[1, 2]], 1.0, centre=[1, 2, 3]),
    lambda: didim.Fourier("a", [[1, 2]], 1.0),
    lambda: didim.Fourier([[1, 2], [3]], [[1, 2]], 1.0),
    lambda: didim.Fourier([[1, 2]], [[1, 2]], "long"),
    lambda: didim.Fourier([[1, 2]], [[1, 2]], 1.0, periods=1.5),
    lambda: didim.Fourier.random("scara", 0),
    lambda: didim.Fourier.random(S.robot, -1),
    lambda: didim.Fourier.random(S.robot, 0, harmonics=2.5),
    lambda: didim.Fourier.random(S.robot, 0, share="a"),
    lambda: didim.Fourier.random(S.robot, 0, share=5.0),
    lambda: didim.OwnLaw(law=NOTHING, model=S, model_term="gravity"),
    lambda: didim.OwnLaw(law=NOTHING, rate=100, memory=10**9),
    lambda: simulate(loop=didim.PD(natural_frequency=10.0, saturation=[1, 2, 3])),
    lambda: didim.PD(natural_frequency=10.0, rate=100, delay=None),
    lambda: didim.PD(natural_frequency=10.0, rate=100, delay=np.nan),
    lambda: didim.PD(natural_frequency=10.0, rate=100, delay=[1, 1]),
    lambda: didim.PD(natural_frequency=10.0, rate=100, delay=10**12),
    lambda: didim.PD(natural_frequency=10.0, rate="1000"),
    lambda: didim.PD(natural_frequency=10.0, rate=[1000.0, 1000.0]),
    lambda: didim.PD(natural_frequency=10.0, rate=100, encoder="fine"),
    lambda: didim.PD(natural_frequency=10.0, velocity_reference="full"),
    lambda: didim.PD(natural_frequency=10.0, drive_gain="big"),
    lambda: didim.PD(natural_frequency=10.0, model="scara", model_term="gravity"),
    lambda: didim.PD(natural_frequency=10.0, model_term=None),
    lambda: didim.PD(natural_frequency=10.0, parameters=[1.0]),
    lambda: didim.PD(kp=1e200, kv=1e200),
    lambda: didim.PD.parallel("a", 1),
    lambda: didim.PD.parallel([1, 2], [1, 2, 3]),
    lambda: didim.PD.parallel(20, 1, kp=3),
    lambda: didim.PD(natural_frequency=10.0).retuned("heavy"),
    lambda: didim.PD(kp=1.0, kv=[1.0, 1.0], inertia=[1.0, 1.0]).retuned([1.0, 2.0, 3.0]),
    lambda: didim.PID(natural_frequency=10.0, integral_time=0.0),
    lambda: didim.PID(kp=1.0, kv=1.0, ki="a"),
    lambda: didim.PID(kp=1.0, kv=1.0, ki=1.0, integral_time=1.0),
    lambda: simulate(loop=didim.PD(natural_frequency=10.0, drive_gain=[[0.0, 1.0], [1.0, 0.0]])),
    lambda: didim.control_law(uncompilable),
    lambda: didim.control_law(wrong_signature),
    lambda: didim.control_law(3),
    lambda: didim.OwnLaw(law=None),
    lambda: simulate(model="scara"),
    lambda: simulate(model=S.robot),
    lambda: simulate(friction=["exact"]),
    lambda: simulate(width=None),
    lambda: simulate(step="small"),
    lambda: simulate(progress=3),
    lambda: simulate(tolerance=0),
    lambda: simulate(tolerance=np.nan),
    lambda: simulate(tolerance="a"),
    lambda: simulate(q_ref=didim.Reference(np.arange(0, 0.8, 0.01), np.zeros((80, 2)))),
    lambda: virtual(loop=None),
    lambda: virtual(model="scara"),
    lambda: virtual(rate="a"),
    lambda: virtual(duration="a"),
    lambda: virtual(seed=-1),
    lambda: virtual(seed=1.5),
    lambda: didim.load_case(None),
    lambda: didim.linearise(S, S.nominal, PD, [0.0, 0.0, 0.0]),
    lambda: didim.linearise(S, S.nominal, "pd", [0.0, 0.0]),
    lambda: didim.largest_inertias(S, S.nominal, previous=[1.0, 2.0, 3.0]),
    lambda: didim.largest_inertias(S, S.nominal[None]),
    lambda: didim.largest_inertias(S, ["1.0"] * S.nominal.size),
]


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_one_clear_error(number):
    with pytest.raises(didim.InputError) as caught:
        MISTAKES[number]()
    assert len(str(caught.value)) > 20
    assert "\n" not in str(caught.value)


def test_harmless_oddities_work():
    assert didim.PD(natural_frequency=10.0, rate=100, delay=1.0).delay == 1
    assert simulate(t=[0.0, 1e-6], q_ref=np.zeros((2, 2))).completed
