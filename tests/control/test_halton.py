"""Points that fill a cube evenly, beside those of SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import qmc

from didim.control.halton import halton


@pytest.mark.parametrize("dimensions", [1, 2, 7, 30])
def test_points_are_scipys(dimensions):
    expected = qmc.Halton(dimensions, scramble=False).random(200)
    np.testing.assert_allclose(halton(dimensions, 200), expected, rtol=1e-14)


def test_without_dimensions_there_are_still_points():
    assert halton(0, 5).shape == (5, 0)
