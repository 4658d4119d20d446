"""Pictures for notebooks: they take and return axes, and show the numbers of the estimate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import didim
from didim import report
from didim.report.curves import autocorrelation, correlation
from didim.report.pictures import new_axes
from support.reported import found


def with_tests(estimate: didim.Estimate) -> didim.Estimate:
    """The estimate with its tests for a lack of fit, which shared estimates are made without."""
    return replace(estimate, lack=estimate.lack_of_fit(estimate.experiments))


DRAWN = {
    "friction": lambda estimate, axes: report.friction(estimate, 0, axes),
    "lack_of_fit": lambda estimate, axes: report.lack_of_fit(with_tests(estimate), axes),
    "position_torque": lambda _, axes: report.position_torque(found("effects"), 0, axes),
    "torques": lambda estimate, axes: report.torques(estimate, estimate.held_out[0], 1, axes),
    "residual_histogram": lambda estimate, axes: report.residual_histogram(
        estimate, estimate.experiments, 0, axes
    ),
    "residual_autocorrelation": lambda estimate, axes: report.residual_autocorrelation(
        estimate, estimate.experiments[0], 0, axes
    ),
    "parameter_correlation": lambda estimate, axes: report.parameter_correlation(estimate, axes),
    "residual_convergence": lambda estimate, axes: report.residual_convergence(
        estimate.history, axes
    ),
    "parameter_convergence": lambda estimate, axes: report.parameter_convergence(
        estimate.history, estimate.names, axes=axes
    ),
    "motion_distance": lambda estimate, axes: report.motion_distance(
        estimate.history, "q", 0, axes
    ),
    "mujoco_difference": lambda estimate, axes: report.mujoco_difference(
        didim.beside_mujoco(estimate, estimate.experiments[0].between(0.0, 1.0)), axes
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", report.__all__)
def test_axes_come_back_and_a_title_asks_a_question(name):
    mine = new_axes()[0, 0]
    assert DRAWN[name](found("DIDIM"), mine) is mine
    assert mine.get_title(loc="left").endswith("?")
    own = DRAWN[name](found("DIDIM"), None)
    assert own is not mine
    assert own.has_data()


@pytest.mark.slow
def test_torques_are_the_record_and_its_prediction():
    estimate = found("DIDIM")
    record = estimate.experiments[0]
    axes = report.torques(estimate, record, 0, between=(5.0, 9.0))
    measured, estimated, residual = (line.get_ydata() for line in axes.get_lines())
    shown = (np.asarray(record.t) >= 5.0) & (np.asarray(record.t) <= 9.0)
    np.testing.assert_array_equal(measured, np.asarray(record.tau)[shown, 0])
    np.testing.assert_allclose(estimated, estimate.predict(record)[shown, 0])
    np.testing.assert_allclose(residual, measured - estimated)
    assert axes.get_ylabel() == "torque, N m"


@pytest.mark.slow
def test_autocorrelation_and_correlation_show_their_numbers():
    estimate = found("DIDIM")
    rows = [estimate.predictor.compare(each) for each in estimate.experiments]
    values, _ = autocorrelation(rows, 1)
    axes = report.residual_autocorrelation(estimate, estimate.experiments, 1)
    np.testing.assert_allclose([bar.get_height() for bar in axes.patches], values)
    np.testing.assert_allclose(
        report.parameter_correlation(estimate).images[0].get_array(), correlation(estimate)
    )


def test_nothing_to_draw_is_said():
    estimate = found("DIDIM")
    record = estimate.experiments[0]
    for draw, message in (
        (lambda: report.residual_histogram(estimate, [], 0), "no record"),
        (lambda: report.residual_autocorrelation(estimate, [], 0), "no record"),
        (lambda: report.residual_convergence(()), "does not iterate"),
        (lambda: report.parameter_convergence((), ()), "does not iterate"),
        (lambda: report.motion_distance((), "q", 0), "does not iterate"),
        (lambda: report.torques(estimate, record.between(0.0, 0.1), 0), "too short"),
    ):
        with pytest.raises(ValueError, match=message):
            draw()
