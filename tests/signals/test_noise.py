"""What a log tells of its own noise and steps."""

from __future__ import annotations

import numpy as np
import pytest

from didim.signals.noise import has_coarse_steps, resolution

T = np.arange(4000) / 1000.0
SMOOTH = np.column_stack([3 * np.sin(2 * T), np.cos(3 * T)])


def logged(step: float, noise: float = 0.0) -> np.ndarray:
    random = np.random.default_rng(0).standard_normal(SMOOTH.shape)
    return np.round((SMOOTH + noise * random) / step) * step


def test_the_step_of_a_log():
    assert resolution(logged(0.01)) == pytest.approx([0.01, 0.01])
    assert np.array_equal(resolution(SMOOTH), [0.0, 0.0])


@pytest.mark.parametrize(
    ("tau", "coarse"),
    [
        (SMOOTH, False),
        (logged(0.03), True),
        (logged(0.03, noise=0.003), True),
        (logged(0.03, noise=0.06), False),
        (logged(1e-4, noise=0.01), False),
        (np.column_stack([SMOOTH[:, 0], logged(0.03)[:, 1]]), True),
    ],
)
def test_steps_matter_where_noise_does_not_blur_them(tau, coarse):
    assert has_coarse_steps(tau) is coarse
