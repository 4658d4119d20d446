"""`inverse_dynamics_code`: a file of Python or C that computes the identified torques and needs
nothing else.

It is meant for computed torque control and for checks in other programs. Coulomb friction takes the
sign of the velocity that it is given, unless the caller hands in the slip, as
`DynamicModel.inverse_dynamics` does: with a measured velocity around zero a sign chatters.

Names come from files of others. In a comment they are letters, digits and a few marks, in Python's
data ASCII literals; a file of Python starts with its own encoding line, so that no comment below
can be taken for one.
"""

from __future__ import annotations

import re
from importlib import metadata

import numpy as np

from didim.errors import InputError, cut, nearest
from didim.export.newton_euler import Statements, inverse_dynamics_statements
from didim.jit.statements import shown
from didim.results.estimate import Estimate

LANGUAGES = ("python", "c")

_CALL = re.compile(r"\b([a-z]+)\(")
"""A function of a statement."""

_PYTHON = {"abs": "fabs", "sign": "_sign"}
_C = {"abs": "fabs", "max": "fmax", "min": "fmin"}
"""How each language calls functions whose names differ from those of expressions."""

_BUILT_IN = frozenset({"max", "min", "_sign"})
"""Functions that the exported Python does not import."""

_MARKS = " _-.,()"
"""What a name keeps in a comment beside letters and digits: nothing that ends a comment, continues
a line or declares an encoding.
"""

_MAX_NAME = 60
"""Letters of a name in a comment or in the name of a function."""


def inverse_dynamics_code(estimate: Estimate, language: str = "python") -> str:
    """The text of a source file with one function, tau of q, dq, ddq, the logged channels that
    effects need, and optionally slip; SI units, joint side.
    """
    if language not in LANGUAGES:
        raise InputError(f"Unknown language {language!r}; {nearest(str(language), LANGUAGES)}")
    parameters = estimate.parameters
    if not np.isfinite(parameters).all():
        raise InputError(
            f"The estimate holds no finite parameters (status {estimate.status!r}); there is "
            "nothing to export."
        )
    statements = inverse_dynamics_statements(estimate.model, parameters)
    return _python(estimate, statements) if language == "python" else _c(estimate, statements)


def torque_only(estimate: Estimate) -> str:
    """What code of parameters that are not physical is good for."""
    return (
        "These parameters are of no physical robot: the torque of motions like the recorded ones "
        "is right, but do not simulate with them or take M(q) from them "
        f"({estimate.consistency.reason})."
    )


def _head(estimate: Estimate) -> list[str]:
    """What the file is, line by line."""
    robot = estimate.model.robot
    units = ["N" if joint.kind == "prismatic" else "N.m" for joint in robot.coordinates]
    joints = [
        f"{_harmless(name)} ({unit})" for name, unit in zip(robot.joint_names, units, strict=True)
    ]
    lines = [
        f"Inverse dynamics of {_harmless(robot.name)}, identified by {_harmless(estimate.method)}; "
        f"written by didim {metadata.version('didim')}.",
        f"Status of the identification: {_harmless(estimate.status)}; residual "
        f"{100 * float(estimate.residual):.3g} %.",
        "tau = M(q) ddq + N(q, dq), joint side: q in rad or m, dq, ddq per s and s^2; tau in N.m "
        "or N.",
        f"Joints: {', '.join(joints)}.",
    ]
    if estimate.model.contacts:
        contacts = ", ".join(map(_harmless, estimate.model.contacts))
        lines += [
            f"Coulomb contacts: {contacts}. slip is the Coulomb torque of each over its limit,",
            "from -1 to 1; where it is not given, the sign of the contact's velocity, which "
            "chatters around a measured zero.",
        ]
    if estimate.model.channels:
        channels = ", ".join(map(_harmless, estimate.model.channels))
        lines.append(
            f"channels are the logged signals that effects need, in this order: {channels}."
        )
    if not estimate.consistency.physical:
        lines.append(torque_only(estimate))
    if estimate.status != "converged":
        lines.append("DO NOT USE as it is: the identification did not converge.")
    return lines


def _harmless(name: str) -> str:
    """A name as it may stand in a comment of Python or C."""
    kept = (letter if letter.isalnum() or letter in _MARKS else "_" for letter in str(name))
    return cut("".join(kept), _MAX_NAME)


def _called(lines: list[tuple[str, str]], names: dict[str, str]) -> list[tuple[str, str]]:
    """The statements with the functions of a language."""
    return [
        (name, _CALL.sub(lambda found: f"{names.get(found[1], found[1])}(", expression))
        for name, expression in lines
    ]


def _functions(lines: list[tuple[str, str]]) -> set[str]:
    """The functions that statements call."""
    return {found for _, expression in lines for found in _CALL.findall(expression)}


def _python(estimate: Estimate, code: Statements) -> str:
    model = estimate.model
    lines, motion = _called(code.lines, _PYTHON), _called(code.motion, _PYTHON)
    slips = [f"        {name} = {expression}" for name, expression in motion]
    signs = ", ".join(f"_sign({shown(velocity)})" for velocity in code.contact)
    used = {_PYTHON.get(each, each) for each in _functions(code.lines)}
    needs = sorted(used - _BUILT_IN)
    return "\n".join(
        [
            "# -*- coding: utf-8 -*-",
            *(f"# {line}" for line in _head(estimate)),
            *([f"from math import {', '.join(needs)}", ""] if needs else [""]),
            f"ROBOT = {model.robot.name!a}",
            f"JOINTS = {list(model.robot.joint_names)!a}",
            *([f"CHANNELS = {list(model.channels)!a}"] if model.channels else []),
            "",
            *(
                [
                    "",
                    "def _sign(x):",
                    "    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else 0.0)",
                    "",
                ]
                if code.contact or "_sign" in used
                else []
            ),
            "",
            f"def inverse_dynamics(q, dq, ddq{', channels' if model.channels else ''}"
            f"{', slip=None' if code.contact else ''}):",
            *(
                ["    if slip is None:", *slips, f"        slip = ({signs},)"]
                if code.contact
                else []
            ),
            *(f"    {name} = {expression}" for name, expression in lines),
            f"    return [{', '.join(shown(torque) for torque in code.tau)}]",
            "",
        ]
    )


def _c(estimate: Estimate, code: Statements) -> str:
    n, c = len(code.tau), len(code.contact)
    name = re.sub(r"\W", "_", estimate.model.robot.name[:_MAX_NAME], flags=re.ASCII)
    name = name if name[:1].isalpha() else f"robot_{name}"
    slips = [
        *(f"        const double {each} = {expression};" for each, expression in code.motion),
        *(
            f"        own[{k}] = sign({shown(velocity)});"
            for k, velocity in enumerate(code.contact)
        ),
    ]
    lines, k = _called(code.lines, _C), len(estimate.model.channels)
    signature = (
        f"void {name}_inverse_dynamics(const double q[{n}], const double dq[{n}], const double "
        f"ddq[{n}], "
    )
    return "\n".join(
        [
            "/*",
            *(f" * {line}" for line in _head(estimate)),
            *([" * Pass NULL for slip to have it computed."] if c else []),
            " */",
            "#include <math.h>",
            "#include <stddef.h>",
            "",
            *(
                ["static double sign(double x) { return (double)((x > 0.0) - (x < 0.0)); }", ""]
                if c or "sign" in _functions(code.lines)
                else []
            ),
            f"{signature}{f'const double channels[{k}], ' if k else ''}"
            f"{'const double *slip, ' if c else ''}double tau[{n}])",
            "{",
            f"    (void)q, (void)dq, (void)ddq{', (void)channels' if k else ''};",
            *(
                [
                    f"    double own[{c}];",
                    "    if (slip == NULL) {",
                    *slips,
                    "        slip = own;",
                    "    }",
                ]
                if c
                else []
            ),
            *(f"    const double {each} = {expression};" for each, expression in lines),
            *(f"    tau[{j}] = {shown(torque)};" for j, torque in enumerate(code.tau)),
            "}",
            "",
        ]
    )
