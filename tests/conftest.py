"""One thread for linear algebra in each worker: small matrices wait for each other otherwise, and
tests take twice as long. Identifications end without tests for a lack of fit, which take as long
again, but in the folders that are about them and in tests marked `lack_of_fit`.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

for library in ("OPENBLAS", "MKL", "OMP"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import pytest  # noqa: E402

from didim.results.lack_of_fit import LackOfFit  # noqa: E402

ABOUT_LACK_OF_FIT = ("structure", "improvement")
"""Folders of tests whose identifications are tested for a lack of fit."""


@pytest.fixture(autouse=True)
def quiet_lack_of_fit(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests for a lack of fit that name nothing, where a test is about something else."""
    folder = Path(request.node.path).parent.name
    if folder in ABOUT_LACK_OF_FIT or request.node.get_closest_marker("lack_of_fit"):
        return
    module = import_module("didim.identification.identify")
    monkeypatch.setattr(module, "lack_of_fit", lambda *_: LackOfFit())
