"""What a person sees: pictures."""

from didim.report.pictures import motion_distance, parameter_convergence, residual_convergence, torques

__all__ = ["motion_distance", "parameter_convergence", "residual_convergence", "torques"]
