"""Small robot files and tables that tests write and then break."""

from __future__ import annotations

from pathlib import Path

import numpy as np

ARM_TOML = """
name = "arm"
gravity = [0.0, 0.0, -9.81]
effects = ["viscous", "coulomb"]

[[joint]]
name = "shoulder"
alpha = "pi/2"
position = ["-90 deg", "3*pi/4"]
velocity = 2.0
torque = 50.0
inertial = { mass = 2.0, centre = [0.1, 0.0, 0.0], inertia = [0.01, 0.0, 0.0, 0.02, 0.0, 0.03] }
nominal = { Fv = 0.5, Fc = 1.5 }

[[joint]]
name = "flange"
type = "fixed"
d = 0.4
inertial = { mass = 1.0, centre = [0.0, 0.0, 0.0], inertia = [0.001, 0.0, 0.0, 0.001, 0.0, 0.001] }

[[joint]]
name = "slide"
type = "prismatic"
alpha = "90 deg"
effects = ["rotor", "offset"]
nominal = { M = 3.0, Ia = 0.2 }

[drive]
gear = [100.0, 50.0]
current_gain = [2.0, 2.0]
torque_constant = [0.1, 0.05]
"""

ARM_URDF = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/>
    <origin xyz="0 0 0.3" rpy="0 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-1.5" upper="1.5" effort="40" velocity="3"/>
    <dynamics damping="0.7" friction="0.2"/>
  </joint>
  <link name="upper">
    <inertial><origin xyz="0.2 0 0"/><mass value="2.0"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial>
  </link>
  <joint name="elbow" type="continuous">
    <parent link="upper"/><child link="lower"/>
    <origin xyz="0.4 0 0"/><axis xyz="0 0 -1"/>
  </joint>
  <link name="lower">
    <inertial><origin xyz="0.1 0 0"/><mass value="1.0"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>
  </link>
</robot>
"""


def write_table(path: Path, columns: dict[str, np.ndarray], separator: str = ",") -> Path:
    rows = np.column_stack(list(columns.values()))
    path.write_text(
        "\n".join(
            [
                separator.join(columns),
                *(separator.join(f"{value:.17g}" for value in row) for row in rows),
            ]
        )
        + "\n"
    )
    return path


def numbered(stem: str, values: np.ndarray) -> dict[str, np.ndarray]:
    return {f"{stem}{j + 1}": values[:, j] for j in range(values.shape[1])}
