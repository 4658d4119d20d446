"""Models with effects, and simple machines that a reference in NumPy can follow."""

from __future__ import annotations

from functools import cache

import numpy as np

import didim
from didim.robot.robot import Joint, Robot

VALUES = {
    "Ia": 0.1, "Fv": 0.5, "Fc": 0.6, "dFs": 0.3, "mu": 0.1, "mup": 0.1, "mun": 0.15, "ks": 2.0,
    "Rs": 0.3, "Rc": 0.2, "Fvq": 0.1, "Fvr": 0.05, "Fg": 50.0, "mg": 1.0, "FvT": 0.01, "FcT": 0.02,
    "Kb": 0.1, "off": 0.1, "Fvp": 0.4, "Fvn": 0.6, "Fcp": 0.5, "Fcn": 0.6, "k": 1.5, "c": 0.2,
}  # fmt: skip
"""A value of each symbol, N.m, rad."""

TRANSMISSION = didim.Effect(
    "belt",
    "k * (q - q0) + c * dq * abs(dq)",
    {"k": {"unit": "N.m/rad"}, "c": {}, "q0": {"value": 0.2}},
    weights={1: 1.0, 2: -0.7},
)
"""An own effect on two joints together, with a shape that is estimated."""

NEW = (
    "stribeck", "load_friction", "asymmetric_load_friction", "viscous_power", "ripple", "spring",
    "gas_spring", "counterweight", "temperature", "back_emf", TRANSMISSION,
)  # fmt: skip
"""What is an expression, each alone; the belt acts on joints 1 and 2."""


def name_of(effect) -> str:
    return getattr(effect, "name", effect)


def parameters(model, **chosen) -> np.ndarray:
    """(p,) nominal values, and those of `VALUES` for what has none."""
    phi = np.nan_to_num(model.nominal)
    for i, each in enumerate(model.parameters):
        if np.isnan(model.nominal[i]) or (phi[i] == 0 and each.symbol in VALUES):
            phi[i] = VALUES.get(each.symbol, 0.0)
        if each.name in chosen:
            phi[i] = chosen[each.name]
    return phi


def with_effects(robot: str, *effects):
    """A model with friction and these effects, and its parameters."""
    rub = ["rotor", "viscous", "coulomb"]
    chosen = list(dict.fromkeys([*rub, *effects]))
    model = didim.DynamicModel(didim.load_robot(robot), effects=chosen)
    return model, parameters(model)


def channels(model, t) -> dict[str, np.ndarray]:
    """A temperature that rises, and drives that are always on."""
    known = {"temperature": 20 + 5 * t, "enabled": np.ones(t.size)}
    return {name: known[name] for name in model.channels}


def one_joint(kind: str, effects, **chosen):
    """A robot of one joint, free of gravity (prismatic) or a pendulum (revolute) whose x axis is
    level at q = 0 and rises; model and parameters, all zero but those chosen.
    """
    across = [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]
    rotation = np.eye(3) if kind == "prismatic" else np.array(across)
    joint = Joint("one", kind, rotation=rotation, link=np.zeros(10))
    gravity = np.array([0.0, -9.81, 0.0] if kind == "prismatic" else [0.0, 0.0, -9.81])
    model = didim.DynamicModel(Robot("one", (joint,), gravity), effects)
    phi = np.zeros(len(model.parameter_names))
    for name, value in chosen.items():
        phi[model.parameter_names.index(name)] = value
    return model, phi


LOOP = didim.PD(natural_frequency=[40.0, 60.0], damping=1.0)
"""Of the virtual SCARA below."""


@cache
def identified_record(effect):
    """A virtual SCARA with one more effect, without noise: model, true base parameters, record and
    motion.
    """
    model, phi = with_effects("scara", effect)
    t = np.arange(0.0, 5.0005, 1e-3)
    first = 0.8 * np.sin(2 * np.pi * 0.7 * t) * np.sin(3 * t)
    second = 0.6 * np.sin(2 * np.pi * 0.9 * t + 0.3) * np.cos(1.7 * t)
    reference = didim.Reference(t, np.column_stack([first, second]))
    known = {"temperature": 20 + 3 * t, "enabled": np.where(np.sin(3 * t) > 0.97, 0.0, 1.0)}
    logged = {name: known[name] for name in model.channels}
    record, truth = didim.virtual_experiment(model, phi, LOOP, reference, channels=logged)
    return model, model.base.matrix @ phi, record, truth.motion


def wrong_shapes(model):
    """The model with the shapes that are to be found half as large again."""
    return model.with_shapes({name: 1.5 * value for name, value in model.base.free_shapes.items()})
