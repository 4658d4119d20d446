"""The tables of the methods in a study file: [idim], [iv], [didim], [output_error] and
[drive_gains].
"""

from __future__ import annotations

from typing import Literal

from didim.study import types
from didim.study.table import Table


class IdimTable(Table):
    """Settings of `didim.IDIM`."""

    cutoff: types.Cutoff = None
    """Hz, of the filter of the positions; "auto": chosen from the records; "none": no filter."""
    order: types.Whole = None
    decimation: types.Whole = None
    decimate: Literal["matlab", "scipy", "fir"] | None = None
    trim: types.Trim = None
    """Samples cut at both ends; without it, what the filter spoils."""
    weights: Literal["ols", "wls", "irls"] | None = None
    rest_velocity: types.PerJoint = None
    """Equations of a joint slower than this are left out."""
    states: Literal["measured", "reference"] | None = None
    essential: types.Switch = None
    consistent: types.Switch = None
    """Whether the parameters must be those of a physical robot."""
    lack_of_fit: types.Switch = None
    """Whether tests for what the model lacks end the identification."""


class _LoopTable(Table):
    """What the methods that simulate share."""

    decimation: types.Whole = None
    decimate: Literal["matlab", "scipy", "fir"] | None = None
    transient: types.Number = None
    """s cut at the start."""
    rest_velocity: types.PerJoint = None
    start: types.Start = None
    """Initial state of the simulations."""
    max_iterations: types.Whole = None
    estimate_gains: types.Gains = None
    """All gains of the law that are not zero, or those of a list of names."""
    estimate_delay: types.Switch = None
    tol_residual: types.Number = None
    """tol_1 of eq. 34."""
    tol_parameters: types.Number = None
    """tol_2 of eq. 34."""
    lack_of_fit: types.Switch = None
    """Whether tests for what the model or its loop lacks end the identification."""


class DidimTable(_LoopTable):
    """Settings of `didim.DIDIM`."""

    initial: types.Initial = None
    gain_update: types.Switch = None
    """Whether gains follow J(chi), eq. 59."""
    weights: Literal["ols", "wls", "irls"] | None = None
    guards: types.Switch = None
    """Whether steps are kept feasible; false: as least squares gives them."""
    stopping: Literal["sigma", "printed"] | None = None
    """Eq. 34 in units of sigma, or as printed."""
    accelerate: types.Switch = None
    exact_interval: types.Switch = None
    refine: types.Switch = None
    """Whether the exact method takes over after DIDIM."""
    scan: types.Switch = None


class IvTable(Table):
    """Settings of `didim.IV`. Those of the rows that are not here are those of [idim], those of the
    simulations those of [didim].
    """

    cutoff: types.Cutoff = None
    """Hz, of the filter of the positions; "auto": chosen from the records; "none": no filter."""
    order: types.Whole = None
    decimation: types.Whole = None
    decimate: Literal["matlab", "scipy", "fir"] | None = None
    trim: types.Trim = None
    """Samples cut at both ends; without it, what the filter spoils."""
    weights: Literal["ols", "wls"] | None = None
    rest_velocity: types.PerJoint = None
    """Equations of a joint slower than this are left out."""
    initial: types.Initial = None
    gain_update: types.Switch = None
    """Whether gains follow J(chi), eq. 59."""
    start: types.Start = None
    """Initial state of the simulations."""
    tol_residual: types.Number = None
    """tol_1 of eq. 34."""
    tol_parameters: types.Number = None
    """tol_2 of eq. 34."""
    max_iterations: types.Whole = None
    lack_of_fit: types.Switch = None
    """Whether tests for what the model lacks end the identification."""


class OutputErrorTable(_LoopTable):
    """Settings of `didim.OutputError`; without a [controller] it runs in open loop."""

    initial: types.InitialOrPrior = None
    output: Literal["position", "torque", "both"] | None = None
    weights: Literal["wls", "irls"] | None = None
    """Each joint and output by its error; irls: outlying rows count less."""
    scan: types.Scan = None
    estimate_offsets: types.Texts = None
    """Zeros of the joints ("zero" for all, "zero2" for one), added to logged positions and
    references, and biases ("bias"), by which the log reads more than the controller.
    """
    barrier: types.Switch = None
    """Whether steps stay physically consistent; false: plain Gauss-Newton, eq. 29-34."""


class DriveGainsTable(Table):
    """Drive gains that are identified with the parameters, from records in control units."""

    known: types.Values = None
    """What is known of the load: { mass = 2.805 }, kg, or first moments MX MY MZ, kg m."""
    fixed: types.Values = None
    """Known values of the robot, beside the study's own; without a load they set the scale."""
    link: types.Text = None
    """The joint whose link carries the load; default: the last one."""
    method: Literal["consistent", "wls", "tls"] | None = None
    """consistent: maximum likelihood inside the physically consistent set."""
