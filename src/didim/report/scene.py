"""`Scene`: links in space at several poses as data, which `assets/scene.js` draws and turns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.report.figures import packed

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scene:
    """A robot along a motion: what its links sweep over, and one pose that a reader chooses."""

    question: str
    """Its title."""
    answer: str
    """What it shows, in a sentence with figures: the text alternative."""
    t: Array = field(repr=False)
    """(K,) s, of the poses."""
    capsules: Array = field(repr=False)
    """(K, L, 2, 3) ends of the axes of the capsules, m."""
    radii: Array = field(repr=False)
    """(L,) m."""
    colors: tuple[str, ...]
    """(L,) classes of the style sheet, "c0" to "c7": one for each link."""
    sticks: Array = field(repr=False)
    """(K, S, 2, 3) lines between joints, m."""
    frame: Array = field(repr=False)
    """(F, 2, 3) lines of the floor and of the box, m."""
    nearest: Array = field(repr=False)
    """(K,) the least distance to a limit, m; nan where there is none."""
    names: tuple[str, ...]
    """(K,) what that distance is."""
    keys: tuple[tuple[str, str], ...] = ()
    """Name and colour of each link, for the legend."""

    def data(self) -> dict[str, Any]:
        """What the script reads."""
        return {
            "kind": "scene",
            "values": packed([]),
            "t": packed(self.t),
            "capsules": packed(self.capsules.ravel()),
            "radii": packed(self.radii),
            "colors": list(self.colors),
            "sticks": packed(self.sticks.ravel()),
            "frame": packed(self.frame.ravel()),
            "nearest": packed(self.nearest),
            "names": list(self.names),
        }
