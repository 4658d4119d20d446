"""Writes the equation index, `docs/equations.md`, from the docstrings: `make equations`.

A function says `Implements (15).`, a test says `Tests (15).`, in its docstring; ranges are
`(10)-(14)`. What an equation says is told here, once.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]

TITLES = {
    1: "inverse dynamics, τ = M(q) q̈ + N(q, q̇)",
    2: "linear in the standard parameters",
    3: "the standard parameters, their names and order",
    4: "minimal model",
    5: "its basis functions",
    6: "base parameters",
    7: "the identification model, τ = IDM χ + e",
    8: "torque from the control signal, τ = g v",
    9: "drive gains, g = Kr Kc Kτ",
    10: "equations at the measurement rate",
    11: "Y, joint by joint",
    12: "W, joint by joint",
    13: "after parallel decimation",
    14: "the equations of each joint together",
    15: "ordinary least squares",
    16: "covariance of the errors",
    17: "standard deviation of the errors",
    18: "covariance of the parameters",
    19: "relative standard deviation",
    20: "the equations of one joint, for its weight",
    21: "direct dynamics",
    22: "state equation of the simulated robot",
    23: "its right-hand side",
    24: "output equation",
    25: "position as output",
    26: "direct feedthrough",
    27: "the quadratic criterion",
    28: "vectors of positions, joint by joint",
    29: "first-order expansion of the simulated output",
    30: "sensitivities of the simulated output",
    31: "output and error at the next parameters",
    32: "the linear equations of a step",
    33: "the same, filtered and sampled",
    34: "stopping tests",
    35: "measured and simulated torques on the same rows",
    36: "the simulated torque is that of the inverse model",
    37: "Jacobian of the simulated torque",
    38: "its two terms",
    39: "the term that DIDIM leaves out",
    40: "simulated and actual motion are close",
    41: "the regressor on simulated states as Jacobian",
    42: "Gauss-Newton step",
    43: "τ = IDM χ on simulated states",
    44: "IDIM on simulated states",
    45: "its equations at the measurement rate",
    46: "Y of the measured torque",
    47: "W of the simulated states",
    48: "decimated, solved for the next parameters",
    49: "one joint as a perturbed double integrator",
    50: "the perturbation",
    51: "J, the largest inertia of a joint",
    52: "the linearised joint",
    53: "the PD law",
    54: "τ = g v in the loop",
    55: "closed-loop transfer function",
    56: "natural frequency and damping",
    57: "gains from poles",
    58: "tuning with a priori J and g",
    59: "retuning of the simulated law",
    60: "what a wrong J or g does to the poles",
    61: "regular initialisation by rotors",
    62: "which makes M the identity",
    63: "regular initialisation by ZZ",
    64: "base parameters of the SCARA",
    65: "regressor of the SCARA",
}

_HEAD = """# Equation index

Where each equation of the paper, (1) to (65), is implemented and tested. [Theory](theory.md) writes
them out; this table is
generated from the docstrings (`make equations`), and the tests check that none is missing.

| equation | what | function | test |
|---|---|---|---|
"""


def numbers(docstring: str | None, verb: str) -> list[int]:
    """The equations that a docstring says it implements or tests."""
    found = re.search(rf"\b{verb} ((?:\(\d+\)(?:-\(\d+\))?(?:, )?)+)", docstring or "")
    if not found:
        return []
    spans = re.findall(r"\((\d+)\)(?:-\((\d+)\))?", found.group(1))
    return [n for first, last in spans for n in range(int(first), int(last or first) + 1)]


def cited(folder: Path, verb: str) -> dict[int, list[str]]:
    """Equation number -> dotted names of the functions under a folder whose docstrings cite it."""
    found: dict[int, list[str]] = defaultdict(list)
    for file in sorted(folder.rglob("*.py")):
        for name, docstring in _documented(ast.parse(file.read_text(encoding="utf-8"))):
            for n in numbers(docstring, verb):
                found[n].append(f"{file.relative_to(ROOT).as_posix()}::{name}")
    return found


def _documented(node: ast.AST, way: str = "") -> Iterator[tuple[str, str | None]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            yield f"{way}{child.name}", ast.get_docstring(child)
            yield from _documented(child, f"{way}{child.name}.")


def index() -> dict[int, tuple[list[str], list[str]]]:
    """Equation number -> functions and tests."""
    functions, tests = cited(ROOT / "src" / "didim", "Implements"), cited(ROOT / "tests", "Tests")
    return {n: (functions.get(n, []), tests.get(n, [])) for n in TITLES}


def _function(place: str) -> str:
    file, _, name = place.partition("::")
    return f"`{file.removeprefix('src/').removesuffix('.py').replace('/', '.')}.{name}`"


def _test(place: str) -> str:
    file, _, name = place.partition("::")
    return (
        f"`{file.removeprefix('tests/').removesuffix('.py')}` "
        f"{name.removeprefix('test_').replace('_', ' ')}"
    )


def page() -> str:
    """The index as Markdown."""
    rows = (
        f"| ({n}) | {TITLES[n]} | {', '.join(map(_function, functions))} | "
        f"{', '.join(map(_test, tests))} |"
        for n, (functions, tests) in index().items()
    )
    return _HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    (ROOT / "docs" / "equations.md").write_text(page(), encoding="utf-8")
