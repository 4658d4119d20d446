"""`Study`: a whole identification as one file describes it, and `load_study`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from didim.control.law import Controller
from didim.dynamics.model import DynamicModel
from didim.errors import InputError, naming, shortened
from didim.identification.identify import Method, identify
from didim.identification.methods.idim import IDIM
from didim.identification.methods.iv import IV
from didim.reading import read_bytes
from didim.results.estimate import Estimate
from didim.results.store import files_of_result
from didim.robot.effect_tables import effects_of
from didim.robot.mjcf.tree import is_mjcf
from didim.signals.experiment import Experiment
from didim.study.gains import drive_gains_of
from didim.study.loops import controller_of, load_named_robot, method_of
from didim.study.origin import files_of, named_files
from didim.study.paths import resolved
from didim.study.reading import read_study
from didim.study.records import experiment_of, used_records
from didim.study.schema import StudyFile

if TYPE_CHECKING:
    from didim.checks.finding import Finding
    from didim.improvement import Improvement
    from didim.payload import DriveGains

Progress = Callable[[float], Any]

SIMULATED = "the simulation includes sticking"

ASSUMED = (
    "The control loop was assumed, not known: the result is valid as far as it resembles the true "
    "one."
)

UNKNOWN_LAW = (
    "The control law is unknown: a PD was assumed. didim improve finds its structure, as far as "
    "the records show it."
)


@dataclass(frozen=True, eq=False)
class Study:
    """What a study file describes. Its parts are read when they are first used."""

    settings: StudyFile
    folder: Path
    """What relative paths are relative to."""
    name: str

    def __repr__(self) -> str:
        return f"Study({self.name!r}: {self.settings.method} of {shortened(self.settings.robot)})"

    @cached_property
    def model(self) -> DynamicModel:
        """The dynamic model of the robot."""
        with naming(self.name):
            given = self.settings
            choice = given.joints, given.lock, given.passive
            robot = load_named_robot(given.robot, self.folder, "robot", *choice)
            if self.settings.gravity is not None:
                robot = replace(robot, gravity=np.array(self.settings.gravity, dtype=float))
            own = effects_of([each.table for each in given.effect], self.name)
            robot = replace(robot, effects=(*robot.effects, *own))
            names = given.effects
            if names is not None:
                names = [*names, *(each.name for each in own if each.name not in names)]
            return DynamicModel(robot, names, given.shapes, fixed=given.fixed)

    def description(self, ending: str) -> Path | None:
        """The file of the robot that a written one is to resemble: a URDF (".urdf") or MJCF
        (".xml").
        """
        robot = str(self.settings.robot)
        if ending not in (".urdf", ".xml") or not robot.lower().endswith(ending):
            return None
        file = resolved(robot, self.folder, "robot")
        return None if ending == ".xml" and not is_mjcf(read_bytes(file), file.name) else file

    @cached_property
    def controller(self) -> Controller | None:
        """The loop that the robot was in, where the study describes one."""
        with naming(self.name):
            table = self.settings.controller
            return None if table is None else controller_of(table, self.model, self.folder)

    @cached_property
    def records(self) -> tuple[Experiment, ...]:
        """All experiments, in the order of the file; with the drive gains that the study finds."""
        gains = self.drive_gains
        return self._logged if gains is None else tuple(map(gains.torque, self._logged))

    @cached_property
    def _logged(self) -> tuple[Experiment, ...]:
        """All experiments; in control units where the gains are to be found."""
        if not self.settings.experiment:
            raise InputError(
                f"{self.name}: has no record yet; plan one (didim excite {self.name}), make it, "
                "and describe it in a table [[experiment]]."
            )
        finds = self.settings.drive_gains is not None
        with naming(self.name):
            return tuple(
                experiment_of(table, index, self.model, self.controller, self.folder, finds)
                for index, table in enumerate(self.settings.experiment)
            )

    @cached_property
    def drive_gains(self) -> DriveGains | None:
        """The gains that a table [drive_gains] asks for; None without one."""
        with naming(self.name):
            return drive_gains_of(self.settings, self.model, self._logged, self._origin)

    @property
    def _origin(self) -> dict[str, Any]:
        """The study and its files, for the provenance of an estimate."""
        described = self.settings.model_dump(exclude_unset=True, mode="json")
        return {"study": described, "files": files_of(self.settings, self.folder, self.name)}

    @property
    def experiments(self) -> list[Experiment]:
        """Those that parameters are fitted to."""
        found = self._used_to("fit")
        if not found:
            raise InputError(
                f'{self.name}: no experiment has use = "fit"; at least one must be fitted to.'
            )
        return found

    @property
    def validation(self) -> list[Experiment]:
        """Those that the model is validated on."""
        return self._used_to("validate")

    def _used_to(self, use: str) -> list[Experiment]:
        with naming(self.name):
            return used_records(use, self.records, self.settings.experiment)

    def method(self, name: str | None = None, **changed: object) -> Method:
        """A method ("idim", "iv", "didim", "output_error"; None: the study's own) with the
        settings of its table.
        """
        with naming(self.name):
            return method_of(
                name or self.settings.method, self.settings, self.controller, self.folder, **changed
            )

    def run(
        self,
        progress: Progress | None = None,
        method: Method | None = None,
        origin: Mapping[str, Any] | None = None,
    ) -> Estimate:
        """Identify: the study's own method, or another, on its records; `origin` is further
        provenance. IDIM with [drive_gains] is the estimate that was found with the gains.
        """
        gains = self.drive_gains
        if gains is not None and method is None and self.settings.method == "idim":
            found, further = gains.estimate, {**gains.estimate.provenance, **(origin or {})}
            return replace(found, provenance=further, notes=(*self._gain_notes, *found.notes))
        return self._run(identify, progress, method, origin)

    @property
    def _gain_notes(self) -> tuple[str, ...]:
        """The gains that the study found, in a sentence."""
        gains = self.drive_gains
        return () if gains is None else (gains.sentence, *gains.notes)

    def improve(
        self, progress: Progress | None = None, origin: Mapping[str, Any] | None = None
    ) -> Improvement:
        """Add to model and loop what the records support; see `didim.improve`."""
        from didim.improvement import improve

        return self._run(improve, progress, None, origin, improved=True)

    def _run(
        self,
        run: Callable[..., Any],
        progress: Progress | None,
        method: Method | None,
        origin: Mapping[str, Any] | None,
        improved: bool = False,
    ) -> Any:
        chosen = self.method() if method is None else method
        fitted, held_out = self.experiments, self.validation or None
        found = self.drive_gains
        gains = {} if found is None else {"drive_gains": found.plain}
        with naming(self.name):
            return run(
                self.model,
                fitted,
                chosen,
                held_out,
                progress,
                origin={**self._origin, **gains, **(origin or {})},
                notes=(*self._gain_notes, *self._notes(chosen, improved)),
            )

    def _notes(self, method: Method, improved: bool) -> tuple[str, ...]:
        """What a reader must know about the loop."""
        table = self.settings.controller
        if table is None or not self._simulates(method):
            return ()
        unknown = table.law == "unknown" and not improved
        return (*([ASSUMED] if table.assumed else []), *([UNKNOWN_LAW] if unknown else []))

    def check(self) -> tuple[Finding, ...]:
        """Data problems to fix before identifying: checks of records, loop and settings."""
        from didim.checks.diagnose import diagnose
        from didim.checks.finding import Finding
        from didim.checks.loads import LOAD

        records = [*self.records]
        filtering = IDIM(**self.settings.idim.given())  # type: ignore[arg-type]
        extra: tuple[Finding, ...] = ()
        settings: dict[str, Any] = {
            "rest_handled": "" if self.settings.method in ("idim", "iv") else SIMULATED
        }
        try:
            method: Any = self.method()
            settings = {"decimated": method.decimation, "rest_handled": _at_rest(method)}
            _ = self.experiments  # at least one must be fitted to
            method.ready(self.model.base, records)
        except InputError as problem:
            extra = (
                Finding(
                    "method",
                    "fail",
                    str(problem),
                    "didim identify would stop there; fix it first.",
                ),
            )
        if not isinstance(filtering.cutoff, str):  # "auto" is chosen when a fit runs
            settings["cutoff"] = filtering.cutoff
        given = self.settings
        tables = (given.idim, given.iv, given.didim, given.output_error)
        settings["followed"] = {
            name for each in tables for name, value in each.given().items() if value is True
        }
        table = self.settings.controller
        assumed = bool(table is not None and table.assumed)
        with naming(self.name):
            found = diagnose(self.model, records, self.controller, assumed=assumed, **settings)
        finds_gains = self.settings.drive_gains is not None  # its load is no surprise
        return (*(each for each in found if not (finds_gains and each.check == LOAD)), *extra)

    @property
    def inputs(self) -> list[Path]:
        """The files that the study is read from, its own among them: no output may replace one."""
        with naming(self.name):
            files = named_files(self.settings, self.folder, self.name).values()
        return [each for file in files for each in files_of_result(file)]

    def output(self, key: str) -> Path | None:
        """Where the study wants a file: "result", "robot" or "report"."""
        text = getattr(self.settings.output, key)
        return None if text is None else resolved(text, self.folder, f"{self.name}: output.{key}")

    @staticmethod
    def _simulates(method: Method) -> bool:
        simulates = not isinstance(method, IDIM)  # whose loop is for one of its tests
        return simulates and getattr(method, "controller", None) is not None


def load_study(path: str | PathLike[str], settings: Sequence[str] = ()) -> Study:
    """The study that a TOML file describes, changed by texts "key=value" as those of `didim
    identify --set`.
    """
    if not isinstance(path, str | PathLike):
        raise InputError(f"load_study takes a path, found {shortened(path)}.")
    file = Path(path)
    if "\0" in str(file):
        raise InputError(f"{shortened(str(file))} is not a path.")
    return Study(read_study(file, settings), file.parent, file.name)


def _at_rest(method: Any) -> str:
    """What a method does about joints at rest, whose friction is not known; empty: nothing."""
    if method.rest_velocity is not None:
        return "rest_velocity leaves these equations out"
    return "" if isinstance(method, IDIM | IV) else SIMULATED
