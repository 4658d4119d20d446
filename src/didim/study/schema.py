"""The study file as a schema: every key, its type and what it means. Keys that are not here are
errors.

Defaults are not repeated here: a key that is not given has the default of its class (`didim.IDIM`,
`didim.PD`, ...).
"""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from didim.study import types
from didim.study.effect_schema import EffectTable
from didim.study.record_schema import ExperimentTable, Table


class ControllerTable(Table):
    """The loop that the robot was in."""

    law: Literal["pd", "pid", "cascade", "computed_torque", "servo", "unknown"]
    """pd, pid, cascade or computed_torque: v = kv (kp e + ff dq_r - dq), with ki int(e) for pid,
    kiv int(s) for the cascade. servo: v = kp kp_unit e, a duty limited to +-1. unknown: a pd to
    start from; `didim improve` finds the law, and without gains they are estimated.
    """
    natural_frequency: types.PerJoint = None
    """rad/s: the gains by poles, eq. 58."""
    damping: types.PerJoint = None
    kp: types.PerJoint = None
    """1/s: the controller's own gains."""
    kv: types.PerJoint = None
    """v per rad/s or m/s."""
    ki: types.PerJoint = None
    kiv: types.PerJoint = None
    integral_time: types.PerJoint = None
    Kp: types.PerJoint = None
    """With Kd: the parallel form Kp e + Kd de of a pd."""
    Kd: types.PerJoint = None
    inertia: types.PerJoint = None
    """A priori J of eq. 58, kg m^2 or kg."""
    velocity_reference: types.PerJoint = None
    """Fraction of the reference velocity that is fed forward, 0 to 1."""
    kp_unit: types.PerJoint = None
    """Of a servo: duty per rad or m of one unit of kp, as the firmware counts it."""
    drive_gain: types.Gain = None
    """g of eq. 8; default: the robot's."""
    rate: types.Number = None
    """Samples per second; without it the law is continuous."""
    saturation: types.PerJointLimit = None
    """Limit on |v|."""
    delay: types.Whole = None
    """Samples between reading and command."""
    velocity: Literal["true", "backward_difference", "mean_difference", "none"] | None = None
    encoder: types.PerJoint = None
    """Step of the position sensor, rad or m."""
    model_term: Literal["none", "gravity", "feedforward", "computed_torque"] | None = None
    """What the controller's own model adds."""
    model: types.Text = None
    """That model: "nominal" (the robot's description), a robot file, or a saved estimate
    (.json).
    """
    assumed: types.Switch = None
    """Whether the loop is a guess; the result then says so."""


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


class LimitsTable(Table):
    """What a planned motion must not exceed (`didim.Limits`); default: the robot's own limits."""

    position: types.Ranges = None
    """Lower and upper position of each joint, rad or m."""
    velocity: types.PerJoint = None
    """rad/s or m/s."""
    acceleration: types.PerJoint = None
    """rad/s^2 or m/s^2."""
    jerk: types.PerJoint = None
    """rad/s^3 or m/s^3."""
    torque: types.PerJointLimit = None
    """N.m or N."""
    torque_reserve: types.Number = None
    """Fraction of the torque that is kept for what the nominal model does not know."""
    floor: types.Number = None
    """Height of the floor in the base frame, m."""
    box: types.Box = None
    """What the moving links stay in, in the base frame, m."""
    self_collision: types.Number = None
    """Clearance between links, m; default: 0.01 where the description has shapes of all links."""


class ExciteTable(Table):
    """Settings of `didim excite`."""

    duration: types.Number = None
    """s."""
    rate: types.Number = None
    """Samples per second of the record, and of the file that is written."""
    seed: types.Whole = None
    gains_unknown: types.Switch = None
    """Whether the gains of the loop are to be estimated too; default: didim.estimate_gains."""
    criterion: Literal["logdet", "sigma", "worst", "condition"] | None = None
    """What is made small: the volume of the confidence ellipsoid, the mean of log sigma with
    `weights`, or the largest relative sigma; "condition" is for comparison.
    """
    weights: types.Values = None
    """For "sigma": weights of unknowns, by names or their beginnings, such as { Fc = 1.0 }."""
    noise: types.PerJoint = None
    """Standard deviation of the torque of a sample, N.m or N."""
    start: types.Angles = None
    """Where the motion begins and ends, rad or m."""
    basis: Literal["fourier", "spline"] | None = None
    harmonics: types.Whole = None
    random_plans: types.Whole = None
    """How many random plans within the same limits to compare with."""
    after: types.Texts = None
    """What is known already: saved results (.json), and "records" for those of this study."""


class OutputTable(Table):
    """Files that `didim identify` writes."""

    result: types.Text = None
    """The estimate, .json with an .npz beside it."""
    robot: types.Text = None
    """The identified robot, .urdf, .xml (MJCF) or .toml."""
    report: types.Text = None
    """The HTML report."""


class StudyFile(Table):
    """A whole identification."""

    model_config = ConfigDict(
        title="didim study",
        json_schema_extra={
            "anyOf": [
                {"properties": {"experiment": {"minItems": 1}}, "required": ["experiment"]},
                {"required": ["excite"]},
            ]
        },
    )

    robot: types.Text
    """A shipped robot's name, or a .urdf, .xml (MJCF) or .toml file."""
    method: Literal["idim", "iv", "didim", "output_error"]
    """What `didim identify` runs."""
    effects: types.Texts = None
    """Names of shipped effects (rotor viscous coulomb offset stribeck ...), "coupling", and names
    of the robot's own ones; default: all that the robot declares.
    """
    effect: list[EffectTable] = Field(default_factory=list)
    """Own effects, beside those of `effects`."""
    shapes: types.Values = None
    """Values of parameters that the torque is not linear in, such as { vs1 = 0.05 }."""
    fixed: types.Values = None
    """Known values, SI, that every method holds: standard parameters (M1), base parameters (ZZ1R)
    or shapes of effects (vs1).
    """
    gravity: types.Vector = None
    """m/s^2 in the base frame, where the robot is mounted otherwise than described."""
    joints: types.Texts = None
    """Joints of the robot that move; all others are held, at 0 or where `lock` says."""
    lock: types.Positions = None
    """Joints that are held, and where, rad or m."""
    passive: types.Texts = None
    """Joints that move without a motor: their torque is zero."""
    experiment: list[ExperimentTable] = Field(default_factory=list)
    """At least one; a study with a table [excite] may have none yet."""
    controller: ControllerTable | None = None
    idim: IdimTable = IdimTable()
    iv: IvTable = IvTable()
    didim: DidimTable = DidimTable()
    output_error: OutputErrorTable = OutputErrorTable()
    drive_gains: DriveGainsTable | None = None
    output: OutputTable = OutputTable()
    limits: LimitsTable = LimitsTable()
    excite: ExciteTable | None = None
