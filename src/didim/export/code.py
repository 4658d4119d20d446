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

_BOUNDS = re.compile(r"\b(max|min)\(")

_MARKS = " _-.,()"
"""What a name keeps in a comment beside letters and digits: nothing that ends a comment, continues
a line or declares an encoding.
"""

_MAX_NAME = 60
"""Letters of a name in a comment or in the name of a function."""


def inverse_dynamics_code(estimate: Estimate, language: str = "python") -> str:
    """The text of a source file with one function, tau of q, dq, ddq and optionally slip; SI units,
    joint side.
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
    units = ["N" if joint.kind == "prismatic" else "N.m" for joint in robot.joints]
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
    if not estimate.consistency.physical:
        lines.append(torque_only(estimate))
    if estimate.status != "converged":
        lines.append("DO NOT USE as it is: the identification did not converge.")
    return lines


def _harmless(name: str) -> str:
    """A name as it may stand in a comment of Python or C."""
    kept = (letter if letter.isalnum() or letter in _MARKS else "_" for letter in str(name))
    return cut("".join(kept), _MAX_NAME)


def _python(estimate: Estimate, code: Statements) -> str:
    slips = [f"        {name} = {expression}" for name, expression in code.motion]
    signs = ", ".join(f"_sign({shown(velocity)})" for velocity in code.contact)
    needs = re.findall(r"\b(cos|sin)\(", " ".join(expression for _, expression in code.lines))
    return "\n".join(
        [
            "# -*- coding: utf-8 -*-",
            *(f"# {line}" for line in _head(estimate)),
            *([f"from math import {', '.join(sorted(set(needs)))}", ""] if needs else [""]),
            f"ROBOT = {estimate.model.robot.name!a}",
            f"JOINTS = {list(estimate.model.robot.joint_names)!a}",
            "",
            *(
                [
                    "",
                    "def _sign(x):",
                    "    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else 0.0)",
                    "",
                ]
                if code.contact
                else []
            ),
            "",
            f"def inverse_dynamics(q, dq, ddq{', slip=None' if code.contact else ''}):",
            *(
                ["    if slip is None:", *slips, f"        slip = ({signs},)"]
                if code.contact
                else []
            ),
            *(f"    {name} = {expression}" for name, expression in code.lines),
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
    lines = [(each, _BOUNDS.sub(r"f\1(", expression)) for each, expression in code.lines]
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
                if c
                else []
            ),
            f"{signature}{'const double *slip, ' if c else ''}double tau[{n}])",
            "{",
            "    (void)q, (void)dq, (void)ddq;",
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
