"""Which files a study is run on: a result names them, and no output may replace one."""

from __future__ import annotations

from pathlib import Path

import didim
from didim.fleet.task import prepare

STUDY = """
robot = "robots/arm.xml"
method = "idim"
[[experiment]]
file = "log.csv"
"""

ARM = """<mujoco><compiler meshdir="meshes"/><asset><mesh name="rod" file="rod.stl"/>
<mesh name="absent" file="absent.stl"/></asset>
<worldbody><include file="parts/body.xml"/></worldbody></mujoco>"""

BODY = """<a><body><joint/><inertial mass="2" pos="0 0 0.1" diaginertia="1 1 1"/></body></a>"""


def written(folder: Path) -> Path:
    for name, text in (
        ("study.toml", STUDY),
        ("log.csv", "t,q1,tau1\n0,0,0\n"),
        ("robots/arm.xml", ARM),
        ("robots/parts/body.xml", BODY),
        ("robots/meshes/rod.stl", "solid rod"),
    ):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder / "study.toml"


def test_what_a_robot_in_mjcf_includes_is_an_input(tmp_path: Path) -> None:
    study = didim.load_study(written(tmp_path))
    parts = ("arm.xml", "parts/body.xml", "meshes/rod.stl")
    inputs = {each.resolve() for each in study.inputs}
    assert {(tmp_path / "robots" / each).resolve() for each in parts} <= inputs


def test_a_task_is_another_one_when_a_part_of_its_robot_changes(tmp_path: Path) -> None:
    study = written(tmp_path)

    def key() -> str:
        return prepare([(study, {}, 0)]).jobs[0].key

    keys = [key()]
    for name in ("arm.xml", "parts/body.xml", "meshes/rod.stl"):
        file = tmp_path / "robots" / name
        file.write_text(file.read_text() + "\n")
        keys.append(key())
    assert key() == keys[-1]
    assert len(set(keys)) == 4


def test_a_robot_that_cannot_be_read_is_left_to_its_reader(tmp_path: Path) -> None:
    study = written(tmp_path)
    (tmp_path / "robots" / "arm.xml").write_text("<mujoco><include file='none.xml'/></mujoco>")
    assert (tmp_path / "robots" / "arm.xml") in didim.load_study(study).inputs
