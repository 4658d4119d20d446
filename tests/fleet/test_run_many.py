"""`run_many`: one row for each task, whatever happens to it; equal bits from every engine."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import didim
from didim.fleet import perform
from didim.fleet.carried import Carried
from didim.fleet.local import in_processes, in_this_process
from didim.fleet.row import FailureKind, LostWorkerError, Row, failed_row, row_of
from didim.fleet.store import RowStore
from didim.fleet.task import prepare
from didim.locks import locked
from didim.output import UnwritableError
from support import many
from support.studies import write_csv, write_study


@cache
def five_rows() -> list[bytes]:
    return many.numbers(didim.run_many(many.tasks(5), jobs=1))


def test_a_row_has_what_the_identification_found():
    row = didim.run_many([((many.scara(), many.record(3), many.METHOD), {}, 3)], jobs=1)[0]
    found = didim.identify(many.scara(), many.record(3), many.METHOD)
    assert (row.status, row.seed, row.name) == ("converged", 3, "scara")
    assert row.names == tuple(found.names)
    np.testing.assert_array_equal(row.values, found.values)
    np.testing.assert_array_equal(row.sigma, found.corrected_sigma)
    np.testing.assert_array_equal(row.covariance, found.corrected_covariance)
    np.testing.assert_allclose(row.values + row.half_width, found.interval()[:, 1], rtol=1e-14)
    assert row.residual == found.residual
    assert np.isnan(row.held_out)
    assert row.seconds > 0


def test_held_out_records_and_settings():
    source = (many.scara(), many.record, many.METHOD, lambda seed: many.record(seed + 100))
    wls, ols = didim.run_many([(source, {}, 1), (source, {"weights": "ols"}, 1)], jobs=1)
    assert 0 < wls.held_out < 1
    assert (wls.values != ols.values).any()
    assert "ols" in ols.settings


def test_what_fails_is_a_row_that_says_why(tmp_path):
    def broken(seed):
        raise ZeroDivisionError("no such thing")

    def infeasible(seed):
        raise didim.InfeasibleError("M(q) is not positive")

    (tmp_path / "bad.csv").write_text("this is, no log\n1,2\n")
    study = write_study(tmp_path)
    write_csv(tmp_path / "run.csv")
    scara = many.scara()
    table = didim.run_many(
        [
            (study, {"experiment.file": "bad.csv"}, 0),
            (tmp_path / "missing.toml", {}, 0),
            (study, ["no.such.key=1"], 0),
            ((scara, broken, many.METHOD), {}, 0),
            ((scara, infeasible, many.METHOD), {}, 0),
            ((scara, many.record, many.METHOD), {"weights": "nonsense"}, 0),
            ((scara, many.record, many.METHOD), {"no_field": 1}, 0),
            (study, {"method": "idim"}, 0),
        ],
        jobs=1,
    )
    kinds = [row.failure for row in table]
    given = FailureKind.INPUT
    assert kinds[:3] == [given] * 3
    assert kinds[3:5] == [FailureKind.INTERNAL, FailureKind.INFEASIBLE]
    assert kinds[5:] == [given, given, FailureKind.NONE]
    assert all(row.reason for row in table)
    assert [row.status == "failed" for row in table] == [True] * 7 + [False]
    assert len(table.failed) == 7
    assert "bad.csv" in table[0].reason
    frame = table.to_frame()
    assert len(frame) == 8
    assert frame["ZZ1R"].notna().sum() == 1


def test_a_changed_log_is_identified_again(tmp_path):
    study = write_study(tmp_path)
    write_csv(tmp_path / "run.csv")
    task = [(study, {"method": "idim"}, 0)]
    before = didim.run_many(task, jobs=1, folder=tmp_path / "rows")
    text = (tmp_path / "run.csv").read_text().splitlines()
    (tmp_path / "run.csv").write_text("\n".join(text[:-40]) + "\n")
    after = didim.run_many(task, jobs=1, folder=tmp_path / "rows")
    assert before[0].key != after[0].key
    assert (before[0].values != after[0].values).any()


def test_rows_survive_their_file_bit_for_bit(tmp_path):
    (row,) = didim.run_many(many.tasks(1), jobs=1)
    same = row_of(row.plain())
    RowStore(tmp_path).add(row)
    stored = RowStore(tmp_path).read()[row.key]
    for each in (same, stored):
        assert many.numbers(didim.RunTable((each,))) == many.numbers(didim.RunTable((row,)))
    failed = replace(row, failure=FailureKind.MEMORY, held_out=np.nan)
    assert row_of(failed.plain()).failure is FailureKind.MEMORY


@pytest.mark.parametrize(
    "moment",
    [pytest.param(k, marks=() if k % 3 == 1 else pytest.mark.long) for k in range(1, 21)],
)
def test_interrupted_at_any_moment_it_continues_to_the_same_table(tmp_path, monkeypatch, moment):
    """Ctrl-C at the moments of a run: after a row, before and in the writing of a file."""
    whole = five_rows()
    calls = 0

    def interrupting(function):
        def called(*args, **kwargs):
            nonlocal calls
            calls += 1
            if calls == moment:
                raise KeyboardInterrupt
            return function(*args, **kwargs)

        return called

    with monkeypatch.context() as patched:
        patched.setattr("didim.output._stage", interrupting(didim.output._stage))
        patched.setattr("didim.output._left_over", interrupting(didim.output._left_over))
        patched.setattr(Path, "replace", interrupting(Path.replace))
        with pytest.raises(KeyboardInterrupt):
            didim.run_many(many.tasks(5), jobs=1, folder=tmp_path, progress=interrupting(print))
    finished = len(RowStore(tmp_path).read())
    assert finished >= (moment - 1) // 4
    ran = []
    table = didim.run_many(many.tasks(5), jobs=1, folder=tmp_path, progress=ran.append)
    assert len(ran) == 5 - finished
    assert many.numbers(table) == whole


def test_the_file_has_the_order_of_the_tasks_and_keeps_rows_of_other_calls(tmp_path):
    tasks = many.tasks(4)
    didim.run_many(tasks[2:], jobs=1, folder=tmp_path)
    table = didim.run_many(tasks, jobs=1, folder=tmp_path)
    assert list(RowStore(tmp_path).read()) == [row.key for row in table]
    didim.run_many(many.tasks(5)[4:], jobs=1, folder=tmp_path)
    assert len(RowStore(tmp_path).read()) == 5


def test_a_full_disk_leaves_what_is_finished(tmp_path, monkeypatch):
    written = 0
    stage = didim.output._stage

    def full(place, content):
        nonlocal written
        written += 1
        if written > 2:
            place.write_bytes(content[:10])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        stage(place, content)

    with monkeypatch.context() as patched:
        patched.setattr("didim.output._stage", full)
        with pytest.raises(didim.InputError, match=r"No space left.*goes on with what is missing"):
            didim.run_many(many.tasks(5), jobs=1, folder=tmp_path)
    assert len(RowStore(tmp_path).read()) == 2
    table = didim.run_many(many.tasks(5), jobs=1, folder=tmp_path)
    assert many.numbers(table) == five_rows()


def test_half_a_row_is_run_again_and_a_foreign_table_refused(tmp_path):
    store = RowStore(tmp_path)
    (row,) = didim.run_many(many.tasks(1), jobs=1)
    store.add(row)
    (file,) = (tmp_path / "rows").iterdir()
    file.write_bytes(file.read_bytes()[:-20])
    assert store.read() == {}
    assert len(didim.run_many(many.tasks(1), jobs=1, folder=tmp_path)) == 1
    (tmp_path / "table.parquet").write_bytes(b"something else")
    with pytest.raises(didim.InputError, match="not a table of didim"):
        didim.run_many(many.tasks(1), jobs=1, folder=tmp_path)


def test_large_records_travel_once():
    record = many.record(0)
    methods = [many.METHOD, replace(many.METHOD, weights="ols")]
    prepared = prepare([((many.scara(), record, m), {}, seed) for m in methods for seed in (0, 1)])
    assert len(prepared.jobs) == 4
    assert len({job.key for job in prepared.jobs}) == 4
    assert len(prepared.blobs) == 1 + 1 + 2 + 1  # model, record, methods, no held-out records


def test_the_same_task_twice_is_run_once():
    ran = []
    table = didim.run_many(many.tasks(1) * 3, jobs=1, progress=ran.append)
    assert len(table) == 3
    assert len(ran) == 1


def test_kernels_are_compiled_by_one_process_of_a_machine(tmp_path, monkeypatch):
    compiled = []
    monkeypatch.setattr(perform, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(perform, "warm", lambda: compiled.append(1))
    stored = [False, True]
    monkeypatch.setattr(perform, "is_stored", lambda: stored.pop(0))
    for _ in range(4):
        perform.settle_in.__wrapped__()
    assert compiled == [1, 1]  # again, since the disk was full


@pytest.mark.parametrize(
    ("tasks", "word"),
    [
        ([1], "a task is"),
        ([(1, {}, 0)], "a task is"),
        ([((1, 2, 3), {}, 0)], "the model is"),
        ([((None,), {}, 0)], "a task is"),
        ([("x.toml", {}, -1)], "seed"),
    ],
)
def test_what_is_no_task_is_refused(tasks, word):
    with pytest.raises(didim.InputError, match=word):
        didim.run_many(tasks, jobs=1)


def test_wrong_arguments_are_refused(tmp_path):
    with pytest.raises(didim.InputError, match=r"unknown engine 'loca'.*did you mean 'local'"):
        didim.run_many(many.tasks(1), "loca")
    with pytest.raises(didim.InputError, match="jobs"):
        didim.run_many(many.tasks(1), jobs=0)
    with pytest.raises(didim.InputError, match="progress must be a function"):
        didim.run_many(many.tasks(1), progress=3)
    with pytest.raises(didim.InputError, match="cannot be made a folder"):
        didim.run_many(many.tasks(1), folder="a\0b")
    with pytest.raises(didim.InputError, match="needs a folder"):
        didim.run_many(many.tasks(1), reports=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(didim.InputError, match="cannot be made a folder"):
        didim.run_many(many.tasks(1), folder=tmp_path / "file")
    with pytest.raises(didim.InputError, match="holds other files"):
        didim.run_many(many.tasks(1), folder=tmp_path)


def test_reports_are_beside_the_rows(tmp_path):
    table = didim.run_many(many.tasks(1), jobs=1, folder=tmp_path, reports=True)
    page = tmp_path / "reports" / f"{table[0].key[:40]}.html"
    assert b"<html" in page.read_bytes()
    page.unlink()
    ran = []
    didim.run_many(many.tasks(1), jobs=1, folder=tmp_path, reports=True, progress=ran.append)
    assert page.exists()
    assert len(ran) == 1


def test_a_run_that_was_stopped_before_its_end_is_finished_by_the_next(tmp_path):
    (row,) = didim.run_many(many.tasks(1), jobs=1)
    store = RowStore(tmp_path)
    store.add(row)
    assert not store.is_finished
    didim.run_many(many.tasks(1), jobs=1, folder=tmp_path)
    assert store.is_finished


def test_rows_of_two_calls_at_once_are_all_kept(tmp_path):
    """The other call ends while this one has a row to go."""

    def other(done: float) -> None:
        if done < 1:
            didim.run_many(many.tasks(5)[2:], jobs=1, folder=tmp_path)

    didim.run_many(many.tasks(2), jobs=1, folder=tmp_path, progress=other)
    table = didim.run_many(many.tasks(5), jobs=1, folder=tmp_path, progress=pytest.fail)
    assert many.numbers(table) == five_rows()


def test_a_report_that_cannot_be_written_costs_no_row(tmp_path):
    (tmp_path / "rows").mkdir()
    (tmp_path / "reports").write_text("")
    with pytest.raises(didim.InputError, match="goes on with what is missing"):
        didim.run_many(many.tasks(1), jobs=1, folder=tmp_path, reports=True)
    assert len(RowStore(tmp_path).read()) == 1


def test_a_flipped_bit_in_the_table_is_found(tmp_path):
    (row,) = didim.run_many(many.tasks(1), jobs=1, folder=tmp_path)
    table = tmp_path / "table.parquet"
    content = bytearray(table.read_bytes())
    content[content.index(row.values.tobytes()[:8]) + 3] ^= 1
    table.write_bytes(content)
    with pytest.raises(didim.InputError, match=r"is not a table of didim"):
        RowStore(tmp_path).read()


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_task_that_exits_or_reads_input_ends_alone(jobs):
    model = many.scara()
    tasks = [((model, made, many.METHOD), {}, 0) for made in (many.exits, many.reads_input)]
    table = didim.run_many(tasks, jobs=jobs)
    assert [row.status for row in table] == ["failed", "converged"]
    assert "sys.exit('bad seed')" in table[0].reason


@pytest.mark.slow
def test_workers_without_a_compiler_say_so_in_the_rows(tmp_path, monkeypatch):
    monkeypatch.setenv("DIDIM_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    prepared = prepare(many.tasks(1))
    ((row, _),) = in_processes(prepared, prepared.jobs, False, workers=1)
    assert "unset NUMBA_DISABLE_JIT" in row.reason


def test_parts_of_a_killed_run_are_removed_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    names = ("left", "running", "starting", "other")
    left, running, starting, other = (tmp_path / f"didim-parts-{name}" for name in names)
    for folder in (left, running, starting, other):
        folder.mkdir()
        (folder / "part").write_bytes(b"")
    for folder in (left, starting):
        (folder / "owner").write_bytes(b"")
    os.utime(left / "owner", (0, 0))
    with locked(running / "owner"):
        replies = in_processes(prepare([]), [], False, workers=1)
        assert [*replies] == []
    assert {*tmp_path.iterdir()} == {running, starting, other}


class Noisy:
    """A function of the seed with a value that may be changed."""

    def __init__(self) -> None:
        self.noise = 1.0

    def __call__(self, seed: int) -> didim.Experiment:
        found = many.record(seed)
        self.noise += 1.0  # no other task sees it
        return replace(found, tau=found.tau * (self.noise - 1.0))


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_task_is_what_it_was_when_it_was_handed_over(jobs):
    noisy = Noisy()

    def tasks():
        for noise in (1.0, 3.0):
            noisy.noise = noise
            yield (many.scara(), noisy, many.METHOD), {}, 0

    one, other = didim.run_many(tasks(), jobs=jobs)
    np.testing.assert_allclose(other.values, 3 * one.values, rtol=1e-6, atol=1e-9)
    again = didim.run_many(list(tasks()) * 2, jobs=jobs)
    for row in again:
        np.testing.assert_array_equal(row.values, other.values)


OWN_SETTINGS = """
from dataclasses import dataclass
from threading import Lock
from support import many

@dataclass
class Options:
    seed: int = 0

SEED, TABLE, OPTIONS, LOCK, _model = 0, {"seeds": [0]}, Options(), Lock(), None

def record(seed):
    global _model
    _model = _model or many.scara()
    with LOCK:
        return many.record(SEED + TABLE["seeds"][0] + OPTIONS.seed)

def seed_of(settings):
    return settings.SEED + settings.TABLE["seeds"][0] + settings.OPTIONS.seed

def handed(seed, settings=None):
    import own_settings
    return many.record(seed_of(settings or own_settings))

def around():
    import own_settings as module
    def inner(seed):
        return many.record(module.SEED + module.TABLE["seeds"][0] + module.OPTIONS.seed)
    return inner
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["named", "in a closure", "handed over", "an argument"])
def test_values_that_a_script_has_set_in_its_modules_travel(tmp_path, monkeypatch, kind):
    (tmp_path / "own_settings.py").write_text(OWN_SETTINGS)
    monkeypatch.syspath_prepend(tmp_path)
    import own_settings

    def rows(jobs):
        function = {
            "named": own_settings.record,
            "in a closure": own_settings.around(),
            "handed over": own_settings.handed,
            "an argument": partial(own_settings.handed, settings=own_settings),
        }[kind]
        prepared = prepare([((many.scara(), function, many.METHOD), {}, 0)])
        if jobs == 1:
            return [row for row, _ in in_this_process(prepared, prepared.jobs, False)]
        return [row for row, _ in in_processes(prepared, prepared.jobs, False, workers=1)]

    found = []
    own_settings.record(0)  # what the module keeps for later calls is no reason to refuse it
    changes = [{}, {"SEED": 1}, {"TABLE": {"seeds": [2]}}]
    if kind in ("named", "in a closure"):  # objects of a module that is handed over stay there
        changes.append({"OPTIONS": own_settings.Options(1)})
    for change in changes:
        for name, value in change.items():
            setattr(own_settings, name, value)
        (one,), (other,) = rows(1), rows(2)
        np.testing.assert_array_equal(one.values, other.values)
        found.append(one.values)
    for seed, values in zip((0, 1, 3, 4), found, strict=False):
        (row,) = didim.run_many([((many.scara(), many.record(seed), many.METHOD), {}, 0)], jobs=1)
        np.testing.assert_allclose(values, row.values, rtol=1e-12)
    assert own_settings.SEED == 1
    del sys.modules["own_settings"]


def test_threads_do_not_see_the_values_of_each_other():
    """As in a Dask worker of several threads."""
    module = sys.modules["own_settings"] = ModuleType("own_settings")
    module.SEED = 0

    def read(seed):
        before = module.SEED
        waiting.wait(0.002)
        return before, module.SEED

    waiting = threading.Event()
    carried = [Carried(read, {("own_settings", "SEED"): k}) for k in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = [*pool.map(lambda k: carried[k % 4](0), range(40))]
    assert found == [(k % 4, k % 4) for k in range(40)]
    assert module.SEED == 0
    del sys.modules["own_settings"]


def record_of_a_dying_parent(seed: int) -> didim.Experiment:
    """The worker ends, and leaves a process that has its pipes."""
    if os.fork() == 0:
        signal.pause()
    os._exit(3)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_worker_that_leaves_a_child_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("didim.fleet.local.ATTEMPTS", 1)
    prepared = prepare([((many.scara(), record_of_a_dying_parent, many.METHOD), {}, 0)])
    found: list[Row] = []

    def run() -> None:
        found.extend(row for row, _ in in_processes(prepared, prepared.jobs, False, workers=1))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(timeout=60)
    assert ["exit status 3" in row.reason for row in found] == [True]


class Unsayable(BaseException):
    """An error of a user, which has no text."""

    def __str__(self) -> str:
        raise ValueError("no text")


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (asyncio.CancelledError(), "CancelledError"),
        (Unsayable(), "Unsayable"),
        (ValueError("m\udce9.csv: no such log"), r"m\\udce9.csv"),
    ],
)
def test_whatever_ends_a_task_is_a_row(tmp_path, problem, words):
    def refused(seed):
        if seed == 0:
            raise problem
        return many.record(seed)

    tasks = [((many.scara(), refused, many.METHOD), {}, seed) for seed in (0, 1)]
    table = didim.run_many(tasks, jobs=1, folder=tmp_path)
    assert [row.status for row in table] == ["failed", "converged"]
    assert re.search(words, table[0].reason)


def test_a_table_of_others_is_refused_and_kept(tmp_path):
    pandas = pytest.importorskip("pandas")
    table = tmp_path / "table.parquet"
    pandas.DataFrame({"x": []}).to_parquet(table)
    before = table.read_bytes()
    with pytest.raises(didim.InputError, match="not a table of didim"):
        didim.run_many(many.tasks(1), jobs=1, folder=tmp_path)
    assert table.read_bytes() == before


@pytest.mark.parametrize("name", ["measured.parquet", "notes.txt"])
def test_a_folder_with_files_of_others_is_refused_and_kept(tmp_path, name):
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / name).write_bytes(b"mine")
    with pytest.raises(didim.InputError, match="holds other files"):
        didim.run_many(many.tasks(1), jobs=1, folder=tmp_path)
    assert (tmp_path / "rows" / name).read_bytes() == b"mine"


def test_a_row_that_cannot_be_read_and_is_of_no_task_is_kept(tmp_path):
    other = tmp_path / "rows" / f"{'a' * 40}.parquet"
    other.parent.mkdir()
    other.write_bytes(b"damaged")
    didim.run_many(many.tasks(1), jobs=1, folder=tmp_path)
    assert [*other.parent.glob("*.parquet")] == [other]


def test_parts_that_cannot_be_written_for_workers_say_where(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(UnwritableError, match=f"{tmp_path}.*No space left.*TMPDIR"):
        didim.run_many(many.tasks(2), jobs=2)


def test_rows_are_written_where_the_file_system_has_no_locks(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl", reason="this system has no locks of files")

    def refused(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refused)
    table = didim.run_many(many.tasks(2), jobs=1, folder=tmp_path / "rows")
    assert [row.status for row in table] == ["converged"] * 2
    assert (tmp_path / "rows" / "table.parquet").exists()


def test_a_row_of_this_call_takes_the_place_of_an_older_one(tmp_path):
    """A lost worker's is replaced by any other; of two that last, the later call's is kept."""
    (row,) = didim.run_many(many.tasks(1), jobs=1)
    lost = failed_row({each: getattr(row, each) for each in ("key", "name", "settings", "seed")},
                      LostWorkerError("its process ended."))  # fmt: skip
    store, other = RowStore(tmp_path), replace(row, name="new name")
    for given, there, kept in ((row, lost, row), (lost, row, row), (other, row, other)):
        store.finish([there])
        store.finish([given])
        (found,) = store.read().values()
        assert (found.name, found.status) == (kept.name, kept.status)
        (tmp_path / "table.parquet").unlink()


def test_a_worker_ends_with_the_process_that_reads_its_rows():
    script = "import sys; from didim.fleet import worker; worker._end_with_parent(1)"
    ended = subprocess.run([sys.executable, "-c", script], timeout=60, check=False)
    assert ended.returncode == 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_lost_scheduler_is_an_error_and_no_endless_wait(tmp_path):
    distributed = pytest.importorskip("distributed")
    settings = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with (
        distributed.LocalCluster(processes=False, **settings) as cluster,
        distributed.Client(cluster) as client,
    ):

        def lose(done: float) -> None:
            client.close()

        with pytest.raises(didim.InputError, match="connection to the Dask scheduler is lost"):
            didim.run_many(many.tasks(5), client, folder=tmp_path, progress=lose)
    assert RowStore(tmp_path).read()


@pytest.mark.long
def test_processes_give_the_same_bits_though_one_is_killed(tmp_path):
    alone = many.numbers(didim.run_many(many.tasks(4), jobs=1))
    sign = tmp_path / "sign"
    prepared = prepare(many.deadly_tasks(sign, 4, fatal=1))
    rows = [row for row, _ in in_processes(prepared, prepared.jobs, False, workers=1)]
    table = didim.RunTable(tuple(rows))
    assert sign.stat().st_size == 1
    assert many.numbers(table) == alone


@pytest.mark.slow
def test_a_task_that_always_kills_its_worker_is_a_row_and_tried_again(tmp_path, monkeypatch):
    monkeypatch.setattr("didim.fleet.local.ATTEMPTS", 1)
    tasks = many.deadly_tasks(tmp_path / "sign", 2, fatal=1)
    prepared = prepare(tasks)
    replies = [row for row, _ in in_processes(prepared, prepared.jobs, False, workers=1)]
    assert [row.failure for row in replies] == [FailureKind.NONE, FailureKind.WORKER]
    assert "process ended" in replies[1].reason
    store = RowStore(tmp_path / "rows")
    store.finish(replies)
    table = didim.run_many(tasks, jobs=1, folder=store.folder)
    assert [row.status for row in table] == ["converged", "converged"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_gives_the_same_bits():
    distributed = pytest.importorskip("distributed")
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        distributed.LocalCluster(processes=False, **settings) as cluster,
        distributed.Client(cluster) as client,
    ):
        table = didim.run_many(many.tasks(5), client)
    assert many.numbers(table) == five_rows()


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_gives_the_same_bits_though_a_worker_is_killed(tmp_path):
    distributed = pytest.importorskip("distributed")
    tasks = many.deadly_tasks(tmp_path / "sign", 8, fatal=3)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        table = didim.run_many(tasks, client)
    assert (tmp_path / "sign").stat().st_size == 1
    assert many.numbers(table) == many.numbers(didim.run_many(many.tasks(8), jobs=1))


SCRIPT = """
import sys
import didim
from support import many
from didim.fleet.task import prepare
print(*[job.key for job in prepare(many.tasks(2)).jobs])
sys.stdout.flush()
if len(sys.argv) > 1:
    didim.run_many(many.tasks(200), jobs=1, folder=sys.argv[1], progress=lambda done: print(done))
"""


@pytest.mark.long
def test_killed_in_the_middle_it_continues(tmp_path):
    """A process that is killed leaves rows that another one, with other hashes of texts, finds."""
    command = [sys.executable, "-u", "-c", SCRIPT, str(tmp_path)]
    path = os.pathsep.join(each for each in sys.path if each)
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": path}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        keys = process.stdout.readline().split()
        for _ in range(3):
            process.stdout.readline()
        process.kill()
    assert keys == [job.key for job in prepare(many.tasks(2)).jobs]
    rows = RowStore(tmp_path).read()
    assert 3 <= len(rows) < 200
    ran = []
    table = didim.run_many(many.tasks(8), jobs=1, folder=tmp_path, progress=ran.append)
    assert len(ran) == max(8 - len(rows), 0)
    assert many.numbers(table) == many.numbers(didim.run_many(many.tasks(8), jobs=1))
