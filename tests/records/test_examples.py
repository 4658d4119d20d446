"""The three measured machines, each from its study file and nothing else: what is published, and
what a check finds.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import didim
from support.records import DATA, record

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = {
    "emps": ("emps", "DATA_EMPS.mat"),
    "double_pendulum": ("double_pendulum", "measured.csv.gz"),
    "tx40": ("tx40", "motor_torque.csv.gz"),
}


@pytest.fixture(autouse=True)
def data(monkeypatch):
    monkeypatch.setenv("DIDIM_DATA", str(DATA))


@cache
def load(name: str, *settings: str) -> didim.Study:
    record(*FILES[name])
    return didim.load_study(EXAMPLES / f"{name}.toml", settings)


@cache
def run(name: str, *settings: str) -> didim.Estimate:
    return load(name, *settings).run()


def known(estimate: didim.Estimate) -> dict[str, float]:
    return dict(zip(estimate.names, estimate.values, strict=True))


def findings(name: str) -> dict[str, str]:
    return {each.check: each.level for each in load(name).check()}


@pytest.mark.slow
@pytest.mark.parametrize("mass", [50.0, pytest.param(300.0, marks=pytest.mark.long)])
def test_emps_by_didim_from_its_torque(mass):
    """Positions are not used: the study without them says the same."""
    found = run("emps", f"didim.initial=[{mass}, 0.0, 0.0, 0.0]")
    assert found.status == "converged"
    relative = np.abs(found.values / [95.1089, 203.5034, 20.3935, -3.1648] - 1)
    np.testing.assert_array_less(relative, [0.01, 0.02, 0.02, 0.03])
    assert found.residual <= 0.043
    assert found.gains["delay"][0] < 1e-3


@pytest.mark.long
def test_emps_without_positions():
    blind = run("emps", 'experiment.0.columns={ t = "t", q_ref = "qg", control = "vir" }')
    np.testing.assert_allclose(
        blind.values, run("emps", "didim.initial=[50.0, 0.0, 0.0, 0.0]").values, rtol=1e-9
    )


def test_check_finds_what_is_known_of_the_emps():
    assert set(findings("emps").values()) == {"pass"}


WHOLE = "experiment.0.between=[0.0, 75.0]"


@pytest.mark.slow
def test_double_pendulum_is_resampled_and_aligned():
    notes = " ".join(run("double_pendulum", "method=idim").notes)
    assert "The times jitter" in notes
    assert "The reference was shifted by" in notes
    assert "lags behind its reference" in notes


@pytest.mark.slow
def test_double_pendulum_by_idim():
    np.testing.assert_array_less(
        run("double_pendulum", "method=idim", WHOLE).residual_by_joint, [0.06, 0.12]
    )


@pytest.mark.long
def test_double_pendulum_by_didim_predicts_what_it_did_not_see():
    found = run("double_pendulum")
    assert found.status == "converged"
    inertia = found.model.inertia_matrix(
        np.random.default_rng(0).uniform(-3, 3, (100, 2)), found.parameters
    )
    assert np.linalg.eigvalsh(inertia).min() > 0
    assert found.validation[0].experiment == "last 30 s"
    np.testing.assert_array_less(found.validation[0].residual_by_joint, [0.08, 0.16])


@pytest.mark.slow
def test_check_finds_what_is_known_of_the_double_pendulum():
    found = findings("double_pendulum")
    assert found["sampling"] == "warn"
    assert "fail" not in found.values()


@pytest.mark.slow
def test_tx40_by_idim_fits_and_predicts():
    found = run("tx40")
    assert len(found.names) == 61
    assert found.status == "converged"
    assert found.residual <= 0.05
    assert found.validation[0].residual <= 0.075


ALL = "experiment.0.between=[0.0, 5.5]"
FRICTION = {
    **dict(zip(("Fv1", "Fv2", "Fv3", "Fv4"), (8.05, 5.53, 1.97, 1.11), strict=True)),
    **dict(zip(("Fc1", "Fc2", "Fc3", "Fc4"), (7.14, 8.26, 6.34, 2.48), strict=True)),
}


@pytest.mark.slow
def test_tx40_on_the_whole_record():
    found = known(run("tx40", ALL))
    for name, value in FRICTION.items():
        assert abs(found[name] / value - 1) < 0.06, name
    estimate = run("tx40", ALL)
    Ia6 = estimate.names.index("Ia6")
    assert abs(estimate.values[Ia6] - 0.0105) < 2 * estimate.corrected_sigma[Ia6]
    assert estimate.values[Ia6] > 3 * estimate.corrected_sigma[Ia6]


@pytest.mark.slow
def test_tx40_needs_few_parameters():
    few, all_of_them = run("tx40", ALL, "idim.essential=true"), run("tx40", ALL)
    assert len(few.names) <= 40
    assert few.residual - all_of_them.residual < 0.003


@pytest.mark.long
def test_tx40_by_didim_in_an_assumed_loop():
    found = run("tx40", "method=didim")
    assert found.status == "converged"
    assert found.residual <= 1.1 * run("tx40").residual
    assert any("The control loop was assumed" in note for note in found.notes)
    assert any("The reference is the measured motion" in note for note in found.notes)


@pytest.mark.long
def test_check_finds_what_is_known_of_the_tx40():
    found = load("tx40").check()
    by_name = {each.check: each for each in found}
    assert by_name["loop"].level == "warn"
    assert "assumed" in by_name["loop"].found
    assert "rest_velocity leaves these equations out" in by_name["rest"].found
    assert {each.check: each.level for each in load("tx40", "idim={ cutoff = 100.0 }").check()}[
        "rest"
    ] == "warn"
    assert "fail" not in {each.level for each in found}
