"""From a log's units to SI: by name, or by a declared factor (SI per unit), one for all joints or
one for each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError, nearest, shortened
from didim.validation import per_joint

Array = NDArray[np.float64]
Units = Mapping[str, str | float | Sequence[float]]
"""From a signal to its unit: a name such as "deg", or the factor that brings it to SI."""

_TURN = 2 * np.pi
_TIME = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_POSITION = {"rad": 1.0, "deg": _TURN / 360, "rev": _TURN, "m": 1.0, "cm": 1e-2, "mm": 1e-3}
_VELOCITY = {f"{name}/s": factor for name, factor in _POSITION.items()} | {"rpm": _TURN / 60}
_ACCELERATION = {f"{name}/s^2": factor for name, factor in _POSITION.items()}
_TORQUE = {
    "N.m": 1.0,
    "Nm": 1.0,
    "mN.m": 1e-3,
    "N.mm": 1e-3,
    "N.cm": 1e-2,
    "kN.m": 1e3,
    "N": 1.0,
    "kN": 1e3,
    "mN": 1e-3,
}

NAMES: dict[str, dict[str, float]] = {
    "t": _TIME,
    "q": _POSITION,
    "q_ref": _POSITION,
    "dq": _VELOCITY,
    "dq_ref": _VELOCITY,
    "ddq_ref": _ACCELERATION,
    "tau": _TORQUE,
    "control": {"V": 1.0, "mV": 1e-3, "A": 1.0, "mA": 1e-3},
}
"""Named units of each signal."""

_SPELLINGS = {
    "degrees": "deg",
    "degree": "deg",
    "\N{DEGREE SIGN}": "deg",
    "\N{DEGREE SIGN}/s": "deg/s",
    "deg/sec": "deg/s",
    "rad/sec": "rad/s",
    "radians": "rad",
    "sec": "s",
    "seconds": "s",
    "\N{MICRO SIGN}s": "us",
    "newton metre": "N.m",
    "n*m": "N.m",
    "n m": "N.m",
}
"""How files write units."""

_OTHERS = ("", "-", "1", "%", "hz", "c", "\N{DEGREE SIGN}c", "k", "w", "bar", "counts", "ticks")
"""What else stands in a row of units."""

_NO_UNIT = {
    "A": "amperes are not a torque: give the torque constant, gear included, "
    "in N.m per A as a number",
    "mA": "amperes are not a torque: give the torque constant, gear included, "
    "in N.m per mA as a number",
    "counts": "encoder counts need a factor: give rad (or m) per count as a number",
    "ticks": "encoder counts need a factor: give rad (or m) per tick as a number",
    "%": "a fraction of the rated torque needs a factor: give N.m per percent as a number",
}


def unit_named(text: str) -> str:
    """The unit that a file calls `text`, such as "[Deg]", by its name here; itself where it has
    none.
    """
    bare = text.strip().strip("[]()").strip()
    known = {name.lower(): name for names in NAMES.values() for name in names}
    return known.get(_SPELLINGS.get(bare.lower(), bare).lower(), bare)


def is_unit(text: str) -> bool:
    """Whether a cell of a header is a unit."""
    name = unit_named(text)
    return name.lower() in _OTHERS or any(name in names for names in NAMES.values())


def declared(stated: Mapping[str, str], units: Units | None, where: str) -> None:
    """Refuse a unit that a file states, from a signal to its name, which is not SI and not declared
    in `units`.
    """
    for key, unit in stated.items():
        if isinstance(units, Mapping) and key in units:
            continue
        if NAMES[key].get(unit, 1.0) != 1.0:
            raise InputError(
                f"{where}: its header gives {key} in {unit}; declare it, units = {{ {key} = "
                f'"{unit}" }} (or 1.0, if the header is wrong).'
            )
        if unit not in NAMES[key] and unit in _NO_UNIT:
            raise InputError(
                f"{where}: its header gives {key} in {unit}; {_NO_UNIT[unit]}, units = {{ {key} = "
                "... }."
            )


def in_si(signals: Mapping[str, Array], units: Units | None, where: str) -> dict[str, Array]:
    """The signals (N, k) times the factors of their units; those without a declared one are in SI
    already.
    """
    if units is None:
        return dict(signals)
    if not isinstance(units, Mapping):
        raise InputError(
            f"{where}: units must be a table from signal to unit, found {shortened(units)}."
        )
    for key in units:
        if key not in NAMES:
            raise InputError(
                f"{where}: units has the unknown signal {key!r}; {nearest(str(key), NAMES)}"
            )
        if key not in signals:
            raise InputError(
                f"{where}: units are given for {key}, which is not among the signals "
                f"{', '.join(signals)}."
            )
    return {
        key: signal * factor_of(units[key], key, signal.shape[1], where) if key in units else signal
        for key, signal in signals.items()
    }


def factor_of(unit: str | float | Sequence[float], key: str, n: int, where: str) -> Array:
    """The factor (n,) of a unit by its name or of a declared one."""
    if isinstance(unit, str):
        if unit not in NAMES[key]:
            hint = (
                _NO_UNIT.get(unit)
                or f"{nearest(unit, NAMES[key])} A number is taken as the factor to SI"
            )
            raise InputError(f"{where}: unknown unit {shortened(unit)} of {key}; {hint}.")
        return np.full(n, NAMES[key][unit])
    factor = per_joint(unit, f"{where}: the unit of {key}", n)
    if np.any(factor == 0):
        raise InputError(f"{where}: the unit of {key} must not be zero, found {shortened(unit)}.")
    return factor
