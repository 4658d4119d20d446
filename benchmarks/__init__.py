"""Benchmarks beside peers, run by `make bench`: ratios within one process, since times do not carry
between machines. The virtual robots that benchmarks and tests share are in `tests/support`.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))
