"""Every effect is identified: from exact states, by DIDIM and by the exact method."""

from dataclasses import replace

import numpy as np
import pytest

import didim
from didim.regression.projection import project
from didim.regression.system import fill_signal_columns, observe
from didim.signals.rows import RowSelection
from didim.signals.states import States
from support.effects import LOOP, NEW, identified_record, name_of, with_effects, wrong_shapes


def largest_error(values, true):
    return np.max(np.abs(values - true) / np.maximum(np.abs(true), 1e-2))


def check(estimate, model, true):
    assert estimate.status == "converged"
    assert largest_error(estimate.values, true) < 1e-5
    for name, (value, _) in estimate.shapes.items():
        assert value == pytest.approx(model.shape_values[name], rel=1e-5)


@pytest.mark.parametrize("effect", NEW, ids=name_of)
def test_least_squares_from_exact_states(effect):
    model, true, record, motion = identified_record(effect)
    selection, window = RowSelection(10, "fir", ends=False), (0, record.t.size)
    start = wrong_shapes(model).base

    def states(model, chi):
        motion_ = motion.q, motion.dq, motion.ddq
        signals = dict(record.channels)
        if model.loaded:
            signals["load"] = model.loads(*motion_, chi, motion.slip, record.channels)
        return States(*motion_, motion.slip, signals)

    def rows(model, chi):
        return observe(model, states(model, chi), record.tau, selection, window)

    def slopes(model, chi):
        at = states(model, chi)
        by_shape = model.slopes(at.q, at.dq, at.ddq, chi, at.slip, at.signals)[0]
        torques = [dict(enumerate(each.T)) for each in np.moveaxis(by_shape, 2, 0)]
        found = np.zeros((first.y.size, len(torques)))
        fill_signal_columns(found, torques, first, selection, window)
        return found

    first = rows(start, np.zeros(true.size))
    found = project(start, first, rows, slopes, "wls")
    assert largest_error(found.solution.values[: true.size], true) < 1e-5
    for name, value in found.model.free_shapes.items():
        assert value == pytest.approx(model.shape_values[name], rel=1e-5)


@pytest.mark.long
@pytest.mark.parametrize("effect", NEW, ids=name_of)
def test_didim_without_noise(effect):
    model, true, record, _ = identified_record(effect)
    method = didim.DIDIM(controller=LOOP, decimation=10, tol_parameters=1e-4, tol_residual=1e-5)
    method = replace(method, max_iterations=100)  # back-EMF with drives off: 63
    check(didim.identify(model.with_held_shapes(), record, method), model, true)


@pytest.mark.slow
@pytest.mark.parametrize("effect", NEW, ids=name_of)
def test_the_exact_method_without_noise(effect):
    model, true, record, _ = identified_record(effect)
    method = didim.DIDIM(controller=LOOP, decimation=10, refine=True)
    check(didim.identify(wrong_shapes(model), record, method), model, true)


def test_idim_finds_shapes_of_a_noisy_record():
    model, _, record, motion = identified_record("stribeck")
    noise = np.random.default_rng(1).standard_normal(record.tau.shape)
    noisy = replace(record, tau=record.tau + 0.02 * motion.tau.std(axis=0) * noise)
    estimate = didim.identify(wrong_shapes(model), noisy, didim.IDIM(decimation=5))
    assert set(estimate.shapes) == {"vs1", "vs2"}
    for value, sigma in estimate.shapes.values():
        assert abs(value - 0.1) < 4 * sigma + 0.02
    assert "vs1" in estimate.summary()
    assert estimate.model.full.shape_values["vs1"] == estimate.shapes["vs1"][0]


@pytest.mark.slow
def test_a_shape_that_the_record_does_not_tell_is_named():
    model, phi = with_effects("scara", "stribeck")
    none = [each.symbol == "dFs" for each in model.parameters]
    _, _, record, _ = identified_record("stribeck")
    record, _ = didim.virtual_experiment(
        model, np.where(none, 0.0, phi), LOOP, record.q_ref, noise=0.02
    )
    estimate = didim.identify(model, record, didim.DIDIM(controller=LOOP, decimation=10))
    assert estimate.status == "unexcited"
    assert set(estimate.unidentified) & {"vs1", "vs2"}


def test_a_physical_robot_with_shapes():
    model, _, record, motion = identified_record("stribeck")
    noise = np.random.default_rng(2).standard_normal(record.tau.shape)
    noisy = replace(record, tau=record.tau + 0.02 * motion.tau.std(axis=0) * noise)
    estimate = didim.identify(model, noisy, didim.IDIM(decimation=5, consistent=True))
    assert estimate.consistency.physical
    assert set(estimate.shapes) == {"vs1", "vs2"}
