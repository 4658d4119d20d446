"""One thread for linear algebra in each worker: small matrices wait for each other otherwise, and
tests take twice as long.
"""

from __future__ import annotations

import os

for library in ("OPENBLAS", "MKL", "OMP"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
