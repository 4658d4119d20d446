"""Robots whose joints follow others, and the same robots with all joints free: the reference is
T' (full model) T.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

import didim
from support.random_urdf import random_urdf

HAND = """<robot name="hand">
<link name="base"/>
<joint name="arm" type="revolute"><parent link="base"/><child link="upper"/>
 <origin xyz="0 0 0.3"/><axis xyz="0 1 0"/>
 <limit lower="-1.5" upper="1.5" effort="40" velocity="3"/>
 <dynamics damping="0.7" friction="0.9"/></joint>
<link name="upper"><inertial><origin xyz="0.2 0 0.05"/><mass value="2.0"/>
 <inertia ixx="0.01" ixy="0.001" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial></link>
<joint name="slide" type="prismatic"><parent link="upper"/><child link="finger"/>
 <origin xyz="0.4 0 0" rpy="0 0.3 0"/><axis xyz="0 1 0"/>
 <limit lower="0" upper="0.1" effort="40" velocity="1"/><dynamics damping="30" friction="1.5"/>
 <mimic joint="drive" multiplier="-0.05" offset="0.05"/></joint>
<link name="finger"><inertial><origin xyz="0.05 0.01 0"/><mass value="0.4"/>
 <inertia ixx="0.001" iyy="0.001" izz="0.001"/></inertial></link>
<joint name="drive" type="revolute"><parent link="finger"/><child link="crank"/>
 <origin xyz="0.1 0 0.02" rpy="0.1 0 0.4"/><axis xyz="0 0 1"/>
 <limit lower="-1" upper="1" effort="40" velocity="4"/>
 <dynamics damping="0.1" friction="0.2"/></joint>
<link name="crank"><inertial><origin xyz="0.06 0 0.01"/><mass value="0.3"/>
 <inertia ixx="0.001" iyy="0.002" izz="0.0015"/></inertial></link>
<joint name="tip" type="revolute"><parent link="crank"/><child link="end"/>
 <origin xyz="0.12 0 0"/><axis xyz="0 0.6 0.8"/><dynamics damping="0.05" friction="0.04"/>
 <mimic joint="slide" multiplier="-14" offset="0.8"/></joint>
<link name="end"><inertial><origin xyz="0.03 0 0"/><mass value="0.2"/>
 <inertia ixx="0.0003" iyy="0.0004" izz="0.0002"/></inertial></link>
</robot>
"""
"""Two coordinates, `arm` and `drive`, and four joints: a slide below the joint that it follows, and
a tip that follows the slide.
"""


def without_mimic(urdf: str) -> str:
    """The same robot with all joints free."""
    return re.sub(r"<mimic[^>]*/>", "", urdf)


def with_mimic(urdf: str, mimics: Mapping[str, tuple[str, float, float]]) -> str:
    """The URDF with joints that follow others: name -> (followed, multiplier, offset)."""
    for name, (followed, ratio, offset) in mimics.items():
        tag = f'<mimic joint="{followed}" multiplier="{ratio!r}" offset="{offset!r}"/>'
        urdf = re.sub(rf'(<joint name="{name}".*?)</joint>', rf"\1{tag}</joint>", urdf, flags=re.S)
    return urdf


def random_tied_urdf(seed: int, n: int) -> str:
    """A random tree of n joints, of which a third to a half follow others, some of these followers
    themselves.
    """
    rng = np.random.default_rng(seed)
    names = [f"joint{j}" for j in rng.permutation(n) + 1]
    followers = names[: max(1, n // 2 - seed % 2)]
    mimics = {
        name: (str(rng.choice(names[k + 1 :])), float(rng.uniform(-2, 2)), float(rng.normal()))
        for k, name in enumerate(followers)
    }
    return with_mimic(random_urdf(seed, n), mimics)


def loaded(folder: Path, urdf: str, **choice) -> didim.Robot:
    path = folder / "robot.urdf"
    path.write_text(urdf)
    return didim.load_robot(path, **choice)


def expansion(robot: didim.Robot) -> tuple[np.ndarray, np.ndarray]:
    """T (m, n) and c (m,): positions of all joints, in the order of the file, = T q + c."""
    T, c = np.zeros((len(robot.joints), robot.n)), np.zeros(len(robot.joints))
    for k, joint in enumerate(robot.joints):
        if joint.mimic is None:
            T[k, robot.joint_names.index(joint.name)] = 1.0
        else:
            T[k, robot.joint_names.index(joint.mimic.joint)] = joint.mimic.ratio
            c[k] = joint.mimic.offset
    return T, c


def free_columns(tied: didim.DynamicModel, free: didim.DynamicModel) -> list[int]:
    """For each parameter of the tied model, the column of the free one, whose joints have other
    numbers.
    """
    number = {name: k for k, name in enumerate(free.robot.joint_names)}
    find = {(each.symbol, each.joint, each.effect): k for k, each in enumerate(free.parameters)}
    names = [joint.name for joint in tied.robot.numbered]
    return [find[each.symbol, number[names[each.joint]], each.effect] for each in tied.parameters]


def _planar(name: str, parent: str, link: str, mass: float, more: str) -> str:
    length = "0 0 0" if parent == "base" else "0.4 0 0"
    return f"""<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{link}"/>
 <origin xyz="{length}"/><axis xyz="0 1 0"/>
 <limit lower="-2.5" upper="2.5" effort="80" velocity="6"/>{more}</joint>
<link name="{link}"><inertial><origin xyz="0.2 0 0.03"/><mass value="{mass}"/>
 <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.03"/></inertial></link>
"""


PLANAR = (
    '<robot name="planar"><link name="base"/>'
    + _planar("shoulder", "base", "upper", 3.0, '<dynamics damping="1" friction="0.8"/>')
    + _planar("elbow", "upper", "lower", 2.0, '<dynamics damping="0.5" friction="0.4"/>')
    + _planar(
        "wrist",
        "lower",
        "hand",
        1.0,
        '<dynamics damping="0.2" friction="0.3"/><mimic joint="elbow" multiplier="-1.5" '
        'offset="0.4"/>',
    )
    + "</robot>"
)
"""A vertical arm of two coordinates, whose wrist turns against the elbow: well excited."""
