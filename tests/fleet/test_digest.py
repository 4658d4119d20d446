"""Keys of tasks: they change with all that a row depends on, and with nothing else."""

from __future__ import annotations

import functools
import itertools
import logging
import os
import subprocess
import sys
import threading
from dataclasses import replace
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import didim
from didim.fleet.digest import digest
from didim.fleet.store import RowStore
from didim.fleet.task import prepare
from support import many
from support.studies import write_study


def key_of(text: str, name: str = "record") -> str:
    """The digest of what a text of code defines under a name, in a module of the user."""
    module = sys.modules["own_code"] = ModuleType("own_code")
    try:
        exec(text, vars(module))
        return digest(vars(module)[name])
    finally:
        del sys.modules["own_code"]


CHANGES = {
    "global": ("x = {}\ndef record(seed): return x", "1", "2"),
    "global array": (
        "import numpy as np\nx = np.array([1.0, {}])\ndef record(seed): return x",
        "1",
        "2",
    ),
    "helper": ("def f(): return {}\ndef record(seed): return f()", "1", "2"),
    "helper of a helper": (
        "def g(): return {}\ndef f(): return g()\ndef record(seed): return f()",
        "1",
        "2",
    ),
    "in a lambda": ("x = {}\ndef record(seed): return (lambda: x)()", "1", "2"),
    "in a comprehension": ("x = {}\ndef record(seed): return [x for _ in 'ab']", "1", "2"),
    "in a class inside": (
        "x = {}\ndef record(seed):\n class A:\n  y = x\n return A",
        "1",
        "2",
    ),
    "in a lambda of another global": ("f = lambda: {}\ndef record(seed): return f()", "1", "2"),
    "variable around it": (
        "def around(x):\n def record(seed): return x\n return record\nrecord = around({})",
        "1",
        "2",
    ),
    "default": ("def record(seed, x={}): return x", "1", "2"),
    "keyword default": ("def record(seed, *, x={}): return x", "1", "2"),
    "attribute of a function": (
        "def record(seed): return record.x\nrecord.x = {}",
        "1",
        "2",
    ),
    "arguments": ("def record({}): return seed", "seed", "*seed"),
    "what is caught": (
        "def record(seed):\n try:\n  x = f(seed)\n{}\n return x",
        "  x = g(x)\n except ValueError: return 2",
        " except ValueError: return 2\n else:\n  x = g(x)",
    ),
    "class attribute": (
        "class A:\n x = {}\n def __call__(self, seed): return self.x\nrecord = A()",
        "1",
        "2",
    ),
    "method": (
        "class A:\n def f(self): return {}\n"
        " def __call__(self, seed): return self.f()\nrecord = A()",
        "1",
        "2",
    ),
    "method of a base class": (
        "class B:\n def f(self): return {}\nclass A(B):\n"
        " def __call__(self, seed): return self.f()\nrecord = A()",
        "1",
        "2",
    ),
    "static method": (
        "class A:\n @staticmethod\n def f(): return {}\ndef record(seed): return A.f()",
        "1",
        "2",
    ),
    "property": (
        "class A:\n @property\n def f(self): return {}\ndef record(seed): return A().f",
        "1",
        "2",
    ),
    "state": (
        "class A:\n def __init__(self, x): self.x = x\n"
        " def __call__(self, seed): return self.x\nrecord = A({})",
        "1",
        "2",
    ),
    "slots": (
        "class A:\n __slots__ = ('x',)\n def __init__(self, x): self.x = x\n"
        " def __call__(self, seed): return self.x\nrecord = A({})",
        "1",
        "2",
    ),
    "dataclass": (
        "from dataclasses import dataclass, field\n@dataclass\nclass A:\n x: int = {}\n"
        " def __call__(self, seed): return self.x\nrecord = A()",
        "1",
        "2",
    ),
    "method of a dataclass": (
        "from dataclasses import dataclass, field\n@dataclass\nclass A:\n x: int = 0\n"
        " def __call__(self, seed): return {}\nrecord = A()",
        "1",
        "2",
    ),
    "default factory": (
        "from dataclasses import dataclass, field\n@dataclass\nclass A:\n"
        " x: list = field(default_factory=lambda: {})\ndef record(seed): return A()",
        "[1]",
        "[2]",
    ),
    "default of a pydantic model": (
        "from pydantic import BaseModel\nclass A(BaseModel):\n x: int = {}\n"
        "def record(seed): return A().x",
        "1",
        "2",
    ),
    "enum": (
        "from enum import Enum\nclass A(Enum):\n X = {}\ndef record(seed): return A.X",
        "1",
        "2",
    ),
    "partial": (
        "from functools import partial\nx = {}\ndef f(y, seed): return x\nrecord = partial(f, 1)",
        "1",
        "2",
    ),
    "argument of a partial": (
        "from functools import partial\ndef f(y, seed): return y\nrecord = partial(f, {})",
        "1",
        "2",
    ),
    "bound method": (
        "x = {}\nclass A:\n def f(self, seed): return x\nrecord = A().f",
        "1",
        "2",
    ),
    "cached function": (
        "from functools import cache\nx = {}\n@cache\ndef record(seed): return x",
        "1",
        "2",
    ),
    "context manager": (
        "from contextlib import contextmanager\nx = {}\n@contextmanager\ndef f(): yield x\n"
        "def record(seed):\n with f() as found: return found",
        "1",
        "2",
    ),
    "compiled by Numba": (
        "import numba\nx = {}\n@numba.njit\ndef f(): return x\ndef record(seed): return f()",
        "1",
        "2",
    ),
    "order of a dictionary": ("x = {{{}}}\ndef record(seed): return x", "1: 1, 2: 2", "2: 2, 1: 1"),
    "subclass in a field of a pydantic model": (
        "from pydantic import BaseModel\nclass B(BaseModel):\n pass\nclass C(B):\n y: int\n"
        "class A(BaseModel):\n x: B\na = A(x=C(y={}))\ndef record(seed): return a.x.y",
        "1",
        "2",
    ),
    "private attribute of a pydantic model": (
        "from pydantic import BaseModel, PrivateAttr\nclass A(BaseModel):\n"
        " _x: int = PrivateAttr(default=0)\na = A()\na._x = {}\ndef record(seed): return a._x",
        "1",
        "2",
    ),
    "a cached property that was set": (
        "from functools import cached_property\nclass A:\n @cached_property\n"
        " def x(self): return 1\na = A()\na.x = {}\ndef record(seed): return a.x",
        "1",
        "2",
    ),
    "attribute of a number": (
        "class A(float): pass\na = A(1.0)\na.x = {}\ndef record(seed): return a.x",
        "1",
        "2",
    ),
    "array of long texts": (
        "import numpy as np\nx = np.array(['{}' * 99], np.dtypes.StringDType())\n"
        "def record(seed): return x",
        "a",
        "b",
    ),
    "objects in a structured array": (
        "import numpy as np\nx = np.array([(1, {})], dtype=[('a', int), ('b', object)])\n"
        "def record(seed): return x",
        "1",
        "2",
    ),
    "subclass of an array": (
        "import numpy as np\nclass A(np.ndarray):\n def __reduce__(self):\n"
        "  return (*super().__reduce__()[:2], self.x)\na = np.zeros(2).view(A)\na.x = {}\n"
        "def record(seed): return a.x",
        "1",
        "2",
    ),
    "random state": (
        "import numpy as np\nrng = np.random.default_rng({})\ndef record(seed): return rng",
        "1",
        "2",
    ),
    "data frame": (
        "import pandas\nx = pandas.DataFrame({{'a': [1, {}]}})\ndef record(seed): return x",
        "1",
        "2",
    ),
    "default dictionary": (
        "from collections import defaultdict\nx = defaultdict(lambda: {})\n"
        "def record(seed): return x[seed]",
        "1",
        "2",
    ),
    "what a cycle has": ("x = [{}]\nx.append(x)\ndef record(seed): return x", "1", "2"),
    "functions that call each other": (
        "def f(n): return g(n)\ndef g(n): return {} if n else f(n)\nrecord = f",
        "1",
        "2",
    ),
    "own law": (
        "import didim\nx = {}\ndef law(t, n, q_ref, dq_ref, ddq_ref, q, dq, memory, v):\n"
        " v[0] = x * q[0]\nrecord = didim.OwnLaw(law=didim.control_law(law), rate=500)",
        "1.0",
        "2.0",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_key_changes_with_what_the_function_depends_on(change):
    text, one, other = CHANGES[change]
    before = key_of(text.format(one))
    assert len(before) == 64
    assert key_of(text.format(one)) == before
    assert key_of(text.format(other)) != before


@pytest.mark.parametrize(
    ("text", "one", "other"),
    [
        ("unused = {}\ndef record(seed): return seed.unused", "1", "2"),
        ("def record(seed): return seed  # {}", "a", "another remark"),
        ("__file__ = '{}'\ndef record(seed): return __file__", "/here/a.py", "/there/a.py"),
        ("from functools import cache\n@cache\ndef record(seed): return seed\n{}", "", "record(1)"),
        ("import {}\ndef record(seed): return seed", "math", "random"),
        ("from random import gauss, random\ndef record(seed): return gauss\n{}", "", "random()"),
    ],
)
def test_the_key_stays_with_what_the_function_does_not_depend_on(text, one, other):
    assert key_of(text.format(one)) == key_of(text.format(other))


MANY_CONSTANTS = "".join(f" x = {number}.5\n" for number in range(300))
"""More than one byte can number."""

MODULE = "NOISE = {}\ndef helper(seed):\n    return NOISE\ndef other(seed):\n    return {}\n"


@pytest.mark.parametrize(
    "text",
    [
        "import own_module\ndef record(seed): return own_module.helper(seed)",
        "from own_module import helper\ndef record(seed): return helper(seed)",
        "def record(seed):\n import own_module\n return own_module.helper(seed)",
        "def record(seed):\n from own_module import helper\n return helper(seed)",
        f"def record(seed):\n{MANY_CONSTANTS} from own_module import helper\n return helper(seed)",
        "def around():\n import own_module\n def record(seed): return own_module.helper(seed)\n"
        " return record\nrecord = around()",
    ],
)
def test_what_is_taken_from_a_module_of_the_user_counts(tmp_path, monkeypatch, text):
    """Also where a function imports it."""
    monkeypatch.syspath_prepend(tmp_path)

    def key(*values):
        (tmp_path / "own_module.py").write_text(MODULE.format(*values))
        sys.modules.pop("own_module", None)
        return key_of(text)

    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = key(1, 1)
    assert key(1, 1) == before
    assert key(2, 1) != before
    sys.modules.pop("own_module", None)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pk/__init__.py", "def record(seed):\n import pk.sub\n return pk.X + pk.sub.Y"),
        ("pk/sub.py", "def record(seed):\n import pk.sub\n return pk.X + pk.sub.Y"),
        ("pk/sub.py", "import pk.sub\ndef record(seed): return vars(pk.sub)[seed], pk.sub.Y"),
    ],
)
def test_every_module_of_an_import_counts(tmp_path, monkeypatch, file, text):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "pk").mkdir()
    (tmp_path / "pk" / "__init__.py").write_text("X = 1\n")
    (tmp_path / "pk" / "sub.py").write_text("Y = 1\n")

    def key():
        for name in ("pk", "pk.sub"):
            sys.modules.pop(name, None)
        return key_of(text)

    before = key()
    assert key() == before
    (tmp_path / file).write_text((tmp_path / file).read_text() + "Z = 1\n")
    assert key() != before
    for name in ("pk", "pk.sub"):
        sys.modules.pop(name, None)


def test_a_function_without_a_module_counts_by_its_code():
    found = set()
    for value in (1, 2):
        space: dict[str, object] = {}
        exec(f"def record(seed): return {value}", space)
        found.add(digest(space["record"]))
    assert len(found) == 2


def test_values_that_a_module_is_given_at_run_time_count(monkeypatch):
    module = ModuleType("own_settings")
    monkeypatch.setitem(sys.modules, "own_settings", module)
    text = "import own_settings\ndef record(seed): return own_settings.noise"
    module.noise = 1
    before = key_of(text)
    module.noise = 2
    assert key_of(text) != before


def test_a_module_that_is_given_away_counts_by_its_file(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    text = "import own_module\ndef record(seed): return getattr(own_module, 'helper')"
    keys = set()
    for value in (1, 2):
        (tmp_path / "own_module.py").write_text(MODULE.format(value, 0))
        sys.modules.pop("own_module", None)
        keys.add(key_of(text))
    sys.modules.pop("own_module", None)
    assert len(keys) == 2


def test_cycles_and_what_has_no_content():
    """One digest each, twice the same."""

    def recursive(seed, n=0):
        return seed if n else recursive(seed, 1)

    class Cyclic:
        def __init__(self):
            self.me, self.all = self, {"a": [self]}

    def unset():
        def inner(seed):
            return later

        if not unset:
            later = 1
        return inner

    for make in (
        lambda: recursive,
        Cyclic,
        unset,
        lambda: lambda _seed: np,
        lambda: logging.getLogger("x"),
        lambda: logging.Logger("not attached"),
        threading.Lock,
        threading.RLock,
        threading.Event,
        lambda: SimpleNamespace(lock=threading.Lock(), out=sys.stdout),
        lambda: functools.partial(didim.virtual_experiment, rate=200),
    ):
        found = digest(make())
        assert isinstance(found, str)
        assert digest(make()) == found


def test_a_set_of_functions_that_call_each_other_has_one_digest():
    """In whatever order it is walked, which is that of addresses."""
    lines = [
        "def a(n): return b(n)",
        "def b(n): return c(n)",
        "def c(n): return a(n) + b(n)",
        "def d(n): return a(n) + c(n)",
    ]
    found, kept = set(), []
    for order in itertools.permutations(lines):
        space: dict[str, object] = {}
        exec("\n".join(order), space)
        kept.append(space)  # so that no address is used twice
        found.add(digest({space[name] for name in "abcd"}))
    assert len(found) == 1


def test_objects_that_all_know_each_other_are_quick():
    class Node:
        def __init__(self):
            self.others = []

    nodes = [Node() for _ in range(100)]
    for each in nodes:
        each.others += nodes
    before = digest(nodes)
    nodes[50].others.pop()
    assert digest(nodes) != before


def test_what_cannot_be_compared_is_one_error_that_names_the_task():
    class Broken:
        def __reduce__(self):
            raise ZeroDivisionError

    deep = []
    for _ in range(100_000):
        deep = [deep]
    good = (many.scara(), many.record, many.METHOD)
    for part in ((each for each in "ab"), Broken(), deep):
        bad = (many.scara(), functools.partial(many.record, part), many.METHOD)
        with pytest.raises(didim.InputError, match=r"^tasks\[1\]: [^\n]*$"):
            prepare([(good, {}, 0), (bad, {}, 0)])


def test_what_cannot_be_copied_is_one_error_that_names_the_task():
    record = functools.partial(many.record, threading.Lock())
    with pytest.raises(didim.InputError, match=r"^tasks\[0\]: .*cannot be copied to workers"):
        prepare([((many.scara(), record, many.METHOD), {}, 0)])


def test_a_row_is_not_stale_when_a_global_changes(tmp_path):
    """What a script does that is changed and run again on the same folder."""

    def rows(noise):
        text = (
            "import numpy as np\nfrom dataclasses import replace\nfrom support import many\n"
            "def helper(record): return replace(record, tau=record.tau * NOISE)\n"
            "def record(seed): return helper(many.record(seed))\n"
        )
        space = {"__name__": "__main__", "NOISE": noise}
        exec(text, space)
        source = (many.scara(), space["record"], many.METHOD)
        return didim.run_many([(source, {}, 0)], jobs=1, folder=tmp_path)[0]

    one, other, again = rows(1.0), rows(2.0), rows(1.0)
    np.testing.assert_allclose(other.values, 2 * one.values, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(again.values, one.values)
    assert again.key == one.key


def test_own_laws_are_told_apart_by_their_functions():
    def law(t, n, q_ref, dq_ref, ddq_ref, q, dq, memory, v):
        for j in range(n):
            v[j] = 400.0 * (q_ref[j] - q[j])

    own = didim.OwnLaw(law=didim.control_law(law), rate=500)
    same = didim.OwnLaw(law=didim.control_law(law), rate=500)
    assert digest(own) == digest(same)
    assert digest(own) != digest(replace(own, rate=1000))
    method = didim.DIDIM(controller=own, decimation=4)
    (job,) = prepare([((many.scara(), many.record(0), method), {}, 0)]).jobs
    assert job.problem is None


SCRIPT = """
import functools, logging, random
from enum import Enum
from fractions import Fraction
import numba
import numpy as np
import pandas
from scipy.stats import norm
import didim
from didim.fleet.digest import digest
from didim.fleet.task import prepare
from support import many

class Colour(Enum):
    RED, GREEN, BLUE = 1, 2, 3

class Base:
    words = {"one", "two", "three", "four"}

class Record(Base):
    def __init__(self):
        self.tables = {Colour.RED: 1, Colour.BLUE: 2, ("a", 1): 3, Fraction(1, 3): 4}
        self.me, self.plain = {self}, object()
    def __call__(self, seed):
        return {each for each in self.words} if seed in {"a", "b", "c"} else SOME

@numba.njit
def compiled(x):
    return x + 1.0

SOME = {"x", "y", "z", frozenset({"u", "v"})}
ALL = set(Colour)
FRAME = pandas.DataFrame({"a": ["x", "y"], "b": [1.0, 2.0]}, index=["x", "y"])
LOG = logging.getLogger("record")
OBJECTS = FRAME.to_records()

def first(seed, n=0):
    return second(seed) if n else compiled(1.0)

def second(seed):
    LOG.info(np.random.normal() + random.random() + norm.rvs() + len(OBJECTS))
    return first(seed, 1), Colour.GREEN, FRAME, ALL, Record, many.record

parts = [Record(), first, functools.partial(second, 3), Record().__call__, compiled]
print(*map(digest, parts))
source = many.scara(), first, many.METHOD
print(*[job.key for job in prepare([(source, {"decimation": 5}, 1)]).jobs])
"""


@pytest.mark.slow
def test_keys_are_the_same_in_every_process():
    found = set()
    for seed in ("1", "2"):
        path = os.pathsep.join(each for each in sys.path if each)
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
        command = [sys.executable, "-c", SCRIPT]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert len(run.stdout.split()) == 6
        found.add(run.stdout)
    assert len(found) == 1


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        (None, "the settings of a study"),
        (3, "the settings of a study"),
        ([3], "the settings of a study"),
        ({"method": None}, "'method' is None"),
        ({"method": object()}, "'method' is <object"),
        ({"idim": {1: 2}}, "'idim' is"),
    ],
)
def test_wrong_settings_of_a_study_are_refused(tmp_path, settings, word):
    study = write_study(tmp_path)
    for source in (study, didim.load_study(study)):
        with pytest.raises(didim.InputError, match=rf"^tasks\[0\]: [^\n]*{word}[^\n]*$"):
            didim.run_many([(source, settings, 0)], jobs=1)


@pytest.mark.parametrize("tasks", [None, 3, "study.toml"])
def test_what_is_no_list_of_tasks_is_refused(tasks):
    with pytest.raises(didim.InputError, match=r"tasks must be a list of tasks"):
        didim.run_many(tasks, jobs=1)


def test_settings_may_be_one_text(tmp_path):
    (row,) = didim.run_many([(write_study(tmp_path), "method=idim", 0)], jobs=1)
    assert row.settings == '["method=idim"]'
    assert row.converged


def test_the_name_of_a_file_need_not_be_utf_8(tmp_path):
    name = "a\udcff.toml"
    table = didim.run_many([(name, {}, 0)], jobs=1, folder=tmp_path / "rows")
    assert table[0].name == "a\\udcff.toml"
    (stored,) = RowStore(tmp_path / "rows").read().values()
    assert (stored.key, stored.name) == (table[0].key, table[0].name)
    other = didim.run_many([("a\\udcff.toml", {}, 0)], jobs=1)
    assert other[0].key != table[0].key
