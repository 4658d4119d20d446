"""Wrong arrays give one clear error, never a traceback from inside a kernel and never a number."""

from __future__ import annotations

import numpy as np
import pytest

import didim


@pytest.fixture
def model():
    return didim.DynamicModel(didim.load_robot("scara"))


X = np.zeros((5, 2))
NAN = np.where(np.arange(10).reshape(5, 2) == 7, np.nan, 0.0)


@pytest.mark.parametrize(
    ("q", "dq", "ddq", "message"),
    [
        (np.zeros((5, 3)), X, X, r"q must have shape \(N, 2\), found \(5, 3\)"),
        (X, np.zeros((4, 2)), X, "dq must have 5 rows like the other signals"),
        (X, X, NAN, "ddq must be finite; sample 3, column 1"),
        (X, X, np.full((5, 2), np.inf), "ddq must be finite"),
        (X, np.full((5, 2), 1e200), X, "dq must be finite"),
        (X, np.zeros((6, 2)), X, "dq must have 5 rows"),
        ("abc", X, X, "q must be an array of real numbers"),
        (X + 1j, X, X, "q must be an array of real numbers"),
        ([[1, 2], [3]], X, X, "q must be a rectangular array"),
        (np.zeros((5, 2, 1)), X, X, "q must have shape"),
        (None, X, X, "q must be an array of real numbers"),
    ],
)
def test_states(model, q, dq, ddq, message):
    with pytest.raises(didim.InputError, match=message):
        model.regressor(q, dq, ddq)
    with pytest.raises(didim.InputError, match=message):
        model.inverse_dynamics(q, dq, ddq, model.nominal)


def test_parameters(model):
    with pytest.raises(
        didim.InputError,
        match=r"phi must hold 25 values \(XX1, XY1, XZ1, ...\), found shape \(8,\)",
    ):
        model.inverse_dynamics(X, X, X, model.base.nominal)
    phi = model.nominal
    phi[3] = np.nan
    with pytest.raises(didim.InputError, match="YY1 is not"):
        model.direct_dynamics(X, X, X, phi)
    with pytest.raises(didim.InputError, match="beta must hold 8 values"):
        model.base.inertia_matrix(X, phi)


def test_slip(model):
    with pytest.raises(didim.InputError, match=r"slip must have shape \(N, 2\)"):
        model.regressor(X, X, X, np.zeros((5, 3)))
    with pytest.raises(didim.InputError, match=r"slip must lie between -1 and 1, found 2\.0"):
        model.regressor(X, X, X, np.full((5, 2), 2.0))


def test_effects():
    scara = didim.load_robot("scara")
    for effects, message in [
        (["friction"], "unknown effect 'friction'"),
        ("rotor", "must be a list"),
        (["offset", "asymmetric_coulomb"], "exclude each other"),
        (["viscous", "asymmetric_viscous"], "exclude each other"),
        (["coupling"], "declares no coupling"),
    ]:
        with pytest.raises(didim.InputError, match=message):
            didim.DynamicModel(scara, effects)
    with pytest.raises(didim.InputError, match=r"must be a didim\.Robot"):
        didim.DynamicModel("scara")


def test_an_inertia_matrix_that_is_not_positive_definite_is_named(model):
    phi = model.nominal
    phi[model.parameter_names.index("ZZ2")] = -1.0
    with pytest.raises(didim.InfeasibleError, match=r"sample 0, joint 2 \(joint_2\)"):
        model.direct_dynamics(X, X, X, phi)
    with pytest.raises(didim.InfeasibleError, match="joint 1"):
        model.direct_dynamics(X, X, X, 0 * phi)


def test_inputs_are_converted_at_the_door_and_left_alone(model):
    q = np.asfortranarray(np.random.default_rng(0).standard_normal((6, 2)))
    q.flags.writeable = False
    before = q.copy()
    W = model.regressor(q, q[::1], q)
    assert np.array_equal(q, before)
    assert np.array_equal(W, model.regressor(q.tolist(), q, np.ascontiguousarray(q)))
    assert np.array_equal(model.regressor(q[0], q[0], q[0])[0], W[0]), "one sample as (n,)"
    assert np.allclose(model.regressor(q.astype(np.float32), q, q), W, atol=1e-5)


def test_one_joint_takes_flat_arrays():
    emps = didim.DynamicModel(didim.load_robot("emps"))
    t = np.linspace(0, 1, 9)
    assert emps.inverse_dynamics(t, t, t, emps.nominal).shape == (9, 1)
    assert np.allclose(emps.inertia_matrix(t, emps.nominal), 95.1089)


def test_models_can_be_copied_and_sent_to_other_processes(model):
    import copy
    import pickle

    _ = model.base
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert again.base.formulas == model.base.formulas


def test_no_samples_give_no_rows(model):
    none = np.zeros((0, 2))
    assert model.regressor(none, none, none).shape == (0, 2, 25)
    assert model.direct_dynamics(none, none, none, model.nominal).shape == (0, 2)
