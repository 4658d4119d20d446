"""A saved estimate that somebody changed is refused when it is loaded, or works: its summary,
report and exports do not fail on it.
"""

from __future__ import annotations

import copy
import json
import random
import warnings
from pathlib import Path

import pytest

import didim

STORED = Path(__file__).parent / "stored" / "scara_didim_0_1.json"
VALUES = [
    None,
    True,
    0,
    -1,
    1.5,
    1e308,
    10**400,
    2**63,
    "",
    "x",
    "\x00\n",
    [],
    [None],
    ["x"],
    [1, 2],
    {},
    {"a": 1},
    [[1.0]],
]


def paths(node, at=()):
    """Where values stand; of long lists the first entries."""
    if at:
        yield at
    if isinstance(node, dict):
        for key in node:
            yield from paths(node[key], (*at, key))
    elif isinstance(node, list):
        for k in range(min(len(node), 2)):
            yield from paths(node[k], (*at, k))


def changed(data, path, value):
    data = copy.deepcopy(data)
    node = data
    for part in path[:-1]:
        node = node[part]
    node[path[-1]] = value
    return data


def use(estimate, folder, report):
    estimate.summary()
    didim.inverse_dynamics_code(estimate)
    estimate.to_robot(folder / "arm.urdf", overwrite=True)
    estimate.save(folder / "again.json", overwrite=True)
    if report:
        estimate.report(folder / "report.html", overwrite=True)


@pytest.mark.slow
def test_a_changed_file_is_refused_or_works(tmp_path):
    written = didim.load_estimate(STORED).save(tmp_path / "a.json")
    data, draw = json.loads(written.read_text()), random.Random(6)
    places, loaded = [*paths(data)], 0
    for k in range(60):
        path, value = draw.choice(places), draw.choice(VALUES)
        written.write_text(json.dumps(changed(data, path, value)))
        try:
            estimate = didim.load_estimate(written)
        except didim.InputError:
            continue
        loaded += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                use(estimate, tmp_path, report=k % 20 == 0)
            except (didim.InputError, didim.InfeasibleError):
                pass
            except Exception as problem:
                pytest.fail(f"{path} = {value!r}: {problem!r}")
    assert 10 < loaded < 50


SEEN = {
    "gains of texts": (("gains", "kp1"), ["1.0", "x"]),
    "names of another model": (("names", 0), "ZZ9"),
    "effects of another model": (("model", "effects"), []),
    "a history of texts": (("history", 0, "residual"), "x"),
    "guards that are numbers": (("history", 1, "guards"), [1, 2]),
    "a validation without joints": (("validation", 0, "residual_by_joint"), []),
    "a joint that is not there": (("coloured",), [9]),
    "a limit of 400 digits": (("model", "robot", "joints", 0, "torque_limit"), 10**400),
    "versions in a list": (("provenance", "versions"), ["x"]),
}


@pytest.mark.parametrize("name", SEEN)
def test_changes_that_failed_later_are_refused(name, tmp_path):
    path, value = SEEN[name]
    written = didim.load_estimate(STORED).save(tmp_path / "a.json")
    written.write_text(json.dumps(changed(json.loads(written.read_text()), path, value)))
    with pytest.raises(didim.InputError, match="is damaged"):
        didim.load_estimate(written)
