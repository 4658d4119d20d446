"""What the machine obeys: the dynamic model and its base parameters."""

from didim.dynamics.model import BaseModel, DynamicModel

__all__ = ["BaseModel", "DynamicModel"]
