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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_can_load_kernels():
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert found.stdout == "0\n"
