"""Joints that follow others: the model of the coordinates is T' (model of all joints) T, for every
function, in simulation and in exported code.
"""

from __future__ import annotations

import shutil
import subprocess
from ctypes import CDLL, POINTER, c_double
from dataclasses import replace

import numpy as np
import pytest

import didim
from didim.dynamics.parameters import Sign
from support.estimates import estimate_of, physical_parameters
from support.random_urdf import random_urdf
from support.tied import (
    HAND,
    PLANAR,
    expansion,
    free_columns,
    loaded,
    random_tied_urdf,
    with_mimic,
    without_mimic,
)


def pair(folder, urdf, effects=None, own=()):
    """The model over the coordinates, and that of the same robot with all joints free."""
    robots = [loaded(folder, text) for text in (urdf, without_mimic(urdf))]
    return [didim.DynamicModel(replace(robot, effects=own), effects) for robot in robots]


def states(model, rows=6, seed=0):
    return np.random.default_rng(seed).uniform(-1.5, 1.5, (3, rows, model.robot.n))


def same(found, expected, tolerance=1e-12):
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max()


@pytest.mark.parametrize("seed", range(8))
def test_against_the_robot_with_free_joints(seed, tmp_path):
    """Random trees of 2 to 9 joints: regressor, torque, inertia, acceleration and derivatives."""
    tied, free = pair(tmp_path, random_tied_urdf(seed, 2 + seed))
    T, c = expansion(tied.robot)
    assert tied.robot.n < free.robot.n == len(tied.robot.joints)
    q, dq, ddq = states(tied)
    Q, DQ, DDQ = q @ T.T + c, dq @ T.T, ddq @ T.T
    columns = free_columns(tied, free)
    phi, values = tied.nominal, free.nominal
    assert np.array_equal(phi, values[columns])
    W = np.einsum("sja,ji->sia", free.regressor(Q, DQ, DDQ), T)[:, :, columns]
    same(tied.regressor(q, dq, ddq), W)
    tau = free.inverse_dynamics(Q, DQ, DDQ, values) @ T
    same(tied.inverse_dynamics(q, dq, ddq, phi), tau)
    same(tied.inertia_matrix(q, phi), T.T @ free.inertia_matrix(Q, values) @ T)
    same(tied.direct_dynamics(q, dq, tau, phi), ddq, 1e-8)
    derivatives = zip(tied.derivatives(q, dq, ddq, phi), free.derivatives(Q, DQ, DDQ, values),
                      strict=True)  # fmt: skip
    for found, expected in derivatives:
        same(found, T.T @ expected @ T)
    base = tied.base
    same(base.inverse_dynamics(q, dq, ddq, base.matrix @ phi), tau, 1e-9)
    same(base.regressor(q, dq, ddq) @ (base.matrix @ phi), tau, 1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_against_pinocchio(seed, tmp_path):
    """Pinocchio's own mimic joints, which follow one that comes before them: torque and inertia
    matrix.
    """
    mimics = {"joint3": ("joint1", -1.3, 0.2), "joint5": ("joint2", 0.4, -0.7)}
    urdf = with_mimic(random_urdf(seed, 6).replace("continuous", "revolute"), mimics)
    robot = loaded(tmp_path, urdf)
    model = didim.DynamicModel(robot, [])
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed")
    peer = pin.buildModelFromXML(urdf, mimic=True)
    assert peer.nv == robot.n
    data = peer.createData()
    at = [peer.idx_vs[peer.getJointId(name)] for name in robot.joint_names]
    order = np.argsort(at)
    for q, dq, ddq in states(model).transpose(1, 0, 2):
        found = model.inverse_dynamics(q, dq, ddq, model.nominal)[0]
        torque = pin.rnea(peer, data, q[order], dq[order], ddq[order])
        same(found[order], torque, 1e-10)
        still, units = 0.0 * q, np.eye(robot.n)
        weight = pin.rnea(peer, data, q[order], still, still).copy()
        M = np.array([pin.rnea(peer, data, q[order], still, unit) - weight for unit in units])
        same(model.inertia_matrix(q, model.nominal)[0][np.ix_(order, order)], M, 1e-10)


GRIPPER = """<robot name="gripper"><link name="base"/>
<joint name="left" type="prismatic"><parent link="base"/><child link="a"/><axis xyz="1 0 0"/>
 <dynamics damping="2" friction="0.3"/></joint>
<link name="a"><inertial><mass value="0.5"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="right" type="prismatic"><parent link="base"/><child link="b"/><axis xyz="1 0 0"/>
 <dynamics damping="5" friction="0.7"/><mimic joint="left" multiplier="-3" offset="0.1"/></joint>
<link name="b"><inertial><mass value="0.2"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
</robot>"""


def test_a_gripper_in_closed_form(tmp_path):
    """Two fingers on one coordinate: M = m1 + r^2 m2, Fv1 + r^2 Fv2, Fc1 + |r| Fc2."""
    model = didim.DynamicModel(loaded(tmp_path, GRIPPER))
    mass, viscous, coulomb = 0.5 + 9 * 0.2, 2 + 9 * 5, 0.3 + 3 * 0.7
    assert model.inertia_matrix([0.4], model.nominal)[0, 0, 0] == pytest.approx(mass)
    tau = model.inverse_dynamics([0.1, 0.1], [2.0, -0.5], [1.5, 0.0], model.nominal)
    assert tau[:, 0] == pytest.approx([mass * 1.5 + viscous * 2 + coulomb, -viscous / 2 - coulomb])
    assert model.base.parameter_names == ("M1R", "Fv1R", "Fc1R")
    assert model.base.formulas["M1R"] == "M1 + 9*M2"
    assert model.base.formulas["Fv1R"] == "Fv1 + 9*Fv2"
    assert model.base.formulas["Fc1R"] == "Fc1 + 3*Fc2"
    assert model.base.nominal == pytest.approx([mass, viscous, coulomb])
    assert [each.sign for each in model.base.parameters] == [Sign.POSITIVE] * 3
    push = np.full((50, 1), 0.9 * coulomb)
    still = didim.simulate(model, model.nominal, None, t=np.arange(50) * 0.01, tau=push)
    assert np.abs(still.q).max() == 0.0
    assert still.slip[-1] == pytest.approx([0.9])


OWN = (
    didim.Effect("return_spring", joint="tip", torque="k * (q - q0)", unknown={"k": {"value": 3.0}},
                 fixed={"q0": 0.1}, conservative=True),
    didim.Effect("belt", weights={"drive": 1.0, "slide": 2.0, "arm": -0.5},
                 torque="a * dq + b * q ** 3 + c * slip",
                 unknown={"a": {"value": 0.4}, "b": {"value": 0.7}, "c": {"value": 0.05}}),
    didim.Effect("rough", joint="slide", torque="d * slip * (1 + sin(q)) + e * max(slip, 0)",
                 unknown={"d": {"value": 0.3}, "e": {"value": 0.2}}),
)  # fmt: skip

EFFECTS = {
    "one way": ["asymmetric_viscous", "asymmetric_coulomb"],
    "stribeck": ["viscous", "coulomb", "stribeck"],
    "rotors": ["rotor", "viscous", "coulomb", "offset"],
    "own": ["viscous", "coulomb", "return_spring", "belt", "rough"],
}


def with_effects(folder, names):
    """Both models, with all these effects on all joints, and the parameters of each."""
    own = OWN if "belt" in names else ()
    listed = [name for name in names if name not in {each.name for each in OWN}]
    models = []
    for urdf in (HAND, without_mimic(HAND)):
        robot = loaded(folder, urdf)
        joints = tuple(
            replace(each, effects=frozenset(listed), nominal={}) for each in robot.joints
        )
        models.append(didim.DynamicModel(replace(robot, joints=joints, effects=own), names))
    tied, free = models
    phi = np.abs(np.random.default_rng(3).normal(0.5, 0.2, len(tied.parameter_names)))
    described = np.isfinite(tied.nominal)
    phi[described] = tied.nominal[described]
    values = np.zeros(phi.size)
    values[free_columns(tied, free)] = phi
    return tied, free, phi, values


@pytest.mark.parametrize("name", EFFECTS)
def test_effects_of_joints_that_follow(name, tmp_path):
    """Friction, rotors, springs and a user's own effects on any joint, with the slip of the
    coordinate; ratios of both signs.
    """
    tied, free, phi, values = with_effects(tmp_path, EFFECTS[name])
    T, c = expansion(tied.robot)
    q, dq, ddq = states(tied, 20)
    Q, DQ, DDQ = q @ T.T + c, dq @ T.T, ddq @ T.T
    expected = free.inverse_dynamics(Q, DQ, DDQ, values) @ T
    same(tied.inverse_dynamics(q, dq, ddq, phi), expected)
    same(tied.regressor(q, dq, ddq) @ phi, expected)
    same(tied.direct_dynamics(q, dq, expected, phi), ddq, 1e-9)


def test_friction_that_follows_the_load_is_refused_where_the_load_is_not_known(tmp_path):
    robot = loaded(tmp_path, HAND)
    with pytest.raises(didim.InputError, match="whose load is not known"):
        didim.DynamicModel(
            replace(
                robot,
                joints=tuple(
                    replace(each, effects=frozenset({"load_friction"})) for each in robot.joints
                ),
            )
        )
    still = didim.Effect("none", weights={"drive": 0.05, "slide": 1.0}, torque="k * dq",
                         unknown={"k": {"value": 3.0}})  # fmt: skip
    with pytest.raises(didim.InputError, match="always zero"):
        didim.DynamicModel(replace(robot, effects=(still,)))


def hand(folder, effects=("viscous", "coulomb")):
    model = didim.DynamicModel(loaded(folder, HAND), effects)
    return model, model.base, didim.Fourier.random(model.robot, 1, period=1.0, harmonics=3)


LOOPS = {
    "continuous": didim.PD(natural_frequency=20.0),
    "sampled": didim.PD(natural_frequency=20.0, rate=500.0),
}


@pytest.mark.parametrize("loop", LOOPS)
def test_simulation(loop, tmp_path, monkeypatch):
    """tau = W chi in exact friction, the same by the generic kernels, and power that balances."""
    model, base, reference = hand(tmp_path)
    t = np.arange(0, 1.0, 0.002)
    runs = []
    for generic in (False, True):
        if generic:
            monkeypatch.setenv("DIDIM_GENERIC", "1")
        runs.append(didim.simulate(base, base.nominal, LOOPS[loop], t=t, q_ref=reference))
    own, generic = runs
    assert own.completed
    same(generic.q, own.q, 1e-10)
    same(generic.tau, own.tau, 1e-8)
    W = base.regressor(own.q, own.dq, own.ddq, own.slip)
    same(W @ base.nominal, own.tau, 1e-11)
    M = model.inertia_matrix(own.q, model.nominal)
    kinetic = 0.5 * np.einsum("si,sij,sj->s", own.dq, M, own.dq)
    still = np.zeros_like(own.q)
    rigid = np.where([each.kind.is_inertial for each in model.parameters], model.nominal, 0.0)
    weight = model.inverse_dynamics(own.q, still, still, rigid, np.zeros((t.size, 2)))
    friction = np.einsum("sij,j->si", model.regressor(own.q, own.dq, still, own.slip),
                         model.nominal - rigid)  # fmt: skip
    power = np.sum((own.tau - weight - friction) * own.dq, axis=1)
    if loop == "continuous":
        gained = np.concatenate([[0], np.cumsum(0.5 * np.diff(t) * (power[1:] + power[:-1]))])
        assert np.abs(kinetic - kinetic[0] - gained).max() < 1e-3 * kinetic.max()


def test_a_controller_whose_own_model_has_ties(tmp_path):
    """Computed torque: with the right model the error decays; the model may have more joints than
    the robot that it drives.
    """
    model, _, reference = hand(tmp_path, [])
    loop = didim.ComputedTorque(natural_frequency=20.0, model=model, parameters=model.nominal)
    t = np.arange(0, 0.5, 0.005)
    run = didim.simulate(model, model.nominal, loop, t=t, q_ref=reference)
    assert np.abs(run.q - reference.sample(t)[0]).max() < 1e-6
    rigid = didim.DynamicModel(loaded(tmp_path, HAND, lock={"slide": 0.05, "tip": 0.1}), [])
    crossed = didim.simulate(rigid, rigid.nominal, loop, t=t, q_ref=reference)
    assert crossed.completed


@pytest.mark.parametrize("effects", [("viscous", "coulomb"), ("viscous", "coulomb", "stribeck")])
def test_sensitivities_against_central_differences(effects, tmp_path):
    model = didim.DynamicModel(loaded(tmp_path, HAND), effects)
    base = model.base
    beta = np.where(np.isnan(base.nominal), 0.3, base.nominal)
    reference = didim.Fourier.random(model.robot, 2, period=1.0, harmonics=3)
    loop, t = didim.PD(natural_frequency=20.0, rate=500.0), np.arange(0, 0.25, 0.01)
    inertia = didim.largest_inertias(base, beta)
    loop = replace(loop, inertia=inertia)
    found = didim.sensitivities(base, beta, loop, t=t, q_ref=reference)

    def run(values):
        return didim.simulate(base, values, loop, t=t, q_ref=reference, check=False)

    for k in range(0, beta.size, 2):
        step = np.zeros(beta.size)
        step[k] = 1e-5 * max(abs(beta[k]), 1e-3)
        up, down = run(beta + step), run(beta - step)
        for signal in ("q", "tau"):
            expected = (getattr(up, signal) - getattr(down, signal)) / (2 * step[k])
            scale = max(np.abs(expected).max(), 1e-9)
            error = np.abs(getattr(found, signal)[:, :, k] - expected).max()
            assert error < 2e-4 * scale, (found.names[k], signal)


METHODS = {
    "IDIM": (lambda _: didim.IDIM(), 0.03),
    "DIDIM": (lambda loop: didim.DIDIM(controller=loop), 1e-6),
    "output error": (lambda loop: didim.OutputError(controller=loop), 1e-6),
}


@pytest.mark.parametrize("method", METHODS)
def test_noise_free_identification_returns_the_truth(method, tmp_path):
    """From a robot that differs from the described one; the identified robot, written as URDF, has
    the same torques.
    """
    model = didim.DynamicModel(loaded(tmp_path, PLANAR))
    phi = physical_parameters(model, 0.1)
    reference = didim.Fourier.random(model.robot, 1, period=2.0, periods=2, harmonics=4)
    J = didim.largest_inertias(model, phi)
    loop = didim.PD(natural_frequency=20.0, inertia=J)
    record, _ = didim.virtual_experiment(model, phi, loop, reference, rate=500.0, noise=0.0, seed=1)
    settings, tolerance = METHODS[method]
    found = didim.identify(model, record, settings(loop))
    assert found.status == "converged"
    beta = model.base.matrix @ phi
    assert np.abs(found.parameters - beta).max() < tolerance * np.abs(beta).max()
    file = tmp_path / "identified.urdf"
    found.to_robot(file)
    again = didim.DynamicModel(didim.load_robot(file))
    assert again.robot.joints[2].mimic == model.robot.joints[2].mimic
    q, dq, ddq = states(model)
    same(
        again.inverse_dynamics(q, dq, ddq, again.nominal),
        found.model.inverse_dynamics(q, dq, ddq, found.parameters),
        1e-9,
    )


def test_exported_code(tmp_path):
    """Python and C compute the torques of the model, effects of followers included."""
    model = didim.DynamicModel(loaded(tmp_path, HAND), ["viscous", "coulomb", "rotor", "offset"])
    estimate = estimate_of(model)
    q, dq, ddq = states(model)
    expected = estimate.model.inverse_dynamics(q, dq, ddq, estimate.parameters)
    space: dict = {}
    exec(didim.inverse_dynamics_code(estimate), space)
    found = [space["inverse_dynamics"](*row) for row in zip(q, dq, ddq, strict=True)]
    same(np.array(found), expected)
    assert space["JOINTS"] == ["arm", "drive"]
    if shutil.which("cc") is None:
        return
    (tmp_path / "code.c").write_text(didim.inverse_dynamics_code(estimate, "c"))
    flags = ["-shared", "-fPIC", "-O1", "-o", tmp_path / "code.so", tmp_path / "code.c", "-lm"]
    subprocess.run(["cc", *flags], check=True)
    function = CDLL(str(tmp_path / "code.so")).hand_inverse_dynamics
    doubles = POINTER(c_double)
    function.argtypes = [doubles] * 5
    for k in range(q.shape[0]):
        out = np.zeros(2)
        arrays = [np.ascontiguousarray(x[k]) for x in (q, dq, ddq)]
        function(*(x.ctypes.data_as(doubles) for x in arrays), None, out.ctypes.data_as(doubles))
        same(out, expected[k])
