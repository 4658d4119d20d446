"""Names from files of others cannot become code: exports of hostile names are compiled and run in a
child process that may open, import and start nothing.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

import didim
from support.estimates import estimate_of

KNOWN = [
    "coding:unicode_escape \\nopen('PWNED','w')#",
    "vim: set fileencoding=utf-7 : +AApvcGVuKCdQV05FRCcsJ3cnKQ-",
    "a\nopen('PWNED', 'w')",
    "a\r\x0b\x0c\x1c\x85\u2028open('PWNED', 'w')",
    "*/ int PWNED; /*",
    "*\\\n/ int PWNED; /*",
    "*??/\n/ int PWNED; /*",
    '"""\'\'\'])\nopen("PWNED", "w")',
    "\ud800\u202e\x00\\",
    "",
    "0",
    "x" * 100_000,
]
FRAGMENTS = [
    *KNOWN[:9],
    "\\u000a",
    "\\x0a",
    "\\",
    "*",
    "/",
    "?",
    "#",
    "'",
    '"',
    "\n",
    "coding=",
    "é",
]

CHILD = """
import json, math, sys, os
ALLOWED = ("compile", "exec", "import math")
seen = []

def refuse(event, arguments):
    name = f"import {arguments[0]}" if event == "import" else event
    if armed and name not in ALLOWED and not name.startswith(("object.", "code.")):
        seen.append(name)
        raise RuntimeError(name)

armed = False
sys.addaudithook(refuse)
files = [(file, open(file, "rb").read()) for file in sorted(os.listdir("."))]
found = []
for file, content in files:
    space = {}
    armed = True
    exec(compile(content, file, "exec"), space)
    tau = space["inverse_dynamics"]([0.3, 0.4], [0.5, 0.6], [0.7, 0.8])
    armed = False
    names = sorted(name for name in space if not name.startswith("__"))
    found.append([space["ROBOT"], space["JOINTS"], tau, names])
print(json.dumps([found, seen]))
"""


def hostile():
    """Known tricks, and random mixtures of them."""
    draw = random.Random(4)
    mixed = ["".join(draw.choices(FRAGMENTS, k=draw.randint(1, 6))) for _ in range(60)]
    return [*KNOWN, *mixed]


def exports(language):
    """For each hostile name an estimate with it wherever it is allowed, and its export as bytes."""
    estimate = estimate_of(didim.DynamicModel(didim.load_robot("scara")))
    for name in hostile():
        robot, model = estimate.model.robot, estimate.model
        if name.isprintable() and name.strip():
            joints = tuple(
                replace(joint, name=f"{name}{j}") for j, joint in enumerate(robot.joints)
            )
            model = didim.DynamicModel(replace(robot, name=name, joints=joints)).base
        changed = replace(estimate, model=model, method=name, status=name)
        yield model.robot, didim.inverse_dynamics_code(changed, language).encode()


@pytest.mark.slow
def test_python_of_hostile_names_is_data(tmp_path):
    robots = []
    for k, (robot, code) in enumerate(exports("python")):
        (tmp_path / f"{k:03d}.py").write_bytes(code)
        robots.append(robot)
    before = sorted(tmp_path.iterdir())
    command = [sys.executable, "-I", "-S", "-c", CHILD]
    result = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    )
    found, seen = json.loads(result.stdout)
    assert seen == []
    assert sorted(tmp_path.iterdir()) == before
    assert [name for name, _, _, _ in found] == [robot.name for robot in robots]
    assert [names for _, names, _, _ in found] == [list(robot.joint_names) for robot in robots]
    assert all(tau == found[0][2] for _, _, tau, _ in found)
    assert {tuple(names) for _, _, _, names in found} == {
        ("JOINTS", "ROBOT", "_sign", "cos", "inverse_dynamics", "sin")
    }


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler (cc) here")
def test_c_of_hostile_names_is_one_comment_and_one_function(tmp_path):
    """Only the comment and the name of the function differ, and the compiler agrees."""
    bodies = set()
    for k, (_, code) in enumerate(exports("c")):
        comment, body = code.decode().split("*/")
        assert comment.count("/*") == 1
        bodies.add(re.sub(r"void [A-Za-z]\w*_inverse_dynamics\(", "void f(", body, flags=re.ASCII))
        if k < len(KNOWN):
            (tmp_path / f"{k}.c").write_bytes(code)
    assert len(bodies) == 1
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]
    files = sorted(path.name for path in tmp_path.iterdir())
    subprocess.run(["cc", *flags, *files], cwd=tmp_path, check=True, timeout=60)
