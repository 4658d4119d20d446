"""One thread where many identifications run side by side: nothing is split, nothing is changed."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import didim
from didim.simulation import halves
from didim.threads import is_single_threaded, on_threads, side_by_side, single_thread
from support import many
from support.virtual import model


def refined_task(seconds: float, seed: int = 0) -> tuple:
    """Refined DIDIM on a virtual SCARA."""
    scara, loop = model("scara"), didim.PD(natural_frequency=[20.0, 50.0])
    motion = didim.Fourier.random(scara.robot, seed=1, period=seconds, share=1.0)
    record, _ = didim.virtual_experiment(
        scara, scara.nominal, loop, motion, rate=1000.0, noise=0.02, seed=seed
    )
    method = didim.DIDIM(controller=loop, refine=True, initial="nominal", lack_of_fit=False)
    return (scara, record, method), {}, seed


def here(*_: object) -> int:
    """The thread that calls."""
    return threading.get_ident()


def test_every_call_is_made_by_the_thread_that_asks():
    with single_thread():
        assert set(on_threads(here, range(8))) == {here()}
        assert side_by_side(here, here) == (here(), here())
    assert here() not in on_threads(here, range(8))
    assert side_by_side(here, here)[1] != here()


def test_the_setting_ends_with_its_context_and_is_that_of_one_thread():
    assert not is_single_threaded()
    with single_thread():
        assert is_single_threaded()
        assert not seen_by_another_thread()
        with single_thread():
            pass
        assert is_single_threaded()
    with pytest.raises(ZeroDivisionError), single_thread():
        raise ZeroDivisionError
    assert not is_single_threaded()


def seen_by_another_thread() -> bool:
    """Whether another one is limited too."""
    found = []
    other = threading.Thread(target=lambda: found.append(is_single_threaded()))
    other.start()
    other.join()
    return found[0]


def test_sensitivities_of_a_task_are_made_in_one_piece(monkeypatch):
    """As a row of `run_many` and as an identification that is split, within rounding."""
    monkeypatch.setattr(halves, "FEWEST_STEPS", 100)
    split, run_in_halves = [], halves.run_in_halves
    monkeypatch.setattr(
        "didim.simulation.decimated.run_in_halves",
        lambda *given: split.append(None) or run_in_halves(*given),
    )
    ((scara, record, method), *_) = task = refined_task(seconds=4.0)
    (row,) = didim.run_many([task], jobs=1)
    assert row.status == "converged"
    assert not split
    whole = didim.identify(scara, record, method)
    assert split
    np.testing.assert_allclose(row.values, whole.values, rtol=0, atol=1e-8 * whole.sigma.min())


@pytest.mark.slow
def test_rows_of_long_records_do_not_depend_on_the_number_of_workers():
    tasks = [refined_task(seconds=9.0, seed=seed) for seed in (0, 1)]
    assert tasks[0][0][1].t.size > halves.FEWEST_STEPS
    alone, two = (didim.run_many(tasks, jobs=jobs) for jobs in (1, 2))
    assert all(row.status == "converged" for row in alone)
    assert many.numbers(alone) == many.numbers(two)
