"""What each remedy changes in a model and its loop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import didim
from didim.improvement.candidates import FOR_A_PERSON, candidates, suspects_in_order
from didim.improvement.structure import Structure, start_from
from didim.results.lack_of_fit import LackOfFit, LackRow, Remedy
from support.virtual import model, scara_record

KP, KV = (10.0, 25.0), (140.0, 6.2)


def row(name: str, remedy: Remedy, joint: int | None = None, value: float = 1.0, **more) -> LackRow:
    return LackRow(name, "", joint, value, 0.01, "", 1e-9, 0.5, remedy, "", **more)


@pytest.fixture(scope="module")
def case():
    """A structure in a sampled PD loop, its estimate and its record."""
    experiment, _ = scara_record(rate=200.0, law_rate=200.0, noise=0.02, periods=1)
    loop = didim.PD(kp=KP, kv=KV, rate=200.0, saturation=[500.0, 50.0])
    method = didim.DIDIM(controller=loop, decimation=5, lack_of_fit=False)
    estimate = didim.identify(model(), experiment, method)
    return Structure(model(), method), estimate, [experiment]


def first(case, *rows: LackRow):
    structure, estimate, records = case
    return [each.structure for each in candidates(structure, estimate, rows, records)]


def test_a_gain_is_estimated_from_its_scaled_value_then_all_are_then_it_is_set(case):
    one, free, alone = first(case, row("kp2", Remedy.GAIN, 1, 10.0))
    for each in (one, free, alone):
        assert np.allclose(each.loop.kp, [KP[0], 1.1 * KP[1]])
        assert np.allclose(each.loop.kv, KV)
    assert one.method.estimate_gains == ("kp2",)
    assert free.method.estimate_gains is True
    assert not free.method.scan
    assert not alone.method.estimate_gains


def test_gains_that_are_far_off_are_scanned(case):
    free, *_ = first(case, row("kv", Remedy.GAIN, None, 60.0))
    assert free.method.estimate_gains is True
    assert free.method.scan
    assert np.allclose(free.loop.kv, 1.6 * np.array(KV))


@pytest.mark.parametrize(
    ("name", "law", "gain", "unit"),
    [
        ("ki", didim.PID, "ki", np.multiply(KP, KV)),
        ("kiv", didim.Cascade, "kiv", np.array(KV)),
    ],
)
def test_integral_action_makes_another_law(case, name, law, gain, unit):
    for each in first(case, row(name, Remedy.INTEGRAL, None, 2.0)):
        assert isinstance(each.loop, law)
        assert np.allclose(getattr(each.loop, gain), 2.0 * unit)
        assert each.loop.rate == 200.0


def test_integral_action_of_one_joint(case):
    found = first(case, row("ki1", Remedy.INTEGRAL, 0, 2.0))[0].loop
    assert np.allclose(found.ki, [2.0 * KP[0] * KV[0], 0.0])


def test_a_negative_integral_gain_is_refused(case):
    with pytest.raises(didim.InputError, match="below zero"):
        first(case, row("ki", Remedy.INTEGRAL, None, -2.0))


@pytest.mark.parametrize(("value", "expected"), [(0.96, 1.0), (1.05, 1.0), (0.5, 0.5)])
def test_a_velocity_reference_snaps_to_whole_numbers(case, value, expected):
    (found,) = first(case, row("ff", Remedy.VELOCITY_REFERENCE, None, value))
    assert np.allclose(found.loop.velocity_reference, expected)


@pytest.mark.parametrize("value", [0.05, -0.4])
def test_a_velocity_reference_that_stays_what_it_is_is_refused(case, value):
    with pytest.raises(didim.InputError, match="what it is now"):
        first(case, row("ff", Remedy.VELOCITY_REFERENCE, None, value))


def test_feedforward_is_the_identified_model(case):
    structure, estimate, records = case
    (found,) = candidates(structure, estimate, [row("feedforward", Remedy.FEEDFORWARD)], records)
    assert found.follows
    assert found.structure.loop.model_term == "feedforward"
    assert np.array_equal(found.structure.loop.parameters, estimate.parameters)


def test_a_delay_is_whole_samples_of_a_sampled_law(case):
    (found,) = first(case, row("delay", Remedy.DELAY, None, 0.0102))
    assert found.loop.delay == 2
    with pytest.raises(didim.InputError, match="no whole sample"):
        first(case, row("delay", Remedy.DELAY, None, 0.001))
    structure, estimate, records = case
    continuous = replace(estimate, controller=didim.PD(kp=KP, kv=KV))
    with pytest.raises(didim.InputError, match="give its rate"):
        candidates(structure, continuous, [row("delay", Remedy.DELAY)], records)


def test_a_delay_of_the_reference_is_estimated(case):
    (found,) = first(case, row("reference delay", Remedy.REFERENCE_DELAY, None, 0.001))
    assert found.method.estimate_delay is True


def test_a_saturation_is_the_largest_recorded_command(case):
    (found,) = first(case, row("saturation2", Remedy.SATURATION, 1))
    largest = np.abs(case[2][0].tau[:, 1]).max() / model().robot.drive_gain[1, 1]
    assert np.allclose(found.loop.saturation, [500.0, largest])


def test_effects_are_added_to_their_joints_together(case):
    rows = [
        row("dFs2", Remedy.EFFECT, 1, effect="stribeck", shapes={"vs": 0.03}),
        row("dFs1", Remedy.EFFECT, 0, effect="stribeck", shapes={"vs": 0.2}),
    ]
    (found,) = first(case, *rows)
    names = set(found.model.parameter_names) - set(model().parameter_names)
    assert names == {"dFs_stribeck1", "dFs_stribeck2"}
    assert found.model.shape_values["vs_stribeck2"] == 0.03
    assert "vs_stribeck1" in found.model.base.free_shapes


def test_the_order_of_a_ripple_is_estimated_and_the_rest_of_a_spring_is_held(case):
    ripple = row("ripple1", Remedy.EFFECT, 0, effect="ripple", shapes={"order": 17.5})
    spring = row("ks1", Remedy.EFFECT, 0, effect="spring", shapes={"qs": 0.2})
    for each, shape, value in ((ripple, "order_ripple1", 17.5), (spring, "qs_spring1", 0.2)):
        (found,) = first(case, each)
        assert found.model.shape_values[shape] == value
        assert tuple(found.model.base.free_shapes) == ((shape,) if each is ripple else ())


@pytest.mark.parametrize(
    ("name", "effect", "added"),
    [
        ("dFc1", "asymmetric_coulomb", "off_offset1"),
        ("dFv1", "asymmetric_viscous", "dFv_asymmetric_viscous1"),
    ],
)
def test_asymmetric_friction_is_what_differs_from_the_even_one(case, name, effect, added):
    (found,) = first(case, row(name, Remedy.EFFECT, 0, effect=effect))
    assert set(found.model.parameter_names) - set(model().parameter_names) == {added}


def test_the_difference_of_viscous_friction_spans_both_directions(case):
    """Fv dq + dFv |dq| is Fvp max(dq, 0) + Fvn min(dq, 0)."""
    (found,) = first(case, row("dFv1", Remedy.EFFECT, 0, effect="asymmetric_viscous"))
    dq = np.array([[0.7, 0.0], [-0.7, 0.0]])
    columns = found.model.regressor(0 * dq, dq, 0 * dq)[:, 0, :]
    names = found.model.parameter_names
    even, odd = columns[:, names.index("Fv1")], columns[:, names.index("dFv_asymmetric_viscous1")]
    assert np.allclose((even + odd) / 2, [0.7, 0.0])
    assert np.allclose((even - odd) / 2, [0.0, -0.7])


def test_an_effect_that_is_there_already_is_refused(case):
    structure, estimate, records = case
    spring = row("ks1", Remedy.EFFECT, 0, effect="spring", shapes={"qs": 0.2})
    (larger,) = candidates(structure, estimate, [spring], records)
    with pytest.raises(didim.InputError, match="already"):
        candidates(larger.structure, estimate, [spring], records)
    moved = row("ks1", Remedy.EFFECT, 0, effect="spring", shapes={"qs": 0.3})
    (twice,) = candidates(larger.structure, estimate, [moved], records)
    assert {each.name for each in twice.structure.model.robot.effects} == {"spring1", "spring1b"}


def test_a_larger_model_starts_from_the_estimate(case):
    _, estimate, _ = case
    larger = didim.DynamicModel(model().robot, ["rotor", "viscous", "coulomb", "offset"])
    start = dict(zip(larger.base.parameter_names, start_from(larger.base, estimate), strict=True))
    assert start["off1"] == 0.0
    for name, value in zip(estimate.names, estimate.values, strict=True):
        assert np.isclose(start[name], value)


def test_the_surest_comes_first_then_what_resembles_it_then_what_removes_most():
    named = [
        row("dFs1", Remedy.EFFECT, 0, effect="stribeck", found=True, alternatives=("mu1",)),
        row("gravity", Remedy.GRAVITY, found=True),
        row("dFs2", Remedy.EFFECT, 1, effect="stribeck", found=True),
        row("dFs2", Remedy.EFFECT, 1, effect="stribeck", found=True, shapes={"vs": 0.3}),
    ]
    quiet = replace(row("kp1", Remedy.GAIN, 0), p_value=0.5)
    more = [
        replace(row("ks1", Remedy.EFFECT, 0, effect="spring"), share=0.1),
        replace(row("delay", Remedy.DELAY), share=0.3),
        replace(row("reference delay", Remedy.REFERENCE_DELAY), share=0.2),
    ]
    lack = LackOfFit((*named, row("mu1", Remedy.EFFECT, 0, effect="load_friction"), *more, quiet))
    first = [("dFs1", "dFs2"), ("dFs1",), ("mu1",)]
    later = [("reference delay",), ("gravity",), ("dFs2",), ("delay",), ("ks1",)]

    def order(*refused):
        return [tuple(each.name for each in rows) for rows in suspects_in_order(lack, refused)]

    assert order() == [*first, *later]
    assert order(("dFs1",)) == [first[0], first[2], *later, ("dFs1",)]


def test_friction_below_zero_is_refused(case):
    with pytest.raises(didim.InputError, match="not physical"):
        first(case, row("dFs1", Remedy.EFFECT, 0, -0.5, effect="stribeck", shapes={"vs": 0.1}))


def test_a_fraction_of_the_torque_is_no_feedforward(case):
    with pytest.raises(didim.InputError, match="no feedforward"):
        first(case, row("feedforward", Remedy.FEEDFORWARD, None, -0.06))


def test_every_remedy_is_applied_or_left_to_a_person(case):
    structure, estimate, records = case
    for remedy in set(Remedy) - set(FOR_A_PERSON):
        name = {Remedy.GAIN: "kp1", Remedy.INTEGRAL: "ki"}.get(remedy, remedy.value)
        rows = [row(name, remedy, 0, 0.5, effect="offset")]
        assert candidates(structure, estimate, rows, records)
