"""Where measured records lie: `$DIDIM_DATA`, else ../shared/data beside the checkout; tests on them
skip where absent.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("DIDIM_DATA") or Path(__file__).parents[3] / "shared" / "data")


def record(*parts: str) -> Path:
    path = DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(
            f"the record {'/'.join(parts)} is not here; set DIDIM_DATA to the folder that holds it"
        )
    return path
