"""Random studies with random faults: the status is 0, 1 or 2, errors are one line, and there is
never a traceback.
"""

from __future__ import annotations

import copy
import io
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from didim.cli import main
from didim.study.schema import StudyFile
from support.studies import STUDY, toml, write_csv

SCALARS = st.one_of(
    st.sampled_from(
        [
            0,
            -1,
            1,
            4,
            10**6,
            0.0,
            -0.5,
            2.0,
            1e9,
            1e-9,
            True,
            False,
            "",
            "q",
            "tau*",
            "run.csv",
            "pd",
            "didim",
        ]
    ),
    st.sampled_from(
        [
            "unit",
            "nominal",
            "prior",
            "deg",
            "none",
            "robot",
            "validate",
            "scara",
            "panda",
            "${DIDIM_DATA}",
            "\\",
            "ä",
        ]
    ),
    st.integers(-5, 40),
    st.floats(allow_nan=False, allow_infinity=False),
)
VALUES = st.one_of(
    SCALARS,
    st.lists(SCALARS, max_size=3),
    st.dictionaries(st.sampled_from(["file", "t", "q", "kp", "law", "x"]), SCALARS, max_size=2),
)


def paths(node: Any, before: tuple = ()) -> list[tuple]:
    """Every place in plain data."""
    inner = list(
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    return [(*before, key) for key, _ in inner] + [
        path for key, each in inner for path in paths(each, (*before, key))
    ]


KEYS = sorted(
    {
        key
        for table in StudyFile.model_json_schema()["$defs"].values()
        for key in table.get("properties", {})
    }
)


@st.composite
def broken(draw: Any) -> dict[str, Any]:
    """The study with one to three faults: a value changed, a key removed, added or misspelt."""
    data = copy.deepcopy(STUDY)
    data["method"] = draw(st.sampled_from(["idim", "idim", "idim", "didim"]))
    data["didim"] = {"decimation": 4, "max_iterations": 1, "exact_interval": False}
    for _ in range(draw(st.integers(1, 3))):
        *way, last = draw(st.sampled_from(paths(data)))
        node: Any = data
        for part in way:
            node = node[part]
        fault = draw(st.sampled_from(["change", "remove", "add", "misspell"]))
        if fault == "change" or isinstance(node, list):
            node[last] = draw(VALUES)
        elif fault == "remove":
            del node[last]
        elif fault == "add":
            node[draw(st.sampled_from(KEYS))] = draw(VALUES)
        else:
            node[f"{last}e"] = node.pop(last)
    return data


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("faults")
    write_csv(made / "run.csv")
    return made


@pytest.mark.slow
@settings(
    max_examples=120,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    data=broken(), command=st.sampled_from(["identify", "identify", "check"]), as_json=st.booleans()
)
def test_never_a_traceback(folder, data, command, as_json):
    file = folder / "study.toml"
    file.write_text(toml(data), encoding="utf-8")
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main([command, str(file), *(["--json"] if as_json else [])])
    assert status in (0, 1, 2)
    assert "Traceback" not in out.getvalue() + err.getvalue()
    errors = [line for line in err.getvalue().splitlines() if "error" in line]
    assert "internal error" not in err.getvalue(), err.getvalue()
    if status == 2:
        assert out.getvalue() == ""
        assert len(errors) == 1
