"""Numbers that lie side by side in a table, several at once, in the vector registers of the
processor.

A loop over the columns of a table that is left to the compiler begins with tests whether its arrays
overlap and ends with a remainder one by one: of some ten columns nothing else is left. Lanes are
loaded, added, multiplied and stored as it is written, with + - * among each other and with numbers,
and nothing is fused: the results are those of the same arithmetic number by number. Tables have a
multiple of LANES columns, see `padded_lanes`; those of joints, which are few, one of FEW_LANES.
`compiler.lanes` tells Numba of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from didim.jit.deferred import intrinsic

LANES, FEW_LANES = 8, 4


def padded_lanes(count: int, lanes: int = LANES) -> int:
    """The next multiple of LANES, or of so many, at least one."""
    return lanes * max(1, -(-count // lanes))


Lanes = Any
"""Numbers side by side."""
load: Callable[[Any, int, int], Lanes] = intrinsic("lanes", "load")
"""LANES numbers of row i of a table (rows, columns), from column c on."""
load_few: Callable[[Any, int, int], Lanes] = intrinsic("lanes", "load_few")
"""FEW_LANES of them."""
store: Callable[[Any, int, int, Lanes], None] = intrinsic("lanes", "store")
"""Write lanes there."""
spread: Callable[[float], Lanes] = intrinsic("lanes", "spread")
"""A number in all of LANES lanes."""
