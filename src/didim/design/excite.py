"""`excite`: the trajectory that tells most about a robot, within every limit."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.law import Controller
from didim.design.known import Sources, listed_sources
from didim.design.limits import Limits
from didim.design.nominal import nominal_parameters, tuned_loop
from didim.design.plan import Plan
from didim.design.planning import Planning
from didim.design.problem import DesignProblem
from didim.design.search import FOR_GAINS, Budget, Progress, Watch
from didim.design.settings import checked_settings
from didim.dynamics.model import BaseModel, DynamicModel
from didim.errors import InputError
from didim.results.formatting import listed
from didim.results.provenance import described
from didim.robot.robot import Robot
from didim.validation import real

Array = NDArray[np.float64]


def excite(
    model: DynamicModel | BaseModel,
    duration: float = 20.0,
    loop: Controller | None = None,
    gains_unknown: bool = False,
    limits: Limits | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    *,
    method: str | None = None,
    criterion: str = "logdet",
    weights: Mapping[str, float] | None = None,
    noise: ArrayLike | None = None,
    rate: float = 1000.0,
    start: ArrayLike | None = None,
    after: Sources = None,
    basis: str = "fourier",
    harmonics: int | None = None,
    random_plans: int = 0,
    effort: float = 1.0,
) -> Plan:
    """Design a trajectory, from rest to rest, whose record determines the parameters best.

    Parameters
    ----------
    model
        The dynamic model to identify; its nominal values (or those of an estimate in `after`)
        predict torques and sigma.
    duration
        s, from 1 to 1000.
    loop
        The controller that will follow the trajectory: the motion is checked as simulated in it.
        None: the robot is taken to follow exactly.
    gains_unknown
        Whether the gains of the loop are to be estimated with the parameters.
    limits
        What the motion must not exceed; None: the robot's, without floor and self-collision.
    seed
        Of the random starts; the same seed gives the same plan.
    progress
        Called with the fraction done; may return False to stop with the best plan so far, as does
        an interrupt from the keyboard.
    method
        "idim" or "didim", which will identify the record; None: DIDIM with a loop, else IDIM.
    criterion
        "logdet": the volume of the confidence ellipsoid; "sigma": the mean of log sigma, weighted
        by `weights`; "worst": the largest relative sigma; "condition": the condition number of the
        weighted regressor, for comparison.
    weights
        For "sigma": a weight for names, or beginnings of names such as "Fc", of unknowns; the
        others have 0.
    noise
        (n,) standard deviation of the torque of a sample, N.m or N; None: that of the records in
        `after`, else 2 % of the rms torque of random motions.
    rate
        Samples per second of the record, from 10 to 5 million over `duration`.
    start
        (n,) where the motion begins and ends, rad or m; None: where it is best.
    after
        An estimate, records or plans whose information the plan adds to.
    basis
        "fourier", or "spline": quintic B-splines, which may end elsewhere than they start.
    harmonics
        Of the series, or half the intervals of the spline, at most 500 and up to 25 Hz, or half of
        `rate` or of the controller's; None: up to 2 Hz, and with unknown gains up to the bandwidth
        of the loop.
    random_plans
        How many random plans within the same limits to compare with, as `Plan.sigma_random`.
    effort
        Factor on the iterations of the search.
    """
    began = time.perf_counter()
    if not isinstance(model, DynamicModel | BaseModel):
        raise InputError(
            f"model must be a didim.DynamicModel or its base, found {type(model).__name__}."
        )
    base = model.base if isinstance(model, DynamicModel) else model
    _refuse_passive(base.robot)
    sources = listed_sources(after, base)
    parameters, notes = nominal_parameters(base, sources)
    tuned = tuned_loop(base, parameters, loop)
    settings = checked_settings(
        base.robot,
        duration=duration,
        loop=tuned,
        gains_unknown=gains_unknown,
        limits=limits,
        seed=seed,
        progress=progress,
        method=method,
        criterion=criterion,
        weights=weights,
        rate=rate,
        start=start,
        basis=basis,
        harmonics=harmonics,
        random_plans=random_plans,
    )
    problem = DesignProblem(base, parameters, tuned, settings, sources, noise)
    budget = (FOR_GAINS if gains_unknown else Budget()).scaled(real(effort, "effort", above=0.0))
    plan = Planning(problem, budget, Watch(budget.total, progress)).plan()
    if progress is not None:
        progress(1.0)
    further = {"criterion": criterion, "weights": weights, "start": start, "basis": basis}
    further |= {"harmonics": harmonics, "random_plans": random_plans, "effort": effort}
    return replace(
        plan,
        messages=(*notes, *plan.messages),
        seconds=time.perf_counter() - began,
        settings={name: described(each) for name, each in further.items() if each is not None},
    )


def _refuse_passive(robot: Robot) -> None:
    """No trajectory prescribes the motion of a joint without a motor."""
    passive = [robot.joint_names[int(j)] for j in np.flatnonzero(~robot.driven)]
    if passive:
        raise InputError(
            f"{listed(passive)} of {robot.name!r} has no motor, so that no plan can prescribe its "
            "motion; hold such joints (lock=, --lock), or record the motion of a trajectory of "
            "your own."
        )
