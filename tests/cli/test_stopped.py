"""A command that is stopped, by Ctrl-C or by SIGTERM, or that has too little memory says so in one
line.
"""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from didim.cli import main
from support.studies import write_study

MEMORY = "there is not enough memory"

PROCESS = """
import sys, time
import didim
from didim.cli import main
def wait(*_):
    print("working", flush=True)
    time.sleep(60)
didim.load_study = wait
sys.exit(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to be handled")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_process_that_is_told_to_end_says_so_in_one_line(number):
    command = [sys.executable, "-c", PROCESS, "check", "x.toml"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdout.readline() == "working\n"
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 1
    assert err == "didim: error: stopped on request\n"


def test_an_interrupt_before_the_command_is_known_is_one_line(capsys, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("didim.cli.parser.make_parser", interrupted)
    assert main([]) == 1
    assert capsys.readouterr().err == "didim: error: stopped on request\n"


@pytest.mark.parametrize(
    ("command", "function", "advice"),
    [
        (["check", "study.toml"], "didim.load_study", "use a part of the record"),
        (["excite", "scara"], "didim.excite", "plan a shorter motion"),
    ],
)
def test_too_little_memory_says_what_needs_less(
    tmp_path, capsys, monkeypatch, command, function, advice
):
    def refused(*_, **__):
        raise MemoryError

    write_study(tmp_path)
    monkeypatch.setattr(function, refused)
    assert main(command) == 2
    err = capsys.readouterr().err
    assert f"{MEMORY}; {advice}" in err
    assert err.count("\n") == 1
