"""A process that forks while another of its threads loads or compiles a kernel."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
import os, threading, time
from didim.jit import compiled, processor

def load():
    with compiled._lock, processor._lock:
        held.set()
        time.sleep(0.3)

held = threading.Event()
threading.Thread(target=load).start()
held.wait()
child = os.fork()
if child == 0:
    free = compiled._lock.acquire(timeout=5) and processor._lock.acquire(timeout=5)
    os._exit(0 if free else 1)
print(os.waitpid(child, 0)[1])
"""


COMPILES = """
import os, threading, time
from numba.core import ccallback
from numba.core.compiler_lock import global_compiler_lock
import didim
from didim.jit import processor

def law(t, n, q_ref, dq_ref, ddq_ref, q, dq, memory, v):
    v[0] = 1.0

def compiling(*_):
    with global_compiler_lock:
        held.set()
        time.sleep(0.3)
    raise TypeError("enough")

held = threading.Event()
ccallback.CFunc.compile = compiling
def load():
    try:
        didim.control_law(law)
    except didim.InputError:
        pass
threading.Thread(target=load).start()
held.wait()
child = os.fork()
if child == 0:
    os._exit(0 if global_compiler_lock._lock.acquire(timeout=5) else 1)
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.slow
def test_a_child_can_compile_where_a_law_was_being_compiled():
    command = [sys.executable, "-W", "ignore", "-c", COMPILES]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert found.stdout == "0\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_can_load_kernels():
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert found.stdout == "0\n"
