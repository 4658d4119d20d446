"""From records to an estimate by the exact method: prior, scan, Gauss-Newton steps, verdict and
statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller, Gains
from didim.control.tuning import largest_inertias
from didim.dynamics.consistent import Consistent
from didim.dynamics.model import BaseModel
from didim.errors import InputError
from didim.identification.assemble import assembled, unsolved
from didim.identification.closed_loop import ClosedLoop
from didim.identification.exact_verdict import judged_exact
from didim.identification.gauss_newton import Exact, Place
from didim.identification.least_squares import solve
from didim.identification.prior import prior_of, towards
from didim.identification.record import record_notes
from didim.identification.scan import left, scanned
from didim.identification.task import Task
from didim.identification.trust import contraction, drag
from didim.identification.unknowns import Unknowns
from didim.identification.verdict import CLEARLY, advice, lacking, noise_shares, standing
from didim.results.estimate import Estimate
from didim.results.history import Iteration

Array = NDArray[np.float64]
Progress = Callable[[float], Any]

RESTART = 1.3
"""How many times the noise a residual may be before the next best start of the scan is tried."""

RESTARTS = 2


class Refinement:
    """One run."""

    def __init__(
        self,
        task: Task,
        model: BaseModel,
        fresh: Callable[[], ClosedLoop],
        base: Array | None = None,
    ) -> None:
        self.task, self.model, self.fresh, self.base = task, model, fresh, base
        self.closed = fresh()
        self.notes: list[str] = []
        self.history: list[Iteration] = []
        self.scanned = np.inf

    @cached_property
    def consistent(self) -> Consistent:
        """The prior, from the description or generic, or moved to the base parameters that were
        given.
        """
        prior = prior_of(self.model, self.closed, self.task.controller)
        return prior if self.base is None else towards(prior, self.model, self.base)

    def run(self, others: Sequence[Array] = (), progress: Progress | None = None) -> Estimate:
        """Identify from the prior, or from the base parameters `others`, each (b,), if they are
        better.
        """
        if told := standing(self.model, self.closed.references):
            return self._failed("unexcited", lacking(told))
        best = self._best(others, progress)
        if progress is not None:
            progress(1.0)
        if isinstance(best, str) and "equations are left" in best:
            raise InputError(
                f"The record is too short: {best}. Record longer, decimate less, or cut less."
            )
        if isinstance(best, str):
            return self._failed(
                "diverged", f"The first simulation fails: {best.rstrip('.')}. {advice(self.closed)}"
            )
        return self._finished(*best)

    def _best(
        self, others: Sequence[Array] = (), progress: Progress | None = None
    ) -> tuple[Exact, Place, str, str] | str:
        """The run that leaves least, its last place, status and message; what went wrong where none
        could be simulated.
        """
        starts = [
            self.consistent.prior,
            *(towards(self.consistent, self.model, each).prior for each in others),
        ]
        best: tuple[Exact, Place, str, str] | None = None
        problem = "no start could be simulated"
        tries = [
            (self.loops[0], starts),
            *((loop, starts[:1]) for loop in self.loops[: 1 + RESTARTS]),
        ]
        for k, (loop, several) in enumerate(tries):
            if k == 1 and (len(starts) == 1 or (best is not None and self._from_prior(best[0]))):
                continue  # this was the first try
            run = Exact(self.model, self.fresh(), self.consistent, self._unknowns(loop))
            place = self._started(run, several)
            if isinstance(place, str):
                problem = place
                continue
            found = (run, *run.run(place, self.task.max_iterations, progress))
            if best is None or found[1].simulated.residual < best[1].simulated.residual:
                best = found
            if "on request" in found[3] or (best[2] == "converged" and self._is_enough(*best[:2])):
                break
        return problem if best is None else best

    @cached_property
    def loops(self) -> list[Controller | None]:
        """The loops to start with, best first: as assumed, or at the factors of a scan."""
        loop = self.task.controller
        if not self.task.estimate_gains or loop is None:
            return [loop]
        gains = self._gains(loop)
        if np.any(gains.kv < 0):
            raise InputError(
                "estimate_gains needs positive drive gains: turn the sign of that joint's control "
                "signal."
            )
        loop = loop.with_gains(gains)
        if not self.task.scan:
            return [loop]
        residuals = scanned(self.model, self.fresh, self.consistent, loop, self.consistent.prior)
        self.scanned = min(residuals.values())
        order = sorted(
            (f for f in residuals if np.isfinite(residuals[f])), key=lambda f: residuals[f]
        )
        if not order:
            return [loop]
        told = ", ".join(
            f"{100 * residuals[f]:.3g} % at {f:g}"
            for f in sorted(residuals)
            if np.isfinite(residuals[f])
        )
        self.notes.append(
            f"Scan of the bandwidth, over the assumed one: {told}; started at {order[0]:g}."
        )
        return [loop.faster(factor) for factor in order]

    def _gains(self, loop: Controller) -> Gains:
        """Numbers for the gains of a loop that is given by poles."""
        J = largest_inertias(self.model, self.model.matrix @ self.consistent.prior)
        g = np.diag(loop.drive(self.model))
        J = (
            J
            if loop.inertia is None
            else np.broadcast_to(np.asarray(loop.inertia, dtype=float), J.shape)
        )
        return loop.gains(self.model.robot.n, np.where(g != 0, g, 1.0), J)

    def _unknowns(self, loop: Controller | None) -> Unknowns:
        gains = self._gains(loop) if self.task.estimate_gains and loop is not None else None
        return Unknowns(loop, gains, self.task.estimate_delay)

    def _started(self, run: Exact, starts: Sequence[Array]) -> Place | str:
        """The start that leaves least."""
        found: list[Place] = []
        problem = ""
        z = np.zeros(run.unknowns.count)
        for theta in starts:
            place = run.at(theta, z)
            if isinstance(place, str):
                problem = place
            else:
                found.append(place)
        if not found:
            return problem
        best = min(found, key=lambda place: left(place.simulated))
        run.closed.cut(best.cut)
        run.history[:] = [
            step
            for step in run.history
            if np.array_equal(step.parameters, self.model.matrix @ best.theta)
        ][:1]
        return best

    def _from_prior(self, run: Exact) -> bool:
        """Whether a run started from the prior."""
        return np.array_equal(run.history[0].parameters, self.model.matrix @ self.consistent.prior)

    def _is_enough(self, run: Exact, place: Place) -> bool:
        """Whether hardly more than the noise is left, or at least less than after the scan."""
        if run.closed.outputs[0] != "tau":
            return True
        noise, share = (
            noise_shares(run.closed, place.simulated),
            place.simulated.by_joint[: self.model.robot.n],
        )
        return bool(np.all(share <= RESTART * noise) or left(place.simulated) < self.scanned)

    def _finished(self, run: Exact, place: Place, status: str, message: str) -> Estimate:
        """The estimate at the last point, judged."""
        b = self.model.matrix.shape[0]
        solution = solve(place.system, (1.0 / place.deviations)[place.system.joint])
        loop = run.unknowns.loop(place.z)
        status, message, doubts = judged_exact(
            self.task, self.model, self.fresh, run, place, solution, status, message
        )
        if self.task.estimate_gains and status == "converged" and doubts:
            status, message = self._by_other_reference(place, status, message)
        estimate = assembled(
            self.model,
            self.task.method,
            place.system,
            solution,
            np.zeros(place.system.W.shape[1]),
            size=place.simulated.sizes,
            status=status,
            message=message,
            recipe=replace(
                self.task.recipe,
                transient=run.closed.transient,
                delay=run.unknowns.late(place.z) or 0.0,
            ),
            iterations=len(run.history) - 1,
            history=(*self.history, *run.history),
            controller=loop,
            notes=(*record_notes(run.closed.records), *run.closed.notes, *self.notes, *doubts),
            provenance=self.task.provenance,
        )
        gains = self._estimated(run.unknowns, place, estimate)
        if run.closed.outputs == ("tau",) and loop is not None:
            estimate = replace(
                estimate, history=(*estimate.history[:-1], self._trusted(run, place, loop))
            )
        return replace(
            estimate,
            names=self.model.parameter_names,
            values=self.model.matrix @ place.theta,
            covariance=estimate.covariance[:b, :b],
            corrected_covariance=estimate.corrected_covariance[:b, :b],
            gains=gains,
            standard=place.theta,
        )

    def _by_other_reference(self, place: Place, status: str, message: str) -> tuple[str, str]:
        """Status and message after a look at the same law with or without the reference's velocity,
        its gains fitted too.

        Gains of the one imitate the other as well as they can; only the residual tells.
        """
        loop = self.task.controller
        share = np.unique([] if loop is None else np.asarray(loop.velocity_reference, dtype=float))
        if (
            loop is None
            or loop.model_term != "none"
            or share.size != 1
            or share[0] not in (0.0, 1.0)
        ):
            return status, message
        other = float(1.0 - share[0])
        task = replace(self.task, controller=replace(loop, velocity_reference=other))
        found = Refinement(task, self.model, self.fresh)._best()
        now = left(place.simulated)
        if isinstance(found, str) or not left(found[1].simulated) < CLEARLY * now:
            return status, message
        return "diverged", (
            f"The iteration settled, but the same law with velocity_reference = {other:g} leaves "
            "less "
            f"({100 * left(found[1].simulated):.3g} % instead of {100 * now:.3g} %, rms over the "
            "joints): it is the more "
            f"likely law. {message}"
        )

    def _trusted(self, run: Exact, place: Place, loop: Controller) -> Iteration:
        """The last step, with what its Jacobian says of DIDIM."""
        system, b = run.closed.system(self.model, place.simulated), self.model.matrix.shape[0]
        solution = solve(system, (1.0 / place.deviations)[system.joint])
        J = largest_inertias(self.model, self.model.matrix @ place.theta)
        ratio = contraction(solution, system, place.system.W[:, :b])
        return replace(
            run.history[-1],
            contraction=ratio,
            drag=drag(self.model, self.model.matrix @ place.theta, loop, J),
        )

    def _estimated(
        self, unknowns: Unknowns, place: Place, estimate: Estimate
    ) -> dict[str, tuple[float, float]]:
        """Gains and delay with their sigma."""
        sigma = estimate.corrected_sigma[self.model.matrix.shape[0] :]
        names = [f"{kind}{j + 1}" for kind, j in unknowns.gains]
        values = unknowns.values(place.z)
        found = {
            name: (float(v), float(v * s)) for name, v, s in zip(names, values, sigma, strict=False)
        }
        if unknowns.delay:
            found["delay"] = (float(place.z[-1]), float(sigma[-1]))
        return found

    def _failed(self, status: str, message: str) -> Estimate:
        start = self.model.matrix @ self.consistent.prior
        return unsolved(
            self.model,
            self.task.method,
            start,
            status=status,
            message=message,
            recipe=self.task.recipe,
            controller=self.task.controller,
            notes=(*record_notes(self.closed.records), *self.notes),
            provenance=self.task.provenance,
        )
