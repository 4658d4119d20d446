"""Which products are computed together with the sum that they go into, a b + c with one rounding:
in kernels those that are written so, in statements by a rule.

It is written here and not left to the compiler: the same statements give the same numbers whatever
it optimises.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from didim.jit.deferred import intrinsic
from didim.jit.statements import Statement, Symbol

multiply_add: Callable[[float, float, float], float] = intrinsic("intrinsics", "multiply_add")
"""a b + c in a kernel: with one rounding where the processor does it as one operation."""


def multiply_adds(
    statements: Sequence[Statement], results: Iterable[Symbol]
) -> dict[str, Statement]:
    """By the name of a sum or difference, the product that is computed with it: one that nothing
    else uses, nor is among the results. Of two, it is the right one.
    """
    uses = Counter(results)
    for each in statements:
        uses.update(symbol for symbol in (each.left, each.right) if isinstance(symbol, str))
    products = {each.name: each for each in statements if each.operator == "*"}
    found = {}
    for each in statements:
        if each.operator not in ("+", "-") or each.left is None:
            continue
        for symbol in (each.right, each.left):
            if isinstance(symbol, str) and symbol in products and uses[symbol] == 1:
                found[each.name] = products[symbol]
                break
    return found
