"""The loop of Fig. 5: simulate with chi^k, build W, solve, guard the step, repeat until (34)
holds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.control.laws import OwnLaw
from didim.control.tuning import largest_inertias
from didim.dynamics.model import BaseModel
from didim.identification.assemble import assembled, unsolved
from didim.identification.closed_loop import ClosedLoop, Simulated
from didim.identification.distances import Distances
from didim.identification.guards import (
    with_positive_friction,
    with_positive_inertia,
    without_negative_friction,
)
from didim.identification.initial import Start, start_of
from didim.identification.least_squares import estimate
from didim.identification.path import Path
from didim.identification.point import Point, gains_of
from didim.identification.record import record_notes
from didim.identification.stopping import arrived, settled
from didim.identification.trust import contraction, drag, exact_jacobian
from didim.identification.verdict import judged, lacking, standing
from didim.results.estimate import Estimate
from didim.results.formatting import joint_label
from didim.results.history import Iteration
from didim.results.prediction import Recipe

if TYPE_CHECKING:
    from didim.identification.didim import DIDIM

Array = NDArray[np.float64]
Progress = Callable[[float], Any]

HALVINGS = 8
"""How often a step is halved before the iteration gives up."""

RISE = 1.2
"""A step may raise the weighted torque error by this factor."""


_ROUGH = (
    "The torque error is down to the noise and the next step is small, but no step lowers it "
    "further: the simulation is rough "
    "there (encoder steps, saturation, sticking)."
)


class Search:
    """One run: the settings, the records in their loop, and the way so far.

    Implements (42), (44).
    """

    def __init__(
        self, settings: DIDIM, model: BaseModel, loop: ClosedLoop, origin: dict[str, Any]
    ) -> None:
        self.settings, self.model, self.closed, self.provenance = settings, model, loop, origin
        self.history: list[Iteration] = []
        self.clock = time.perf_counter()
        self.path = Path()
        self.distances = Distances(loop)

    def run(self, start: Start, progress: Progress | None) -> Estimate:
        """Iterate from `start`."""
        if told := standing(self.model, self.closed.references):
            return self._failed(start, "unexcited", lacking(told))
        point = self._first(start)
        if (
            isinstance(point, str)
            and isinstance(self.settings.initial, str)
            and self.settings.initial == "unit"
        ):
            self.closed.notes.append(
                'The simulation from "unit" (63) failed; started from "identity" (61) instead.'
            )
            point = self._first(start_of(self.model, "identity"))
        if isinstance(point, str):
            advice = "Check the loop's gains, rate and drive gain, or start elsewhere (initial=)."
            return self._failed(
                start,
                "diverged",
                f"The first simulation, with chi^0, fails: {point.rstrip('.')}. {advice}",
            )
        status, message = (
            "stopped",
            f"The limit of {self.settings.max_iterations} iterations was reached before the "
            "tolerances.",
        )
        self.best = point
        for k in range(1, self.settings.max_iterations + 1):
            found = self._step(point)
            if isinstance(found, str):
                status, message = "diverged", f"Step {k}: {found}"
                break
            point = found
            if (
                point.simulated.residual < self.best.simulated.residual
                or self.best.window != point.window
            ):
                self.best = point
            if self._is_free() and settled(
                self.model, point, self.settings.tol_residual, self.settings.tol_parameters
            ):
                status, message = (
                    "converged",
                    f"Torque error and parameters settled after {k} iterations.",
                )
                break
            answer = None if progress is None else progress(k / self.settings.max_iterations)
            if answer is not None and not np.all(answer):
                message = f"Stopped on request after {k} iterations."
                break
        if progress is not None:
            progress(1.0)
        return self._finished(point if status == "converged" else self.best, status, message)

    def _is_free(self) -> bool:
        """Whether the last step was neither shortened nor brought back: only then is its rest a
        fixed point.
        """
        last = self.history[-1]
        return last.share == 1.0 and not any(guard.startswith("inertia") for guard in last.guards)

    def _first(self, start: Start) -> Point | str:
        """The simulation with chi^0; a model of its own where M = I needs rotors that the robot has
        not.
        """
        J = largest_inertias(start.model, start.parameters)
        if not np.all(J > 0):
            return f"the inertia of {joint_label(self.model, int(J.argmin()))} is not positive"
        loop = self._retuned(J)
        self.closed.cut_for(start.model, start.parameters, loop)
        simulated = self.closed.simulate(start.model, start.parameters, loop)
        return (
            simulated
            if isinstance(simulated, str)
            else self._accepted(start.base, simulated, loop, J, 1.0, ())
        )

    def _step(self, point: Point) -> Point | str:
        """Solve (48) and go there, guarded; or why no step is possible."""
        proposed, held = with_positive_friction(self.model, point.system, point.solution)
        target = proposed
        if self.settings.accelerate:
            target = without_negative_friction(
                self.model, self.path.extrapolated(point.parameters, proposed, point.scale)
            )
        guards = [f"friction {', '.join(held)} held at zero"] if held else []
        q = np.vstack([self.closed.probes, *(motion.q for motion in point.simulated.motions)])
        target, worst = with_positive_inertia(self.model, target, q, point.inertia)
        if worst is not None:
            guards.append(f"inertia brought back, {joint_label(self.model, worst)}")
        weights, share, reason = point.joint_weights, 1.0, ""
        limit = RISE * min(
            np.linalg.norm(weights * errors)
            for errors in (point.simulated.errors, self.best.simulated.errors)
        )
        for _ in range(HALVINGS + 1):
            parameters = point.parameters + share * (target - point.parameters)
            J = self._inertias(parameters, point.inertia)
            loop = self._retuned(J)
            simulated = self.closed.simulate(self.model, parameters, loop)
            if isinstance(simulated, str):
                reason = f"simulation failed ({simulated.rstrip('.')})"
            elif np.linalg.norm(weights * simulated.errors) > limit:
                reason = "torque error would rise"
            else:
                return self._accepted(parameters, simulated, loop, J, share, tuple(guards))
            share /= 2
            guards.append(f"step halved: {reason}")
        return (
            f"no step of at least 1/{2**HALVINGS} of that of least squares is possible ({reason})."
        )

    def _accepted(
        self,
        parameters: Array,
        simulated: Simulated,
        loop: Controller,
        J: Array,
        share: float,
        guards: tuple[str, ...],
    ) -> Point:
        """A new iterate: its linear system, and its line in the history."""
        self.closed.cut_for(self.model, parameters, loop)
        simulated = self.closed.compared(simulated.motions)
        system = self.closed.system(self.model, simulated)
        now = time.perf_counter()
        self.history.append(
            Iteration(
                parameters,
                simulated.residual,
                simulated.by_joint,
                gains_of(loop, self.model, J),
                share,
                guards,
                self.distances.to_reference(simulated),
                self.distances.to_measured(simulated),
                now - self.clock,
                drag=drag(self.model, parameters, loop, J),
            )
        )
        self.clock = now
        return Point(
            parameters,
            simulated,
            loop,
            system,
            estimate(system, self.settings.weights),
            J,
            tuple(self.closed.windows),
        )

    def _trial(self, point: Point, factor: float) -> float:
        """Residual, rms over the joints, after one step in a loop of another bandwidth; infinite
        where there is none.
        """
        if isinstance(self.settings.controller, OwnLaw):
            return np.inf
        parameters, J, left = point.parameters, point.inertia, np.inf
        for _ in range(2):
            simulated = self.closed.simulate(self.model, parameters, self._retuned(J, factor))
            if isinstance(simulated, str):
                return left
            left = min(left, float(np.sqrt(np.mean(simulated.by_joint**2))))
            system = self.closed.system(self.model, simulated)
            parameters, _ = with_positive_friction(
                self.model, system, estimate(system, self.settings.weights)
            )
            J = self._inertias(parameters, J)
        return left

    def _inertias(self, parameters: Array, previous: Array) -> Array:
        """J (n,) of (51) that the loop is retuned for; the previous ones where its gains do not
        follow.
        """
        return (
            largest_inertias(self.model, parameters, previous)
            if self.settings.controller.by_poles or self.settings.updates
            else previous
        )

    def _retuned(self, J: Array, factor: float = 1.0) -> Controller:
        """The loop with the gains for inertias J (59), or the controller's own; at a multiple of
        its bandwidth.
        """
        controller = (
            self.settings.controller if factor == 1.0 else self.settings.controller.faster(factor)
        )
        if self.settings.updates:
            return controller.retuned(J)
        return (
            replace(controller, inertia=J)
            if controller.by_poles and controller.inertia is None
            else controller
        )

    def _recipe(self) -> Recipe:
        return Recipe(
            "simulated",
            self.settings.selection,
            transient=self.closed.transient,
            start=self.settings.start,
            interpolation=self.closed.interpolation,
        )

    def _finished(self, point: Point, status: str, message: str) -> Estimate:
        """The estimate at the last iterate, judged."""
        stuck = status != "converged" and "on request" not in message
        if stuck and arrived(self.model, self.closed, point, self.settings.tol_parameters):
            status, message = "converged", _ROUGH
        wanted = status == "converged" and self.settings.exact_interval
        jacobian = (
            exact_jacobian(self.closed, self.model, point, self.settings.updates)
            if wanted
            else None
        )
        if jacobian is not None:
            self.history[-1] = replace(
                self.history[-1], contraction=contraction(point.solution, point.system, jacobian)
            )
        at = (self.model, self.closed, point.simulated, point.system, point.solution)
        status, message, doubts = judged(
            *at, status, message, lambda factor: self._trial(point, factor)
        )
        return assembled(
            self.model,
            "DIDIM",
            point.system,
            point.solution,
            point.parameters,
            jacobian=jacobian,
            status=status,
            message=message,
            recipe=self._recipe(),
            iterations=len(self.history) - 1,
            history=tuple(self.history),
            controller=point.loop,
            notes=(*record_notes(self.closed.records), *self.closed.notes, *doubts),
            provenance=self.provenance,
        )

    def _failed(self, start: Start, status: str, message: str) -> Estimate:
        """Nothing was identified."""
        return unsolved(
            self.model,
            "DIDIM",
            start.base,
            status=status,
            message=message,
            recipe=self._recipe(),
            controller=self.settings.controller,
            notes=record_notes(self.closed.records),
            provenance=self.provenance,
        )
