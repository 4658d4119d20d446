"""Pictures of an identification for notebooks, and the HTML report (`Estimate.report`)."""

from didim.report.pictures import (
    friction,
    motion_distance,
    mujoco_difference,
    parameter_convergence,
    parameter_correlation,
    position_torque,
    residual_autocorrelation,
    residual_convergence,
    residual_histogram,
    torques,
)
from didim.report.suspects import lack_of_fit

__all__ = [
    "friction",
    "lack_of_fit",
    "motion_distance",
    "mujoco_difference",
    "parameter_convergence",
    "parameter_correlation",
    "position_torque",
    "residual_autocorrelation",
    "residual_convergence",
    "residual_histogram",
    "torques",
]
