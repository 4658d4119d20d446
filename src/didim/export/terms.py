"""Terms as statements: the torques of effects that are expressions, as `kernels/inverse.py` adds
them.

Expressions become statements of numbers, elements of arrays and earlier results: no name that
somebody chose gets into the code.
"""

from __future__ import annotations

from didim.dynamics.codegen.trace import Trace, Vector
from didim.dynamics.kernels.tree import Values
from didim.dynamics.terms import Term, TermTable
from didim.expressions.expression import substitute
from didim.expressions.nodes import Name, Number, ordered
from didim.jit.statements import Symbol


def add_terms(
    code: Trace, table: TermTable, values: Values, coulomb: list[Symbol], tau: Vector
) -> None:
    """Add the terms to tau (n,), which holds all other torques."""
    n = len(tau)
    smooth = [k for k, term in enumerate(table.terms) if term.contact < 0]
    own: Vector = [0.0] * n
    for k in smooth:
        torque = code.mul(float(values.term[k]), _term(code, table, k, 1.0, []))
        _add(code, table.terms[k], torque, tau)
        if not table.terms[k].conservative:
            _add(code, table.terms[k], torque, own)
    load = [_load(code, values, coulomb, tau[i], own[i], i) for i in range(n)]
    for k, term in enumerate(table.terms):
        if term.contact >= 0:
            slip = f"slip[{term.contact}]"
            ahead, back = (_term(code, table, k, side, load) for side in (1.0, -1.0))
            back = code.mul(-1.0, back)
            _add(code, term, code.mul(float(values.term[k]), sided(code, ahead, back, slip)), tau)


def _load(
    code: Trace, values: Values, coulomb: list[Symbol], tau: Symbol, own: Symbol, i: int
) -> Symbol:
    """The torque of joint i without its own friction and offset."""
    own = code.add(own, code.mul(float(values.viscous[i, i]), f"dq[{i}]"))
    own = code.add(code.add(own, one_sided(code, values, i)), float(values.offset[i]))
    for c, strength in enumerate(coulomb):
        if values.only[c] == i:
            own = code.add(own, code.mul(float(values.contact[c, i]), strength))
    return code.sub(tau, own)


def _term(code: Trace, table: TermTable, k: int, slip: float, load: Vector) -> Symbol:
    """The expression of term k at a slip of 1 or -1, with `load` (n,), or () if it needs none."""
    term = table.terms[k]
    weights: Vector = [float(weight) for weight in term.weights.values()]
    shapes = zip((shape.name for shape in table.shapes), table.values.tolist(), strict=True)
    known = substitute(term.expression, {"slip": slip, **dict(shapes)})
    inputs: dict[str, Symbol] = {
        "q": code.dot(weights, [f"q[{j}]" for j in term.weights]),
        "dq": code.dot(weights, [f"dq[{j}]" for j in term.weights]),
        **{name: f"channels[{place}]" for place, name in enumerate(table.channels)},
    }
    if load:
        inputs["load"] = load[term.joint]
    done: dict[int, Symbol] = {}
    for node in ordered([known]):
        if isinstance(node, Number):
            done[id(node)] = node.value
        elif isinstance(node, Name):
            done[id(node)] = inputs[node.name]
        else:
            arguments = (done[id(each)] for each in node.arguments)
            done[id(node)] = code.apply(node.operator, *arguments)
    return done[id(known)]


def _add(code: Trace, term: Term, torque: Symbol, tau: Vector) -> None:
    for j, weight in term.weights.items():
        tau[j] = code.add(tau[j], code.mul(float(weight), torque))


def one_sided(code: Trace, values: Values, i: int) -> Symbol:
    """Viscous friction of joint i that differs between the directions of motion."""
    return code.add(
        code.mul(float(values.viscous_positive[i]), code.apply("max", f"dq[{i}]", 0.0)),
        code.mul(float(values.viscous_negative[i]), code.apply("min", f"dq[{i}]", 0.0)),
    )


def sided(code: Trace, ahead: Symbol, back: Symbol, signal: str) -> Symbol:
    """ahead max(signal, 0) + back min(signal, 0)."""
    if ahead == back:
        return code.mul(ahead, signal)
    return code.add(
        code.mul(ahead, code.apply("max", signal, 0.0)),
        code.mul(back, code.apply("min", signal, 0.0)),
    )
