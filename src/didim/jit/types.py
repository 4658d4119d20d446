"""Numba's types, for the signatures of kernels."""

from __future__ import annotations

from typing import Any

from numba import boolean, float64, int64, types, uint8, void

__all__ = ["boolean", "double_pointer", "float64", "int64", "none", "uint8", "void"]

_types: Any = types

none = _types.none
double_pointer = _types.CPointer(float64)
