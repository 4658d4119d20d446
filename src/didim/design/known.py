"""What is known before an experiment: the information of estimates, records and other plans, all
of the same robot, and no record of it twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from didim.design.plan import Plan
from didim.design.predict import Prediction
from didim.dynamics.model import BaseModel
from didim.errors import InputError, naming, shortened
from didim.results.estimate import Estimate
from didim.results.formatting import listed
from didim.results.provenance import data_hash
from didim.robot.robot import Joint, Robot
from didim.signals.experiment import Experiment
from didim.signals.filters import estimated_motion
from didim.signals.reference import Reference
from didim.signals.resample import period_of
from didim.simulation.motion import Motion
from didim.simulation.simulate import simulate

Array = NDArray[np.float64]
Source = Estimate | Experiment | Plan
Sources = Source | Sequence[Source] | None

CUTOFF = 0.02
"""Of the filter that differentiates a record, over its rate."""

MEASURED = ("IDIM", "IV")
"""Methods whose equations have no gains."""

SAME_FRAME = 1e-3
"""By which the frames of a joint may differ in two descriptions of one robot, rad or m: such are
corrections of its geometry.
"""


def listed_sources(after: Sources, model: BaseModel) -> tuple[Source, ...]:
    """The sources of information, each checked for the model that is designed for."""
    if after is None:
        return ()
    given = (after,) if isinstance(after, Estimate | Experiment | Plan) else after
    if not isinstance(given, Sequence) or not all(
        isinstance(each, Estimate | Experiment | Plan) for each in given
    ):
        raise InputError(
            "after must be an estimate, records (didim.Experiment) or plans, or a list of these; "
            f"found {shortened(after)}."
        )
    for each in given:
        if isinstance(each, Experiment):
            _refuse_foreign_record(each, model.robot)
        else:
            _refuse_foreign_model(each, model)
    return tuple(given)


def _refuse_foreign_record(record: Experiment, robot: Robot) -> None:
    """A record tells of a robot by its torques."""
    if record.n != robot.n:
        raise InputError(
            f"after: the record {record.name!r} is of {record.n} joints, the robot {robot.name!r} "
            f"has {robot.n}."
        )
    if record.tau is None:
        raise InputError(
            f"after: the record {record.name!r} has no torque, and tells nothing of the "
            "parameters; leave it out, or give its torque."
        )


def _refuse_foreign_model(source: Estimate | Plan, model: BaseModel) -> None:
    """Parameters of another robot may have the same names."""
    kind = "estimate" if isinstance(source, Estimate) else "plan"
    other = source.model
    if not _same_joints(other.robot, model.robot):
        raise InputError(
            f"after: the {kind} is of another robot, {other.robot.name!r}: its joints are not "
            f"those of {model.robot.name!r}."
        )
    if other.parameter_names != model.parameter_names:
        raise InputError(
            f"after: the {kind} has other base parameters than the model; design with the model "
            f"that was {'identified' if kind == 'estimate' else 'planned for'}."
        )


def _same_joints(one: Robot, other: Robot) -> bool:
    """Whether two descriptions may be of one robot: their axes lie alike."""
    if len(one.joints) != len(other.joints):
        return False
    return all(map(_same_frame, one.joints, other.joints))


def _same_frame(one: Joint, other: Joint) -> bool:
    if (one.kind, one.parent) != (other.kind, other.parent):
        return False
    pairs = (one.rotation, other.rotation), (one.translation, other.translation)
    return all(np.allclose(a, b, rtol=0.0, atol=SAME_FRAME) for a, b in pairs)


def independent(sources: Sequence[Source]) -> tuple[list[Source], list[str]]:
    """The sources, and those that plans among them rest on, without those whose records another
    one has too; and what is left out, in sentences. Estimates go before records, later estimates
    before earlier ones.
    """
    every = _with_those_of_plans(sources)
    records = [each for each in every if isinstance(each, Experiment)]
    others = [each for each in every if not isinstance(each, Experiment)]
    kept: list[Source] = []
    notes: list[str] = []
    seen: set[str] = set()
    for each in (*others[::-1], *records):
        data = _data(each)
        if shared := [name for hashed, name in data.items() if hashed in seen]:
            what = "a record" if isinstance(each, Experiment) else "an estimate"
            notes.append(
                f"after: {what} is left out, since another estimate or record has its data "
                f"({listed(shared)}): they count once."
            )
        else:
            kept.append(each)
            seen |= data.keys()
    return kept, notes


def _with_those_of_plans(sources: Sequence[Source]) -> list[Source]:
    """Each object once, and each plan once, though it be a copy; those that it rests on before
    it.
    """
    found: dict[int | bytes, Source] = {}
    for each in sources:
        inner = _with_those_of_plans(each.after) if isinstance(each, Plan) else []
        for one in (*inner, each):
            found[one.own_information.tobytes() if isinstance(one, Plan) else id(one)] = one
    return [*found.values()]


def _data(source: Source) -> dict[str, str]:
    """From the hashes of the records that a source rests on to their names; none of a plan."""
    if isinstance(source, Experiment):
        return {data_hash(source): source.name or "without a name"}
    if isinstance(source, Estimate):
        data = source.provenance.get("data", ())
        return {each["sha256"]: each["name"] or "without a name" for each in data}
    return {}


def rests_on_gains(sources: Sequence[Source]) -> list[str]:
    """That estimates rest on gains which are unknown now."""
    estimates = [each for each in sources if isinstance(each, Estimate)]
    if all(each.gains or each.method in MEASURED for each in estimates):
        return []
    return [
        "after: an estimate was identified in a loop whose gains were taken as known; if they are "
        "not, sigma is larger than what rests on it here. Give its records in place of it."
    ]


def known_information(
    sources: Sequence[Source], names: tuple[str, ...], prediction: Prediction
) -> Array:
    """(b, b) of the unknowns `names`, from independent sources."""
    total = np.zeros((len(names), len(names)))
    for each in sources:
        if isinstance(each, Estimate):
            total += _of_estimate(each, names)
        elif isinstance(each, Plan):
            total += _of_plan(each, names, prediction)
        else:
            total += _of_record(each, prediction)
    return total


def _of_plan(plan: Plan, names: tuple[str, ...], prediction: Prediction) -> Array:
    """That of its own record; with columns for the gains where these were taken as known."""
    if prediction.gains_unknown and not plan.gains_unknown:
        along = replace(prediction, noise=plan.noise, rate=plan.rate)
        return along.information(plan.motion, plan.trajectory)
    return _placed(plan.own_information, plan.names, names)


def _of_estimate(estimate: Estimate, names: tuple[str, ...]) -> Array:
    """The inverse of its covariance; gains and shapes by their sigma alone."""
    sigma = estimate.corrected_sigma
    kept = np.isfinite(sigma) & (sigma > 0)
    covariance = estimate.corrected_covariance[np.ix_(kept, kept)]
    scale = np.sqrt(np.diag(covariance))
    inner = np.linalg.pinv(covariance / np.outer(scale, scale), hermitian=True)
    own = tuple(name for name, used in zip(estimate.names, kept, strict=True) if used)
    total = _placed(inner / np.outer(scale, scale), own, names)
    for name, (_, deviation) in {**estimate.shapes, **estimate.gains}.items():
        if name in names and np.isfinite(deviation) and deviation > 0:
            k = names.index(name)
            total[k, k] += deviation**-2
    return total


def _placed(information: Array, own: tuple[str, ...], names: tuple[str, ...]) -> Array:
    """Information of the unknowns `own` among those of `names`; others are dropped, as if they
    were unknown.
    """
    shared = [name for name in own if name in names]
    inside = [own.index(name) for name in shared]
    others = [k for k in range(len(own)) if k not in inside]
    part = information[np.ix_(inside, inside)]
    if others:
        cross = information[np.ix_(inside, others)]
        part = part - cross @ np.linalg.pinv(information[np.ix_(others, others)]) @ cross.T
    total = np.zeros((len(names), len(names)))
    at = [names.index(name) for name in shared]
    total[np.ix_(at, at)] = part
    return total


def _of_record(record: Experiment, prediction: Prediction) -> Array:
    """That of a record along its motion: measured, or simulated along its reference."""
    model, parameters = prediction.unknowns.model, prediction.unknowns.parameters
    t = np.asarray(record.t)
    if prediction.loop is not None and record.q_ref is not None:
        reference = record.reference("cubic")
        motion = simulate(model, parameters, prediction.loop, t=t, q_ref=reference, check=False)
        if motion.completed:
            with naming(f"after: the record {record.name!r}"):
                return _rated(prediction, t).information(motion, reference)
    if record.q is None:
        raise InputError(
            f"after: the record {record.name!r} has no positions; give the loop too, in which its "
            "reference can be simulated."
        )
    rate = 1.0 / period_of(t)
    q, dq, ddq = estimated_motion(np.asarray(record.q), rate, CUTOFF * rate)
    slip = np.sign(model.contact_velocities(dq))
    tau = np.zeros_like(q)
    along = Motion(t, q, dq, ddq, tau, slip, np.zeros(slip.shape, dtype=bool))
    measured = Reference(t, q, interpolation="cubic")
    with naming(f"after: the record {record.name!r}"):
        return _rated(prediction, t).information(along, measured)


def _rated(prediction: Prediction, t: Array) -> Prediction:
    return replace(prediction, rate=1.0 / period_of(t))
