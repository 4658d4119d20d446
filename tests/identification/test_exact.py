"""The exact method: a few runs of each grid of robustness, the output errors, and what a user
is told.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares

import didim
from didim.control.simulated_loop import SimulatedLoop
from didim.identification import problem as problem_module
from didim.identification.methods.didim import FIRST_STAGE_STEPS
from didim.identification.regressor_method import RegressorMethod
from didim.identification.rules import Iterate
from didim.identification.rules.gauss_newton import BarrierRule
from didim.results.status import Status, Verdict
from didim.simulation import decimated
from didim.simulation.record_set import MAX_SUBSTEPS, SEARCH_SUBSTEPS
from didim.simulation.steps import substeps_for
from support.robustness import Run, outcome
from support.undescribed import undescribed
from support.virtual import loop, model, scara_record

HERTZ = 2 * np.pi


@pytest.mark.long
@pytest.mark.parametrize(
    ("law", "frequency", "prior"), [("PD", 5, "generic"), ("PID", 10, "wrong by 4")]
)
def test_six_joints_in_ordinary_loops(law, frequency, prior):
    """Other laws and loops: `benchmarks/robustness.py`."""
    found = outcome(Run("gains known", "tx40", law, (HERTZ * frequency,), prior, "known", seed=11))
    assert found.status == "converged"
    assert found.iterations <= 10
    assert found.floor < 1.05
    assert found.within >= 0.93
    assert found.chi_square < 1


@pytest.mark.long
def test_six_joints_whose_gains_are_not_known(monkeypatch):
    """The search for the loop turns back from estimates with next to no inertia, which would take
    most of the time.
    """
    steps = []

    def substeps(*arguments):
        steps.append(substeps_for(*arguments))
        return steps[-1]

    monkeypatch.setattr("didim.simulation.prepare.substeps_for", substeps)
    found = outcome(Run("gains unknown", "tx40", "PD", (HERTZ * 5,), "generic", "0.25", seed=12))
    assert max(steps) <= SEARCH_SUBSTEPS
    assert found.status == "converged"
    assert found.floor < 1.05
    assert found.within >= 0.93
    assert found.gains_sigma < 4
    assert found.gains < 0.08


@pytest.mark.parametrize("stiff", [False, True])
def test_the_first_stage_is_short_and_takes_no_stiff_steps(monkeypatch, stiff):
    """Plain DIDIM that does not converge would take most of the time; only a robot that is stiff
    at its start is simulated with as many steps as it needs.
    """
    runs = []

    class First(RegressorMethod):
        def iterated(self, request):
            runs.append((self.settings.max_iterations, self.records.most_substeps))
            problem, end, notes = super().iterated(request)
            failed = stiff and len(runs) == 1
            return problem, Verdict(Status.DIVERGED, "stiff") if failed else end, notes

    monkeypatch.setattr("didim.identification.methods.didim.RegressorMethod", First)
    monkeypatch.setattr("didim.identification.best_run.GOOD_START", 0.0)
    method = didim.DIDIM(controller=loop(), refine=True, lack_of_fit=False)
    assert didim.identify(model(), scara_record()[0], method).status == "converged"
    limited, unlimited = (FIRST_STAGE_STEPS, SEARCH_SUBSTEPS), (FIRST_STAGE_STEPS, MAX_SUBSTEPS)
    assert runs == ([limited, unlimited] if stiff else [limited])


def test_a_good_description_needs_no_first_stage(monkeypatch):
    """The same minimum, whether the first stage is left out, run first, or run after a prior that
    leaves more than noise.
    """
    method = didim.DIDIM(controller=loop(), refine=True, lack_of_fit=False)
    record, _ = scara_record()
    at_once = didim.identify(model(), record, method)
    assert {each.stage for each in at_once.history} == {"exact"}
    with monkeypatch.context() as patch:
        for module in ("best_run", "methods.didim"):
            patch.setattr(f"didim.identification.{module}.is_explained", lambda *_: False)
        seen: list[float] = []
        again = didim.identify(model(), record, method, progress=seen.append)
        stopped = didim.identify(model(), record, method, progress=lambda done: done <= 0.5)
    assert np.array_equal(again.values, at_once.values)  # DIDIM's end has the larger error
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert stopped.status == "stopped"
    assert np.array_equal(stopped.values, at_once.values)
    monkeypatch.setattr("didim.identification.best_run.GOOD_START", 0.0)
    usual = didim.identify(model(), record, method)
    assert {each.stage for each in usual.history} == {"DIDIM", "exact"}
    assert np.all(np.abs(usual.values - at_once.values) < 0.01 * at_once.sigma)


def test_a_short_last_step_has_the_jacobian_of_its_start():
    """Not where the window moved, or where other rows are at rest."""
    record, _ = scara_record()
    request = didim.DIDIM(controller=loop(), decimation=4)
    records = request._records(model().base, (record,))
    problem = problem_module.ClosedLoopProblem(model().base, records, SimulatedLoop(loop()))
    x, window = problem_module.Unknowns(model().base.nominal), records.first_window
    evaluation, system = problem.linearise(x, window)
    near = problem_module.Unknowns(1.001 * x.base)
    moved = problem.evaluate(near, window)
    found = problem.with_errors(system, near, moved, window)
    assert np.array_equal(found.y, problem.linearise(near, window)[1].y)
    assert found.W is system.W
    (start, end), *_ = window.samples
    later = replace(window, samples=((start + 1, end),))
    rule, at = BarrierRule(None), Iterate(x, evaluation, window, loop(), system)
    assert rule._last(problem, at, near, moved, window).equations.W is system.W
    assert rule._last(problem, at, near, problem.evaluate(near, later), later) is None
    names = ("W", "y", "joint", "series", "index")
    cut = replace(system, **{each: getattr(system, each)[1:] for each in names})
    assert problem.with_errors(cut, near, moved, window) is None


@pytest.mark.long
@pytest.mark.parametrize(("frequency", "gains"), [((6.28, 62.8), "0.2")])
def test_scara_from_unit_with_gains_far_off(frequency, gains):
    found = outcome(
        Run("SCARA, gains unknown", "scara", "PD", frequency, "generic", gains, seed=13)
    )
    assert found.status == "converged"
    assert found.chi_square < 1
    assert found.gains < 0.03


def position_record():
    experiment, truth = scara_record(
        (6.28, 30.0), rate=500.0, noise=0.02, encoder=1e-4, period=10.0, periods=1
    )
    return experiment, truth.controller.with_gains(
        truth.controller.gains(2, np.ones(2), np.asarray(truth.controller.inertia))
    )


@pytest.mark.slow
def test_position_output_reaches_the_optimum_of_a_general_solver(monkeypatch):
    """The same minimum as SciPy's least squares on finite differences, in a tenth of its
    simulations.

    Tests (27), (28), (31).
    """
    pendulum = model("double_pendulum", ("viscous", "coulomb", "offset"))
    phi = np.where(np.isnan(pendulum.nominal), 0.05, pendulum.nominal)
    trajectory = didim.Fourier.random(pendulum.robot, 2, period=6.0, share=1.0)
    law = didim.PD(kp=[15.0, 15.0], kv=[3.0, 0.8])
    experiment, _ = didim.virtual_experiment(
        pendulum, phi, law, trajectory, rate=250.0, noise=0.02, encoder=1e-4
    )
    counted = []
    for module, name in ((problem_module, "prepared"), (decimated, "differentiable")):
        original = getattr(module, name)
        monkeypatch.setattr(
            module,
            name,
            lambda *given, original=original: (counted.append(1), original(*given))[1],
        )
    unknown = undescribed("double_pendulum", pendulum.effects)
    method = didim.OutputError(controller=law, output="position", decimation=5, transient=1.0)
    found = didim.identify(unknown, experiment, method)
    ours = len(counted)
    assert found.status == "converged"
    window = method.selection.window(np.asarray(experiment.t), 1.0)
    q = method.selection.columns(window, np.asarray(experiment.q))
    size = found.residual_by_joint * np.linalg.norm(q, axis=0)
    theirs = []

    def error(beta):
        theirs.append(1)
        motion = didim.simulate(
            unknown.base, beta, law, t=experiment.t, q_ref=experiment.q_ref, check=False
        )
        return (
            ((q - method.selection.columns(window, motion.q)) / size).ravel()
            if motion.completed
            else np.full(q.size, 1e3)
        )

    peer = least_squares(
        error, found.history[0].parameters, x_scale=np.abs(found.values), diff_step=1e-5
    )
    np.testing.assert_array_less(np.abs(peer.x - found.values), 0.1 * found.sigma)
    assert 10 * ours <= len(theirs), (ours, len(theirs))


@pytest.mark.slow
def test_gains_of_some_names_are_estimated_and_the_others_held():
    """A cascade whose integral gain is only guessed: with the others known, sigma is smaller than
    where all are unknown.
    """
    scara = model()
    right = didim.Cascade(kp=[16.0, 16.0], kv=[235.0, 3.9], kiv=[740.0, 12.0])
    trajectory = didim.Fourier.random(scara.robot, 6, period=6.0, share=0.7)
    record, _ = didim.virtual_experiment(
        scara, scara.nominal, right, trajectory, rate=250.0, noise=0.02, seed=6
    )
    guessed, sigma = replace(right, kiv=[500.0, 20.0]), []
    for which in (["kiv"], True):
        settings = {"estimate_gains": which, "initial": "nominal", "scan": False}
        found = didim.identify(scara, record, didim.DIDIM(controller=guessed, **settings))
        assert found.status == "converged"
        value, spread = np.array([found.gains[name] for name in ("kiv1", "kiv2")]).T
        assert np.all(np.abs(value - right.kiv) < 3 * spread)
        sigma.append(spread)
        if which is not True:
            assert set(found.gains) == {"kiv1", "kiv2"}
            np.testing.assert_array_equal(found.controller.kp, right.kp)
    assert np.all(sigma[0] < sigma[1])


@pytest.mark.slow
@pytest.mark.parametrize("output", ["torque", "both"])
def test_other_outputs(output):
    """Tests (28)."""
    experiment, law = position_record()
    found = didim.identify(
        undescribed("scara"),
        experiment,
        didim.OutputError(controller=law, output=output, decimation=10),
    )
    assert found.status == "converged"
    error = found.parameters - model().base.nominal
    assert (
        error @ np.linalg.solve(found.corrected_covariance, error) < 26.1
    )  # 99.9 % of chi-square, 8 parameters
    assert found.residual < 0.01


def test_open_loop_on_a_short_stable_record():
    experiment, _ = position_record()
    method = didim.OutputError(controller=None, decimation=5)
    found = didim.identify(undescribed("scara"), experiment.between(0.0, 2.0), method)
    assert found.status == "converged"
    assert found.residual < 1e-3
    np.testing.assert_allclose(found.parameters[[0, 2]], model().base.nominal[[0, 2]], rtol=0.05)


@pytest.mark.slow
def test_open_loop_says_when_it_cannot():
    """A pendulum that falls: the simulated motion leaves the recorded one whatever the
    parameters.
    """
    pendulum = model("double_pendulum")
    trajectory = didim.Fourier.random(pendulum.robot, 2, period=5.0, share=1.0, periods=2)
    upright = replace(trajectory, centre=[np.pi, 0.0])
    law = didim.PD(natural_frequency=15.0)
    experiment, _ = didim.virtual_experiment(
        pendulum, pendulum.nominal, law, upright, rate=500.0, noise=0.1
    )
    method = didim.OutputError(controller=None, decimation=10, max_iterations=8)
    found = didim.identify(undescribed("double_pendulum"), experiment, method)
    assert found.status in ("diverged", "stopped")
    assert "open loop" in found.message


def soft_record():
    experiment, truth = scara_record((5.0, 10.0), rate=200.0, noise=0.02, periods=3)
    return experiment, truth.controller


@pytest.mark.slow
def test_the_user_sees_stages_gains_and_contraction(tmp_path):
    experiment, law = soft_record()
    unknown = undescribed("scara")
    fixed = law.with_gains(law.gains(2, np.ones(2), np.asarray(law.inertia)))
    found = didim.identify(
        unknown, experiment, didim.DIDIM(controller=fixed, decimation=4, estimate_gains=True)
    )
    text = found.summary()
    assert "stages: DIDIM" in text
    assert "exact" in text
    assert "of the loop" in text
    assert "Convergence rate of DIDIM" in text
    assert set(found.gains) == {"kp1", "kp2", "kv1", "kv2"}
    np.testing.assert_allclose(
        [found.gains["kp1"][0], found.gains["kp2"][0]], [2.5, 5.0], rtol=0.03
    )
    assert 0 < found.history[-1].convergence_rate < 1
    assert found.history[-1].friction_ratio > 0
    assert found.standard is not None
    np.testing.assert_allclose(unknown.base.matrix @ found.standard, found.parameters, rtol=1e-12)
    again = didim.load_estimate(found.save(tmp_path / "x.json"))
    np.testing.assert_array_equal(again.standard, found.standard)
    assert again.history[-1].convergence_rate == found.history[-1].convergence_rate
    assert again.history[-1].stage == "exact"
    assert again.gains == found.gains
    np.testing.assert_array_equal(again.predict(experiment), found.predict(experiment))
    assert found.validate(experiment).residual == pytest.approx(found.residual, rel=0.05)


@pytest.mark.slow
def test_stiff_loops_contract_and_soft_ones_less():
    ratios = []
    for bandwidth in ((20.0, 100.0), (5.0, 10.0)):
        experiment, truth = scara_record(bandwidth, rate=200.0, noise=0.01, periods=3)
        found = didim.identify(
            model(),
            experiment,
            didim.DIDIM(controller=truth.controller, decimation=4, gain_update=False),
        )
        assert found.status == "converged"
        ratios.append(found.history[-1].convergence_rate)
    assert ratios[0] < 0.2 < ratios[1]


@pytest.mark.long
def test_bias_of_didim_is_told():
    """With kp 5 % off, DIDIM's fixed point and the minimum of the torque error are not the same."""
    experiment, law = soft_record()
    gains = law.gains(2, np.ones(2), np.asarray(law.inertia))
    wrong = didim.PD(kp=1.05 * gains.kp, kv=gains.kv)
    found = didim.identify(
        undescribed("scara"), experiment, didim.DIDIM(controller=wrong, decimation=4, refine=True)
    )
    assert any("DIDIM alone settles elsewhere" in note for note in found.notes)


@pytest.mark.slow
def test_a_wrong_loop_is_named_when_gains_are_not_looked_for():
    experiment, law = soft_record()
    gains = law.gains(2, np.ones(2), np.asarray(law.inertia))
    wrong = didim.PD(kp=2 * gains.kp, kv=2 * gains.kv)
    method = didim.OutputError(controller=wrong, output="torque", decimation=4)
    found = didim.identify(undescribed("scara"), experiment, method)
    assert found.status == "diverged"
    assert "estimate_gains" in found.message


@pytest.mark.slow
def test_gains_that_the_record_does_not_tell():
    """In a stiff loop with much noise nobody can tell how stiff it is."""
    experiment, truth = scara_record((60.0, 200.0), rate=200.0, noise=4.0, periods=1, share=0.02)
    fixed = truth.controller.with_gains(
        truth.controller.gains(2, np.ones(2), np.asarray(truth.controller.inertia))
    )
    method = didim.OutputError(
        controller=fixed, output="torque", decimation=4, estimate_gains=True, scan=False
    )
    found = didim.identify(undescribed("scara"), experiment, method)
    assert found.status == "unexcited"
    assert "does not identify the gains" in found.message
    assert "kv" in found.message


@pytest.mark.slow
def test_a_delay_of_the_reference_is_found():
    experiment, law = soft_record()
    late = replace(experiment, q_ref=experiment.q_ref.delayed(-0.004))
    method = didim.OutputError(controller=law, output="torque", decimation=4, estimate_delay=True)
    found = didim.identify(undescribed("scara"), late, method)
    value, sigma = found.gains["delay"]
    assert abs(value - 0.004) < 4 * sigma
    assert sigma < 1e-3
    assert found.preprocessing.delay == value
    assert found.validate(late).residual == pytest.approx(found.residual, rel=0.05)


@pytest.mark.long
def test_several_records_at_once():
    one, law = soft_record()
    two, _ = scara_record((5.0, 10.0), rate=200.0, noise=0.02, periods=3, seed=7)
    method = didim.OutputError(controller=law, output="torque", decimation=4)
    found = didim.identify(undescribed("scara"), [one, two], method)
    alone = didim.identify(undescribed("scara"), one, method)
    assert found.status == "converged"
    np.testing.assert_allclose(np.median(alone.sigma / found.sigma), np.sqrt(2), rtol=0.1)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"controller": "pd"}, "controller must be a loop"),
        ({"controller": None, "output": "torque"}, "the torque is the input"),
        ({"controller": None, "estimate_gains": True}, "no gains"),
        ({"output": "velocity"}, "output 'velocity' is unknown"),
        ({"initial": "identity"}, "identity"),
        ({"initial": "somewhere"}, "nearest|Unknown initial"),
        ({"estimate_gains": "yes"}, "True, False or a list"),
        ({"estimate_delay": 3}, "True, False or None"),
        ({"scan": "often"}, "scan must be"),
        ({"max_iterations": 0}, "whole number"),
        ({"transient": -1.0}, "transient"),
        ({"start": "anywhere"}, "start must be"),
    ],
)
def test_settings_that_cannot_be(settings, told):
    with pytest.raises(didim.InputError, match=told):
        didim.OutputError(**{"controller": loop()} | settings)


def test_positions_that_were_not_measured():
    experiment, law = soft_record()
    with pytest.raises(didim.InputError, match="no measured positions"):
        didim.identify(model(), replace(experiment, q=None), didim.OutputError(controller=law))


def test_a_law_of_ones_own_cannot_be_refined():
    @didim.control_law
    def own(t, n, q_ref, dq_ref, ddq_ref, q, dq, memory, v):
        for j in range(n):
            v[j] = 60.0 * (q_ref[j] - q[j]) - 10.0 * dq[j]

    experiment, _ = soft_record()
    with pytest.raises(didim.InputError, match="OwnLaw"):
        didim.identify(
            model(), experiment, didim.DIDIM(controller=didim.OwnLaw(law=own), refine=True)
        )
