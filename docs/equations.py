"""Writes the equation index from the docstrings: `make equations`.

A function says `Implements (15).`, a test says `Tests (15).`, in its docstring; ranges are
`(10)-(14)`. The index is `docs/equations.md`; README.md gets the rows that readers look for most.
The subject of each equation stands here, once.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
INDEX, README = ROOT / "docs" / "equations.md", ROOT / "README.md"

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
    39: "the term that DIDIM drops",
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

TEXTS = {
    16: "the assumption of white errors",
    26: "the position has no direct feedthrough",
    29: "the linearisation that (32) solves",
    31: "the definition of the error",
    40: "the assumption behind (41)",
    49: "(1) rewritten for one joint",
    50: "the definition of the perturbation",
    55: "a consequence of (52)-(54)",
    62: "a consequence of (61)",
}
"""Equations that no code computes: assumptions, definitions and consequences."""

FREQUENT = (34, 41, 44, 48, 51, 59, 61)
"""The equations that README.md lists."""

_HEAD = """# Equation index

Where each equation of the paper, (1) to (65), is implemented and tested. [Theory](theory.md) writes
them out. Equations marked *text* are assumptions, definitions or consequences that no code
computes; the functions beside them use the equation. The table is generated from the docstrings
(`make equations`), and the tests check that no equation is missing.

| equation | subject | function | test |
|---|---|---|---|
"""

_BEGIN, _END = "<!-- equations -->", "<!-- end of equations -->"


class Place(NamedTuple):
    """A function, class or module that cites an equation: its file and its lines."""

    file: str
    name: str
    first: int
    last: int

    def link(self, text: str, up: str) -> str:
        """A Markdown link to the definition; `up` leads to the root of the repository."""
        return f"[{text}]({up}{self.file}#L{self.first})"


def numbers(docstring: str | None, verb: str) -> list[int]:
    """The equations that a docstring says it implements or tests."""
    one = r"\(\d+\)(?:\s*-\s*\(\d+\))?"
    lists = re.findall(rf"\b{verb}\s+({one}(?:(?:,\s*|,?\s+and\s+){one})*)", docstring or "")
    spans = re.findall(r"\((\d+)\)(?:\s*-\s*\((\d+)\))?", " ".join(lists))
    return [n for first, last in spans for n in range(int(first), int(last or first) + 1)]


@cache
def cited(folder: Path, verb: str) -> dict[int, list[Place]]:
    """Equation number -> the places under a folder whose docstrings cite it."""
    found: dict[int, list[Place]] = defaultdict(list)
    for file in sorted(folder.rglob("*.py")):
        source = file.read_text(encoding="utf-8")
        name = file.relative_to(ROOT).as_posix()
        for qualified, node in _documented(ast.parse(source)):
            place = Place(
                name,
                qualified,
                getattr(node, "lineno", 1),
                getattr(node, "end_lineno", None) or len(source.splitlines()),
            )
            for n in numbers(ast.get_docstring(node), verb):
                if place not in found[n]:
                    found[n].append(place)
    return found


_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def _documented(node: ast.AST, qualified: str = "") -> Iterator[tuple[str, _Documented]]:
    if isinstance(node, ast.Module):
        yield "", node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{qualified}{child.name}", child
            yield from _documented(child, f"{qualified}{child.name}.")
        else:
            yield from _documented(child, qualified)


def index() -> dict[int, tuple[list[Place], list[Place]]]:
    """Equation number -> functions and tests."""
    functions, tests = cited(ROOT / "src" / "didim", "Implements"), cited(ROOT / "tests", "Tests")
    return {n: (functions.get(n, []), tests.get(n, [])) for n in TITLES}


def _function(place: Place, up: str) -> str:
    file = place.file.removeprefix("src/didim/")
    return f"{file} {place.link(f'`{place.name}`', up)}" if place.name else place.link(file, up)


def _test(place: Place) -> str:
    file = place.file.removeprefix("tests/").removesuffix(".py")
    words = place.name.rpartition(".")[2].removeprefix("test_").replace("_", " ")
    return f"{file}: {place.link(words, '../')}" if words else place.link(file, "../")


def _functions(n: int, places: list[Place], up: str) -> str:
    links = ", ".join(_function(place, up) for place in places)
    return "; ".join(filter(None, (f"text: {TEXTS[n]}" if n in TEXTS else "", links)))


def page() -> str:
    """The index as Markdown."""
    rows = (
        f"| ({n}) | {TITLES[n]} | {_functions(n, functions, '../')} | "
        f"{', '.join(map(_test, tests))} |"
        for n, (functions, tests) in index().items()
    )
    return _HEAD + "\n".join(rows) + "\n"


def readme(text: str) -> str:
    """README.md with its table of frequent equations written anew."""
    found = index()
    rows = "\n".join(
        f"| ({n}) | {TITLES[n]} | {_functions(n, found[n][0], '')} |" for n in FREQUENT
    )
    before, _, rest = text.partition(_BEGIN)
    table = f"{_BEGIN}\n| equation | subject | function |\n|---|---|---|\n{rows}\n{_END}"
    return f"{before}{table}{rest.partition(_END)[2]}"


def without_lines(text: str) -> str:
    """A page without the line numbers of its links, which change with every edit above them."""
    return re.sub(r"#L\d+", "", text)


if __name__ == "__main__":
    INDEX.write_text(page(), encoding="utf-8")
    README.write_text(readme(README.read_text(encoding="utf-8")), encoding="utf-8")
