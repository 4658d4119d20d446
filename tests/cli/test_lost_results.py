"""A finished result is not lost, and no input is: full disks, files of others, outputs that are
inputs, two writers, a kill between two moves.
"""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import numpy as np
import pytest

import didim
from didim import output
from didim.cli import main
from didim.study import Study
from support.estimates import estimate_of
from support.files import ARM_URDF
from support.studies import study, table, write_study


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A study in a folder of its own; the current folder is another one."""
    (tmp_path / "here").mkdir()
    (tmp_path / "study").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    write_study(tmp_path / "study")
    return tmp_path / "study"


def full(monkeypatch, *folders):
    """No space is left in these folders."""
    stage = output._stage

    def staged(place, content):
        if place.parent.resolve() in folders:
            place.write_bytes(content[:10])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        stage(place, content)

    monkeypatch.setattr(output, "_stage", staged)


@pytest.mark.slow
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_full_disk(folder, monkeypatch, capsys, force):
    full(monkeypatch, folder)
    out = [*("--out", str(folder / "r.json")), *("--report", str(folder / "r.html"))]
    assert main(["identify", str(folder / "study.toml"), *out, *force]) == 1
    printed, told = capsys.readouterr()
    assert "ZZ1R" in printed
    assert "Written: r-1.json, r-1.npz, r-1.html" in printed
    assert "No space left on device. It was saved as r-1.json instead." in told
    assert didim.load_estimate("r-1.json").status == "converged"
    assert sorted(path.name for path in folder.iterdir()) == ["run.csv", "study.toml"]


def test_a_read_only_folder_is_refused_before_any_work(folder, monkeypatch, capsys):
    monkeypatch.setattr(output.os, "access", lambda place, _: Path(place) != folder)
    monkeypatch.setattr(Study, "run", lambda *_, **__: pytest.fail("it was run"))
    assert main(["identify", str(folder / "study.toml"), "--out", str(folder / "r.json")]) == 2
    assert "the folder is read-only" in capsys.readouterr().err


def test_no_place_at_all(folder, monkeypatch, capsys):
    monkeypatch.setattr(output.tempfile, "gettempdir", lambda: str(folder))
    full(monkeypatch, folder, Path.cwd().resolve())
    assert main(["identify", str(folder / "study.toml"), "--out", str(folder / "r.json")]) == 1
    printed, told = capsys.readouterr()
    assert "ZZ1R" in printed
    assert "It was not saved." in told


def test_simulated_motions_are_kept(folder, monkeypatch, capsys):
    full(monkeypatch, folder)
    command = ["simulate", str(folder / "study.toml"), "--out", str(folder / "m.csv")]
    assert main(command) == 1
    assert "It was saved as m-1.csv instead." in capsys.readouterr().err
    assert len(didim.load_experiment("m-1.csv").t) == 800


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_file_that_others_wrote_meanwhile(folder, monkeypatch, capsys, force):
    run = Study.run

    def slow(self, *arguments, **settings):
        (folder / "r.npz").write_text("of others")
        return run(self, *arguments, **settings)

    monkeypatch.setattr(Study, "run", slow)
    command = ["identify", str(folder / "study.toml"), "--out", str(folder / "r.json"), *force]
    assert main(command) == 1
    assert f"It was saved as {folder / 'r-1.json'} instead." in capsys.readouterr().err
    assert (folder / "r.npz").read_text() == "of others"
    assert not (folder / "r.json").exists()
    assert didim.load_estimate(folder / "r-1.json").status == "converged"


def test_what_was_there_at_the_start_is_written_over_with_force(folder):
    (folder / "r.npz").write_text("old")
    command = ["identify", str(folder / "study.toml"), "--out", str(folder / "r.json"), "--force"]
    assert main(command) == 0
    assert main(command) == 0
    assert didim.load_estimate(folder / "r.json").status == "converged"


def test_a_report_that_fails_does_not_cost_the_result(folder, monkeypatch, capsys):
    monkeypatch.setattr("didim.report.page.write_report", lambda *_, **__: [][0])
    command = ["identify", str(folder / "study.toml"), "--report", str(folder / "r.html")]
    assert main(command) == 1
    printed, told = capsys.readouterr()
    assert "ZZ1R" in printed
    assert "r.html was not written. internal error" in told


INPUTS = {
    "the record as arrays": (["identify", "study.toml", "--out", "run.json"], "run.npz"),
    "the study": (["identify", "study.toml", "--robot-out", "study.toml"], "study.toml"),
    "the robot": (["identify", "study.toml", "--robot-out", "arm.urdf"], "arm.urdf"),
    "a link to the robot": (["identify", "study.toml", "--robot-out", "link.urdf"], "arm.urdf"),
    "by the study": (["identify", "study.toml", "--set", "output.robot=arm.urdf"], "arm.urdf"),
    "a motion": (["simulate", "study.toml", "--out", "run.npz"], "run.npz"),
    "the result": (
        ["simulate", "study.toml", "--with", "result.json", "--out", "result.npz"],
        "result.npz",
    ),
    "the model to be like": (
        ["export", "result.json", "--out", "arm.urdf", "--like", "arm.urdf"],
        "arm.urdf",
    ),
    "a new study": (["init", "arm.toml", "--robot", "arm.toml"], "arm.toml"),
    "a new record": (["init", "arm.toml", "--robot", "arm-record.csv"], "arm-record.csv"),
}


@pytest.mark.parametrize("name", INPUTS)
def test_an_output_that_is_an_input_is_refused_always(name, tmp_path, monkeypatch, capsys):
    command, file = INPUTS[name]
    monkeypatch.chdir(tmp_path)
    np.savez("run.npz", **table())
    for text in ("arm.urdf", "arm.toml", "arm-record.csv", "result.json", "result.npz"):
        Path(text).write_text(ARM_URDF)
    Path("link.urdf").symlink_to("arm.urdf")
    columns = {"t": "t", "tau": "tau*", "q": "q*", "q_ref": "r{j}"}
    described = study(robot="arm.urdf", experiment=[{"file": "run.npz", "columns": columns}])
    write_study(tmp_path, described)
    before = Path(file).read_bytes()
    if "--with" in command:
        monkeypatch.setattr("didim.load_estimate", lambda _: None)
    assert main([*command, "--force"]) == 2
    assert "is read by this command" in capsys.readouterr().err
    assert Path(file).read_bytes() == before


def test_to_robot_does_not_write_over_its_own_source(tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM_URDF)
    estimate = estimate_of(didim.DynamicModel(didim.load_robot(tmp_path / "arm.urdf"), []))
    with pytest.raises(didim.InputError, match="is read by this command"):
        estimate.to_robot(tmp_path / "arm.urdf", overwrite=True, like=tmp_path / "." / "arm.urdf")


class Killed(BaseException):
    """What ends a process; nothing is tidied up after it."""


@pytest.mark.parametrize("moves", [0, 1])
@pytest.mark.parametrize("old", [False, True])
def test_killed_between_two_moves_a_result_is_the_old_or_the_new_one(
    moves, old, tmp_path, monkeypatch
):
    path = tmp_path / "a.json"
    first = estimate_of(didim.DynamicModel(didim.load_robot("emps")))
    second = estimate_of(didim.DynamicModel(didim.load_robot("emps")), seed=1)
    if old:
        first.save(path)
    left = [moves]
    for owner, name in ((os, "link"), (Path, "replace")):
        move = getattr(owner, name)

        def one(*arguments, move=move):
            if not left[0]:
                raise Killed
            left[0] -= 1
            return move(*arguments)

        monkeypatch.setattr(owner, name, one)
    monkeypatch.setattr(output, "_remove", lambda _: None)
    with pytest.raises(Killed):
        second.save(path, overwrite=old)
    monkeypatch.undo()
    if old or moves:
        expected = second if moves else first
        np.testing.assert_array_equal(didim.load_estimate(path).values, expected.values)
    else:
        assert not path.exists()
    assert any(each.name.endswith(".didim") for each in tmp_path.iterdir())
    first.save(path, overwrite=True)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.json", "a.npz"]
    np.testing.assert_array_equal(didim.load_estimate(path).values, first.values)


@pytest.mark.parametrize("force", [False, True])
def test_of_several_writers_one_wins_and_the_others_are_told(force, tmp_path):
    file = tmp_path / "a.txt"
    if force:
        file.write_bytes(b"old")
    allowed = output.Seen.now([file]) if force else False
    told: list[str] = []
    ready = threading.Barrier(8)

    def writer(k):
        ready.wait()
        try:
            output.write({file: str(k).encode() * 100_000}, allowed)
        except didim.InputError as problem:
            told.append(str(problem))

    threads = [threading.Thread(target=writer, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    content = file.read_bytes()
    assert len(told) == 7
    assert len(content) == 100_000
    assert len(set(content)) == 1
    assert list(tmp_path.iterdir()) == [file]
