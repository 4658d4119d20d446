"""Whether a model may be used: every doubt lowers the level that it should, and no other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import didim
from didim.results.doubts import weak_parameters
from didim.results.judgement import judge
from support.reported import found
from support.virtual import model, scara_record


def levels(estimate) -> tuple[str, ...]:
    return tuple(use.level for use in judge(estimate).uses)


@pytest.mark.slow
def test_a_good_model_may_be_used():
    for kind in ("IDIM", "DIDIM", "refined"):
        assert judge(found(kind)).level == "yes", judge(found(kind))
        assert levels(found(kind))[:3] == ("yes", "yes", "yes")


def test_what_was_not_tried_is_used_with_care():
    judged = judge(replace(found("DIDIM"), validation=()))
    assert judged.level == judged.other.level == "care"
    assert "no record was held out" in judged.other.why


@pytest.mark.slow
def test_without_convergence_nothing_may_be_used():
    for status in ("stopped", "diverged", "unexcited"):
        judged = judge(replace(found("DIDIM"), status=status))
        assert judged.level == "no"
        assert {use.level for use in judged.uses} == {"no"}
        assert judged.sentence == "Do not use this model."
    assert judge(found("unsolved")).level == "no"


@pytest.mark.parametrize(
    ("total", "by_joint", "level"),
    [
        (0.09, (0.09, 0.2), "yes"),
        (0.09, (0.09, 0.3), "care"),
        (0.2, (0.2, 0.2), "care"),
        (0.3, (0.3, 0.3), "no"),
    ],
)
def test_what_the_fit_leaves_counts(total, by_joint, level):
    judged = judge(replace(found("DIDIM"), residual=total, residual_by_joint=np.array(by_joint)))
    assert judged.recorded.level == level
    assert f"{100 * total:.3g} %" in judged.recorded.why


@pytest.mark.parametrize(
    ("left", "level"), [(0.09, "care"), (0.04, "yes"), (0.12, "no"), (0.4, "no")]
)
def test_what_is_left_of_a_held_out_record_counts(left, level):
    estimate = replace(found("DIDIM"), residual=0.02)
    tried = replace(estimate.validation[0], residual=left, residual_by_joint=np.array([left, left]))
    assert judge(replace(estimate, validation=(estimate.validation[0], tried))).other.level == level


def test_a_record_that_cannot_be_predicted_is_a_no():
    tried = replace(
        found("DIDIM").validation[0], message="the simulation ran away", residual=np.inf
    )
    judged = judge(replace(found("DIDIM"), validation=(tried,)))
    assert (judged.other.level, judged.level) == ("no", "no")


def test_a_turned_sign_is_seen_though_the_residual_is_small():
    """IDIM converges on torques of the wrong sign; no machine has what it finds."""
    experiment, _ = scara_record(noise=0.02)
    turned = didim.Experiment(
        experiment.t, -np.asarray(experiment.tau), experiment.q_ref, experiment.q
    )
    estimate = didim.identify(model(), turned, didim.IDIM())
    assert estimate.status == "converged"
    assert estimate.residual < 0.05
    judged = judge(estimate)
    assert judged.level == "no"
    assert "not positive" in judged.recorded.why
    assert judged.sentence in estimate.summary()


def test_an_inertia_matrix_that_is_not_positive_definite_forbids_simulation_only():
    estimate = found("DIDIM")
    values = estimate.values.copy()
    values[estimate.names.index("MX2")] = 1.0  # det M < 0 where |cos q2| > 0.9 or so
    judged = judge(replace(estimate, values=values))
    assert judged.simulation.level == "no"
    assert "of 512 poses" in judged.simulation.why
    assert judged.recorded.level == "yes"
    assert judged.level == "care"
    assert "positive definite" in judged.reason
    values[estimate.names.index("MX2")] = 5.0  # nearly everywhere
    assert judge(replace(estimate, values=values)).level == "no"


def test_negative_friction_is_named():
    estimate = found("DIDIM")
    values = np.where(np.char.startswith(estimate.names, "Fc2"), -1.0, estimate.values)
    judged = judge(replace(estimate, values=values))
    assert judged.simulation.level == "care"
    assert "Fc2" in judged.simulation.why


def test_weak_values_and_assumed_loops_concern_single_values():
    estimate = found("DIDIM")
    weak = estimate.covariance.copy()
    weak[4, 4] = (0.5 * estimate.values[4]) ** 2
    judged = judge(replace(estimate, covariance=weak))
    assert judged.values.level == "care"
    assert estimate.names[4] in judged.values.why
    assert judged.level == "yes"
    assumed = judge(replace(estimate, provenance={"study": {"controller": {"assumed": True}}}))
    assert "assumed" in assumed.values.why
    assert judge(replace(estimate, covariance=1e6 * estimate.covariance)).values.level == "no"
    assert "ill-conditioned" in judge(replace(estimate, scaled_condition=5e3)).values.why


@pytest.mark.slow
def test_positions_say_nothing_of_torques():
    judged = judge(found("position"))
    assert found("position").output == "position"
    assert judged.recorded.level == "care"
    assert "positions" in judged.recorded.why


@pytest.mark.slow
def test_a_saved_estimate_is_judged_alike(tmp_path):
    for kind in ("IDIM", "position"):
        again = didim.load_estimate(found(kind).save(tmp_path / f"{kind}.json"))
        assert judge(again) == judge(found(kind))


@pytest.mark.parametrize(
    ("robot", "units"),
    [
        ("scara", {"ZZ1R": "kg m²", "MX2": "kg m", "Fv1": "N m s/rad", "Fc2": "N m"}),
        ("emps", {"M1": "kg", "Fv1": "N s/m", "Fc1": "N", "off1": "N"}),
        (
            "tx40",
            {"Ia3": "kg m²", "Iam6": "kg m²", "Fvm6": "N m s/rad", "Fcm6": "N m", "MX2R": "kg m"},
        ),
    ],
)
def test_units_of_base_parameters(robot, units):
    found_units = {each.name: each.unit for each in model(robot).base.parameters}
    assert {name: found_units[name] for name in units} == units
    assert set(found_units.values()) <= {"kg m²", "kg m", "kg", "N m s/rad", "N s/m", "N m", "N"}


def test_what_is_not_a_number_is_never_a_yes():
    estimate = found("DIDIM")
    for by_joint in (np.array([np.nan, 0.9]), np.array([0.1, np.inf])):
        assert judge(replace(estimate, residual_by_joint=by_joint)).recorded.level == "no"
    tried = replace(estimate.validation[0], residual=np.nan)
    assert judge(replace(estimate, validation=(tried,))).other.level == "no"


def test_a_record_is_judged_by_all_rows_that_move():
    """All joints slower than rest_velocity: 0 % of nothing is no proof, the other rows count."""
    estimate = found("IDIM")
    slow = replace(
        estimate,
        preprocessing=replace(
            estimate.preprocessing,
            selection=replace(estimate.preprocessing.selection, rest_velocity=1e3),
        ),
    )
    tried = slow.validate(estimate.held_out[0])
    assert 0.9 * estimate.validation[0].rows < tried.rows < estimate.validation[0].rows
    assert tried.left_out == 1.0
    assert "100 % of the rows are below rest_velocity" in str(tried)
    assert tried.residual == pytest.approx(estimate.validation[0].residual, rel=0.3)
    still = replace(estimate.held_out[0], q=np.zeros_like(estimate.held_out[0].q))
    tried = slow.validate(still)
    assert tried.rows == 0
    assert "No row remains" in tried.message
    assert judge(replace(estimate, validation=(tried,))).other.level == "no"


def test_friction_of_a_coupling_may_have_any_sign():
    """Fvm6 of the TX40 couples two joints; it is no friction of one of them."""
    names = model("tx40").base.parameter_names
    frictional = dict(zip(names, model("tx40").base.frictional, strict=True))
    assert not frictional["Fvm6"]
    assert frictional["Fcm6"]
    assert frictional["Fv6"]
    assert not frictional["ZZ1R"]


def test_the_record_of_the_fit_is_no_held_out_record():
    experiment, _ = scara_record(noise=0.02)
    judged = judge(didim.identify(model(), experiment, didim.IDIM(), validation=experiment))
    assert judged.other.level == "care"
    assert "was fitted to" in judged.other.why


def test_torques_in_another_unit_are_doubted():
    """N mm for N m: the fit is as good as ever, and every inertia a thousand times the described
    one.
    """
    experiment, _ = scara_record(noise=0.02)
    estimate = didim.identify(
        model(), replace(experiment, tau=1e3 * np.asarray(experiment.tau)), didim.IDIM()
    )
    judged = judge(estimate)
    assert judged.recorded.level == "care"
    assert "times the described one" in judged.recorded.why
    assert judge(didim.identify(model(), experiment, didim.IDIM())).recorded.level == "yes"


def test_the_worst_of_several_held_out_records_counts():
    estimate = found("DIDIM")
    poor = replace(
        estimate.validation[0],
        residual=0.02,
        residual_by_joint=np.array([0.02, 0.4]),
        experiment="elbow",
    )
    better = replace(
        estimate.validation[0], residual=0.04, residual_by_joint=np.array([0.04, 0.04])
    )
    judged = judge(replace(estimate, validation=(better, poor)))
    assert judged.other.level == "care"
    assert "elbow" in judged.other.why


def test_residuals_that_last_make_single_values_doubtful():
    estimate = found("DIDIM")
    judged = judge(replace(estimate, corrected_covariance=4 * estimate.covariance))
    assert judged.values.level == "care"
    assert "not only noise" in judged.values.why


def test_zero_within_the_interval_is_not_significant():
    estimate = found("DIDIM")
    wide = estimate.corrected_covariance.copy()
    wide[0, 0] = estimate.values[0] ** 2
    assert estimate.names[0] in weak_parameters(replace(estimate, corrected_covariance=wide))
    assert estimate.names[0] not in weak_parameters(estimate)


@pytest.mark.long
def test_unknown_gains_do_not_condemn_the_dynamics():
    """Unexcited for a gain alone: torque is judged by what it explains, the gains by themselves."""
    estimate = found("gains")
    one = next(iter(estimate.gains))
    unknown = replace(estimate, status=didim.Status.UNEXCITED, unidentified=(one,))
    judged = judge(unknown)
    assert [each.level for each in judged.uses[:3]] == [
        each.level for each in judge(estimate).uses[:3]
    ]
    assert judged.gains.level == "no"
    assert one in judged.gains.why
    assert "do not use these" in unknown.summary()
    parameter = replace(unknown, unidentified=(one, estimate.names[0]))
    assert judge(parameter).level == "no"


@pytest.mark.slow
def test_guessed_gains_are_no_better_than_unknown_ones():
    assumed = {"study": {"controller": {"assumed": True}}}
    guessed = judge(replace(found("DIDIM"), provenance=assumed))
    assert guessed.values.level == "care"
    assert guessed.gains.level == "no"
    assert judge(found("DIDIM")).gains.level == "care"
    assert judge(found("gains")).gains.level == "yes"
    assert judge(found("IDIM")).gains is None


def test_more_than_noise_is_left():
    """Parameters of a model that leaves more than noise may be biased, whatever their sigma."""
    estimate = found("DIDIM")
    assert "times the noise" not in judge(estimate).values.why
    poorer = replace(estimate, residual_over_noise=2.0 * estimate.residual_over_noise)
    assert judge(poorer).values.level == "care"
    assert "times the noise" in judge(poorer).values.why


def test_gains_beside_more_than_noise_are_used_with_care():
    estimate = found("gains")
    assert estimate.residual_over_noise is not None
    poorer = replace(estimate, residual_over_noise=np.array([1.0, 14.0]))
    judged = judge(poorer).gains
    assert judged.level == "care"
    assert "joint 2" in judged.why
    assert "14 times the noise" in judged.why


def test_a_missing_rotor_is_named():
    """A gear of 1:1000 and no rotor in the model: the link seems a thousand times as heavy."""
    scara = didim.DynamicModel(didim.load_robot("scara"), ("viscous", "coulomb"))
    experiment, _ = scara_record(noise=0.02)
    heavy = replace(experiment, tau=1e3 * np.asarray(experiment.tau))
    found_heavy = didim.identify(scara, heavy, didim.IDIM())
    assert any("rotor" in note for note in found_heavy.notes), found_heavy.notes
