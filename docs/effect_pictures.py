"""Draws the pictures of docs/effects.md, one for each effect: `make pictures`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import didim
from didim.robot.robot import Joint, Robot

IMAGES = Path(__file__).parent / "images"
POINTS = 1201


def one_joint(effect: str, values: dict[str, float], shapes: dict[str, float]):
    """torque(q, dq, ddq, **channels) of a joint of inertia 1 kg m^2, without gravity."""
    link = np.zeros(10)
    link[5] = 1.0
    robot = Robot("one", (Joint("one", "revolute", link=link),), np.zeros(3))
    effects = [effect] if "asymmetric" in effect else ["viscous", "coulomb", effect]
    model = didim.DynamicModel(robot, effects, shapes)
    phi = [{"ZZ1": 1.0, **values}.get(name, 0.0) for name in model.parameter_names]

    def torque(q, dq, ddq, **channels: float) -> np.ndarray:
        motion = (np.broadcast_to(each, POINTS) for each in (q, dq, ddq))
        signals = {name: np.full(POINTS, value) for name, value in channels.items()}
        return model.inverse_dynamics(*motion, phi, signals=signals)[:, 0]

    return torque


def draw(name: str, title: str, x: np.ndarray, label: str, curves: dict[str, np.ndarray]) -> None:
    """One picture; a jump is not joined by a line."""
    figure, axes = plt.subplots(figsize=(5.6, 2.8), layout="constrained")
    for legend, y in curves.items():
        jumps = np.abs(np.diff(y)) > 0.08 * np.ptp(y)
        axes.plot(x, np.where(np.append(jumps, False), np.nan, y), linewidth=1.8, label=legend)
    axes.axhline(0, color="0.7", linewidth=0.8, zorder=0)
    axes.axvline(0, color="0.7", linewidth=0.8, zorder=0)
    axes.set(xlabel=label, ylabel="torque, N.m", title=title, xlim=(x[0], x[-1]))
    axes.title.set_fontsize(10)
    if len(curves) > 1:
        axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig(IMAGES / f"effect_{name}.png", dpi=100)
    plt.close(figure)


def friction(effect: str, values: dict[str, float], shapes: dict[str, float] | None = None):
    """Velocities, and the torque at a constant velocity as a function of them and of channels."""
    torque, dq = one_joint(effect, values, shapes or {}), np.linspace(-1, 1, POINTS + 1)[:-1]
    return dq, lambda **channels: torque(0.0, dq, 0.0, **channels)


def against_position(effect: str, values: dict[str, float], shapes: list[dict[str, float]]):
    """Positions over a turn, and the torque at rest for each choice of shapes."""
    q = np.linspace(-np.pi, np.pi, POINTS)
    return q, [one_joint(effect, values, each)(q, 0.0, 0.0) for each in shapes]


def of_velocity() -> None:
    """Friction curves."""
    label = "velocity, rad/s"
    curves: dict[str, np.ndarray] = {}
    for vs in (0.05, 0.2):
        dq, torque = friction("stribeck", {"Fc1": 1.0, "dFs1": 0.5}, {"vs1": vs})
        curves[f"vs = {vs} rad/s"] = torque()
    draw("stribeck", "Stribeck friction: from Fc + dFs at rest to Fc", dq, label, curves)
    curves = {}
    for legend, values in {
        "Fvq = 1": {"Fvq1": 1.0},
        "Fvr = 1": {"Fvr1": 1.0},
    }.items():
        dq, torque = friction("viscous_power", values)
        curves[legend] = torque()
    draw("viscous_power", "Beyond linear: square and root of the velocity", dq, label, curves)
    dq, torque = friction("temperature", {"Fc1": 1.5, "Fv1": 1.0, "FvT1": -0.02, "FcT1": -0.02})
    curves = {f"{celsius} °C": torque(temperature=celsius) for celsius in (20, 35, 50)}
    draw("temperature", "Friction falls as the joint warms up", dq, label, curves)
    dq, torque = friction("back_emf", {"Kb1": 1.0})
    curves = {f"enabled = {on}": torque(enabled=on) for on in (1, 0)}
    draw("back_emf", "The motor brakes while its drive is on", dq, label, curves)


def of_load() -> None:
    """Friction against load, at a velocity of either sign."""
    load, label = np.linspace(-20, 20, POINTS), "load, N.m"
    sides: dict[str, Callable[[float], float]] = {"forward": lambda v: v, "backward": lambda v: -v}
    for effect, values, title in (
        ("load_friction", {"Fc1": 1.0, "mu1": 0.1}, "Friction that grows with the load"),
        (
            "asymmetric_load_friction",
            {"mup1": 0.1, "mun1": 0.2},
            "Friction under load, another one for each direction",
        ),
    ):
        torque = one_joint(effect, values, {})
        curves = {side: torque(0.0, of(0.5), load) - load for side, of in sides.items()}
        draw(effect, title, load, label, curves)


def of_position() -> None:
    """Torques of springs, weights and teeth."""
    label = "position, rad"
    for effect, values, title, choices in (
        ("spring", {"ks1": 2.0}, "A spring", {f"qs = {x}": {"qs1": x} for x in (0.0, 1.0)}),
        (
            "ripple",
            {"Rs1": 0.3, "Rc1": 0.1},
            "Ripple",
            {f"order = {x:g}": {"order1": x} for x in (2.0, 8.0)},
        ),
        (
            "gas_spring",
            {"Fg1": 100.0},
            "A gas spring",
            {f"ng = {x}": {"ng1": x} for x in (1.0, 1.4)},
        ),
        (
            "counterweight",
            {"mg1": 3.0},
            "A counterweight",
            {f"qw = {x}": {"qw1": x} for x in (0.0, 1.0)},
        ),
    ):
        q, curves = against_position(effect, values, list(choices.values()))
        shown = dict(zip(choices, curves, strict=True))
        draw(effect, f"{title}: torque at rest", q, label, shown)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    of_velocity()
    of_load()
    of_position()
