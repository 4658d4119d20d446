"""Distances between links, floor and box: against points sampled on the capsules, Pinocchio's
kinematics and closed forms.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

import didim
from didim.design.capsules import link_capsules
from didim.design.clearance import clearances
from didim.design.enclosing import Capsule, capsules_of, enclosing, without_inner
from didim.design.kinematics import link_frames
from didim.design.limits import Limits
from didim.design.meshes import triangles
from didim.design.segments import Segment, segment_distance
from didim.errors import InputError
from didim.robot.shape import Shape, capsule
from support.pinocchio_model import pinocchio_model

RANDOM = np.random.default_rng(7)


def robot_of(tmp_path: Path, links: str, joints: str) -> didim.Robot:
    file = tmp_path / "robot.urdf"
    file.write_text(f'<robot name="r">{links}{joints}</robot>')
    return didim.load_robot(file)


def link(name: str, inside: str = "") -> str:
    inertia = '<inertia ixx="1" iyy="1" izz="1"/>'
    inertial = f'<inertial><mass value="1"/>{inertia}</inertial>'
    return f'<link name="{name}">{inertial}{inside}</link>'


def joint(name: str, parent: str, child: str, xyz: str = "0 0 0", kind: str = "revolute") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint>'
    )


def collision(shape: str, xyz: str = "0 0 0") -> str:
    return f'<collision><origin xyz="{xyz}"/><geometry>{shape}</geometry></collision>'


def segment(start, end, radius: float = 0.0) -> Segment:
    start, end = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    length = float(np.linalg.norm((end - start)[:, 0]))
    return Segment(start, end, radius, length)


def test_segments_against_dense_sampling():
    """1001 x 1001 points on each of 40 pairs."""
    part = np.linspace(0, 1, 1001)
    for _ in range(40):
        a, b, c, d = RANDOM.uniform(-1, 1, (4, 3))
        found = segment_distance(segment(a[:, None], b[:, None]), segment(c[:, None], d[:, None]))
        one, other = a + part[:, None] * (b - a), c + part[:, None] * (d - c)
        least = np.sqrt(
            np.min((one**2).sum(1)[:, None] + (other**2).sum(1)[None, :] - 2 * one @ other.T).clip(
                0
            )
        )
        assert found[0] <= least + 1e-9
        assert found[0] >= least - 2e-3


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], 1.0),  # parallel
        ([[0, 0, 0], [1, 0, 0], [3, 0, 0], [2, 0, 0]], 1.0),  # on one line, against each other
        ([[0, 0, 0], [1, 0, 0], [0.5, -1, 0], [0.5, 1, 0]], 0.0),  # crossing
        ([[0, 0, 0], [0, 0, 0], [3, 4, 0], [3, 4, 0]], 5.0),  # two points
        ([[0, 0, 0], [0, 0, 0], [-1, 2, 0], [1, 2, 0]], 2.0),  # a point and a segment
        ([[-1, 2, 0], [1, 2, 0], [0, 0, 0], [0, 0, 0]], 2.0),
        ([[0, 0, 0], [1, 1e-9, 0], [2, 1, 0], [4, 1, 0]], np.sqrt(2)),  # almost parallel
    ],
)
def test_segments_in_closed_form(ends, expected):
    a, b, c, d = (np.array(end, dtype=float)[:, None] for end in ends)
    assert segment_distance(segment(a, b), segment(c, d))[0] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("name", ["panda", "tx40", "emps"])
def test_frames_against_pinocchio(name):
    pin = pytest.importorskip("pinocchio")
    model = didim.DynamicModel(didim.load_robot(name))
    peer = pinocchio_model(model)
    data = peer.createData()
    q = RANDOM.uniform(-2, 2, (20, model.robot.n))
    frames = link_frames(model.robot, q)
    for k, each in enumerate(q):
        pin.forwardKinematics(peer, data, each)
        for (axes, origin), place in zip(frames, [*data.oMi][1:], strict=True):
            np.testing.assert_allclose(axes[:, :, k], place.rotation, atol=1e-13)
            np.testing.assert_allclose(origin[:, k], place.translation, atol=1e-13)


def on_surface(each: Capsule, count: int) -> np.ndarray:
    """Points on the surface of a capsule."""
    directions = RANDOM.normal(size=(count, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    along = np.asarray(each.end) - each.start
    return each.start + RANDOM.uniform(0, 1, (count, 1)) * along + each.radius * directions


@pytest.mark.parametrize("name", ["panda", "tx40"])
def test_distances_against_points_on_the_capsules(name):
    """A distance is at most that of any two points, and near the least of them."""
    pin = pytest.importorskip("pinocchio")
    robot = didim.load_robot(name)
    watched = clearances(robot, Limits(robot, floor=0.0, self_collision=0.0))
    peer = pinocchio_model(didim.DynamicModel(robot))
    data = peer.createData()
    q = RANDOM.uniform(*robot.position_limits.T, (6, robot.n))
    found = watched.distances(q)
    for k, each in enumerate(q):
        pin.forwardKinematics(peer, data, each)
        clouds = []
        for body in watched.links:
            place = data.oMi[body.joint + 1]
            points = np.concatenate([on_surface(part, 1500) for part in body.capsules])
            clouds.append(points @ place.rotation.T + place.translation)
        for (i, j), distance in zip(watched.pairs, found[k], strict=False):
            if distance > 0.02:
                least = cKDTree(clouds[i]).query(clouds[j])[0].min()
                assert distance - 1e-9 <= least <= distance + 0.03
        sides = found[k, len(watched.pairs) :]
        for (i, axis, _, at), distance in zip(watched.sides, sides, strict=True):
            least = clouds[i][:, axis].min() - at
            assert distance - 1e-9 <= least <= distance + 0.02


def test_box_and_floor_of_a_pendulum():
    robot = didim.load_robot("double_pendulum")
    limits = Limits(robot, box=[[-np.inf, 0.5], [-1.0, np.inf], [-np.inf, np.inf]])
    watched = clearances(robot, limits)
    radius = watched.links[0].capsules[0].radius
    found = dict(zip(watched.names, watched.distances([[0.0, 0.0]])[0], strict=True))
    assert found["box x max: link 1"] == pytest.approx(0.5 - 0.3 - radius)
    assert found["box y min: link 1"] == pytest.approx(1.0 - radius)
    assert not any(name.startswith(("box z", "floor")) for name in watched.names)


def test_clearance_is_subtracted_and_none_watches_no_pair():
    robot = didim.load_robot("panda")
    q = robot.position_limits.mean(axis=1)[None]
    near, far = (clearances(robot, Limits(robot, self_collision=gap)) for gap in (0.0, 0.03))
    assert near.names == far.names
    np.testing.assert_allclose(near.distances(q) - far.distances(q), 0.03, atol=1e-12)
    nothing = clearances(robot, Limits(robot))
    assert nothing.names == ()
    assert nothing.distances(q).shape == (1, 0)


def test_what_is_left_out_says_why():
    robot = didim.load_robot("panda")
    watched = clearances(robot, Limits(robot, floor=0.0, self_collision=0.01))
    why = {each.name: each.why for each in watched.left_out}
    assert why["link 4 - link 5"] == "they share a joint"
    assert "joint_2" in why["link 1 - link 3"]
    assert "no motion" in why["floor: link 1"]
    assert "link 2 - link 7" in watched.names
    assert "floor: link 7" in watched.names
    assert not set(why) & set(watched.names)


def column(tmp_path: Path, limit: str, kind: str = "revolute") -> didim.Robot:
    """A round column that turns on itself, and an arm that one joint can swing into its base."""
    file = tmp_path / "column.urdf"
    post = collision('<cylinder radius="0.06" length="0.5"/>', "0 0 0.25")
    short = collision('<cylinder radius="0.03" length="0.1"/>', "0 0 0.05")
    long = collision('<cylinder radius="0.03" length="0.5"/>', "0 0 0.25")
    swing = joint("pitch", "turned", "arm", "0 0 0.1", kind).replace("0 0 1", "0 1 0")
    limited = swing.replace('lower="-1" upper="1"', limit)
    joints = joint("yaw", "base", "turned", "0 0 0.6") + limited
    links = link("base", post) + link("turned", short) + link("arm", long)
    file.write_text(f'<robot name="column">{links}{joints}</robot>')
    return didim.load_robot(file)


@pytest.mark.parametrize(
    ("limit", "kind", "given", "watched"),
    [
        ('lower="-1" upper="1"', "revolute", None, ()),
        ("", "continuous", None, ("base - link 2",)),
        ("", "continuous", [-1.0, 1.0], ()),
        ("", "continuous", [-3.14, 3.14], ("base - link 2",)),
        ('lower="-4" upper="4"', "revolute", None, ("base - link 2",)),
    ],
)
def test_a_joint_without_stops_is_watched(tmp_path, limit, kind, given, watched):
    """A pair that one joint alone moves is left to its position limits, where it has any."""
    robot = column(tmp_path, limit, kind)
    position = None if given is None else [[-1.0, 1.0], given]
    found = clearances(robot, Limits(robot, position=position, self_collision=0.01))
    assert found.names == watched
    why = {each.name: each.why for each in found.left_out}
    assert why["link 1 - link 2"] == why["base - link 1"] == "they share a joint"
    assert ("base - link 2" in why) == (not watched)


def test_a_plan_of_a_joint_without_stops_keeps_out_of_the_base(tmp_path):
    """Points on the axis of the arm against the cylinder, in closed form."""
    robot = column(tmp_path, "", "continuous")
    limits = Limits(robot, velocity=3.0, torque=60.0, self_collision=0.0)
    plan = didim.excite(didim.DynamicModel(robot), 4.0, limits=limits, noise=0.1, effort=0.1)
    pitch = plan.trajectory.sample(np.linspace(0, 4, 4001))[0][:, 1:]
    along = np.linspace(0, 0.5, 51)
    away, height = np.abs(np.sin(pitch)) * along, 0.7 + np.cos(pitch) * along
    assert not np.any((away < 0.06) & (height < 0.5))
    assert "base - link 2" in plan.margins


def test_a_follower_that_turns_in_a_full_circle_has_no_stops(tmp_path):
    """Joint a has stops, the one that follows it five times as fast has none."""
    for ratio, kept in ((1, 0), (5, 1)):
        post = collision('<cylinder radius="0.02" length="1"/>', "0.2 0 0.5")
        follows = f'<mimic joint="a" multiplier="{ratio}"/></joint>'
        free = joint("b", "one", "two", "0 0 0.2").replace('lower="-1" upper="1"', "")
        robot = robot_of(
            tmp_path,
            link("base", post)
            + link("one", collision('<cylinder radius="0.02" length="0.2"/>', "0 0 0.1"))
            + link("two", collision('<box size="0.4 0.02 0.02"/>', "-0.2 0 0")),
            joint("a", "base", "one") + free.replace("</joint>", follows),
        )
        assert len(clearances(robot, Limits(robot, self_collision=0.0)).pairs) == kept


def test_a_floor_through_the_robot_is_not_left_out():
    """Heights that no motion changes count where the floor is above a link of a SCARA's end."""
    robot = didim.load_robot("scara")
    watched = clearances(robot, Limits(robot, floor=0.5))
    assert watched.names == ("floor: link 2",)
    assert watched.distances([[0.0, 0.0]])[0, 0] < 0


@pytest.mark.parametrize(
    "shape",
    [
        Shape("box", (0.5, 0.1, 0.12)),
        Shape("box", (0.02, 0.4, 0.5)),
        Shape("box", (0.3, 0.3, 0.3)),
        Shape("cylinder", (0.1, 0.5)),
        Shape("cylinder", (0.4, 0.02)),
        Shape("sphere", (0.2,)),
        Shape("capsule", (0.1, 0.0)),
        Shape("capsule", (0.1, 0.4)),
    ],
)
def test_capsules_enclose_a_shape(shape):
    points = RANDOM.uniform(-0.5, 0.5, (20000, 3))
    if shape.kind == "box":
        points *= shape.size
    else:
        radius = shape.size[0]
        half = shape.size[1] / 2 if len(shape.size) > 1 else 0.0
        points *= [2 * radius, 2 * radius, 2 * (half + radius)]
        away = np.hypot(points[:, 0], points[:, 1])
        beyond = np.maximum(np.abs(points[:, 2]) - half, 0.0)
        round_ends = np.hypot(away, beyond) <= radius
        flat_ends = (away <= radius) & (beyond == 0)
        points = points[flat_ends if shape.kind == "cylinder" else round_ends]
    turned = np.linalg.qr(RANDOM.normal(size=(3, 3)))[0]
    turned *= np.linalg.det(turned)
    found = capsules_of(shape.moved(turned, np.array([0.1, 0.2, 0.3])))
    points = points @ turned.T + [0.1, 0.2, 0.3]
    assert np.all(least_depth(points, found) <= 1e-9)


def least_depth(points: np.ndarray, found: list[Capsule]) -> np.ndarray:
    depths = []
    for each in found:
        along = each.end - each.start
        part = ((points - each.start) @ along / max(along @ along, 1e-30)).clip(0, 1)
        near = each.start + part[:, None] * along
        depths.append(np.linalg.norm(points - near, axis=1) - each.radius)
    return np.min(depths, axis=0)


def test_shapes_that_others_hold_are_dropped():
    """A cylinder with spheres at its ends, as descriptions write a capsule, is one."""
    middle = Shape("cylinder", (0.06, 0.2))
    balls = [Shape("sphere", (0.06,), translation=np.array([0, 0, z])) for z in (-0.1, 0.1)]
    parts = [part for shape in (middle, *balls) for part in capsules_of(shape)]
    assert len(without_inner(parts)) <= 3
    long = capsules_of(capsule(np.array([0, 0, -0.1]), np.array([0, 0, 0.1]), 0.06))
    assert len(without_inner([*long, *capsules_of(balls[0]), *capsules_of(balls[1])])) == 1


def cube(at: float) -> np.ndarray:
    """(12, 3, 3) triangles of a cube with edges of 0.1 m."""
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * 0.1
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [each for a, b, c, d in sides for each in ((a, b, c), (a, c, d))]
    return corners[np.array(faces)] + [at, 0, 0]


def binary(mesh: np.ndarray) -> bytes:
    records = b"".join(struct.pack("<12fH", 0, 0, 1, *each.ravel(), 0) for each in mesh)
    return b"solid looks like text".ljust(80) + struct.pack("<I", len(mesh)) + records


def text(mesh: np.ndarray) -> bytes:
    facets = "".join(
        "facet normal 0 0 1\nouter loop\n"
        + "".join("vertex {:.9g} {:.9g} {:.9g}\n".format(*point) for point in each)
        + "endloop\nendfacet\n"
        for each in mesh
    )
    return f"solid x\n{facets}endsolid x\n".encode()


def obj(mesh: np.ndarray) -> bytes:
    points = "".join("v {:.9g} {:.9g} {:.9g}\n".format(*point) for point in mesh.reshape(-1, 3))
    faces = "".join(f"f {3 * k + 1}//1 {3 * k + 2}//1 {3 * k + 3}//1\n" for k in range(len(mesh)))
    return (points + faces).encode()


@pytest.mark.parametrize(
    ("write", "ending"), [(binary, "stl"), (text, "stl"), (text, "STL"), (obj, "obj")]
)
def test_meshes_are_read(tmp_path, write, ending):
    file = tmp_path / f"mesh.{ending}"
    file.write_bytes(write(cube(0.2)))
    np.testing.assert_allclose(triangles(file), cube(0.2), atol=1e-7)


@pytest.mark.parametrize("content", [b"", b"solid x", binary(cube(0))[:-3], text(cube(0))[:-200]])
def test_damaged_meshes_are_refused_in_a_line(tmp_path, content):
    file = tmp_path / "mesh.stl"
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"mesh\.stl"):
        triangles(file)


def test_a_long_mesh_is_enclosed_by_several_capsules():
    """Two cubes 2 m apart: one capsule would be mostly empty."""
    mesh = np.concatenate([cube(0.0), cube(2.0)])
    found = enclosing(mesh)
    assert np.all(least_depth(mesh.reshape(-1, 3), found) <= 1e-9)
    assert sum(each.volume for each in found) < 0.02


def test_collision_elements_of_a_urdf(tmp_path):
    """Shapes of links that are fixed belong to the link that carries them."""
    mesh = '<mesh filename="package://arm/meshes/cube.stl" scale="2 2 2"/>'
    (tmp_path / "arm" / "meshes").mkdir(parents=True)
    (tmp_path / "arm" / "meshes" / "cube.stl").write_bytes(binary(cube(0.0)))
    robot = robot_of(
        tmp_path,
        link("base", collision('<box size="0.2 0.2 0.1"/>'))
        + link("upper", collision('<cylinder radius="0.05" length="0.4"/>', "0 0 0.2"))
        + link("tool", collision('<sphere radius="0.03"/>', "0 0 0.1"))
        + link("arm", collision(mesh)),
        joint("a", "base", "upper", "0 0 0.1")
        + joint("f", "upper", "tool", "0 0 0.5", "fixed")
        + joint("b", "upper", "arm", "0 0 0.4"),
    )
    assert [shape.kind for shape in robot.shapes] == ["box"]
    upper = robot.joints[0]
    assert [shape.kind for shape in upper.shapes] == ["cylinder", "sphere"]
    np.testing.assert_allclose(upper.shapes[1].translation, [0, 0, 0.6])
    found = link_capsules(robot)
    assert [each.label for each in found] == ["base", "link 1", "link 2"]
    assert not any(each.fitted or each.problem for each in found)
    assert np.all(least_depth(2 * cube(0.0).reshape(-1, 3), list(found[2].capsules)) <= 1e-9)


@pytest.mark.parametrize(
    ("shape", "why"),
    [
        ('<mesh filename="absent.stl"/>', "absent.stl"),
        ('<mesh filename="package://nobody/x.dae"/>', "x.dae"),
        ('<sphere radius="-1"/>', "positive"),
        ('<cylinder radius="1"/>', "length"),
        ("<teapot/>", "teapot"),
        ("", "one shape"),
    ],
)
def test_shapes_that_cannot_be_used_do_not_stop_a_robot(tmp_path, shape, why):
    """The link is fitted, and says why."""
    robot = robot_of(
        tmp_path,
        link("base") + link("one", collision(shape)) + link("two"),
        joint("a", "base", "one", "0 0 0.3") + joint("b", "one", "two", "0.4 0 0"),
    )
    found = {each.label: each for each in link_capsules(robot)}
    assert found["link 1"].fitted
    assert why in found["link 1"].problem
    assert found["link 2"].fitted
    assert not found["link 2"].problem


def test_fitted_links_reach_the_next_joint_and_the_centre_of_mass():
    """The upper arm of a TX40 stands beside its joint frames."""
    robot = didim.load_robot("tx40")
    bare = didim.Robot("bare", tuple(replace(joint, shapes=()) for joint in robot.joints))
    found = {each.label: each for each in link_capsules(bare)}
    points = np.array([[0, 0, 0], [0, 0, 0.134], [0.225, 0, 0.134], [0.225, 0, 0.035]])
    capsules = list(found["link 2"].capsules)
    assert np.all(least_depth(points, capsules) <= 1e-9 - capsules[0].radius)
    assert all(each.fitted for each in found.values())


def test_a_sliding_joint_has_a_rail_and_a_tree_its_branches(tmp_path):
    robot = robot_of(
        tmp_path,
        link("base") + link("cart") + link("left") + link("right"),
        joint("slide", "base", "cart", "0 0 0.5", "prismatic")
        + joint("a", "cart", "left", "0 0.3 0")
        + joint("b", "cart", "right", "0 -0.3 0"),
    )
    found = {each.label: each for each in link_capsules(robot)}
    ends = np.array([[0, 0.3, 0], [0, -0.3, 0]])
    assert np.all(least_depth(ends, list(found["link 1"].capsules)) <= 0)
    assert np.all(least_depth(np.array([[0, 0, 1.5]]), list(found["base"].capsules)) <= 0)
    limits = Limits(robot, floor=0.0)
    height = clearances(robot, limits)
    at = height.names.index("floor: link 1")
    low, high = height.distances([[0.0, 0.0, 0.0], [0.25, 0.0, 0.0]])[:, at]
    assert high - low == pytest.approx(0.25)


def test_joints_that_follow_others_move_their_links(tmp_path):
    robot = robot_of(
        tmp_path,
        link("base") + link("one") + link("two"),
        joint("a", "base", "one", "0 0 0.3")
        + joint("b", "one", "two", "0.4 0 0").replace(
            "</joint>", '<mimic joint="a" multiplier="-2" offset="0.1"/></joint>'
        ),
    )
    assert robot.n == 1
    (_, _), (axes, origin) = link_frames(robot, np.array([[0.3]]))
    angle = 0.3 + (-2 * 0.3 + 0.1)
    np.testing.assert_allclose(axes[0, 0, 0], np.cos(angle))
    np.testing.assert_allclose(origin[:, 0], [0.4 * np.cos(0.3), 0.4 * np.sin(0.3), 0.3])


def test_capsules_in_a_robot_file_come_back(tmp_path):
    from didim.robot.serialisation import plain_robot, robot_of
    from didim.robot.write_toml import robot_toml

    panda = didim.load_robot("panda")
    (tmp_path / "p.toml").write_text(robot_toml(panda))
    for again in (didim.load_robot(tmp_path / "p.toml"), robot_of(plain_robot(panda))):
        for one, other in zip(
            (panda.shapes, *(j.shapes for j in panda.joints)),
            (again.shapes, *(j.shapes for j in again.joints)),
            strict=True,
        ):
            assert len(one) == len(other) > 0
            for a, b in zip(one, other, strict=True):
                np.testing.assert_allclose(a.ends, b.ends, atol=1e-15)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("capsules = [{ from = [0, 0], to = [0, 0, 1], radius = 0.1 }]", "from"),
        ("capsules = [{ from = [0, 0, 0], to = [0, 0, 1], radius = 0 }]", "radius"),
        ("capsules = [{ from = [0, 0, 0], to = [0, 0, 1] }]", "radius"),
        ("capsules = 3", "capsules"),
        ("capsules = [{ form = 1 }]", "from"),
    ],
)
def test_wrong_capsules_are_refused(tmp_path, line, why):
    file = tmp_path / "r.toml"
    file.write_text(f'[[joint]]\nname = "a"\n{line}\n')
    with pytest.raises(InputError, match=why):
        didim.load_robot(file)


def test_limits_of_another_robot_are_refused():
    limits = Limits(didim.load_robot("scara"), floor=0.0)
    with pytest.raises(InputError, match="joints"):
        clearances(didim.load_robot("panda"), limits)
    with pytest.raises(InputError, match="joint_1, joint_2"):
        clearances(didim.load_robot("double_pendulum"), limits)


@pytest.mark.parametrize("name", ["panda", "tx40"])
def test_distances_against_coal(name):
    """Pinocchio's collision library, on the capsules of the description."""
    coal, pin = pytest.importorskip("coal"), pytest.importorskip("pinocchio")
    robot = didim.load_robot(name)
    watched = clearances(robot, Limits(robot, self_collision=0.0))
    peer = pinocchio_model(didim.DynamicModel(robot))
    data = peer.createData()
    q = RANDOM.uniform(*robot.position_limits.T, (10, robot.n))
    found = watched.distances(q)
    request, compared = coal.DistanceRequest(), 0
    for k, each in enumerate(q):
        pin.forwardKinematics(peer, data, each)
        bodies = []
        for body in watched.links:
            shapes = robot.shapes if body.joint < 0 else robot.joints[body.joint].shapes
            place = data.oMi[body.joint + 1]
            bodies.append(
                [
                    (
                        coal.Capsule(*shape.size),
                        coal.Transform3s(
                            place.rotation @ shape.rotation,
                            place.rotation @ shape.translation + place.translation,
                        ),
                    )
                    for shape in shapes
                ]
            )
        for (i, j), distance in zip(watched.pairs, found[k], strict=True):
            apart = min(
                coal.distance(*one, *other, request, coal.DistanceResult())
                for one in bodies[i]
                for other in bodies[j]
            )
            if apart > 0:
                assert distance == pytest.approx(apart, abs=1e-5)
                compared += 1
            else:
                assert distance <= 1e-5
    assert compared > 50


def test_a_base_without_shapes_is_not_fitted_beside_links_that_have_them(tmp_path):
    """The root link of many files is a frame far from the robot."""
    robot = robot_of(
        tmp_path,
        link("world") + link("one", collision('<sphere radius="0.1"/>')) + link("two"),
        joint("a", "world", "one", "3 0 0.3") + joint("b", "one", "two", "0.4 0 0"),
    )
    assert [each.label for each in link_capsules(robot)] == ["link 1", "link 2"]
