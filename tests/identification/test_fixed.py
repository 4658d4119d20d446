"""Known parameters: values that every method holds, and what they leave to be identified."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.optimize import lsq_linear

import didim
from didim.dynamics.prior import prior_of
from didim.regression.essential import essential
from didim.regression.least_squares import fit, least_squares, with_positive_friction
from didim.regression.system import LinearSystem
from didim.report.sections.parameters import parameter_rows
from support.studies import study, write_study
from support.virtual import loop, model, scara_record

INERTIA = {"ZZ1": 1.94, "Ia1": 1.0, "M2": 2.0}
"""All that ZZ1R regroups, at the values of the SCARA."""

SHAPED = ("viscous", "coulomb", "stribeck")


@cache
def known(robot: str = "scara", effects: tuple[str, ...] | None = None, **fixed: float):
    return didim.DynamicModel(didim.load_robot(robot), effects, fixed=fixed)


@cache
def record(noise: float = 0.02) -> didim.Experiment:
    return scara_record(noise=noise, seed=3, periods=1)[0]


def methods() -> dict[str, object]:
    return {
        "idim": didim.IDIM(),
        "irls": didim.IDIM(weights="irls"),
        "consistent": didim.IDIM(consistent=True),
        "essential": didim.IDIM(essential=True),
        "didim": didim.DIDIM(controller=loop()),
        "refined": didim.DIDIM(controller=loop(), refine=True),
        "output_error": didim.OutputError(controller=loop(), output="torque"),
        "gauss_newton": didim.OutputError(
            controller=loop(), output="torque", barrier=False, initial="unit"
        ),
    }


@pytest.mark.parametrize("name", list(methods()))
def test_every_method_holds_known_values(name):
    plain = didim.identify(model(), record(), methods()[name])
    found = didim.identify(known(**INERTIA, Fv1=0.03), record(), methods()[name])
    truth = model().base.nominal
    assert found.status == plain.status == "converged"
    assert found.fixed == ("ZZ1R", "Fv1")
    held = np.isin(found.names, found.fixed)
    np.testing.assert_allclose(found.values[held], truth[held], rtol=1e-14)
    assert not found.sigma[held].any()
    assert not found.corrected_sigma[held].any()
    assert not found.relative_sigma[held].any()
    np.testing.assert_array_equal(*found.interval()[held].T)
    error = np.abs(found.values - truth)[~held]
    assert np.all(error < 4.0 * found.corrected_sigma[~held])
    assert np.all(found.sigma[~held] < 1.02 * plain.sigma[~held])
    assert found.sigma[2] < 0.75 * plain.sigma[2]  # Fc1 beside Fv1
    assert found.freedom == plain.freedom + 2


@pytest.mark.parametrize("name", ["didim", "refined", "gauss_newton"])
def test_a_wrong_value_changes_the_others_as_the_kkt_system_says(name):
    """To first order: the simulated methods are not linear."""
    method = methods()[name]
    if name == "didim":
        method = replace(method, tol_parameters=1e-4, tol_residual=1e-7)
    plain = didim.identify(model(), record(), method)
    wrong = plain.values[1] + 2.0 * plain.sigma[1]
    found = didim.identify(known(Fv1=wrong), record(), method)
    C = plain.covariance
    expected = plain.values + C[:, 1] / C[1, 1] * (wrong - plain.values[1])
    assert np.all(np.abs(found.values - expected) < 0.15 * plain.sigma)
    assert np.abs(found.values - plain.values)[2] > plain.sigma[2]  # Fc1
    assert found.values[1] == pytest.approx(wrong, rel=1e-14)


def test_idim_with_a_wrong_value_is_constrained_least_squares():
    settings = didim.IDIM(weights="ols", cutoff=20.0)
    plain = didim.identify(model(), record(), settings)
    found = didim.identify(known(MX2=0.3), record(), settings)
    C = plain.covariance
    expected = plain.values + C[:, 4] / C[4, 4] * (0.3 - plain.values[4])
    np.testing.assert_allclose(found.values, expected, rtol=1e-8, atol=1e-9)
    assert found.residual > plain.residual


@cache
def system(robot: str, fixed: tuple[tuple[str, float], ...] = (), noise: float = 0.0):
    """Equations of a robot at random states, with its nominal torque."""
    m = known(robot, **dict(fixed)) if fixed else model(robot)
    random, n = np.random.default_rng(2), m.robot.n
    q, dq, ddq = random.uniform(-1.0, 1.0, (3, 200, n))
    W = m.base.regressor(q, dq, ddq)
    W = np.concatenate([W[:, j] for j in range(n)])
    y = W @ m.base.nominal
    y = y + noise * random.normal(size=y.size)
    joint, index = np.repeat(np.arange(n), 200), np.tile(np.arange(200), n)
    names, one = m.base.parameter_names, np.ones(1)
    return LinearSystem(W, y, joint, 0 * joint, index, names, n, one, m.base.affine)


TIED = (("ZZ1", 0.11), ("MX1", 0.2), ("MY1", 0.0))
"""Of the double pendulum: the mass of link 2, alone unknown, is in ZZ1R and MX1R."""


@pytest.mark.parametrize("weights", ["ols", "wls", "irls"])
def test_parameters_that_share_an_unknown_are_tied(weights):
    given = system("double_pendulum", TIED, noise=0.01)
    m, found = known("double_pendulum", **dict(TIED)), fit(given, weights)
    affine = m.base.affine
    assert affine is not None
    assert not affine.is_selection
    A = m.base.matrix[:, [k for k, name in enumerate(m.parameter_names) if name not in m.fixed]]
    normal = np.linalg.svd(A)[0][:, np.linalg.matrix_rank(A) :]
    phi = np.array([m.fixed.get(name, 0.0) for name in m.parameter_names])
    target = normal.T @ m.base.matrix @ phi
    W, y = given.W * found.row_weights[:, None], given.y * found.row_weights
    b, k = normal.shape
    kkt = np.block([[W.T @ W, normal], [normal.T, np.zeros((k, k))]])
    inverse = np.linalg.inv(kkt)
    expected = (inverse @ np.concatenate([W.T @ y, target]))[:b]
    np.testing.assert_allclose(found.values, expected, rtol=1e-7, atol=1e-9)
    if weights != "irls":
        np.testing.assert_allclose(found.inverse, inverse[:b, :b], atol=1e-9 * inverse.max())
    assert found.rank == b - k


@cache
def pendulum() -> didim.Experiment:
    m, law = model("double_pendulum"), didim.PD(natural_frequency=30.0)
    trajectory = didim.Fourier.random(m.robot, 1, period=5.0, periods=1)
    return didim.virtual_experiment(m, m.nominal, law, trajectory, rate=200.0, noise=0.02)[0]


@pytest.mark.parametrize("name", ["didim", "output_error", "gauss_newton"])
def test_simulated_methods_tie_them_too(name):
    law = didim.PD(natural_frequency=30.0)
    method = replace(methods()[name], controller=law)
    found = didim.identify(known("double_pendulum", ZZ1=0.046, MX1=0.16), pendulum(), method)
    assert found.status == "converged"
    assert (found.values[0] - 0.046) / 0.09 == pytest.approx((found.values[1] - 0.16) / 0.3)
    assert found.sigma[0] / 0.09 == pytest.approx(found.sigma[1] / 0.3)
    truth = model("double_pendulum").base.nominal
    assert np.all(np.abs(found.values - truth) < 4.0 * found.corrected_sigma)


def test_noise_free_equations_give_the_truth_to_rounding():
    for robot, fixed in (
        ("emps", (("M1", 95.1089),)),
        ("scara", tuple(INERTIA.items())),
        ("scara", (("ZZ1R", 3.44), ("Fc2", 0.137))),
    ):
        given, truth = system(robot, fixed), model(robot).base.nominal
        found = fit(given, "ols")
        np.testing.assert_allclose(found.values, truth, rtol=1e-9, atol=1e-12)


def test_noise_free_identification_returns_the_truth():
    exact = record(0.0)
    for name in ("didim", "output_error"):
        found = didim.identify(known(**INERTIA), exact, methods()[name])
        np.testing.assert_allclose(found.values, model().base.nominal, rtol=1e-4, atol=1e-5)


def test_friction_stays_positive_beside_known_values():
    given = system("scara", (("Fv1", 3.0),), noise=0.3)
    m = known(Fv1=3.0)
    solution = least_squares(given, np.ones(given.y.size))
    assert solution.values[2] < 0  # Fc1
    values, held = with_positive_friction(m.base.frictional, given, solution)
    lower = np.where(m.base.frictional, 0.0, -np.inf)
    free = np.arange(8) != 1
    expected = lsq_linear(
        given.W[:, free], given.y - 3.0 * given.W[:, 1], (lower[free], np.inf), tol=1e-14
    )
    assert "Fc1" in held
    np.testing.assert_allclose(values[free], expected.x, atol=1e-6)
    assert values[1] == 3.0


def test_what_a_record_does_not_identify_can_be_known():
    given = system("scara")
    same = replace(given, W=given.W.copy())
    same.W[:, 2] = same.W[:, 1]  # Fv1 and Fc1 have one column
    assert least_squares(same, np.ones(given.y.size)).confounded.tolist()[1:3] == [True, True]
    affine = known(Fv1=0.03).base.affine
    found = least_squares(replace(same, affine=affine), np.ones(given.y.size))
    assert not found.confounded.any()


def test_a_parameter_that_stays_regrouped_changes_nothing_and_is_told():
    for method in ("idim", "didim"):
        plain = didim.identify(model(), record(), methods()[method])
        found = didim.identify(known(Ia1=1.0, M1=8.0), record(), methods()[method])
        np.testing.assert_allclose(found.values, plain.values, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.sigma, plain.sigma, rtol=1e-6)
        assert found.fixed == ()
        assert sum("Ia1" in note and "ZZ1R" in note for note in found.notes) == 1
        assert sum("M1 " in note and "no torque" in note for note in found.notes) == 1
    assert known(**INERTIA).base.known_notes == ()
    assert len(known(**INERTIA, ZZ1R=3.44).base.known_notes) == 4


@pytest.mark.parametrize(
    ("fixed", "said"),
    [
        ({"Fv9": 1.0}, "Fv2"),
        ({3: 1.0}, "Known"),
        ({"Fv1": float("nan")}, "Fv1"),
        ({"Fv1": float("inf")}, "Fv1"),
        ({"Fv1": "0.1"}, "Fv1"),
        ({"Fv1": True}, "Fv1"),
        ({"Fv1": [0.1]}, "Fv1"),
        ({"Fv1": -0.1}, "at least 0"),
        ({"M2": -1.0}, "at least 0"),
        ("Fv1", "table"),
        ([("Fv1", 1.0)], "table"),
        ({**INERTIA, "ZZ1R": 3.5}, "contradicts"),
        ({"ZZ1R": 3, "Fv1": 0, "Fc1": 1, "ZZ2": 1, "MX2": 0, "MY2": 0, "Fv2": 0, "Fc2": 0}, "left"),
    ],
)
def test_hostile_values_are_one_clear_error(fixed, said):
    with pytest.raises(didim.InputError, match=said) as raised:
        didim.DynamicModel(didim.load_robot("scara"), fixed=fixed)
    assert "\n" not in str(raised.value)


def test_a_known_shape_is_a_value_that_is_held():
    m = known("emps", SHAPED, vs1=0.05, M1=95.0)
    assert m.shape_values["vs1"] == 0.05
    assert m.base.free_shapes == {}
    assert m.with_held_shapes().fixed == m.fixed
    assert m.with_shapes({"ds1": 1.5}).known is m.known
    with pytest.raises(didim.InputError, match="vs1"):
        known("emps", SHAPED, vs1=0.0)


def test_free_shapes_beside_known_values():
    truth = didim.DynamicModel(didim.load_robot("emps"), SHAPED, shapes={"vs1": 0.04})
    phi = np.where(np.isnan(truth.nominal), 15.0, truth.nominal)
    trajectory = didim.Fourier.random(truth.robot, 1, period=6.0, periods=1)
    t = np.arange(0.0, 6.0, 0.002)
    q, dq, ddq = trajectory.sample(t)
    tau = truth.inverse_dynamics(q, dq, ddq, phi)
    exact = didim.Experiment(t, tau, None, q)
    settings = didim.IDIM(cutoff=None, decimation=1)
    found = didim.identify(known("emps", SHAPED, M1=95.1089, Fv1=203.5034), exact, settings)
    assert found.shapes["vs1"][0] == pytest.approx(0.04, rel=0.02)
    assert found.shapes["vs1"][1] > 0
    expected = truth.base.matrix @ phi
    np.testing.assert_allclose(found.values, expected, rtol=0.02)
    assert found.fixed == ("M1", "Fv1")


def test_no_physical_robot_with_these_values():
    massless = known(M2=0.0, ZZ1R=3.44)
    for method in (methods()["output_error"], methods()["refined"]):
        with pytest.raises(didim.InputError, match="no physical robot has M2 = 0"):
            didim.identify(massless, record(), method)
    assert didim.identify(massless, record(), methods()["didim"]).status == "converged"


def test_the_prior_has_the_known_values_even_on_the_border():
    link = dict.fromkeys(("XX1", "XY1", "XZ1", "YY1", "YZ1", "MX1", "MY1", "MZ1", "M1"), 0.0)
    m = known(**link, ZZ1=0.0, Fv2=0.0, MX2=0.242, Fc2=0.137)
    consistent = prior_of(m.base, np.ones(2), np.ones(2), np.ones(2))
    np.testing.assert_allclose(m.known.rows @ consistent.prior, m.known.targets, atol=1e-14)
    assert np.isfinite(consistent.value(consistent.prior))
    assert consistent.bodies(consistent.prior).shape == (1, 4, 4)


def test_the_physical_solution_has_the_known_values():
    noisy = replace(record(), tau=np.asarray(record().tau) + [[0.0, -0.35]] * record().t.size)
    settings = didim.IDIM(consistent=True, rest_velocity=0.0)
    for fixed in ({"Fv1": 0.05}, {"M2": 0.5, "Fv1": 0.05}, {"ZZ1R": 3.3, "M2": 2.0}):
        found = didim.identify(known(**fixed), noisy, settings)
        assert found.consistency.physical
        if found.standard is not None:
            m = found.model.full
            np.testing.assert_allclose(m.known.rows @ found.standard, m.known.targets, rtol=1e-9)
        held = np.isin(found.names, found.fixed)
        expected = [fixed[name] for name in found.fixed]
        np.testing.assert_allclose(found.values[held], expected, rtol=1e-9)


def test_what_is_physical_only_without_the_known_values_is_told():
    """A link of 0.5 kg has no first moment of 0.24 kg m at an inertia of 0.062 kg m2."""
    found = didim.identify(known(M2=0.5, Fv2=0.0), record(), didim.IDIM(consistent=True))
    assert found.standard is not None
    assert found.consistency.physical
    assert "MX2" in found.at_border
    assert "Fv2" not in found.at_border  # known to be zero
    assert sum("not with the fixed values" in note for note in found.notes) == 1


def test_essential_parameters_keep_the_known_ones():
    found = didim.identify(known(MY2=0.0, Fv1=0.03), record(), didim.IDIM(essential=True))
    assert {"MY2", "Fv1"} <= set(found.names)
    tied = system("double_pendulum", TIED, noise=0.01)
    with pytest.raises(didim.InputError, match="tie"):
        essential(tied, np.ones(tied.y.size))


def test_intervals_of_the_others_cover_the_truth():
    exact = scara_record(periods=1)[0]
    truth, inside, errors = model().base.nominal, [], []
    free = [1, 2, 3, 4, 5, 7]
    settings = didim.IDIM(cutoff=30.0, decimation=10)
    for seed in range(20):
        noise = 0.02 * np.std(exact.tau, axis=0)
        tau = exact.tau + noise * np.random.default_rng(seed).normal(size=exact.tau.shape)
        found = didim.identify(known(**INERTIA, Fv2=0.013), replace(exact, tau=tau), settings)
        low, high = found.interval().T
        inside.append(((low <= truth) & (truth <= high))[free])
        errors.append((found.values - truth)[free] / found.corrected_sigma[free])
    assert np.mean(inside) >= 0.88
    assert 0.75 < np.sqrt(np.mean(np.square(errors))) < 1.25


def test_a_saved_estimate_keeps_what_was_fixed(tmp_path):
    found = didim.identify(known(**INERTIA), record(), didim.IDIM())
    found.save(tmp_path / "found.json")
    loaded = didim.load_estimate(tmp_path / "found.json")
    assert loaded.fixed == ("ZZ1R",)
    assert loaded.model.full.fixed == INERTIA
    assert loaded.summary() == found.summary()
    data = json.loads((tmp_path / "found.json").read_text())
    assert data["fixed"] == ["ZZ1R"]
    del data["model"]["fixed"], data["fixed"]  # an older file
    (tmp_path / "found.json").write_text(json.dumps(data))
    assert didim.load_estimate(tmp_path / "found.json").fixed == ()


def test_tables_say_fixed():
    found = didim.identify(known(Fv2=0.0, ZZ1R=3.44), record(), didim.IDIM())
    rows = {line.split()[0]: line for line in found.summary().splitlines() if line.strip()}
    assert rows["Fv2"].endswith("fixed")
    assert rows["ZZ1R"].endswith("fixed")
    assert "[" in rows["Fv1"]
    assert "Fv2" not in str([note for note in found.notes if "significant" in note])
    assert [row.name for row in parameter_rows(found) if row.fixed] == ["ZZ1R", "Fv2"]
    assert "fixed" in found._repr_html_()


def test_a_study_has_fixed_values(tmp_path):
    path = write_study(tmp_path, study(fixed={"Fv1": 0.03}))
    assert didim.load_study(path).run().fixed == ("Fv1",)
    changed = didim.load_study(path, ["fixed.ZZ1R=3.44", "fixed.Fv1=0.04"])
    found = changed.run()
    assert found.fixed == ("ZZ1R", "Fv1")
    assert found.values[1] == 0.04
    for text in ("fixed.Fv1=nan", "fixed.Fv1=abc", "fixed=3", "fixed.Fv1=true"):
        with pytest.raises(didim.InputError, match="names and numbers"):
            didim.load_study(path, [text])
    with pytest.raises(didim.InputError, match=r"study.toml: fixed: there is no parameter 'Fw1'"):
        _ = didim.load_study(path, ["fixed.Fw1=1.0"]).model
