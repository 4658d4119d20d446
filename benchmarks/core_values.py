"""Values, sigmas, status, steps and residuals of every method, stored and compared: a change of
structure keeps them.

    python -m benchmarks.core_values before.json
    python -m benchmarks.core_values after.json --against before.json

The cases are the shipped studies (records where `DIDIM_DATA` has them), `cases/tx40.toml` and
virtual robots in right and wrong loops, with settings that reach every branch of the methods.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import didim

ROOT = Path(__file__).parents[1]
Case = Callable[[], didim.Estimate]


def _record(
    model: didim.DynamicModel,
    loop: Any,
    seed: int = 1,
    noise: float = 0.05,
    rate: float = 200.0,
    period: float = 5.3,
    periods: int = 3,
    encoder: float = 0.0,
    **more: Any,
) -> didim.Experiment:
    motion = didim.Fourier.random(model.robot, seed, period=period, periods=periods, share=1.0)
    virtual = {"rate": rate, "noise": noise, "encoder": encoder, "seed": seed, **more}
    return didim.virtual_experiment(model, model.nominal, loop, motion, **virtual)[0]


def _model(name: str, effects: tuple[str, ...] | None = None) -> didim.DynamicModel:
    return didim.DynamicModel(didim.load_robot(name), effects)


def virtual_cases() -> dict[str, Case]:
    """Virtual robots; each case makes its own record."""
    cases: dict[str, Case] = {}
    poles = [20.0, 50.0]

    def scara(name: str, method: Callable[[], Any], loop: Any = None, **record: Any) -> None:
        def run() -> didim.Estimate:
            model = _model("scara")
            true = didim.PD(natural_frequency=poles) if loop is None else loop(model)
            return didim.identify(model, _record(model, true, **record), method())

        cases[f"scara {name}"] = run

    def by_poles(factor: float = 1.0, **more: Any) -> didim.PD:
        return didim.PD(natural_frequency=[factor * w for w in poles], **more)

    def tuned(law: str) -> Callable[[didim.DynamicModel], Any]:
        def make(model: didim.DynamicModel) -> Any:
            J, w = didim.largest_inertias(model, model.nominal), np.array(poles)
            gains = {"kp": w / 2, "kv": 2 * w * J}
            laws: dict[str, Callable[[], Any]] = {
                "pd": lambda: didim.PD(**gains, velocity_reference=1.0),
                "pd sampled": lambda: didim.PD(**gains, rate=1000),
                "pid": lambda: didim.PID(**gains, ki=gains["kp"] * gains["kv"] * w / 10),
                "cascade": lambda: didim.Cascade(**gains, kiv=gains["kv"] * w / 10),
            }
            return laws[law]()

        return make

    own = {law: tuned(law) for law in ("pd", "pd sampled", "pid", "cascade")}
    scara_model = _model("scara")
    known = {law: make(scara_model) for law, make in own.items()}

    scara("idim", didim.IDIM, encoder=1e-4)
    scara("idim ols", lambda: didim.IDIM(weights="ols", decimate="fir"), encoder=1e-4)
    scara("idim irls", lambda: didim.IDIM(weights="irls"), encoder=1e-4)
    scara("idim essential", lambda: didim.IDIM(essential=True), encoder=1e-4)
    scara("idim rest", lambda: didim.IDIM(rest_velocity=0.2, decimation=10), encoder=1e-4)
    scara("idim reference", lambda: didim.IDIM(states="reference"), encoder=1e-4)
    scara("didim unit", lambda: didim.DIDIM(controller=by_poles()))
    scara("didim identity", lambda: didim.DIDIM(controller=by_poles(), initial="identity"))
    scara(
        "didim nominal ols",
        lambda: didim.DIDIM(controller=by_poles(), initial="nominal", weights="ols"),
    )
    scara(
        "didim irls", lambda: didim.DIDIM(controller=by_poles(), weights="irls", decimate="matlab")
    )
    scara(
        "didim rest",
        lambda: didim.DIDIM(controller=by_poles(), rest_velocity=0.1, exact_interval=False),
    )
    scara("didim plain steps", lambda: didim.DIDIM(controller=by_poles(), accelerate=False))
    scara("didim half", lambda: didim.DIDIM(controller=by_poles(0.5)))
    scara("didim third", lambda: didim.DIDIM(controller=by_poles(1 / 3)))
    scara("didim double", lambda: didim.DIDIM(controller=by_poles(2.0)))
    scara(
        "didim few steps",
        lambda: didim.DIDIM(controller=by_poles(), max_iterations=2, tol_parameters=1e-6),
    )
    scara("didim refine", lambda: didim.DIDIM(controller=by_poles(), refine=True))
    scara("didim refine half", lambda: didim.DIDIM(controller=by_poles(0.5), refine=True))
    scara("didim gains", lambda: didim.DIDIM(controller=by_poles(0.5), estimate_gains=True))
    for law in own:
        scara(f"didim {law}", lambda law=law: didim.DIDIM(controller=known[law]), own[law])
        scara(
            f"didim {law} gains",
            lambda law=law: didim.DIDIM(controller=known[law], estimate_gains=True),
            own[law],
        )
    for output in ("position", "torque", "both"):
        scara(
            f"output error {output}",
            lambda output=output: didim.OutputError(controller=known["pd"], output=output),
            own["pd"],
            encoder=1e-5,
        )
    scara(
        "output error gains",
        lambda: didim.OutputError(controller=known["pd"], output="torque", estimate_gains=True),
        own["pd"],
    )
    scara(
        "didim gains wrong reference",
        lambda: didim.DIDIM(controller=known["pd sampled"], estimate_gains=True),
        own["pd"],
    )
    scara(
        "didim gains far off",
        lambda: didim.DIDIM(controller=by_poles(0.2), estimate_gains=True),
    )
    scara("didim short transient", lambda: didim.DIDIM(controller=by_poles(), transient=0.0))
    scara(
        "didim soft",
        lambda: didim.DIDIM(controller=didim.PD(natural_frequency=[3.0, 6.0]), refine=True),
        lambda _: didim.PD(natural_frequency=[3.0, 6.0]),
    )
    scara("didim encoder", lambda: didim.DIDIM(controller=by_poles(rate=1000, encoder=1e-3)))
    scara(
        "output error open loop",
        lambda: didim.OutputError(controller=None, decimation=2),
        periods=1,
        noise=0.0,
        period=2.3,
    )
    scara(
        "output error wrong loop",
        lambda: didim.OutputError(controller=by_poles(0.5), output="torque", max_iterations=8),
    )

    def pendulum(method: Callable[[didim.Controller], Any]) -> Case:
        def run() -> didim.Estimate:
            model = _model("double_pendulum")
            loop = didim.PD.parallel(Kp=20.0, Kd=0.6)
            return didim.identify(model, _record(model, loop, noise=0.03, rate=300.0), method(loop))

        return run

    cases["double pendulum idim"] = pendulum(lambda _: didim.IDIM(decimation=10))
    cases["double pendulum didim"] = pendulum(lambda loop: didim.DIDIM(controller=loop))
    cases["double pendulum refine"] = pendulum(
        lambda loop: didim.DIDIM(controller=loop, refine=True)
    )

    def arm(name: str, frequency: float, method: Callable[[Any], Any]) -> Case:
        def run() -> didim.Estimate:
            model = _model(name, ("rotor", "viscous", "coulomb"))
            loop = didim.PD(natural_frequency=2 * np.pi * frequency)
            record = _record(model, loop, noise=0.02, rate=1000.0, period=6.0, periods=1)
            return didim.identify(model, record, method(loop))

        return run

    cases["tx40 didim 20 Hz"] = arm("tx40", 20.0, lambda loop: didim.DIDIM(controller=loop))
    cases["tx40 didim 5 Hz"] = arm("tx40", 5.0, lambda loop: didim.DIDIM(controller=loop))
    cases["tx40 refine 10 Hz"] = arm(
        "tx40", 10.0, lambda loop: didim.DIDIM(controller=loop, refine=True)
    )
    cases["panda didim 10 Hz"] = arm("panda", 10.0, lambda loop: didim.DIDIM(controller=loop))
    cases["panda output error"] = arm(
        "panda", 10.0, lambda loop: didim.OutputError(controller=loop, output="torque")
    )

    def still() -> didim.Estimate:
        model, t = _model("scara"), np.arange(2000) / 200.0
        q_ref = np.column_stack([0.3 * np.sin(2 * t), np.zeros(t.size)])
        experiment = didim.Experiment(
            t=t, tau=np.column_stack([np.sin(2 * t), 0.1 * np.cos(t)]), q_ref=q_ref
        )
        return didim.identify(model, experiment, didim.DIDIM(controller=by_poles()))

    cases["scara joint that stands still"] = still

    def two_records() -> didim.Estimate:
        model = _model("scara")
        records = [_record(model, by_poles(), seed=seed) for seed in (1, 2)]
        held_out = _record(model, by_poles(), seed=3)
        return didim.identify(
            model, records, didim.DIDIM(controller=by_poles()), validation=held_out
        )

    cases["scara two records"] = two_records
    return cases


def study_cases() -> dict[str, Case]:
    """The shipped studies by every method that they set, and the shared six-joint case."""
    cases: dict[str, Case] = {}
    if os.environ.get("DIDIM_DATA"):
        for file in sorted((ROOT / "examples").glob("*.toml")):
            for method in ("idim", "didim", "output_error"):
                settings = [f"method={method}"] + (
                    ["output_error.output=torque"] if method == "output_error" else []
                )
                if method == "output_error" and file.stem == "tx40":
                    settings += ["output_error.decimation=100"]
                cases[f"{file.stem} {method}"] = lambda file=file, settings=settings: (
                    didim.load_study(file, settings).run()
                )
    shared = didim.load_case(ROOT / "cases" / "tx40.toml")

    def shared_case(method: Any) -> Case:
        def run() -> didim.Estimate:
            return didim.identify(shared.model, shared.experiment()[0], method)

        return run

    cases["case tx40 idim"] = shared_case(didim.IDIM())
    cases["case tx40 didim"] = shared_case(didim.DIDIM(controller=shared.controller))
    cases["case tx40 refine"] = shared_case(didim.DIDIM(controller=shared.controller, refine=True))
    return cases


def stored(estimate: didim.Estimate) -> dict[str, Any]:
    """What is compared of an estimate."""
    return {
        "method": estimate.method,
        "status": str(estimate.status),
        "iterations": estimate.iterations,
        "steps": len(estimate.history),
        "rows": estimate.rows,
        "names": list(estimate.names),
        "values": estimate.values.tolist(),
        "sigma": estimate.sigma.tolist(),
        "corrected_sigma": estimate.corrected_sigma.tolist(),
        "residual": estimate.residual,
        "residual_by_joint": estimate.residual_by_joint.tolist(),
        "residual_history": [step.residual for step in estimate.history],
        "gains": {name: list(pair) for name, pair in estimate.gains.items()},
        "validation": [each.residual for each in estimate.validation],
        "message": estimate.message,
        "notes": list(estimate.notes),
    }


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Where two stored estimates differ: exactly for words and counts, relative to 1e-10 for
    numbers.
    """
    found = []
    for key in ("method", "status", "iterations", "steps", "rows", "names"):
        if before[key] != after[key]:
            found.append(f"{key} {before[key]} -> {after[key]}")
    for key in (
        "values",
        "sigma",
        "corrected_sigma",
        "residual",
        "residual_by_joint",
        "residual_history",
        "validation",
    ):
        one, two = (np.atleast_1d(np.asarray(each[key], dtype=float)) for each in (before, after))
        if one.shape != two.shape:
            found.append(f"{key} has another shape")
        elif one.size and not np.array_equal(one, two):
            scale = np.maximum(
                np.abs(one), 1e-9 * np.abs(one[np.isfinite(one)]).max(initial=1e-300)
            )
            with np.errstate(invalid="ignore"):
                far = np.nanmax(np.where(one == two, 0.0, np.abs(two - one) / scale))
            found.append(f"{key} differs by {far:.1e}")
    for name in before["gains"].keys() | after["gains"].keys():
        one, two = before["gains"].get(name), after["gains"].get(name)
        if one != two:
            found.append(f"gain {name} {one} -> {two}")
    return found


def main() -> int:
    """Store, and compare where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    results: dict[str, Any] = {}
    for name, run in {**virtual_cases(), **study_cases()}.items():
        if options.only in name:
            clock = time.perf_counter()
            try:
                results[name] = stored(run())
            except didim.InputError as problem:
                results[name] = {"refused": str(problem)}
            word = results[name].get("status", "refused")
            print(f"{name}: {word}, {time.perf_counter() - clock:.1f} s", flush=True)
    options.file.write_text(json.dumps(results, indent=1))
    if options.against is None:
        return 0
    before = json.loads(options.against.read_text())
    worst = 0
    for name, now in results.items():
        then = before.get(name)
        if then is None or ("refused" in then) != ("refused" in now):
            print(f"{name}: {'new' if then is None else 'refused once'}")
            worst += 1
        elif "refused" not in now and (found := differences(then, now)):
            print(f"{name}: {'; '.join(found)}")
            worst += 1
    print(f"{len(results)} cases, {worst} differ")
    return int(worst > 0)


if __name__ == "__main__":
    raise SystemExit(main())
