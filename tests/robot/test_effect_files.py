"""Effects in robot files: [[effect]] of TOML and <effect> of URDF, read, written and held."""

from __future__ import annotations

import pytest

import didim
from didim.robot.effect_tables import effect_table
from didim.robot.serialisation import plain_robot, robot_of
from didim.robot.urdf.write import robot_urdf
from didim.robot.write_toml import robot_toml
from support.files import ARM_URDF

EFFECTS = """
[[effect]]
name = "cable"
joint = 2
torque = "k * (q - q0)"
unknown = { k = { unit = "N.m/rad" } }
fixed = { q0 = 0.2 }

[[effect]]
name = "belt"
weights = { joint_1 = 1.0, joint_2 = -0.5 }
torque = "c * slip * exp(-abs(dq / v)) + h * a * warmth"
unknown = { c = { sign = "positive", kind = "Coulomb friction" }, v = { value = 0.2 }, h = {} }
let = { a = "sin(q)^2 + table(q, [0, 1], [0, 2])" }
channels = ["warmth"]
about = 'a "belt" <x> & \u00e4'

[[effect]]
name = "gas"
joint = "joint_1"
torque = "F * sin(q)"
unknown = { F = { value = 3.5, unit = "N.m" } }
conservative = true
"""


@pytest.fixture
def robot(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text(robot_toml(didim.load_robot("scara")) + EFFECTS, encoding="utf-8")
    return didim.load_robot(path)


def tables(robot):
    return [effect_table(effect, robot) for effect in robot.effects]


def test_the_catalogue_is_a_function():
    assert didim.effects()["stribeck"].shapes == ("vs", "ds")


def test_toml_declares_effects(robot):
    model = didim.DynamicModel(robot)
    assert [effect.name for effect in robot.effects] == ["cable", "belt", "gas"]
    assert robot.weights_of(robot.effects[0]) == {1: 1.0}
    assert robot.weights_of(robot.effects[1]) == {0: 1.0, 1: -0.5}
    assert model.parameter_names[-4:] == ("k_cable", "c_belt", "h_belt", "F_gas")
    assert model.shape_values == {"v_belt": 0.2}
    assert model.channels == ("warmth",)
    assert model.nominal[-1] == 3.5
    assert [each.effect for each in model.parameters[-4:]] == ["cable", "belt", "belt", "gas"]


@pytest.mark.parametrize(("writer", "ending"), [(robot_toml, "toml"), (robot_urdf, "urdf")])
def test_files_bring_them_back(robot, tmp_path, writer, ending):
    path = tmp_path / f"again.{ending}"
    path.write_text(writer(robot), encoding="utf-8")
    assert tables(didim.load_robot(path)) == tables(robot)


def test_plain_data_bring_them_back_and_old_data_have_none(robot):
    data = plain_robot(robot)
    assert tables(robot_of(data)) == tables(robot)
    del data["effects"]
    assert robot_of(data).effects == ()


def test_effects_of_the_catalogue_with_their_shapes(tmp_path):
    path = tmp_path / "arm.toml"
    names = '["viscous", "coulomb", "stribeck", "ripple"]'
    path.write_text(
        '[[joint]]\nname = "a"\n'
        f"effects = {names}\nnominal = {{ ZZ = 1.0, dFs = 0.3, vs = 0.05, order = 7.0 }}\n"
    )
    robot = didim.load_robot(path)
    model = didim.DynamicModel(robot)
    assert model.shape_values == {"vs1": 0.05, "ds1": 2.0, "order1": 7.0}
    again = tmp_path / "again.toml"
    again.write_text(robot_toml(robot))
    assert didim.DynamicModel(didim.load_robot(again)).shape_values == model.shape_values


def test_shapes_in_a_urdf(tmp_path):
    path = tmp_path / "arm.urdf"
    extension = '<didim effects="coulomb stribeck" Fc="1.0" dFs="0.5" vs="0.07"/>'
    path.write_text(ARM_URDF.replace('<axis xyz="0 0 -1"/>', f'<axis xyz="0 0 -1"/>{extension}'))
    robot = didim.load_robot(path)
    shapes = didim.DynamicModel(robot).shape_values
    assert 0.07 in shapes.values()
    path.write_text(robot_urdf(robot))
    assert didim.DynamicModel(didim.load_robot(path)).shape_values == shapes


def test_an_effect_is_held_with_its_joint(robot, tmp_path):
    path = tmp_path / "three.toml"
    cable = EFFECTS.split("[[effect]]")[1]
    path.write_text(robot_toml(didim.load_robot("tx40")) + f"[[effect]]{cable}")
    kept = didim.load_robot(path, lock={"joint_1": 0.0})
    assert kept.weights_of(kept.effects[0]) == {0: 1.0}  # joint 2 of the file is the first now
    assert didim.load_robot(path, lock={"joint_2": 0.0}).effects == ()
    with pytest.raises(didim.InputError, match=r"'belt': acts on joint 'joint_2', which is held"):
        didim.load_robot(tmp_path / "arm.toml", lock={"joint_2": 0.0})


URDF_FAULTS = {
    "no name": ('<effect joint="elbow" torque="k"/>', "'name' is missing"),
    "unknown attribute": ('<effect nme="a"/>', "unknown attribute 'nme'"),
    "unknown element": ('<effect name="a"><param/></effect>', "unknown element <param>"),
    "symbol twice": (
        '<effect name="a"><unknown symbol="k"/><unknown symbol="k"/></effect>',
        "'k' is given twice",
    ),
    "no symbol": ('<effect name="a"><fixed value="1"/></effect>', "'symbol' is missing"),
    "text for a number": (
        '<effect name="a"><fixed symbol="k" value="two"/></effect>',
        "value must be 1 finite number, found 'two'",
    ),
    "switch": ('<effect name="a" conservative="yes"/>', "conservative must be true or false"),
    "no joint": (
        '<effect name="a" joint="nobody" torque="k"><unknown symbol="k"/></effect>',
        "found 'nobody'",
    ),
}


@pytest.mark.parametrize("case", URDF_FAULTS)
def test_faults_in_a_urdf_are_named(case, tmp_path):
    text, message = URDF_FAULTS[case]
    path = tmp_path / "arm.urdf"
    path.write_text(ARM_URDF.replace("</robot>", f"<didim>{text}</didim></robot>"))
    with pytest.raises(didim.InputError) as problem:
        didim.load_robot(path)
    assert message in str(problem.value)
    assert str(problem.value).startswith("arm.urdf")
