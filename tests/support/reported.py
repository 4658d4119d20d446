"""Estimates of every kind that a report must show, each made once; and names that try to break out
of a page.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

import didim
from support.virtual import inverse_record, loop, model, scara_record

HOSTILE = (
    '<script>window.broken = 1</script>"\'><img src=x onerror="window.broken=2">&{{ 7*7 }}</script>'
)


@cache
def found(kind: str = "DIDIM") -> didim.Estimate:
    """An estimate of the virtual SCARA."""
    experiment, _ = scara_record(noise=0.05, periods=3)
    later, _ = scara_record(noise=0.05, seed=7, period=9.1, periods=2)
    experiment, later = replace(experiment, name="the fit"), replace(later, name="another motion")
    if kind == "unsolved":
        return _unsolved(didim.identify(model(), experiment, didim.DIDIM(controller=loop())))
    if kind == "several records":
        return didim.identify(model(), [experiment, later], didim.IDIM())
    if kind == "effects":
        return _with_effects()
    if kind == "no records":
        return replace(found("DIDIM"), experiments=(), held_out=())
    method = {
        "IDIM": didim.IDIM(),
        "DIDIM": didim.DIDIM(controller=loop()),
        "refined": didim.DIDIM(controller=loop(), decimation=10, refine=True),
        "gains": didim.DIDIM(
            controller=didim.PD(kp=[8.0, 20.0], kv=[120.0, 5.0]), decimation=4, estimate_gains=True
        ),
        "position": didim.OutputError(controller=_own_gains(), output="position", decimation=10),
        "open loop": didim.OutputError(controller=None, decimation=10),
    }[kind]
    return didim.identify(model(), experiment, method, None if kind == "open loop" else later)


def _with_effects() -> didim.Estimate:
    """IDIM of a SCARA with Stribeck friction, friction of the load and a spring."""
    effects = ("rotor", "viscous", "coulomb", "offset", "stribeck", "load_friction", "spring")
    truth = {"dFs1": 0.8, "dFs2": 0.1, "mu1": 0.05, "mu2": 0.05, "ks1": 2.0, "ks2": 0.3}
    scara = model("scara", effects)
    phi = np.nan_to_num(scara.nominal)
    for name, value in truth.items():
        phi[scara.parameter_names.index(name)] = value
    return didim.identify(scara, inverse_record(scara, phi, noise=0.05), didim.IDIM())


def _own_gains() -> didim.PD:
    """The loop of the record, by its gains: positions cannot tell those of a loop by poles."""
    J, omega = didim.largest_inertias(model(), model().nominal), np.array([20.0, 50.0])
    return didim.PD(kp=omega / 2, kv=2 * omega * J)


KINDS = (
    "IDIM",
    "DIDIM",
    "refined",
    "gains",
    "position",
    "open loop",
    "several records",
    "unsolved",
    "no records",
    "effects",
)


def _unsolved(estimate: didim.Estimate) -> didim.Estimate:
    """As a method leaves it when nothing could be simulated."""
    b = len(estimate.names)
    nothing = np.diag(np.full(b, np.inf))
    return replace(
        estimate,
        values=np.zeros(b),
        covariance=nothing,
        corrected_covariance=nothing,
        residual=np.inf,
        residual_by_joint=np.full(2, np.inf),
        status="diverged",
        message="Nothing could be simulated.",
        history=(),
        iterations=0,
    )


def hostile() -> didim.Estimate:
    """An estimate whose every name and text comes from someone who means harm."""
    estimate = found("DIDIM")
    full = estimate.model.full
    joints = tuple(
        replace(joint, name=f"{HOSTILE}{j}") for j, joint in enumerate(full.robot.joints)
    )
    robot = replace(full.robot, name=HOSTILE, reference=HOSTILE, joints=joints)
    base = didim.DynamicModel(robot, full.effects).base
    experiments = tuple(
        replace(each, name=HOSTILE, notes=(HOSTILE,)) for each in estimate.experiments
    )
    tried = tuple(replace(each, experiment=HOSTILE) for each in estimate.validation)
    origin = {
        **estimate.provenance,
        "command": HOSTILE,
        "study": {HOSTILE: HOSTILE},
        "files": [{"path": HOSTILE, "sha256": "0"}],
    }
    changed = {
        "experiments": experiments,
        "held_out": experiments,
        "validation": tried,
        "provenance": origin,
    }
    return replace(
        estimate, model=base, message=HOSTILE, notes=(HOSTILE,), method=HOSTILE, **changed
    )
