"""What a fit says that it lacks: found where it is missing, quiet where not, kept in files."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import didim
from didim.errors import InputError
from didim.results.lack_data import lack_of, plain_lack
from didim.results.lack_of_fit import NOT_TESTED, Remedy
from didim.structure import lack_of_fit as tests_of_fit
from support.virtual import model

RATE = 250.0


@cache
def gains() -> tuple[np.ndarray, np.ndarray]:
    """kp and kv of a PD of 10 Hz."""
    omega, J = 2 * np.pi * 10.0, didim.largest_inertias(model(), model().nominal)
    found = didim.PD(natural_frequency=omega, inertia=J).gains(2, np.ones(2), J)
    return found.kp, found.kv


@cache
def record(seed: int = 0) -> didim.Experiment:
    trajectory = didim.Fourier.random(model().robot, 1, period=5.3, periods=2, share=0.7)
    kp, kv = gains()
    return didim.virtual_experiment(
        model(), model().nominal, didim.PD(kp=kp, kv=kv), trajectory, rate=RATE, noise=0.01,
        seed=seed,
    )[0]  # fmt: skip


@cache
def estimate(kp: tuple[float, float] = (1.0, 1.0), kv: float = 1.0, seed: int = 0):
    """DIDIM with gains that are so many times the true ones."""
    loop = didim.PD(kp=gains()[0] * kp, kv=kv * gains()[1])
    return didim.identify(model(), record(seed), didim.DIDIM(controller=loop))


FAULT = (0.98, 1.0)


def held(found: didim.Estimate, robust: bool) -> np.ndarray:
    """Whether each interval holds the truth."""
    low, high = found.interval(robust=robust).T
    truth = found.model.nominal
    return (low <= truth) & (truth <= high)


@pytest.mark.slow
def test_a_gain_of_two_percent_is_named_with_its_value():
    first = estimate(FAULT).lack.found[0]
    assert (first.name, first.remedy, first.joint) == ("kp1", Remedy.GAIN, 0)
    assert first.p_value < 1e-4
    assert abs(first.value - 2.0) < max(3 * first.sigma, 0.6)
    notes = estimate(FAULT).summary().partition("Notes\n")[2]
    assert notes.startswith(f"[1] {estimate(FAULT).lack.note}")
    assert "interval(robust=True)" in notes.splitlines()[0]


def test_a_right_loop_is_quiet():
    lack = estimate().lack
    assert lack.quiet
    assert not lack.found
    assert lack.note == ""
    assert min(row.p_value for row in lack.rows) > lack.level
    assert "interval(robust=True)" not in estimate().summary()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("factor", "first"), [(1.0, None), pytest.param(0.97, Remedy.GAIN, marks=pytest.mark.long)]
)
def test_gains_that_follow_badly_known_inertias_are_not_named(factor, first):
    """A loop given by its poles is retuned for J of the estimate (59): its gains are wrong by what
    J is, which the wrist of a TX40 in a stiff loop hardly shows. Wrong poles are named.
    """
    tx40, omega = model("tx40"), 200.0
    J = didim.largest_inertias(tx40, tx40.nominal)
    trajectory = didim.Fourier.random(tx40.robot, 0, period=8.0, share=0.4)
    right = didim.PD(natural_frequency=omega, inertia=J)
    made, _ = didim.virtual_experiment(
        tx40, tx40.nominal, right, trajectory, rate=500.0, noise=0.02
    )
    poles = np.r_[factor * omega, np.full(5, omega)]
    method = didim.DIDIM(controller=didim.PD(natural_frequency=poles), initial="nominal")
    found = didim.identify(tx40, made, method)
    assert abs(found.controller.inertia[5] / J[5] - 1) > 0.01
    assert [row.remedy for row in found.lack.found][:1] == ([] if first is None else [first])


@pytest.mark.slow
def test_robust_intervals_hold_the_truth_where_plain_ones_do_not():
    """One record here; ten of each fault in decision 50."""
    wrong = [estimate(FAULT), estimate((0.9, 0.9), 0.9)]
    plain, robust = (np.mean([held(each, kind) for each in wrong]) for kind in (False, True))
    assert plain < 0.8
    assert robust >= 0.9


def test_a_right_loop_hardly_widens_robust_intervals():
    found = estimate()
    plain, robust = (np.ptp(found.interval(robust=each), axis=1) for each in (False, True))
    assert np.all(robust >= plain)
    assert np.median(robust / plain) < 1.5


@pytest.mark.slow
def test_half_width_is_as_documented():
    found = estimate(FAULT)
    shift = np.array([found.lack.shifts[name] for name in found.names])
    half = found.quantile(0.9) * np.sqrt(np.diag(found.corrected_covariance) + shift**2)
    np.testing.assert_allclose(found.interval(0.9, robust=True)[:, 1] - found.values, half)


def test_robust_intervals_need_the_tests():
    with pytest.raises(InputError, match="lack_of_fit=True"):
        replace(estimate(), lack=NOT_TESTED).interval(robust=True)
    with pytest.raises(InputError, match="robust must be True or False"):
        estimate().interval(robust="yes")


@pytest.mark.slow
def test_the_tests_are_saved_with_the_estimate(tmp_path):
    found = estimate(FAULT)
    again = didim.load_estimate(found.save(tmp_path / "found.json"))
    assert again.lack == found.lack
    np.testing.assert_array_equal(again.interval(robust=True), found.interval(robust=True))


@pytest.mark.slow
def test_other_records_are_tested_when_asked_for():
    found = estimate(FAULT)
    assert found.lack_of_fit() is found.lack
    other = found.lack_of_fit(record(5))
    assert other.found[0].name == "kp1"
    assert other.found[0].value != found.lack.found[0].value


@pytest.mark.slow
@pytest.mark.parametrize("factors", [(1.0, 1.0), FAULT])
def test_the_motion_of_the_fit_is_that_of_its_parameters(factors):
    found = estimate(factors)
    assert found.lack_of_fit(found.experiments) == found.lack


@pytest.mark.parametrize("given", ["log.csv", [], [None]])
def test_what_is_no_record_is_refused(given):
    with pytest.raises(InputError, match="experiments must be a didim"):
        estimate().lack_of_fit(given)


def test_leaving_the_tests_out_is_told():
    found = didim.identify(model(), record(), didim.IDIM(lack_of_fit=False))
    assert found.lack is NOT_TESTED
    assert not found.lack.quiet
    assert found.lack.reason
    assert found.lack_of_fit().rows


@didim.control_law
def own_pd(t, n, q_ref, dq_ref, ddq_ref, q, dq, memory, v):
    for j in range(n):
        v[j] = 60.0 * (q_ref[j] - q[j]) - 10.0 * dq[j]


def test_a_law_of_ones_own_is_not_tested():
    own = replace(estimate(), controller=didim.OwnLaw(law=own_pd), lack=NOT_TESTED)
    lack = own.lack_of_fit(record())
    assert "OwnLaw" in lack.reason
    assert not lack.quiet
    assert not lack.rows


def test_one_joint_has_suspects_of_its_own_only():
    robot = didim.load_robot("emps")
    emps = didim.DynamicModel(robot)
    phi = np.nan_to_num(emps.nominal, nan=1.0)
    t = np.arange(0, 20, 0.005)
    q, dq, ddq = didim.Fourier.random(robot, 1, period=5.0, periods=4).sample(t)
    tau = emps.inverse_dynamics(q, dq, ddq, phi)
    spring = 0.02 * np.ptp(tau) / np.ptp(q) * (q - q.mean())
    noise = 0.01 * np.std(tau) * np.random.default_rng(0).standard_normal(tau.shape)
    quiet = didim.identify(emps, didim.Experiment(t, tau + noise, None, q), didim.IDIM())
    sprung = didim.identify(emps, didim.Experiment(t, tau + spring + noise, None, q), didim.IDIM())
    assert quiet.lack.quiet
    assert {row.joint for row in quiet.lack.rows} <= {0, None}
    assert sprung.lack.found[0].name == "ks1"
    assert sprung.lack.found[0].effect == "spring"


@pytest.mark.slow
def test_after_iv_the_columns_have_no_noise():
    """Unfiltered positions: a spring is named where it is missing, and nothing where it is not."""
    kp, kv = gains()
    for stiffness, named in ((0.0, []), (0.3, ["ks2"])):
        given = record()
        q = given.q + 2e-5 * np.random.default_rng(1).standard_normal(given.q.shape)
        tau = given.tau + stiffness * given.q * [0.0, 1.0]
        method = didim.IV(controller=didim.PD(kp=kp, kv=kv), cutoff=None, decimation=5)
        found = didim.identify(model(), replace(given, q=q, tau=tau), method)
        assert found.status == "converged"
        assert [row.name for row in found.lack.found][:1] == named


def _in_steps(signal: np.ndarray, step: np.ndarray) -> np.ndarray:
    return np.round(signal / step) * step


@pytest.mark.parametrize("steps", ["none", "torque", "positions"])
def test_errors_of_a_log_in_steps_may_come_in_bursts(steps, monkeypatch):
    """The scores of IDIM get the covariance of their summands; those of DIDIM where the torque has
    steps, since it uses no positions.
    """
    asked, scored, made = [], tests_of_fit.scored, record()
    by_positions = didim.identify(model(), made, didim.IDIM(lack_of_fit=False))
    fits = estimate(), by_positions  # before the tests are watched: an estimate makes them too

    def watched(*given):
        asked.append(given[5])
        return scored(*given)

    monkeypatch.setattr(tests_of_fit, "scored", watched)
    tau, q = (_in_steps(each, 0.1 * each.std(axis=0)) for each in (made.tau, made.q))
    made = replace(made, **{"none": {}, "torque": {"tau": tau}, "positions": {"q": q}}[steps])
    for fit in fits:
        fit.lack_of_fit(made)
    assert asked == {"none": [False] * 2, "torque": [True] * 2, "positions": [False, True]}[steps]


def test_results_from_before_there_were_long_records_can_be_read():
    data = plain_lack(estimate().lack)
    assert plain_lack(lack_of(data)) == data
    del data["part"]
    assert plain_lack(lack_of(data)) == {**data, "part": 1.0}
