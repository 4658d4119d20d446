"""Pictures of an identification for notebooks, and the HTML report (`Estimate.report`)."""

from didim.report.pictures import (
    motion_distance,
    parameter_convergence,
    parameter_correlation,
    residual_autocorrelation,
    residual_convergence,
    residual_histogram,
    torques,
)

__all__ = [
    "motion_distance",
    "parameter_convergence",
    "parameter_correlation",
    "residual_autocorrelation",
    "residual_convergence",
    "residual_histogram",
    "torques",
]
