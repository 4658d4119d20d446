"""Sensitivities by two threads are those of one run."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace

import numpy as np
import pytest

import didim
from didim.signals.decimation import Decimation
from didim.simulation import decimated, halves
from didim.simulation.decimated import decimated_sensitivities
from didim.simulation.directions import Directions
from didim.simulation.disturbances import disturbances_of
from didim.simulation.prepare import SimulationRequest
from didim.simulation.steps import clock_of
from support.virtual import model

T = np.arange(4001) / 1000.0
SAMPLES = 700, 3990


@pytest.fixture(autouse=True)
def _short_runs_too(monkeypatch):
    monkeypatch.setattr(halves, "FEWEST_STEPS", T.size - 1)


def request(loop, name: str = "scara", initial=None) -> SimulationRequest:
    """A simulation of four seconds."""
    base = model(name).base
    random = np.random.default_rng(0)
    n = base.robot.n
    reference = didim.Fourier(*random.uniform(-0.3, 0.3, (2, n, 3)), 4.0, np.zeros(n))
    parameters = base.nominal
    return SimulationRequest(
        base, parameters, loop, T, reference, None, "exact", 0.05, initial, None, 60
    )


def both(asked, monkeypatch, outputs=("tau", "q"), decimation=None, **more):
    """By two threads, and as a whole."""
    decimator = decimation or Decimation(20, "fir")
    given = asked, True, False, outputs, decimator, SAMPLES
    found = decimated_sensitivities(*given, alone=True, **more)
    monkeypatch.setattr(decimated, "middle_of", lambda *_: None)
    return found, decimated_sensitivities(*given, alone=True, **more)


def joined(monkeypatch) -> list[int]:
    """How many numbers each run carried over its middle."""
    found, function = [], halves._carried_numbers

    def numbers(run):
        found.append(function(run))
        return found[-1]

    monkeypatch.setattr(halves, "_carried_numbers", numbers)
    return found


LOOPS = {
    "continuous": (didim.PD(natural_frequency=60.0), 4),
    "integrals": (didim.PID(kp=20.0, kv=8.0, ki=30.0), 8),
    "sampled": (didim.PD(natural_frequency=30.0, rate=1000.0, velocity="backward_difference"), 6),
    "remembers": (
        didim.Cascade(kp=15.0, kv=4.0, kiv=8.0, rate=1000.0, velocity="mean_difference", delay=2),
        18,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOPS)
def test_two_halves_are_the_whole(name, monkeypatch):
    loop, count = LOOPS[name]
    carried = joined(monkeypatch)
    found, whole = both(request(loop), monkeypatch)
    assert set(carried) == {count}
    assert np.array_equal(found.motion.tau, whole.motion.tau)
    scale = np.abs(whole.J).max(axis=(0, 1))
    assert np.all(np.abs(found.J - whole.J).max(axis=(0, 1)) <= 1e-10 * scale)
    assert not np.array_equal(found.J, whole.J)


def test_a_short_run_is_made_in_one_piece(monkeypatch):
    monkeypatch.setattr(halves, "FEWEST_STEPS", 100 * T.size)
    found, whole = both(request(LOOPS["continuous"][0]), monkeypatch)
    assert np.array_equal(found.J, whole.J)


@pytest.mark.parametrize("decimation", [Decimation(1), Decimation(20, "scipy")])
def test_every_decimation(decimation, monkeypatch):
    asked = request(LOOPS["continuous"][0])
    found, whole = both(asked, monkeypatch, ("tau",), decimation)
    assert found.J.shape == whole.J.shape
    assert np.abs(found.J - whole.J).max() <= 1e-10 * np.abs(whole.J).max()


def test_the_middle_does_not_depend_on_the_threads(monkeypatch):
    class OneAfterTheOther:
        def __init__(self, _):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def submit(self, function, *args):
            done = Future()
            done.set_result(function(*args))
            return done

    given = request(LOOPS["sampled"][0]), True, False, ("tau",), Decimation(20, "fir"), SAMPLES
    threads = decimated_sensitivities(*given, alone=True)
    monkeypatch.setattr(halves, "ThreadPoolExecutor", OneAfterTheOther)
    alone = decimated_sensitivities(*given, alone=True)
    assert np.array_equal(threads.J, alone.J)


def test_a_disturbance_acts_in_both_halves(monkeypatch):
    torques = [{0: np.sin(3 * T)}, {0: np.cos(T), 1: np.ones(T.size)}]
    asked = request(LOOPS["continuous"][0])
    found, whole = both(asked, monkeypatch, ("tau",), disturbances=disturbances_of(torques))
    assert np.abs(found.J - whole.J).max() <= 1e-10 * np.abs(whole.J).max()


def test_other_motions_have_the_first_half_go_on(monkeypatch):
    def elsewhere(run, until=None):
        motion = fixed(run, None, until)
        run.y[0] += 1e-9
        return motion

    fixed = halves.Run.fixed
    monkeypatch.setattr(halves.Run, "fixed", lambda run, _, until=None: elsewhere(run, until))
    found, whole = both(request(LOOPS["continuous"][0]), monkeypatch)
    assert np.array_equal(found.J, whole.J)
    assert np.array_equal(found.motion.q, whole.motion.q)


@pytest.mark.parametrize("jump", [1000, 3000])
def test_a_run_that_diverges_says_when(jump, monkeypatch):
    path = np.zeros((T.size, 2))
    path[jump:] = 1e8
    given = request(LOOPS["continuous"][0])
    asked = replace(given, q_ref=didim.Reference(T, path, interpolation="linear"))
    found, whole = both(asked, monkeypatch)
    assert whole.motion.status == "diverged"
    assert (found.motion.status, found.motion.message) == ("diverged", whole.motion.message)
    assert found.motion.t.size == whole.motion.t.size
    assert found.J.size == 0


def test_the_clock_of_a_long_record_meets_its_samples():
    t = np.arange(1_000_001) / 1000.0
    period = clock_of(LOOPS["continuous"][0], t, None)
    assert np.abs(np.arange(t.size) * period - t).max() < 1e-10
    uneven = np.concatenate([t[:2000], t[2000:] + 0.3])
    assert clock_of(LOOPS["continuous"][0], uneven, None) == pytest.approx(1e-3, rel=1e-9)


@pytest.mark.parametrize("first", [1, 79, 80, 81])
def test_folding_before_or_after_decimation_is_the_same(first):
    random = np.random.default_rng(0)
    fold, rows = random.standard_normal((4, 3)), random.standard_normal((600, 8))
    directions = Directions(("a", "b", "c"), np.full((6, 2), -1), -1, 4, fold)
    stream, whole = Decimation(20, "fir").stream(), Decimation(20, "fir").stream()
    for part in (rows[:first], rows[first : 2 * first], rows[2 * first :]):
        stream.push(part)
    whole.push(rows)
    expected = whole.result().reshape(-1, 2, 4) @ fold
    np.testing.assert_allclose(decimated._result(stream, directions, (2, 4)), expected, atol=1e-12)


def test_sensitivities_that_diverge_become_infinite():
    """`Failure` is what is made of them, not a warning of NumPy's."""
    rows = np.array([[1.0, 2.0, 1e200, -1e200]])
    found = decimated._from(rows, (1, 2), np.array([[1e200, 1.0], [1e200, 1.0]]))
    assert not np.isfinite(found[0, 0])
    assert found[0, 1] == 2.0
