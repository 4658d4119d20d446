"""Wrong robots give one clear error that names the file, the place and what to do, and nothing from
outside executes.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import didim
from support.files import ARM_TOML, ARM_URDF

TOML_FAULTS = {
    "not toml": ("name =", "not a TOML file"),
    "no joint": ('name = "x"', "no joint"),
    "unknown key": (ARM_TOML.replace("velocity = 2.0", "velocty = 2.0"), "did you mean 'velocity'"),
    "unknown top key": ("speed = 1\n" + ARM_TOML, "unknown key 'speed'"),
    "unknown type": (ARM_TOML.replace('"prismatic"', '"helical"'), "unknown type 'helical'"),
    "unknown effect": (ARM_TOML.replace('["rotor", "offset"]', '["rotr"]'), "did you mean 'rotor'"),
    "text for number": (
        ARM_TOML.replace("velocity = 2.0", 'velocity = "fast"'),
        "velocity must be a finite number",
    ),
    "bad angle": (ARM_TOML.replace('"90 deg"', '"ninety"'), "alpha must be an angle"),
    "angle over zero": (ARM_TOML.replace('"90 deg"', '"pi/0"'), "alpha must be an angle"),
    "nan": (ARM_TOML.replace("d = 0.4", "d = nan"), "d must be a finite number"),
    "infinite mass": (ARM_TOML.replace("mass = 2.0", "mass = inf"), "mass must be a finite number"),
    "negative mass": (ARM_TOML.replace("mass = 2.0", "mass = -9.0"), "mass must not be negative"),
    "short list": (
        ARM_TOML.replace("centre = [0.1, 0.0, 0.0]", "centre = [0.1]"),
        "centre must be a list of 3",
    ),
    "missing centre": (ARM_TOML.replace("centre = [0.1, 0.0, 0.0], ", ""), "'centre' is missing"),
    "unknown nominal": (ARM_TOML.replace("Ia = 0.2", "Ib = 0.2"), "unknown key 'Ib'"),
    "limits swapped": (
        ARM_TOML.replace('["-90 deg", "3*pi/4"]', "[1.0, -1.0]"),
        "lower position limit",
    ),
    "negative limit": (
        ARM_TOML.replace("torque = 50.0", "torque = -50.0"),
        "torque limit must be positive",
    ),
    "loop": (
        ARM_TOML.replace('name = "shoulder"', 'name = "shoulder"\nparent = "slide"'),
        "tree without loops",
    ),
    "unknown parent": (
        ARM_TOML.replace('name = "slide"', 'name = "slide"\nparent = "wrist"'),
        "'wrist'",
    ),
    "same name": (ARM_TOML.replace('"slide"', '"shoulder"'), "two joints are called 'shoulder'"),
    "both inertias": (
        ARM_TOML.replace("nominal = { Fv", "nominal = { M = 1.0, Fv"),
        "either 'inertial' or nominal",
    ),
    "exclusive": (
        ARM_TOML.replace('"offset"]', '"offset", "asymmetric_coulomb"]'),
        "exclude each other",
    ),
    "gear count": (
        ARM_TOML.replace("gear = [100.0, 50.0]", "gear = [100.0]"),
        "gear must be a list of 2",
    ),
    "zero gear": (ARM_TOML.replace("gear = [100.0, 50.0]", "gear = [100.0, 0.0]"), "invertible"),
    "gravity": (
        ARM_TOML.replace("[0.0, 0.0, -9.81]", "[0.0, -9.81]"),
        "gravity must be a list of 3",
    ),
    "coupling joint": (
        ARM_TOML + '[[coupling]]\nname = "m"\nweights = { shouldr = 1.0, slide = 1.0 }',
        "'shoulder'",
    ),
    "coupling of one": (
        ARM_TOML + '[[coupling]]\nname = "m"\nweights = { slide = 1.0 }',
        "at least two joints",
    ),
    "fixed with effects": (
        ARM_TOML.replace('type = "fixed"', 'type = "fixed"\neffects = ["viscous"]'),
        "unknown key 'effects'",
    ),
    "fixed with limits": (
        ARM_TOML.replace('type = "fixed"', 'type = "fixed"\nvelocity = 1.0'),
        "unknown key 'velocity'",
    ),
    "fixed with friction": (
        ARM_TOML.replace('type = "fixed"', 'type = "fixed"\nnominal = { Fv = 1.0 }'),
        "unknown key 'Fv'",
    ),
    "fixed with negative mass": (
        ARM_TOML.replace("mass = 1.0", "mass = -1.0"),
        "mass must not be negative",
    ),
    "zero limit": (
        ARM_TOML.replace("velocity = 2.0", "velocity = 0.0"),
        "velocity limit must be positive",
    ),
    "400 digits": (ARM_TOML.replace("d = 0.4", "d = 1" + 400 * "0"), "d must be a finite number"),
    "5000 digits": (ARM_TOML.replace("d = 0.4", "d = 1" + 5000 * "0"), "not a TOML file"),
    "huge angle": (
        ARM_TOML.replace('"90 deg"', '"' + 400 * "9" + ' deg"'),
        "alpha must be an angle",
    ),
    "huge angle limit": (
        ARM_TOML.replace('"-90 deg"', '"-' + 400 * "9" + '*pi"'),
        "position must be an angle",
    ),
    "deep": ("a = " + 20000 * "[", "not a TOML file"),
    "kilometres": (ARM_TOML.replace('alpha = "90 deg"', "d = 1e7"), "in metres"),
    "huge gravity": (ARM_TOML.replace("-9.81", "1e200"), "gravity must be in m/s^2"),
    "huge mass": (ARM_TOML.replace("mass = 2.0", "mass = 1e200"), "SI units"),
    "escape in name": (ARM_TOML.replace('"arm"', '"\\u001b[31m"'), "cannot be printed"),
    "gear given twice": (
        ARM_TOML + "gear_coupling = [{ motor = 1, joint = 1, ratio = 3.0 }]",
        "already have the ratio 100",
    ),
    "joint as table": ("joint = 3", "tables written [[joint]]"),
}

URDF_FAULTS = {
    "not xml": ("<robot", "not well-formed XML"),
    "empty": ("", "not well-formed XML"),
    "other root": ("<sdf/>", "must be <robot>"),
    "dtd": (
        '<!DOCTYPE robot [<!ENTITY a "b">]>' + ARM_URDF.split("\n", 1)[1],
        "document type declaration",
    ),
    "external dtd": (
        '<!DOCTYPE robot SYSTEM "file:///etc/passwd">' + ARM_URDF.split("\n", 1)[1],
        "document type",
    ),
    "xacro": (
        ARM_URDF.replace(
            '<link name="base"/>', '<x:include xmlns:x="http://ros.org/xacro"/><link name="base"/>'
        ),
        "xacro",
    ),
    "floating": (
        ARM_URDF.replace('"continuous"', '"floating"'),
        "floating joints are not supported",
    ),
    "planar": (ARM_URDF.replace('"continuous"', '"planar"'), "planar joints are not supported"),
    "mimic": (
        ARM_URDF.replace('<axis xyz="0 0 -1"/>', '<mimic joint="should"/>'),
        "follows 'should', but no joint is called so",
    ),
    "unknown type": (ARM_URDF.replace('"continuous"', '"screw"'), "unknown joint type 'screw'"),
    "no inertial": (
        ARM_URDF.replace("<inertial>", "<x>").replace("</inertial>", "</x>"),
        "has no <inertial>",
    ),
    "no mass": (ARM_URDF.replace('<mass value="1.0"/>', ""), "<mass> and <inertia>"),
    "negative mass": (ARM_URDF.replace('value="1.0"', 'value="-1.0"'), "mass must not be negative"),
    "huge mass": (
        ARM_URDF.replace('value="1.0"', 'value="1e308"'),
        "value must be 1 finite number",
    ),
    "nan": (ARM_URDF.replace('value="1.0"', 'value="nan"'), "value must be 1 finite number"),
    "words": (
        ARM_URDF.replace('xyz="0.4 0 0"', 'xyz="0.4 zero 0"'),
        "xyz must be 3 finite numbers",
    ),
    "two numbers": (
        ARM_URDF.replace('xyz="0.4 0 0"', 'xyz="0.4 0"'),
        "xyz must be 3 finite numbers",
    ),
    "underscores": (
        ARM_URDF.replace('xyz="0.4 0 0"', 'xyz="1_0 0 0"'),
        "xyz must be 3 finite numbers",
    ),
    "no links": ('<robot name="x"/>', "no <link>"),
    "zero axis": (ARM_URDF.replace('"0 0 -1"', '"0 0 0"'), "axis must not be zero"),
    "two parents": (
        ARM_URDF.replace('child link="lower"', 'child link="upper"'),
        "already the child of joint 'shoulder'",
    ),
    "loop": (
        ARM_URDF.replace('parent link="base"', 'parent link="lower"').replace(
            '<link name="base"/>', ""
        ),
        "loop",
    ),
    "detached loop": (ARM_URDF.replace('parent link="base"', 'parent link="lower"'), "loop"),
    "two roots": (
        ARM_URDF.replace('<link name="base"/>', '<link name="base"/><link name="other"/>'),
        "exactly one link",
    ),
    "unknown link": (
        ARM_URDF.replace('parent link="upper"', 'parent link="uper"'),
        "did you mean 'upper'",
    ),
    "no child": (ARM_URDF.replace('<child link="lower"/>', ""), "child link"),
    "same joint": (ARM_URDF.replace('name="elbow"', 'name="shoulder"'), "two joints are called"),
    "nameless": (ARM_URDF.replace('joint name="elbow"', "joint"), "has no name"),
    "nothing moves": ('<robot name="x"><link name="a"/></robot>', "no joint that moves"),
    "swapped limits": (
        ARM_URDF.replace('lower="-1.5" upper="1.5"', 'lower="1.5" upper="-1.5"'),
        "lower position limit",
    ),
}


@pytest.mark.parametrize("fault", TOML_FAULTS)
def test_toml(fault, tmp_path):
    text, message = TOML_FAULTS[fault]
    _expect(tmp_path / "arm.toml", text, message)


@pytest.mark.parametrize("fault", URDF_FAULTS)
def test_urdf(fault, tmp_path):
    text, message = URDF_FAULTS[fault]
    _expect(tmp_path / "arm.urdf", text, message)


def _expect(path, text, message):
    path.write_text(text)
    with pytest.raises(didim.InputError) as caught:
        didim.load_robot(path)
    said = str(caught.value)
    assert message in said
    assert "\n" not in said
    assert path.name in said


def test_binary_files(tmp_path):
    for name in ("a.toml", "a.urdf"):
        (tmp_path / name).write_bytes(bytes(range(256)))
        with pytest.raises(didim.InputError, match=name):
            didim.load_robot(tmp_path / name)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("scarra", "did you mean 'scara'"),
        ("nowhere.urdf", "no such file"),
        ("robot.sdf", "must end in .toml, .urdf or .xml"),
        ("", "must end in"),
        ("/", "must end in"),
        ("a" * 300 + ".toml", "cannot be read"),
        ("a" * 300, "cannot be read|No shipped robot"),
        ("a\nb.toml", "no such file"),
        (None, "takes a name or a path"),
        (3, "takes a name or a path"),
        (b"scara", "takes a name or a path"),
    ],
)
def test_names_and_paths(source, message):
    with pytest.raises(didim.InputError, match=message):
        didim.load_robot(source)


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "dir.toml").mkdir()
    with pytest.raises(didim.InputError, match="this is a folder"):
        didim.load_robot(tmp_path / "dir.toml")


def test_robots_made_by_hand_are_checked_too():
    joint = didim.Joint("a", "revolute")
    for wrong, message in [
        ({"rotation": 2 * np.eye(3)}, "orthonormal"),
        ({"rotation": np.diag([1.0, 1.0, -1.0])}, "right-handed"),
        ({"parent": 0}, "no loop"),
        ({"kind": "screw"}, "'revolute' or 'prismatic'"),
        ({"translation": np.array([np.nan, 0, 0])}, "coordinates must be finite"),
        ({"link": np.zeros(3)}, "link must have shape"),
    ]:
        with pytest.raises(didim.InputError, match=message):
            didim.Robot("x", (dataclasses.replace(joint, **wrong),))
    assert (
        didim.Robot(
            "x", (didim.Joint("a", "revolute", translation=[0, 0, 1], link=list(range(10))),)
        ).n
        == 1
    )
    assert didim.Drive([[2.0]], [3.0], [4.0]).gain == 24.0
    for wrong in (
        {"translation": "abc"},
        {"position_limits": None},
        {"link_frame": np.eye(3)},
        {"rotation": [[1]]},
    ):
        with pytest.raises(didim.InputError, match="Joint 'a'"):
            didim.Joint("a", "revolute", **wrong)
    with pytest.raises(didim.InputError, match="gravity"):
        didim.Robot("x", (joint,), ["a", "b", "c"])
    with pytest.raises(didim.InputError, match="gravity"):
        didim.Robot("x", (joint,), np.array([0.0, np.nan, 0.0]))
    with pytest.raises(didim.InputError, match="drive describes 2"):
        didim.Robot("x", (joint,), drive=didim.Drive(np.eye(2)))
