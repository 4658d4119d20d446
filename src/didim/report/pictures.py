"""Pictures of an identification. Every function draws one picture into axes (its own if none are
given) and returns them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError, nearest
from didim.export.beside_mujoco import BesideMujoco
from didim.report.curves import (
    autocorrelation,
    correlation,
    histogram,
    iterated,
    normalised_residuals,
    settled,
    torque_curves,
)
from didim.results.effect_columns import joint_index
from didim.results.effect_curve import EffectCurve
from didim.results.estimate import Estimate
from didim.results.formatting import motion_unit, torque_unit, torque_word
from didim.results.history import Iteration
from didim.results.validation import ComparedRows
from didim.signals.experiment import Experiment
from didim.simulation.records import check_joints

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

MEASURED, ESTIMATED, RESIDUAL = "0.55", "tab:blue", "tab:red"


def new_axes(rows: int = 1, columns: int = 1, size: tuple[float, float] = (8.0, 3.0)) -> Any:
    """A grid of axes (rows, columns) on a figure of its own, `size` inches each row; no window is
    opened.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError('Pictures need matplotlib: pip install "didim[plot]".') from None
    figure = Figure(figsize=(size[0], size[1] * rows), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.subplots(rows, columns, squeeze=False)


def torques(
    estimate: Estimate,
    experiment: Experiment,
    joint: int,
    axes: Axes | None = None,
    between: tuple[float, float] | None = None,
) -> Axes:
    """Measured, estimated and residual torque of one joint (counted from 0) over time, Fig. 10; or
    a part of it, s.

    What the fit leaves out is left out here too: edges of the filter, the transient of a
    simulation.
    """
    axes = new_axes()[0, 0] if axes is None else axes
    check_joints(estimate.model, experiment)
    curves, joint = torque_curves(estimate, experiment), _joint(estimate, joint)
    start, end = (curves.t[0], curves.t[-1]) if between is None else between
    shown = (curves.t >= start) & (curves.t <= end)
    if not shown.any():
        raise InputError(
            f"There is no sample between {start:g} and {end:g} s; there are from {curves.t[0]:g} "
            f"to {curves.t[-1]:g} s."
        )
    t, measured, found = (
        curves.t[shown],
        curves.measured[shown, joint],
        curves.estimated[shown, joint],
    )
    axes.plot(t, measured, color=MEASURED, linewidth=0.8, label="measured")
    axes.plot(t, found, color=ESTIMATED, linewidth=1.2, label=f"estimated ({estimate.method})")
    axes.plot(t, measured - found, color=RESIDUAL, linewidth=0.6, label="residual")
    word, unit = torque_word(estimate.model, joint), torque_unit(estimate.model, joint)
    name = estimate.model.robot.joint_names[joint]
    return _finish(
        axes, f"Does the model explain the {word} of {name}?", "time, s", f"{word}, {unit}"
    )


def residual_histogram(
    estimate: Estimate,
    experiments: Experiment | Sequence[Experiment],
    joint: int,
    axes: Axes | None = None,
) -> Axes:
    """Distribution of one joint's residuals on the rows of the fit, over their root mean square,
    beside the normal one.
    """
    axes = new_axes()[0, 0] if axes is None else axes
    found = histogram(normalised_residuals(_rows(estimate, experiments), _joint(estimate, joint)))
    axes.bar(
        found.middles, found.density, found.width, color=ESTIMATED, alpha=0.6, label="residuals"
    )
    axes.plot(found.fine, found.normal, color=RESIDUAL, label="normal distribution")
    axes.set_ylim(0.0, 1.3 * max(float(found.density.max()), float(found.normal.max())))
    name = estimate.model.robot.joint_names[joint]
    return _finish(
        axes,
        f"Are the residuals of {name} normal?",
        "residual over its root mean square",
        "density",
    )


def residual_autocorrelation(
    estimate: Estimate,
    experiments: Experiment | Sequence[Experiment],
    joint: int,
    axes: Axes | None = None,
) -> Axes:
    """Autocorrelation of one joint's residuals over the lag, s, with the band that white noise
    stays in 95 % of the time.
    """
    axes = new_axes()[0, 0] if axes is None else axes
    rows = _rows(estimate, experiments)
    found, band = autocorrelation(rows, _joint(estimate, joint))
    lag = rows[0].step * np.arange(found.size)
    axes.bar(lag, found, 0.8 * rows[0].step, color=ESTIMATED, label="residuals")
    for limit in (-band, band):
        axes.axhline(
            limit,
            color=MEASURED,
            linestyle="--",
            linewidth=1,
            label="white noise, 95 %" if limit > 0 else None,
        )
    name = estimate.model.robot.joint_names[joint]
    return _finish(
        axes, f"Are the residuals of {name} correlated in time?", "lag, s", "autocorrelation"
    )


def parameter_correlation(estimate: Estimate, axes: Axes | None = None) -> Axes:
    """Correlation of the parameters' errors as a map."""
    side = max(4.0, 0.2 * len(estimate.names))
    axes = new_axes(size=(side + 1.0, side))[0, 0] if axes is None else axes
    drawn = axes.imshow(correlation(estimate), cmap="RdBu", vmin=-1, vmax=1)
    axes.figure.colorbar(drawn, ax=axes)
    places = range(len(estimate.names))
    axes.set_xticks(places, estimate.names, rotation=90, fontsize=7)
    axes.set_yticks(places, estimate.names, fontsize=7)
    axes.set_title("Which parameters are correlated?", loc="left", fontsize=10)
    return axes


def friction(estimate: Estimate, joint: int, axes: Axes | None = None) -> Axes:
    """Friction of one joint over its velocity: identified, with its 95 % band, and the rows of the
    records.
    """
    joint = _joint(estimate, joint)
    name = estimate.model.robot.joint_names[joint]
    axes = _curve(estimate, estimate.friction(joint), axes)
    return _finish(axes, f"What is the friction of {name}?", *_labels(estimate, joint, "velocity"))


def position_torque(estimate: Estimate, joint: int, axes: Axes | None = None) -> Axes:
    """Torque of springs, ripple and own effects of one joint over its position, likewise."""
    joint = _joint(estimate, joint)
    name = estimate.model.robot.joint_names[joint]
    axes = _curve(estimate, estimate.position_torque(joint), axes)
    word = torque_word(estimate.model, joint)
    title = f"Which {word} of {name} depends on its position?"
    return _finish(axes, title, *_labels(estimate, joint, "position"))


def _curve(estimate: Estimate, curve: EffectCurve, axes: Axes | None) -> Axes:
    axes = new_axes()[0, 0] if axes is None else axes
    label = f"identified ({estimate.method})"
    axes.plot(curve.points_x, curve.points, ".", color=MEASURED, markersize=3, label="rows")
    axes.fill_between(
        curve.x, curve.low, curve.high, color=ESTIMATED, alpha=0.25, linewidth=0, label="95 % band"
    )
    axes.plot(curve.x, curve.torque, color=ESTIMATED, linewidth=1.2, label=label)
    return axes


def _labels(estimate: Estimate, joint: int, over: str) -> tuple[str, str]:
    """Of both axes, with units."""
    model = estimate.model
    axis = f"{over}, {motion_unit(model, joint)}" + ("/s" if over == "velocity" else "")
    return axis, f"{torque_word(model, joint)}, {torque_unit(model, joint)}"


def _joint(estimate: Estimate, joint: int) -> int:
    """The joint's number, counted from 0, refused where the robot has no such joint."""
    return joint_index(estimate.model, joint)


def _rows(estimate: Estimate, experiments: Experiment | Sequence[Experiment]) -> list[ComparedRows]:
    chosen = [experiments] if isinstance(experiments, Experiment) else list(experiments)
    return [estimate.predictor.compare(each) for each in chosen]


def residual_convergence(history: Sequence[Iteration], axes: Axes | None = None) -> Axes:
    """Relative torque error by joint over the iterations, Figures 12 and 15."""
    axes = new_axes()[0, 0] if axes is None else axes
    residuals = np.array([step.residual_by_joint for step in iterated(history)])
    for j in range(residuals.shape[1]):
        axes.semilogy(100 * residuals[:, j], "o-", label=f"joint {j + 1}")
    axes.set_xticks(range(len(history)))
    return _finish(
        axes, "How fast does the torque error fall?", "iteration", "||Y - W chi|| / ||Y||, %"
    )


def parameter_convergence(
    history: Sequence[Iteration],
    names: Sequence[str],
    scale: Array | None = None,
    axes: Axes | None = None,
) -> Axes:
    """Parameters over the iterations, in units of `scale` (default: their last value), Fig. 13."""
    axes = new_axes()[0, 0] if axes is None else axes
    for name, values in zip(names, settled(history, scale).T, strict=True):
        axes.plot(values, "o-", label=name)
    axes.set_yscale("symlog", linthresh=2.0)
    axes.set_xticks(range(len(history)))
    return _finish(
        axes,
        "How fast do the parameters settle?",
        "iteration",
        "parameter over its scale",
        columns=4,
    )


def motion_distance(
    history: Sequence[Iteration], signal: str, joint: int, axes: Axes | None = None
) -> Axes:
    """Distance of the simulated motion ("q", "dq" or "ddq") to the measured one and to the
    reference, Figures 11 and 14.
    """
    axes = new_axes()[0, 0] if axes is None else axes
    if signal not in ("q", "dq", "ddq"):
        raise InputError(f"unknown signal {signal!r}; {nearest(str(signal), ('q', 'dq', 'ddq'))}")
    for name, mark, label in (
        ("to_measured", "o-", "to the measured motion"),
        ("to_reference", "*--", "to the reference"),
    ):
        distances = [
            getattr(getattr(step, name), signal)[joint]
            for step in iterated(history)
            if getattr(step, name) is not None
        ]
        if distances:
            axes.semilogy(100 * np.array(distances), mark, label=label)
    axes.set_xticks(range(len(history)))
    return _finish(
        axes, f"How far is the simulated {signal} of joint {joint + 1}?", "iteration", "distance, %"
    )


def mujoco_difference(found: BesideMujoco, axes: Axes | None = None) -> Axes:
    """Positions of MuJoCo minus those of didim's simulation, of all joints over time."""
    axes = new_axes()[0, 0] if axes is None else axes
    for name, curve in zip(found.joints, (found.mujoco - found.didim).T, strict=True):
        axes.plot(found.t, curve, linewidth=0.8, label=name)
    title = "How far is MuJoCo from didim's simulation?"
    return _finish(axes, title, "time, s", "difference of positions, rad or m", columns=4)


def _finish(axes: Axes, title: str, x: str, y: str, columns: int = 3) -> Axes:
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3)
    axes.margins(y=0.15)
    axes.legend(fontsize=8, ncols=columns, framealpha=0.6)
    return axes
