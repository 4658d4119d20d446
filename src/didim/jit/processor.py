"""The processor, as LLVM knows it, and machine code for it: loaded from the bytes of an object
file, by the part of LLVM that needs no compiler.
"""

from __future__ import annotations

import platform
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any

import llvmlite.binding as llvm

from didim.threads import kept_by_forks

_lock = threading.RLock()
kept_by_forks(_lock)


@contextmanager
def one_compiler() -> Iterator[None]:
    """LLVM has one state for all threads: those that load or compile wait for each other, and for
    Numba, where it is loaded.
    """
    with _lock:
        numba = sys.modules.get("numba.core.compiler_lock")  # which another thread may have loaded
        with getattr(numba, "global_compiler_lock", nullcontext()):
            yield


@cache
def triple() -> str:
    """Processor, maker and system that machine code is for, such as "x86_64-unknown-linux-gnu"."""
    return str(llvm.get_process_triple())


@cache
def name() -> str:
    """Of the processor."""
    return str(llvm.get_host_cpu_name())


@cache
def features() -> str:
    """What it can do, such as "+avx2,+fma"."""
    try:
        return str(llvm.get_host_cpu_features().flatten())
    except RuntimeError:  # LLVM cannot tell
        return ""


@cache
def has_multiply_add() -> bool:
    """Whether it does a b + c as one operation; others would call a slow function."""
    return "+fma" in features().split(",") or platform.machine().lower() in ("arm64", "aarch64")


def engine(module: Any) -> Any:
    """LLVM's engine for a module, in `one_compiler`."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    machine = target.create_target_machine(cpu=name(), features=features(), opt=2)
    return llvm.create_mcjit_compiler(module, machine)


class LoadedCode:
    """A function of an object file in memory; its `address` is valid as long as this object
    lives.
    """

    def __init__(self, code: bytes, symbol: str) -> None:
        with one_compiler():
            self._engine = engine(llvm.parse_assembly(""))
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            self._engine.finalize_object()
            self.address = int(self._engine.get_function_address(symbol))
        if self.address == 0:
            raise RuntimeError(f"The machine code has no function {symbol}.")
