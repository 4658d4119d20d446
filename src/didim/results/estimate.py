"""`Estimate`: what an identification found, how far it can be believed, and how it was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from didim.control.law import Controller
from didim.dynamics.model import BaseModel
from didim.errors import InputError
from didim.results.consistency import Consistency, consistency_of
from didim.results.effect_columns import joint_index
from didim.results.effect_curve import (
    FrictionCurve,
    PositionCurve,
    friction_curve,
    motion_rows,
    position_curve,
)
from didim.results.history import Iteration
from didim.results.hypothesis import Test
from didim.results.lack_of_fit import NOT_TESTED, LackOfFit
from didim.results.prediction import Predictor, Preprocessing, every_parameter
from didim.results.ripple import Ripple, ripple_of
from didim.results.status import Status
from didim.results.validation import AlongMotion, ComparedRows, Validation
from didim.robot.robot import Robot
from didim.signals.experiment import Experiment, listed_records
from didim.validation import flag, real

if TYPE_CHECKING:
    import pandas

    from didim.results.simulator_table import SimulatorTable

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Estimate:
    """The identified parameters of a model. Numbers are finite, or infinite where nothing is known;
    never nan.
    """

    model: BaseModel
    method: str
    """"IDIM", "DIDIM", ..."""
    names: tuple[str, ...]
    """(b,) of the parameters that were estimated."""
    values: Array
    """(b,) SI units."""
    covariance: Array
    """(b, b) as printed, (18)."""
    corrected_covariance: Array
    """(b, b) corrected for the colour of the residuals; `interval` uses it."""
    residual: float
    """||Y - W chi|| / ||Y||, unweighted, on the rows used; for DIDIM on chi's own simulation."""
    residual_by_joint: Array
    """(n,)."""
    status: Status
    """CONVERGED, STOPPED (iterations), DIVERGED or UNEXCITED (something is not identified); equal
    to its word.
    """
    message: str
    """What happened and, if it went wrong, what to try."""
    preprocessing: Preprocessing
    """How records were filtered, decimated and cut."""
    rows: int = 0
    """Equations used, r."""
    freedom: int = 0
    """r - b of (17)."""
    condition: float = np.inf
    """Of W."""
    scaled_condition: float = np.inf
    """Of W with columns of equal length."""
    residual_over_noise: Array | None = None
    """(n,) what the equations of the fit leave of each joint, over the noise of its torque there; 0
    or None: not known.
    """
    unidentified: tuple[str, ...] = ()
    """Parameters and gains that the record does not identify, where the status is UNEXCITED for
    them alone.
    """
    coloured: tuple[int, ...] = ()
    """Joints whose residuals last longer than noise filtered by the decimation would."""
    iterations: int = 0
    history: tuple[Iteration, ...] = ()
    controller: Controller | None = None
    """The final simulated loop."""
    gains: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Estimated gains, "kp1" to (value, sigma), and "delay" in s; empty where the gains were
    given.
    """
    shapes: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Estimated parameters that the torque is not linear in, "vs1" to (value, sigma)."""
    standard: Array | None = None
    """(p,) physically consistent standard parameters that the method works in, where it does; else
    None.
    """
    plain: Array | None = None
    """(b,) values of plain least squares, to which the covariance belongs, where the physically
    consistent set has moved them; else None.
    """
    eliminated: tuple[str, ...] = ()
    """Parameters that were set to zero as not essential."""
    at_border: tuple[str, ...] = ()
    """Parameters at zero or moved by the border of the physically consistent set, by more than a
    quarter of their standard deviation. Covariance and intervals are those of plain least squares
    and do not hold for them.
    """
    notes: tuple[str, ...] = ()
    """What the reader should know, in plain words."""
    validation: tuple[Validation, ...] = ()
    """How well it predicts the held-out records."""
    fitted: tuple[Validation, ...] = ()
    """The records of the fit with all rows in which a joint moves, where `rest_velocity` left some
    out; else empty.
    """
    along_motion: tuple[AlongMotion, ...] = ()
    """The records of the fit along their measured motion, after a method that simulates them."""
    lack: LackOfFit = NOT_TESTED
    """What the model or its loop lacks, by the tests that end an identification; see
    `lack_of_fit`.
    """
    tests: Mapping[str, Test] = field(default_factory=dict)
    """Tests of the fit by name: "durbin_wu_hausman", "instruments", "whiteness_1", "normality_1",
    ..., joints counted from 1; empty where nothing was identified.
    """
    output: str = "torque"
    """What the residual is of: "torque", or "position" where only positions were compared."""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    """Settings, versions and hashes of the data."""
    experiments: tuple[Experiment, ...] = ()
    """The records that it was fitted to, for reports and pictures; not saved."""
    held_out: tuple[Experiment, ...] = ()
    """Those that it was tried on; not saved."""
    predictions: Mapping[str, ComparedRows] = field(default_factory=dict)
    """What it predicts of these, by the hash of the record; not saved."""

    def __repr__(self) -> str:
        return (
            f"Estimate({self.method} of {self.model.robot.name!r}: {self.status}, "
            f"{len(self.names)} parameters, "
            f"residual {100 * self.residual:.3g} %)"
        )

    @property
    def parameters(self) -> Array:
        """All base parameters of the model, zero where one was eliminated."""
        return every_parameter(self.model, self.names, self.values)

    @property
    def fixed(self) -> tuple[str, ...]:
        """Parameters that were not estimated: the values that the model has fixed determine them;
        their sigma is zero.
        """
        return self.model.fixed_names

    @cached_property
    def consistency(self) -> Consistency:
        """Whether a physical robot with these base parameters exists, and which link forbids it."""
        return consistency_of(self.model, self.parameters, self.standard)

    @property
    def predictor(self) -> Predictor:
        """The identified model, with what it needs to predict records."""
        return Predictor(self.model, self.parameters, self.controller, self.preprocessing)

    @property
    def sigma(self) -> Array:
        """(b,) standard deviations as printed, (18)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def corrected_sigma(self) -> Array:
        """(b,) standard deviations corrected for the colour of the residuals."""
        return np.sqrt(np.maximum(np.diag(self.corrected_covariance), 0.0))

    @property
    def relative_sigma(self) -> Array:
        """(b,) percent, (19); infinite where the value is zero.

        Implements (19).
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            percent = 100.0 * self.sigma / np.abs(self.values)
        return np.where(self.sigma == 0, 0.0, np.where(self.values == 0, np.inf, percent))

    def interval(self, level: float = 0.95, robust: bool = False) -> Array:
        """(b, 2) bounds that hold the true value with this confidence, from the corrected
        covariance.

        Parameters
        ----------
        level
            Between 0 and 1.
        robust
            Whether what the model or its loop lacks widens them: the half width is the quantile
            times sqrt(corrected variance + shift^2), where the shift is what adding the suspects of
            `lack_of_fit` would move the parameter by. Without these tests they are refused.
        """
        flag(robust, "robust")
        sigma = self.corrected_sigma
        if robust:
            sigma = np.hypot(sigma, self._shifts())
        half = self.quantile(level) * sigma
        return np.column_stack([self.values - half, self.values + half])

    def _shifts(self) -> Array:
        """(b,) what the suspects may have moved the parameters by; zero where next to nothing is
        left.
        """
        if self.lack.reason and not self.lack.negligible:
            raise InputError(
                "Robust intervals need the tests of what the model lacks; here "
                f"{self.lack.reason}. Identify with lack_of_fit=True, or use interval() alone."
            )
        return np.array([self.lack.shifts.get(name, 0.0) for name in self.names])

    def quantile(self, level: float = 0.95) -> float:
        """Standard deviations to both sides that hold the true value with this confidence."""
        level = real(level, "level", above=0.0)
        if not level < 1:
            raise InputError(f"level must lie between 0 and 1, found {level:g}; 95 % is 0.95.")
        return float(special.stdtrit(max(self.freedom, 1), 0.5 + 0.5 * level))

    def friction(
        self,
        joint: int | str,
        load: float | None = None,
        channels: Mapping[str, float] | None = None,
    ) -> FrictionCurve:
        """Friction and offset of a joint over its velocity, with the 95 % band and the rows of the
        records. SI units.

        Parameters
        ----------
        joint
            Counted from 0, or its name.
        load
            Of the joint, where friction depends on it; None: the root mean square in the records.
        channels
            Values of the logged channels that effects depend on; None: their means in the records.
        """
        return friction_curve(self, joint_index(self.model, joint), self._rows, load, channels)

    def ripple(self, joint: int | str) -> Ripple:
        """What is left of the torque of a joint, counted from 0 or by its name, as a spectrum over
        its position: the order of a ripple that the model lacks, and the effect that adds it.
        """
        return ripple_of(joint_index(self.model, joint), self._rows)

    def position_torque(
        self, joint: int | str, channels: Mapping[str, float] | None = None
    ) -> PositionCurve:
        """Torque of springs, ripple and own effects of a joint over its position, with the 95 %
        band and the rows of the records. SI units.

        Parameters
        ----------
        joint
            Counted from 0, or its name.
        channels
            Values of the logged channels that effects depend on; None: their means in the records.
        """
        return position_curve(self, joint_index(self.model, joint), self._rows, channels)

    @cached_property
    def _rows(self) -> tuple[ComparedRows, ...]:
        """The rows of the records of the fit along their motion."""
        return motion_rows(self.predictor, self.experiments)

    def lack_of_fit(
        self, experiments: Experiment | Sequence[Experiment] | None = None
    ) -> LackOfFit:
        """What the model or its loop lacks: score tests of everything that it could have, with the
        value that each suspect would have and the setting that adds it, surest first.

        Parameters
        ----------
        experiments
            Records to test on; None: those of the fit, whose tests the estimate has.
        """
        from didim.structure.lack_of_fit import lack_of_fit

        if experiments is None and not (self.lack is NOT_TESTED and self.experiments):
            return self.lack
        given = self.experiments if experiments is None else experiments
        records = listed_records(given, "experiments")
        return lack_of_fit(self.predictor, records, self.names, tuple(self.gains))

    def predict(self, experiment: Experiment) -> Array:
        """tau (N, n) of this model on a record: from its motion after IDIM, simulated in the loop
        after DIDIM.
        """
        return self.predictor.torque(experiment)

    def validate(self, experiment: Experiment) -> Validation:
        """How well this model predicts a record: filtered and decimated as those that it was fitted
        to.
        """
        return self.predictor.validate(experiment, self.experiments)

    def summary(self) -> str:
        """The table of the paper (Table 1) as text, with notes."""
        from didim.results.table import summary

        return summary(self)

    def to_frame(self) -> pandas.DataFrame:
        """The table as a pandas DataFrame, one row for each parameter."""
        from didim.results.table import frame

        return frame(self)

    def report(
        self,
        path: str | PathLike[str],
        experiments: Sequence[Experiment] | None = None,
        validation: Sequence[Experiment] | None = None,
        *,
        overwrite: bool = False,
    ) -> Path:
        """Write an HTML report, one file that opens from disk: what was identified and whether it
        may be used.

        Parameters
        ----------
        path
            A .html file.
        experiments
            The records of the fit; None: those that the estimate has, which a loaded one has not.
        validation
            The held-out records, likewise.
        overwrite
            Whether an existing file may be written over.
        """
        from didim.report.page import write_report

        return write_report(self, path, experiments, validation, overwrite)

    def _repr_html_(self) -> str:
        """The verdict and the table in a notebook."""
        from didim.report.page import fragment

        return fragment(self)

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Write `path` (.json) and an .npz beside it; returns the path of the first."""
        from didim.results.store import save

        return save(self, path, overwrite)

    def to_robot(
        self,
        path: str | PathLike[str] | None = None,
        *,
        overwrite: bool = False,
        name: str | None = None,
        like: str | PathLike[str] | None = None,
        project: bool = False,
        stiff_friction: bool = False,
    ) -> Robot:
        """The robot with identified values, closest to the nominal ones among the physical ones
        that reproduce the identified torques. Values that no physical robot has are refused.

        Parameters
        ----------
        path
            A .urdf, .xml (MJCF) or .toml file to write; None: none. What URDF has no words for
            (rotors, offsets, couplings) goes into elements <didim>, which other programs pass over
            and `load_robot` reads; what MJCF has none for is left out, and a warning says so.
        overwrite
            Whether an existing file may be written over.
        name
            Of the robot; None: as it is.
        like
            The URDF or MJCF that the robot came from: its links, names, fixed frames and meshes are
            kept, and only inertias and friction replaced, in an MJCF also armature, springs and
            gains that were identified. None: a new file with the moving links alone.
        project
            Whether to take the physical robot that is nearest in predicted torque where the
            identified one is not physical; a warning says what changed.
        stiff_friction
            Whether an MJCF that is written like another also gets `solreffriction` and
            `solimpfriction`, so that MuJoCo's friction creeps less; a new MJCF has them.
        """
        from didim.results.identified import to_robot

        return to_robot(self, path, overwrite, name, like, project, stiff_friction)

    def simulator_table(self, project: bool = False) -> SimulatorTable:
        """Armature, damping, friction loss and gains of every joint, for any simulator, and what
        simulators cannot express; of the robot that `to_robot` writes.
        """
        from didim.results.simulator_table import simulator_table

        return simulator_table(self, project)
