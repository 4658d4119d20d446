"""How long kernels take to compile, in a process and a cache of their own, and what a robot's own
code takes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time

import didim
from didim.dynamics.codegen.robot_code import robot_code

_WARM = "import json, didim.jit.compiled; print(json.dumps(didim.jit.compiled.warm()))"


def compile_seconds() -> dict[str, float]:
    """Seconds of every kernel, from an empty cache, and of the machine code of the shipped arms."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "DIDIM_CACHE_DIR": folder}
        run = subprocess.run(
            [sys.executable, "-c", _WARM],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    found = {name.rsplit(".", 1)[1]: seconds for name, seconds in json.loads(run.stdout).items()}
    for name in ("scara", "tx40", "panda"):
        tree = didim.DynamicModel(didim.load_robot(name), []).tree
        begin = time.perf_counter()
        robot_code(tree)
        found[f"machine code of the {name}"] = time.perf_counter() - begin
    return found
