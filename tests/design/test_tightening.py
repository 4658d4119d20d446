"""What the search does not see, a motion between the samples of its grid and in its loop, tightens
its limits.
"""

from __future__ import annotations

from functools import partial

import numpy as np

import didim
from didim.design.basis import FourierBasis
from didim.design.clearance import clearances
from didim.design.motions import Motions, Sampled
from didim.design.penalty import CLEARANCE_RESERVE, REGAINED, TIGHTNESS, Penalty
from didim.design.verify import Verification

ROBOT = didim.load_robot("panda")
MODEL = didim.DynamicModel(ROBOT).base
LIMITS = didim.Limits(ROBOT, floor=0.0)
WATCHED = clearances(ROBOT, LIMITS)
LOOP = didim.PD(natural_frequency=2 * np.pi * 5.0)
CHECKS = Verification(MODEL, MODEL.nominal, LOOP, LIMITS, WATCHED)


def test_a_limit_that_is_exceeded_counts_from_less_and_others_as_before() -> None:
    excess = np.zeros((5, ROBOT.n))
    excess[2, 3] = 0.1
    tight = Penalty(LIMITS, WATCHED).tightened(excess, np.zeros(len(WATCHED.names)))
    still = np.zeros((1, ROBOT.n))
    middle = LIMITS.position.mean(axis=1)[None]
    for j, fraction in ((3, REGAINED * TIGHTNESS / 1.1), (2, TIGHTNESS)):
        ddq = still.copy()
        for factor, met in ((0.999, True), (1.001, False)):
            ddq[0, j] = factor * fraction * LIMITS.acceleration[j]
            motion = Sampled(middle, still, ddq, still)
            assert tight.is_met(motion, still) == met
            assert (tight.value(motion, still)[0] == 0.0) == met


def test_excess_and_shortfall_are_those_of_the_motion_in_its_loop() -> None:
    """A slow motion towards the floor, on which the arm sags, and much too fast for joint 7."""
    motions = Motions(FourierBasis(4.0, 5), LIMITS)
    x = np.zeros((ROBOT.n, 11))
    x[:, -1] = (np.array([0.0, 1.5, 0.0, -0.5, 0.0, 1.0, 0.0]) - motions.middle) / motions.half
    x[6, 0] = 2.0
    flat = x.ravel()
    trajectory = motions.trajectory(flat)
    checked = CHECKS.check(trajectory, CHECKS.reference(partial(motions.sampled, flat), 4.0))
    excess, shortfall = CHECKS.excess(checked), CHECKS.shortfall(checked)
    assert excess.shape == (5, ROBOT.n)
    t = np.linspace(0.0, 4.0, 4001)
    peaks = np.abs(motions.sampled(flat, t)[1:3]).max(axis=1)
    expected = np.maximum(peaks / [LIMITS.velocity, LIMITS.acceleration] - 1.0, 0.0)
    assert np.allclose(excess[1:3, 6], expected[:, 6], atol=1e-2)
    assert excess[1:3, 6].max() > 0.5
    assert np.all(excess[2, :6] == 0.0)
    nearest = WATCHED.distances(checked.motion.q).min(axis=0)
    assert np.allclose(shortfall, np.maximum(0.0, -nearest), atol=1e-3)
    assert shortfall.max() > 0.0
    assert np.all(WATCHED.distances(trajectory.sample(t)[0]).min(axis=0) >= nearest - 1e-3)
    tight = Penalty(LIMITS, WATCHED).tightened(excess, shortfall)
    assert np.allclose(tight.reserve, CLEARANCE_RESERVE + shortfall)
