"""The iteration itself, on a rule of one number."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from didim.identification.rules import Iterate, Step
from didim.identification.search import Halving
from didim.identification.solve import DAMPINGS, solve
from didim.identification.stopping import Never
from didim.results.status import Failure, FailureKind, StopReason

PROBLEM = SimpleNamespace(between=lambda x, target, fraction: x + fraction * (target - x))


class NarrowRule:
    """Steps of one, of which a part only can be simulated; a damped one is as much shorter."""

    def __init__(self, most: float, damps: bool = True) -> None:
        self.most, self.damps, self.tried = most, damps, []

    def step(self, problem, iterate):
        del problem

        def damped(damping):
            return Step(iterate.x + 1.0 / damping)

        return Step(iterate.x + 1.0, damped=damped if self.damps else None)

    def trial_window(self, problem, x, window):
        del problem, x
        return window

    def advance(self, problem, iterate, best, trial):
        del problem, best
        self.tried.append(trial.x - iterate.x)
        if self.tried[-1] > self.most:
            return Failure(FailureKind.SIMULATION)
        return Iterate(trial.x, None, None, None)

    def better(self, best, iterate):
        del best
        return iterate

    def entry(self, problem, iterate):
        del problem
        return iterate.x


@pytest.mark.parametrize(
    ("most", "reached"),
    [(2.0, 1.0), (0.3, 0.25), (0.2, 0.5 / DAMPINGS[0]), (0.04, 1.0 / DAMPINGS[1]),
     (1.0 / DAMPINGS[2], 1.0 / DAMPINGS[2])],
)  # fmt: skip
def test_where_no_part_of_a_step_can_be_taken_it_is_damped_more_and_more(most, reached):
    rule = NarrowRule(most)
    found = solve(PROBLEM, rule, Halving(2), Never(), Iterate(0.0, None, None, None), 1)
    assert found.reason is StopReason.LIMIT
    assert found.iterate.x == pytest.approx(reached)


@pytest.mark.parametrize(("most", "damps", "tries"), [(1e-4, True, 3 + 2 * 3), (0.2, False, 3)])
def test_no_step_is_possible(most, damps, tries):
    rule = NarrowRule(most, damps)
    found = solve(PROBLEM, rule, Halving(2), Never(), Iterate(0.0, None, None, None), 5)
    assert found.reason is StopReason.NO_STEP
    assert len(rule.tried) == tries
