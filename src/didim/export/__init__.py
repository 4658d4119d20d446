"""The identified inverse dynamics as plain Python or C, and the identified robot in MuJoCo."""

from didim.export.beside_mujoco import BesideMujoco, beside_mujoco
from didim.export.code import LANGUAGES, inverse_dynamics_code

__all__ = ["LANGUAGES", "BesideMujoco", "beside_mujoco", "inverse_dynamics_code"]
