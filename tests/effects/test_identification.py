"""Every effect is identified: from exact states, by DIDIM and by the exact method."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import didim
from didim.regression.projection import project
from didim.regression.system import observe, shape_rows
from didim.signals.rows import RowSelection
from didim.signals.states import States

BASIC = ["rotor", "viscous", "coulomb"]
TRUE = {
    "dFs": 0.3,
    "mu": 0.1,
    "mup": 0.1,
    "mun": 0.15,
    "Fvq": 0.1,
    "Fvr": 0.05,
    "Rs": 0.3,
    "Rc": 0.2,
    "ks": 2.0,
    "Fg": 50.0,
    "mg": 1.0,
    "FvT": 0.01,
    "FcT": 0.02,
    "Kb": 0.1,
}
CHANNELS = {
    "temperature": lambda t: 20 + 3 * t,
    "enabled": lambda t: np.where(np.sin(3 * t) > 0.8, 0.0, 1.0),
}
EFFECTS = [name for name in didim.effects() if name not in (*BASIC, "offset")]
EFFECTS = [name for name in EFFECTS if name not in ("asymmetric_viscous", "asymmetric_coulomb")]
LOOP = didim.PD(natural_frequency=[40.0, 60.0], damping=1.0)
CABLE = didim.Effect(
    name="cable",
    weights={1: 1.0, 2: -0.5},
    torque="k * (q - q0) + c * dq",
    unknown={
        "k": {"unit": "N.m/rad", "value": 3.0},
        "c": {"unit": "N.m.s/rad", "value": 0.2},
        "q0": {"unit": "rad", "value": 0.2},
    },
)


def reference(seconds=5.0):
    t = np.arange(0.0, seconds + 1e-9, 1e-3)
    first = 0.8 * np.sin(2 * np.pi * 0.7 * t) * np.sin(3 * t)
    second = 0.6 * np.sin(2 * np.pi * 0.9 * t + 0.3) * np.cos(1.7 * t)
    return didim.Reference(t, np.column_stack([first, second]))


@cache
def case(effect):
    """Model, true base parameters, record and motion of a virtual SCARA."""
    model = didim.DynamicModel(didim.load_robot("scara"), effects=[*BASIC, effect])
    phi = np.where(np.isnan(model.nominal), 0.0, model.nominal)
    for k, each in enumerate(model.parameters):
        if np.isnan(model.nominal[k]) and each.symbol in TRUE:
            phi[k] = TRUE[each.symbol]
    channels = {name: CHANNELS[name] for name in model.channels}
    record, truth = didim.virtual_experiment(model, phi, LOOP, reference(), channels=channels)
    return model, model.base.matrix @ phi, record, truth.motion


def wrong_shapes(model):
    """The model with its unknown shapes half as large again."""
    return model.with_shapes({name: 1.5 * value for name, value in model.base.free_shapes.items()})


def largest_error(values, true):
    return np.max(np.abs(values - true) / np.maximum(np.abs(true), 1e-2))


def check(estimate, model, true):
    assert estimate.status == "converged"
    assert largest_error(estimate.values, true) < 1e-5
    for name, (value, _) in estimate.shapes.items():
        assert value == pytest.approx(model.shape_values[name], rel=1e-5)


@pytest.mark.parametrize("effect", [*EFFECTS, CABLE], ids=lambda each: getattr(each, "name", each))
def test_least_squares_from_exact_states(effect):
    model, true, record, motion = case(effect)
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
        return shape_rows(model, states(model, chi), chi, first, selection, window).W

    first = rows(start, np.zeros(true.size))
    found = project(start, first, rows, slopes, "wls")
    assert largest_error(found.solution.values[: true.size], true) < 1e-5
    for name, value in found.model.free_shapes.items():
        assert value == pytest.approx(model.shape_values[name], rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("effect", [*EFFECTS, CABLE], ids=lambda each: getattr(each, "name", each))
def test_didim_without_noise(effect):
    model, true, record, _ = case(effect)
    method = didim.DIDIM(controller=LOOP, decimation=10, tol_parameters=1e-4, tol_residual=1e-5)
    check(didim.identify(model.with_held_shapes(), record, method), model, true)


@pytest.mark.slow
@pytest.mark.parametrize("effect", [*EFFECTS, CABLE], ids=lambda each: getattr(each, "name", each))
def test_the_exact_method_without_noise(effect):
    model, true, record, _ = case(effect)
    method = didim.DIDIM(controller=LOOP, decimation=10, refine=True)
    check(didim.identify(wrong_shapes(model), record, method), model, true)


def test_idim_finds_shapes_of_a_noisy_record():
    model, _, record, motion = case("stribeck")
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
    model = didim.DynamicModel(didim.load_robot("scara"), effects=[*BASIC, "stribeck"])
    phi = np.where(np.isnan(model.nominal), 0.0, model.nominal)
    record, _ = didim.virtual_experiment(model, phi, LOOP, reference(), noise=0.02)
    estimate = didim.identify(model, record, didim.DIDIM(controller=LOOP, decimation=10))
    assert estimate.status == "unexcited"
    assert set(estimate.unidentified) & {"vs1", "vs2"}
