"""`python -m benchmarks.mujoco_sysid`: a Panda in known PD loops, positions alone: didim's output
error beside mujoco.sysid and beside CMA-ES around didim's simulator.

The record is MuJoCo's own (RK4, 1 kHz), so that mujoco.sysid has no error of its
model; didim has that of MuJoCo's soft friction. All start from the same values and know the same.
`--seconds` shortens the record. Rows are written as they end, and a second call makes those that
are missing.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import didim
from benchmarks.resumable import run_missing
from didim.robot.mjcf.write import STIFF_FRICTION
from support.mjcf import PANDA

RESULTS = Path(__file__).parent / "results" / "mujoco_sysid.jsonl"
NOISE = 5e-5
"""rad."""

RATE, HERTZ = 1000.0, 10.0
"""Of record and control, and of the loops."""

INERTIAS = np.array([0.6, 0.8, 0.4, 0.4, 0.12, 0.12, 0.11])
"""kg m^2, that the gains are for: typical ones, so that RK4 is stable at 1 kHz in all poses."""

STEMS = {"Ia": "armature", "Fv": "damping", "Fc": "frictionloss"}
START = {"Ia": 0.1, "Fv": 1.0, "Fc": 0.5}
SPREAD = 0.4
"""Of the logarithm of the true values around the start."""

LINK_SPREAD = 0.05
"""By which true inertias differ from the described ones, where they are unknown."""

TURNS = 3
"""Runs of didim, of which the quickest counts; those of the others take too long."""

ENOUGH = 1.003
"""Residual over noise at which CMA-ES may stop."""

MOST_CPU = 400.0
"""s that a peer may take."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A record and what is known."""

    text: str
    """The MJCF at the start values."""
    names: tuple[str, ...]
    truth: dict[str, np.ndarray]
    """(7,) by stem."""
    kp: np.ndarray
    kv: np.ndarray
    t: np.ndarray
    q_ref: np.ndarray
    control: np.ndarray
    q: np.ndarray
    start: tuple[np.ndarray, np.ndarray]


@cache
def problem(seconds: float, seed: int, links: bool) -> Problem:
    """The record of a Panda whose armature and friction, and with `links` also its inertias, differ
    from their description.
    """
    import mujoco

    rng = np.random.default_rng(seed)
    described = (
        PANDA.replace('range="-1.7628 1.7628"', "")
        .replace("<actuator>", "<actuator><!--")
        .replace("</actuator>", "--></actuator>")
    )
    spec = mujoco.MjSpec.from_string(described)
    for geom in list(spec.geoms):
        spec.delete(geom)
    for mesh in list(spec.meshes):
        spec.delete(mesh)
    for key in list(spec.keys):
        spec.delete(key)
    spec.option.timestep, spec.option.integrator = 1 / RATE, mujoco.mjtIntegrator.mjINT_RK4
    names = tuple(joint.name for joint in spec.joints)
    solref, solimp = (
        [float(x) for x in STIFF_FRICTION[f"sol{kind}friction"].split()] for kind in ("ref", "imp")
    )
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "panda.xml").write_text(PANDA)
        model = didim.DynamicModel(didim.load_robot(Path(folder) / "panda.xml"))
    omega = 2 * np.pi * HERTZ
    kp, kv = INERTIAS * omega**2, 2 * INERTIAS * omega
    for k, joint in enumerate(spec.joints):
        joint.limited = 0
        joint.solref_friction = solref
        joint.solimp_friction[:3] = solimp
        joint.armature, joint.frictionloss = START["Ia"], START["Fc"]
        joint.damping = [START["Fv"], 0.0, 0.0]
        actuator = spec.add_actuator(name=f"servo_{joint.name}", target=joint.name)
        actuator.trntype = mujoco.mjtTrn.mjTRN_JOINT
        actuator.set_to_position(kp=float(kp[k]), kv=float(kv[k]))
    spec.compile()
    text = spec.to_xml()
    true = mujoco.MjSpec.from_string(text)
    truth = {
        stem: value * np.exp(rng.uniform(-SPREAD, SPREAD, len(names)))
        for stem, value in START.items()
    }
    for k, name in enumerate(names):
        true.joint(name).armature = truth["Ia"][k]
        true.joint(name).damping = [truth["Fv"][k], 0.0, 0.0]
        true.joint(name).frictionloss = truth["Fc"][k]
    if links:
        for body in true.bodies:
            factor = np.exp(LINK_SPREAD * rng.standard_normal())
            body.mass *= factor
            body.inertia = body.inertia * factor
            body.ipos = body.ipos + LINK_SPREAD * 0.1 * rng.standard_normal(3)
    compiled = true.compile()
    data = mujoco.MjData(compiled)
    trajectory = didim.Fourier.random(
        model.robot, seed, period=seconds, periods=1, harmonics=max(3, round(seconds * 0.8))
    )
    t = np.arange(0, round(seconds * RATE) + 1) / RATE
    q_ref, dq_ref, _ = trajectory.sample(t)
    control = trajectory.sample(t + 0.5 / RATE)[0]  # held during a step: at its middle
    q = np.empty_like(q_ref)
    data.qpos[:], data.qvel[:] = q_ref[0], dq_ref[0]
    start = data.qpos.copy(), data.qvel.copy()
    for k in range(len(t)):
        q[k] = data.qpos
        data.ctrl[:] = control[k]
        mujoco.mj_step(compiled, data)
    noisy = q + NOISE * rng.standard_normal(q.shape)
    return Problem(text, names, truth, kp, kv, t, q_ref, control, noisy, start)


def didim_model(given: Problem, links: bool) -> didim.DynamicModel:
    """The model of the file, with its links known or not."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "panda.xml").write_text(given.text)
        robot = didim.load_robot(Path(folder) / "panda.xml")
    if links:
        return didim.DynamicModel(robot)
    model = didim.DynamicModel(robot)
    known = {
        each: float(value)
        for each, value in zip(model.parameter_names, model.nominal, strict=True)
        if each[:2] not in STEMS
    }
    return didim.DynamicModel(robot, fixed=known)


def row(given: Problem, found: dict[str, np.ndarray], q: np.ndarray, **more: Any) -> dict[str, Any]:
    """Errors of the values against the truth, and the residual over the noise."""
    errors = np.concatenate([np.abs(found[s] / given.truth[s] - 1) for s in STEMS])
    residual = float(np.sqrt(np.mean((q - given.q) ** 2))) / NOISE
    return {
        "residual_over_noise": residual,
        "median_error": float(np.median(errors)),
        "largest_error": float(errors.max()),
        **{f"largest_{s}": float(np.abs(found[s] / given.truth[s] - 1).max()) for s in STEMS},
        **more,
    }


def by_didim(seconds: float, seed: int, links: bool) -> dict[str, Any]:
    """Output error with exact sensitivities; the start is known, so that nothing is cut there."""
    given = problem(seconds, seed, links)
    model = didim_model(given, links)
    loop = didim.PD(kp=given.kp / given.kv, kv=given.kv)
    reference = didim.Reference(given.t, given.q_ref)
    tau = given.kp * (given.q_ref - given.q)  # a record must have some; it is not an output here
    record = didim.Experiment(t=given.t, tau=tau, q_ref=reference, q=given.q, name="panda")
    method = didim.OutputError(
        controller=loop,
        output="position",
        initial="nominal",
        start=given.start,
        transient=0.0,
        lack_of_fit=False,
    )
    began = time.process_time()
    estimate = didim.identify(model, record, method)
    cpu = time.process_time() - began
    motion = didim.simulate(
        estimate.model, estimate.parameters, loop, t=given.t, q_ref=reference, initial=given.start
    )
    found = values_of(model, estimate)
    steps = estimate.iterations
    return row(given, found, motion.q, cpu=cpu, iterations=steps, status=str(estimate.status))


def values_of(model: didim.DynamicModel, estimate: didim.Estimate) -> dict[str, np.ndarray]:
    """(7,) by stem: what the base parameters say of armature and friction, with the links of the
    file or, where these are unknown, as `to_robot` separates them.
    """
    names = model.parameter_names
    unknown = np.array([name[:2] in STEMS for name in names])
    if model.fixed:
        A, nominal = model.base.matrix, model.nominal
        rest = estimate.values - A[:, ~unknown] @ nominal[~unknown]
        solved = np.linalg.lstsq(A[:, unknown], rest, rcond=None)[0]
    else:
        nominal = {joint.name: joint.nominal for joint in estimate.to_robot(project=True).joints}
        joints = model.robot.joint_names
        parts = [(name[:2], int(name[2:])) for name, own in zip(names, unknown, strict=True) if own]
        solved = np.array([nominal[joints[j - 1]][stem] for stem, j in parts])
    found = dict(zip(np.array(names)[unknown], solved, strict=True))
    return {s: np.array([found[f"{s}{j}"] for j in range(1, 8)]) for s in STEMS}


def write_inertia(name: str) -> Any:
    """A modifier for the ten numbers of mujoco.sysid's pseudo-inertia of a body: its own one ends
    with an error of the compiler of MuJoCo 4.0.0, for any body.
    """
    import mujoco
    from mujoco.sysid import model_modifier

    def modifier(spec: Any, parameter: Any) -> None:
        pi = model_modifier.pi_from_theta(parameter.value)
        body, mass = spec.body(name), pi[0]
        centre = pi[1:4] / mass
        cross = model_modifier.skew(centre)
        sizes, axes = np.linalg.eigh(pi[4:].reshape(3, 3) + mass * cross @ cross)
        axes[:, 2] *= np.sign(np.linalg.det(axes))
        turned = np.zeros(4)
        mujoco.mju_mat2Quat(turned, np.ascontiguousarray(axes).ravel())
        body.mass, body.ipos, body.inertia, body.iquat = mass, centre, sizes, turned

    return modifier


def by_sysid(seconds: float, seed: int, links: bool, scaled: bool) -> dict[str, Any]:
    """mujoco.sysid as its README has it: the backend "mujoco", bounds, positions; `scaled`:
    with x_scale = "jac", which its own warning recommends.
    """
    import mujoco
    from mujoco import sysid

    given = problem(seconds, seed, links)
    spec = mujoco.MjSpec.from_string(given.text)
    model = spec.compile()
    params = sysid.ParameterDict()

    def write(name: str, key: str) -> Any:
        def modifier(changed: Any, parameter: Any) -> None:
            value = float(parameter.value[0])
            setattr(changed.joint(name), key, [value, 0.0, 0.0] if key == "damping" else value)

        return modifier

    for stem, key in STEMS.items():
        for name in given.names:
            start = START[stem]
            params.add(
                sysid.Parameter(
                    f"{stem}_{name}", start, 0.02 * start, 10 * start, modifier=write(name, key)
                )
            )
    if links:
        for j in range(1, 8):
            label, kind = f"link{j}", sysid.InertiaType.Pseudo
            params.add(
                sysid.body_inertia_param(
                    spec, model, label, inertia_type=kind, modifier=write_inertia(label)
                )
            )
    control = sysid.TimeSeries.from_control_names(given.t, given.control, model)
    # As states: its sensors are those of the step before, which costs 1 ms of delay here.
    signals = [(f"{name}_qpos", sysid.SignalType.MjStateQPos) for name in given.names]
    sensors = sysid.TimeSeries.from_names(given.t, given.q, model, names=signals)
    state = sysid.create_initial_state(model, *given.start)
    sequences = sysid.ModelSequences("panda", spec, "record", state, control, sensors, True)
    residual = sysid.build_residual_fn(models_sequences=[sequences])
    rollouts, best = 0, (np.inf, params.as_vector())

    def counted(x: np.ndarray, *rest: Any, **more: Any) -> Any:
        nonlocal rollouts, best
        if time.process_time() - began > MOST_CPU:
            raise TimeoutError
        rollouts += 1 if x.ndim == 1 else x.shape[1]
        found = residual(x, *rest, **more)
        if x.ndim == 1 or x.shape[1] == 1:
            best = min(
                best, (float(np.sum(found[0][0] ** 2)), x.ravel().copy()), key=lambda b: b[0]
            )
        return found

    scale = {"x_scale": "jac"} if scaled else {}
    began = time.process_time()
    status = "ended"
    try:
        solved, _ = sysid.optimize(params, counted, verbose=False, **scale)
    except TimeoutError:
        solved, status = params.copy(), "time is up"
        solved.update_from_vector(best[1])
    except ValueError as problem_met:  # a step to a body that MuJoCo does not compile
        spent = time.process_time() - began
        said = " ".join(str(problem_met).split())
        return {"cpu": spent, "simulations": rollouts, "status": f"failed: {said}"}
    cpu = time.process_time() - began
    compiled = sysid.apply_param_modifiers(solved, spec)
    data = mujoco.MjData(compiled)
    data.qpos[:], data.qvel[:] = given.start
    q = np.empty_like(given.q)
    for k in range(len(given.t)):
        q[k] = data.qpos
        data.ctrl[:] = given.control[k]
        mujoco.mj_step(compiled, data)
    found = {
        stem: np.array([solved[f"{stem}_{name}"].value[0] for name in given.names])
        for stem in STEMS
    }
    return row(given, found, q, cpu=cpu, simulations=rollouts, status=status)


def by_cma(seconds: float, seed: int, links: bool) -> dict[str, Any]:
    """CMA-ES in its default settings around `didim.simulate`, over the logarithms of the unknowns;
    it stops at the noise, or when its time is up.
    """
    import cma

    assert not links
    given = problem(seconds, seed, links)
    model = didim_model(given, links)
    loop = didim.PD(kp=given.kp / given.kv, kv=given.kv)
    reference = didim.Reference(given.t, given.q_ref)
    names = [f"{stem}{j}" for stem in STEMS for j in range(1, 8)]
    at = [model.parameter_names.index(name) for name in names]
    start = np.log([START[stem] for stem in STEMS for _ in range(7)])
    phi = model.nominal.copy()

    def positions(x: np.ndarray) -> np.ndarray:
        phi[at] = np.exp(x)
        settings: dict[str, Any] = {"initial": given.start, "check": False}
        return didim.simulate(model, phi, loop, t=given.t, q_ref=reference, **settings).q

    def cost(x: np.ndarray) -> float:
        q = positions(x)
        return float(np.mean((q - given.q) ** 2)) if len(q) == len(given.q) else 1.0

    options = {
        "seed": seed + 1,
        "verbose": -9,
        "ftarget": (ENOUGH * NOISE) ** 2,
        "tolfun": 0.0,
        "tolfunhist": 0.0,
        "tolx": 1e-9,
        "maxfevals": 10**6,
    }
    search = cma.CMAEvolutionStrategy(start, 0.5, options)
    began = time.process_time()
    while not search.stop() and time.process_time() - began < MOST_CPU:
        candidates = search.ask()
        search.tell(candidates, [cost(x) for x in candidates])
    cpu = time.process_time() - began
    best = np.asarray(search.result.xbest)
    found = {stem: np.exp(best[7 * k : 7 * k + 7]) for k, stem in enumerate(STEMS)}
    status = ", ".join(search.stop()) or "time is up"
    simulations = int(search.result.evaluations)
    return row(given, found, positions(best), cpu=cpu, simulations=simulations, status=status)


def run(task: tuple[str, int, float, str]) -> dict[str, Any]:
    """One row: the unknowns, the seed, the length of the record and the method."""
    unknowns, seed, seconds, method = task
    links = unknowns == "with inertias"
    if method == "didim":
        by_didim(min(seconds, 3.0), seed, links)  # compiles
        turns = [by_didim(seconds, seed, links) for _ in range(TURNS)]
        made = min(turns, key=lambda each: each["cpu"])
    elif method == "CMA-ES":
        by_didim(min(seconds, 3.0), seed, links)
        made = by_cma(seconds, seed, links)
    else:
        made = by_sysid(seconds, seed, links, scaled=method == "sysid, scaled")
    keys = zip(("unknowns", "seed", "seconds", "method"), task, strict=True)
    return {**dict(keys), **made}


def table(rows: list[dict[str, Any]]) -> str:
    """Markdown, medians over the seeds."""
    lines = [
        "| unknowns | method | seeds | processor, s | over didim | simulations | residual / noise "
        "| median error | largest error |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    groups = list(dict.fromkeys((each["unknowns"], each["method"]) for each in rows))
    for unknowns, method in groups:
        own = [r for r in rows if (r["unknowns"], r["method"]) == (unknowns, method)]
        base = [r for r in rows if (r["unknowns"], r["method"]) == (unknowns, "didim")]

        def middle(key: str, of: list[dict[str, Any]] = own) -> float:
            return float(np.median([r.get(key, np.nan) for r in of]))

        ratio = middle("cpu") / middle("cpu", base) if base else np.nan
        count = middle("simulations")
        if not any("median_error" in r for r in own):
            lines.append(f"| {unknowns} | {method} | {len(own)} | {own[0]['status']} ||||||")
            continue
        lines.append(
            f"| {unknowns} | {method} | {len(own)} | {middle('cpu'):.3g} | {ratio:.3g} | "
            f"{'' if np.isnan(count) else f'{count:.0f}'} | {middle('residual_over_noise'):.4g} | "
            f"{100 * middle('median_error'):.2g} % | {100 * middle('largest_error'):.2g} % |"
        )
    return "\n".join(lines)


def main() -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--inertias", action="store_true", help="also with unknown inertias")
    parser.add_argument("--cma", action="store_true", help="also CMA-ES, up to seven minutes")
    options = parser.parse_args()
    methods = (
        "didim",
        "sysid",
        "sysid, scaled",
        *(("CMA-ES",) if options.cma else ()),
    )
    tasks = [
        ("armature, damping, friction loss", seed, options.seconds, method)
        for seed in range(options.seeds)
        for method in methods
    ]
    if options.inertias:
        tasks += [
            ("with inertias", seed, options.seconds, method)
            for seed in range(options.seeds)
            for method in ("didim", "sysid")
        ]
    keys = ("unknowns", "seed", "seconds", "method")
    rows = run_missing(tasks, keys, run, RESULTS, 1)
    print(table([each for each in rows if each["seconds"] == options.seconds]))


if __name__ == "__main__":
    main()
