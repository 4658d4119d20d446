"""The dynamic model of a robot and its base parameters."""

from didim.dynamics.model import BaseModel, DynamicModel

__all__ = ["BaseModel", "DynamicModel"]
