"""`TreeMemory`: what the kernels write to while they walk a tree, for one thread."""

from __future__ import annotations

import threading

from didim.dynamics.kernels.tree import Tree, Work, allocate
from didim.dynamics.layout import Layout
from didim.dynamics.terms import TermsMemory
from didim.dynamics.tied import TiesMemory


class TreeMemory:
    """The terms and ties of a model, in memory of their own; a tree that was given to `on` is valid
    as long as this object lives.
    """

    def __init__(self, layout: Layout, with_terms: bool = True) -> None:
        width = len(layout.names) + len(layout.terms.free)
        self._terms = TermsMemory(layout.terms) if with_terms else None
        self._ties = TiesMemory(layout.tied, width)

    def on(self, tree: Tree) -> Tree:
        """The tree with these terms and ties."""
        terms = 0 if self._terms is None else self._terms.address
        return tree._replace(terms=terms, ties=self._ties.address)


class _Scratch(threading.local):
    """What a thread used last: to allocate it and to say where it is takes longer than the dynamics
    of one sample.
    """

    layout: Layout | None = None
    work: Work


_scratch = _Scratch()


def work_of_thread(layout: Layout) -> Work:
    """Scratch memory of this thread, for one call of a kernel."""
    if _scratch.layout is not layout:
        _scratch.layout, _scratch.work = layout, work_of(layout)
    return _scratch.work


def work_of(layout: Layout, joints: int = 0) -> Work:
    """Scratch memory for one thread, for trees of up to so many `joints`, or those of the model."""
    most = max(layout.link.shape[0], joints)
    return allocate(layout.n, len(layout.contacts), len(layout.terms.terms), most)
