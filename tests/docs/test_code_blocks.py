"""README and docs are true: every code block runs, every link leads somewhere."""

from __future__ import annotations

import re
import shlex
import shutil
import tomllib
from pathlib import Path

import numpy as np
import pytest

import didim
from didim.cli import main
from didim.fleet.league import league_of
from didim.fleet.league_schema import LeagueFile
from didim.study.reading import check_study, check_table
from support.files import ARM_URDF
from support.virtual import share_paper

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LONG = ("paper.md", "excitation.md", "mujoco.md", "exact.md")
ABOUT_LACK_OF_FIT = ("positions-alone.md", "lack-of-fit.md", "improve.md", "report.md")
APPENDED = "# append to arm.toml\n"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, *languages: str) -> list[str]:
    return [text for language, text in BLOCK.findall(page.read_text()) if language in languages]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_is_of_a_kind_that_is_run(page):
    assert {language for language, _ in BLOCK.findall(page.read_text())} <= {"python", "sh", "toml"}


@pytest.fixture(scope="module")
def arm_and_log(tmp_path_factory) -> Path:
    """A folder with what the pages call a user's own: a URDF and a log."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "arm.urdf").write_text(ARM_URDF)
    arm = didim.DynamicModel(didim.load_robot(folder / "arm.urdf"))
    t = np.arange(0, 10, 0.005)
    q, dq, ddq = didim.Fourier.random(arm.robot, 1).sample(t)
    tau = arm.inverse_dynamics(
        q, dq, ddq, np.where(np.char.startswith(arm.parameter_names, "F"), 0.3, arm.nominal)
    )
    names = "time,pos_1,pos_2,torque_1,torque_2,ref_1,ref_2"
    table = np.column_stack([t, q, tau, q])
    np.savetxt(folder / "run.csv", table, "%.10g", ",", header=names, comments="")
    return folder


@pytest.fixture
def own_robot_and_log(arm_and_log, tmp_path, monkeypatch):
    """Both in the working folder, for a page to use and change."""
    shutil.copytree(arm_and_log, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    share_paper(monkeypatch)


def shell(text: str) -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for line in text.splitlines():
        command, *arguments = shlex.split(line)
        if command == "make":
            assert arguments[0] in targets
        else:
            assert command == "didim"
            assert main(arguments) == 0, line


@pytest.mark.slow
@pytest.mark.usefixtures("own_robot_and_log")
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page,
            marks=[
                *[pytest.mark.lack_of_fit] * (page.name in ABOUT_LACK_OF_FIT),
                *[pytest.mark.long] * (page.name in LONG),
            ],
        )
        for page in PAGES
        if blocks(page, "python", "sh")
    ],
    ids=lambda page: page.name,
)
def test_blocks_run_in_order(page, tmp_path, capsys):
    if "didim init arm.toml" not in page.read_text():
        main(["init", "arm.toml", "--robot", "arm.urdf", "--data", "run.csv"])
    namespace: dict[str, object] = {}
    for language, text in BLOCK.findall(page.read_text()):
        if language == "python":
            exec(compile(text, page.name, "exec"), namespace)
        elif language == "sh":
            shell(text)
        elif "seeds" in tomllib.loads(text):
            (tmp_path / "league.toml").write_text(text)
        elif text.startswith(APPENDED):
            with (tmp_path / "arm.toml").open("a") as study:
                study.write(text)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page, "toml")], ids=lambda page: page.name
)
def test_toml_blocks_are_robots_studies_or_leagues(page, tmp_path):
    for text in blocks(page, "toml"):
        if text.startswith(APPENDED):
            continue  # run in its place, above
        if "seeds" in (data := tomllib.loads(text)):
            assert league_of(check_table(LeagueFile, data, page.name), tmp_path).tasks
            continue
        if "method" in data:
            assert check_study(data, page.name).robot in didim.shipped_robots()
            continue
        (tmp_path / "robot.toml").write_text(text)
        assert didim.DynamicModel(didim.load_robot(tmp_path / "robot.toml")).base.parameter_names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_every_public_name_is_documented_and_exists():
    for name in didim.__all__:
        value = getattr(didim, name)
        assert isinstance(value, str) or value.__doc__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = didim.nothing
    assert set(didim.__all__) <= set(dir(didim))


def test_version_is_written_once_and_the_same():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert didim.__version__ == project["version"]
