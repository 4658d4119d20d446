"""Work that an identification does once: each of these was done twice for the same result."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import didim
from didim.identification import scan
from didim.identification.problem import ClosedLoopProblem
from didim.identification.regressor_method import RegressorMethod
from didim.results.fitted_rows import FittedRows
from didim.signals import resample
from didim.simulation.record_set import RecordSet
from support.virtual import loop, model, scara_record


def counted(monkeypatch, owner: object, name: str) -> list[str]:
    """The calls of a function, as they are made."""
    calls, function = [], getattr(owner, name)

    def call(*args, **more):
        calls.append(name)
        return function(*args, **more)

    monkeypatch.setattr(owner, name, call)
    return calls


def test_idim_looks_at_a_record_once_and_computes_its_residual_once(monkeypatch):
    record, _ = scara_record(noise=0.05, encoder=1e-4, periods=2)
    looks = counted(monkeypatch, resample, "channel_notes")
    residuals = counted(monkeypatch, FittedRows, "residual")
    didim.identify(model(), record, didim.IDIM(cutoff=20.0, lack_of_fit=False))
    assert looks == ["channel_notes"]
    assert residuals == ["residual"]


def test_didim_compares_each_simulation_once_where_its_rows_stay(monkeypatch):
    record, _ = scara_record(noise=0.05, periods=2)
    compared = counted(monkeypatch, ClosedLoopProblem, "compare")
    simulated = counted(monkeypatch, ClosedLoopProblem, "evaluate")
    method = didim.DIDIM(controller=loop(), transient=1.0, exact_interval=False)
    assert didim.identify(model(), record, method).status == "converged"
    assert len(compared) == len(simulated)


def test_references_are_those_of_every_sample(monkeypatch):
    record, _ = scara_record(noise=0.05, periods=2)
    selection = didim.DIDIM(controller=loop()).selection
    records = RecordSet((record,), selection, 1.0, None, "cubic")
    thin = RecordSet((record,), selection, 1.0, None, "cubic")
    monkeypatch.setitem(thin.__dict__, "_every", 3)
    assert np.array_equal(records.references[0], thin.references[0])
    assert thin.references[0].shape == record.tau.shape


@pytest.mark.parametrize("good_start", [0.1, 0.0])
def test_of_several_starts_one_is_linearised(monkeypatch, good_start):
    """And every step but the last, which is short; the first stage has the Jacobian of its end."""
    monkeypatch.setattr("didim.identification.best_run.GOOD_START", good_start)
    record, _ = scara_record(noise=0.05, periods=2)
    first = counted(monkeypatch, RegressorMethod, "_exact_jacobian")
    linearised = counted(monkeypatch, ClosedLoopProblem, "linearise")
    method = didim.DIDIM(controller=loop(), refine=True, lack_of_fit=False)
    found = didim.identify(model(), record, method)
    assert found.status == "converged"
    assert all(step.fraction == 1.0 for step in found.history)
    assert len(first) == (good_start == 0.0)
    assert len(linearised) == len(first) + 1 + (found.iterations - 1)


def test_the_scan_looks_at_each_bandwidth_once(monkeypatch):
    record, _ = scara_record(noise=0.05, periods=2)
    looks = counted(monkeypatch, scan, "error_with")
    method = didim.DIDIM(controller=loop(), estimate_gains=True, lack_of_fit=False)
    found = didim.identify(model(), record, method)
    assert found.status == "converged"
    assert len(looks) == 3


def test_a_simulation_is_dropped_once_the_next_was_left(monkeypatch):
    record, _ = scara_record(noise=0.05, periods=2)
    alive, evaluate = [], ClosedLoopProblem.evaluate

    def watched(problem, x, window):
        gc.collect()
        alive.append(sum(each() is not None for each in made))
        found = evaluate(problem, x, window)
        made.append(weakref.ref(found))
        return found

    made: list[weakref.ref] = []
    monkeypatch.setattr(ClosedLoopProblem, "evaluate", watched)
    method = didim.DIDIM(controller=loop(), exact_interval=False, tol_residual=1e-9)
    didim.identify(model(), record, method)
    assert len(made) > 4
    assert max(alive) <= 2
