"""Exported code of every effect against the model, in Python and in C."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest

import didim
from didim.robot.effects import family
from support.estimates import estimate_at, estimate_of, physical_parameters

OWN = {
    "belt": didim.Effect(
        "belt",
        "c * slip * exp(-abs(dq / v)) + h * a * warmth + b * sign(q) * tanh(q) * log(2 + q^2)",
        {"c": {}, "v": {"value": 0.2}, "h": {}, "b": {}},
        let={"a": "sin(q)^2 + table(q, [-1, 0, 1], [0.3, 0, 2])"},
        weights={1: 1.0, 2: -0.5},
        channels=("warmth",),
    ),
    "lambda": didim.Effect(  # words of Python and C may be symbols: none gets into the code
        "lambda",
        "double * slip * abs(load) + while * x0 * max(cos(q), import)",
        {"double": {}, "while": {}},
        {"import": 0.3},
        joint=2,
        channels=("x0",),
    ),
}
SETS = {
    **{
        name: [*({"viscous", "coulomb"} - {family(name)}), "offset", name]
        for name in didim.effects()
        if name not in ("offset", "asymmetric_coulomb")
    },
    "asymmetric_coulomb": ["viscous", "asymmetric_coulomb"],
    "all together": [
        *("viscous", "coulomb", "offset", "stribeck", "load_friction"),
        *("temperature", "spring", "gas_spring", "ripple", "back_emf"),
    ],
    "a shipped one of one joint": ["coulomb", didim.effects()["load_friction"].at(2)],
    "belt": ["viscous", "coulomb", OWN["belt"]],
    "lambda": ["viscous", "coulomb", OWN["lambda"]],
}


@pytest.fixture(scope="module")
def like():
    return estimate_of(didim.DynamicModel(didim.load_robot("scara")))


def estimate(effects, like):
    model = didim.DynamicModel(didim.load_robot("scara"), effects)
    return estimate_at(model, physical_parameters(model), like)


def motion(model, samples=12):
    rng = np.random.default_rng(5)
    q, dq, ddq = rng.uniform(-2, 2, (3, samples, model.robot.n))
    dq[0] = 0.0
    channels = rng.uniform(0.5, 40, (samples, len(model.channels)))
    return (q, dq, ddq), channels, rng.uniform(-1, 1, (samples, len(model.contacts)))


def assert_same(function, found):
    """The torques of `function(motion, channels, slip)`, with the slip and without."""
    model, (signals, channels, slip) = found.model, motion(found.model)
    logged = dict(zip(model.channels, channels.T, strict=True))
    for given in (None, slip):
        expected = model.inverse_dynamics(*signals, found.parameters, given, signals=logged)
        torque = [
            function([each[k] for each in signals], channels[k], None if given is None else slip[k])
            for k in range(len(channels))
        ]
        assert np.abs(torque - expected).max() <= 1e-12 * np.abs(expected).max()


@pytest.mark.parametrize("name", SETS)
def test_python(name, like):
    found = estimate(SETS[name], like)
    space: dict = {}
    exec(didim.inverse_dynamics_code(found), space)

    def torque(signals, channels, slip):
        more = [channels] if len(channels) else []
        return space["inverse_dynamics"](*signals, *more, *([] if slip is None else [slip]))

    assert_same(torque, found)
    assert space.get("CHANNELS", []) == list(found.model.channels)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler (cc) here")
def test_c(tmp_path, like):
    """All sets in one library."""
    found = {name: estimate(effects, like) for name, effects in SETS.items()}
    for k, each in enumerate(found.values()):
        code = didim.inverse_dynamics_code(each, "c")
        (tmp_path / f"{k}.c").write_text(code.replace("scara_inverse", f"scara{k}_inverse"))
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-shared", "-fPIC"]
    sources = sorted(tmp_path.glob("*.c"))
    subprocess.run(["cc", *flags, "-o", tmp_path / "all.so", *sources, "-lm"], check=True)
    library = ctypes.CDLL(str(tmp_path / "all.so"))
    for k, each in enumerate(found.values()):
        function, model = getattr(library, f"scara{k}_inverse_dynamics"), each.model

        def torque(signals, channels, slip, function=function, model=model):
            tau = np.zeros(model.robot.n)
            more = ([channels] if model.channels else []) + ([slip] if model.contacts else [])
            arrays = [
                None if x is None else np.ascontiguousarray(x) for x in (*signals, *more, tau)
            ]
            arrays[-1] = tau
            function(*(None if x is None else x.ctypes.data_as(ctypes.c_void_p) for x in arrays))
            return tau

        assert_same(torque, each)


def test_no_symbol_gets_into_the_code(like):
    """Beside the comments and the list of channels, there are numbers, arrays and functions."""
    known = r"if|is|else|return|None|_?[a-z]+\(|x\d*|slip|channels|d*q"
    code = didim.inverse_dynamics_code(estimate(SETS["lambda"], like))
    body = [
        line
        for line in code.splitlines()
        if not line.startswith(("#", "ROBOT", "JOINTS", "CHANNELS", "from", "def"))
    ]
    words = re.findall(r"[A-Za-z_]\w*\(?", re.sub(r"\b[\d.]+e-?\d+", "", "\n".join(body)))
    assert not [word for word in words if not re.fullmatch(known, word)]
    assert "CHANNELS = ['x0']" in code


def test_shared_parts_are_computed_once(like):
    """Abbreviations of abbreviations: 2^40 operations as text, 40 as statements."""
    chain = {"a0": "sin(q)"} | {f"a{k + 1}": f"a{k} + a{k}^2 / (1 + a{k}^2)" for k in range(40)}
    effect = didim.Effect("chain", "k * a40", {"k": {}}, let=chain, joint=1)
    assert len(didim.inverse_dynamics_code(estimate(["viscous", effect], like))) < 20_000
