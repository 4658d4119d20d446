"""The exported function against the model: Python by running it, C by compiling it."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

import didim
from support.estimates import estimate_of
from support.random_urdf import random_urdf

CASES = [
    ("scara", None),
    ("scara", ["rotor", "asymmetric_viscous", "asymmetric_coulomb"]),
    ("emps", None),
    ("tx40", None),
    ("panda", []),
]


def models(tmp_path):
    for name, effects in CASES:
        yield didim.DynamicModel(didim.load_robot(name), effects)
    for seed in (1, 4, 6):
        (tmp_path / f"{seed}.urdf").write_text(random_urdf(seed, 6))
        yield didim.DynamicModel(didim.load_robot(tmp_path / f"{seed}.urdf"))


def signals(model, samples=30):
    rng = np.random.default_rng(5)
    q, dq, ddq = rng.uniform(-2, 2, (3, samples, model.robot.n))
    dq[0] = 0.0
    return q, dq, ddq, rng.uniform(-1, 1, (samples, len(model.contacts)))


def close(found, expected):
    return np.abs(found - expected).max() <= 1e-11 * np.abs(expected).max()


@pytest.mark.slow
def test_python(tmp_path):
    for model in models(tmp_path):
        estimate = estimate_of(model)
        space: dict = {}
        exec(didim.inverse_dynamics_code(estimate), space)
        q, dq, ddq, slip = signals(model)
        found = [space["inverse_dynamics"](*row) for row in zip(q, dq, ddq, strict=True)]
        assert close(found, estimate.model.inverse_dynamics(q, dq, ddq, estimate.parameters))
        assert space["JOINTS"] == list(model.robot.joint_names)
        if model.contacts:
            found = [space["inverse_dynamics"](*row) for row in zip(q, dq, ddq, slip, strict=True)]
            assert close(
                found, estimate.model.inverse_dynamics(q, dq, ddq, estimate.parameters, slip)
            )


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler (cc) here")
def test_c(tmp_path):
    for k, model in enumerate(models(tmp_path)):
        estimate = estimate_of(model)
        (tmp_path / "code.c").write_text(didim.inverse_dynamics_code(estimate, "c"))
        library = tmp_path / f"code{k}.so"
        flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-shared", "-fPIC"]
        subprocess.run(["cc", *flags, "-o", library, tmp_path / "code.c", "-lm"], check=True)
        function = getattr(ctypes.CDLL(str(library)), f"{model.robot.name}_inverse_dynamics")
        q, dq, ddq, slip = signals(model)

        def torque(*arrays, function=function, n=model.robot.n):
            tau = np.zeros(n)
            function(
                *(None if x is None else x.ctypes.data_as(ctypes.c_void_p) for x in (*arrays, tau))
            )
            return tau

        null = [None] if model.contacts else []
        found = [torque(*row, *null) for row in zip(q, dq, ddq, strict=True)]
        assert close(found, estimate.model.inverse_dynamics(q, dq, ddq, estimate.parameters))
        if model.contacts:
            found = [torque(*row) for row in zip(q, dq, ddq, slip, strict=True)]
            assert close(
                found, estimate.model.inverse_dynamics(q, dq, ddq, estimate.parameters, slip)
            )


def test_code_needs_nothing_and_is_small():
    text = didim.inverse_dynamics_code(estimate_of(didim.DynamicModel(didim.load_robot("tx40"))))
    assert [line for line in text.splitlines() if "import" in line] == ["from math import cos, sin"]
    assert text.count(" * ") < 700


def test_names_cannot_break_out_and_doubt_is_told():
    robot = replace(didim.load_robot("scara"), name='*/ int x; /* """')
    estimate = replace(estimate_of(didim.DynamicModel(robot)), status="stopped")
    code = didim.inverse_dynamics_code(estimate, "c")
    assert code.count("*/") == 1
    assert "DO NOT USE" in code
    exec(didim.inverse_dynamics_code(estimate), {})


def test_refusals():
    estimate = estimate_of(didim.DynamicModel(didim.load_robot("scara")))
    with pytest.raises(didim.InputError, match="did you mean 'python'"):
        didim.inverse_dynamics_code(estimate, "pyton")
    with pytest.raises(didim.InputError, match="nothing to export"):
        didim.inverse_dynamics_code(replace(estimate, values=estimate.values * np.nan))
