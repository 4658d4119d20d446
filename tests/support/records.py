"""Where measured records lie: the folder that `DIDIM_DATA` names, or else, as a convenience of the
test-suite, a folder shared/data beside the repository. Tests on records skip where they are absent.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_BESIDE = Path(__file__).parents[3] / "shared" / "data"
DATA = Path(os.environ.get("DIDIM_DATA") or _BESIDE)


def record(*parts: str) -> Path:
    """The path of a record, for tests of the readers; the test is skipped where it is absent."""
    path = DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(
            f"the record {'/'.join(parts)} is not here; set DIDIM_DATA to the folder that holds "
            "it, see docs/records.md"
        )
    return path
