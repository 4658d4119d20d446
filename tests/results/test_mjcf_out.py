"""`to_robot("identified.xml")`: the user's MJCF with nothing but the identified values replaced."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

import didim
from didim.cli import main
from didim.results.identified import LeftOutWarning
from support.estimates import estimate_at, estimate_of, physical_parameters
from support.mjcf import PANDA, PENDULUM, QUADRUPED, TWO_ARMS

IDENTIFIED = {
    "body_mass",
    "body_inertia",
    "body_ipos",
    "body_iquat",
    "dof_armature",
    "dof_damping",
    "dof_frictionloss",
    "jnt_stiffness",
}
FOLLOW = {  # what MuJoCo computes from them
    "body_subtreemass",
    "body_invweight0",
    "body_sameframe",
    "body_simple",
    "dof_invweight0",
    "dof_M0",
    "dof_simplenum",
    "dof_length",
    "actuator_acc0",
    "light_poscom0",
    "geom_sameframe",
    "bvh_aabb",
    "bvh_nodeid",
    "bvh_child",
    "bvh_depth",
}
ONE_JOINT_EACH = TWO_ARMS.replace(
    '<joint name="left_roll" axis="1 0 0" armature="0.02" frictionloss="0.4"/>', ""
).replace('<velocity name="roll" joint="left_roll" kv="5"/>', "")


@pytest.fixture(scope="module")
def some():
    """An estimate of anything."""
    model = didim.DynamicModel(didim.load_robot("scara"))
    t = np.arange(0, 4, 0.01)
    q, dq, ddq = didim.Fourier.random(model.robot, 1).sample(t)
    tau = model.inverse_dynamics(q, dq, ddq, physical_parameters(model))
    return didim.identify(
        model, didim.Experiment(t, tau, None, q), didim.IDIM(cutoff=None, decimation=1)
    )


def estimate_of_file(some, path, spread=0.02, effects=None, **more):
    model = didim.DynamicModel(didim.load_robot(path, **more), effects)
    return estimate_at(model, physical_parameters(model, spread), some)


def compiled(path):
    spec = mujoco.MjSpec.from_file(str(path))
    for geom in [each for each in spec.geoms if each.meshname]:
        spec.delete(geom)
    for mesh in list(spec.meshes):
        spec.delete(mesh)
    return spec.compile()


def changed(one, other):
    """Names of the arrays of two models that differ."""
    assert (one.nq, one.nbody, one.nu, one.ngeom) == (other.nq, other.nbody, other.nu, other.ngeom)
    found = set()
    for name in dir(one):
        value = None if name.startswith("_") else getattr(one, name, None)
        if isinstance(value, np.ndarray) and not np.array_equal(value, getattr(other, name)):
            found.add(name)
    return found


@pytest.mark.parametrize(
    ("text", "more"),
    [(PANDA, {}), (ONE_JOINT_EACH, {}), (QUADRUPED, {"lock": {"base_joint": 0.0}})],
    ids=["panda", "two arms", "quadruped"],
)
def test_nothing_but_the_identified_values_changes(some, tmp_path, text, more):
    source, target = tmp_path / "robot.xml", tmp_path / "identified.xml"
    source.write_text(text)
    estimate = estimate_of_file(some, source, **more)
    robot = estimate.to_robot(target, like=source)
    old, new = compiled(source), compiled(target)
    assert changed(old, new) <= IDENTIFIED | FOLLOW
    again = didim.load_robot(target, **more)
    for written, read in zip(robot.joints, again.joints, strict=True):
        assert read.link == pytest.approx(written.link, rel=1e-9, abs=1e-12)
        for stem in ("Ia", "Fv", "Fc"):
            assert read.nominal[stem] == pytest.approx(written.nominal[stem], rel=1e-12)
    model = didim.DynamicModel(again)
    rng = np.random.default_rng(0)
    q, dq, ddq = rng.uniform(-1, 1, (3, 8, robot.n))
    expected = estimate.model.inverse_dynamics(q, dq, ddq, estimate.parameters)
    found = model.inverse_dynamics(q, dq, ddq, model.nominal)
    assert np.abs(found - expected).max() < 1e-8 * np.abs(expected).max()
    twice = tmp_path / "twice.xml"
    estimate.to_robot(twice, like=target)
    assert compiled(twice).body_mass == pytest.approx(new.body_mass, rel=1e-9)
    assert twice.read_text().count("didim:") == 1


def test_text_stays_as_it_is(some, tmp_path):
    (tmp_path / "robot.xml").write_text(ONE_JOINT_EACH)
    estimate_of_file(some, tmp_path / "robot.xml").to_robot(
        tmp_path / "new.xml", like=tmp_path / "robot.xml"
    )
    text = (tmp_path / "new.xml").read_text()
    assert "<!-- a torso with a lift, and an arm on each side -->" in text
    assert 'euler="30 0 5"' in text
    assert 'fromto="0 0 0 0.3 0.02 0"' in text
    assert "body_joint" not in text
    assert 'name="body"' not in text


def test_a_new_file_without_like_is_the_identified_robot(some, tmp_path):
    model = didim.DynamicModel(didim.load_robot("tx40"), ["rotor", "viscous", "coulomb"])
    estimate = estimate_at(model, physical_parameters(model, 0.02), some)
    estimate.to_robot(tmp_path / "new.xml")
    again = didim.DynamicModel(didim.load_robot(tmp_path / "new.xml"))
    rng = np.random.default_rng(0)
    q, dq, ddq = rng.uniform(-1, 1, (3, 8, 6))
    expected = estimate.model.inverse_dynamics(q, dq, ddq, estimate.parameters)
    found = again.inverse_dynamics(q, dq, ddq, again.nominal)
    assert np.abs(found - expected).max() < 1e-8 * np.abs(expected).max()
    compiled(tmp_path / "new.xml")


def test_attached_bodies_that_weigh_more_than_was_found_lose_their_inertia(some, tmp_path):
    heavy = PANDA.replace('mass="0.73" pos', 'mass="3.0" pos')
    (tmp_path / "heavy.xml").write_text(heavy)
    (tmp_path / "robot.xml").write_text(PANDA)
    estimate = estimate_of_file(some, tmp_path / "robot.xml")
    robot = estimate.to_robot(tmp_path / "new.xml", like=tmp_path / "heavy.xml")
    again = didim.load_robot(tmp_path / "new.xml")
    assert again.joints[6].link == pytest.approx(robot.joints[6].link, rel=1e-9, abs=1e-12)
    assert compiled(tmp_path / "new.xml").body("hand").mass[0] == 0.0


def test_masses_that_the_compiler_sets_are_stated(some, tmp_path):
    for settings in ('inertiafromgeom="true"', 'settotalmass="30"'):
        text = ONE_JOINT_EACH.replace('eulerseq="zyx"', f'eulerseq="zyx" {settings}')
        if "geom" in settings:
            text = text.replace(
                "</body>\n      </body>\n    </body>\n  </worldbody>",
                '<geom size="0.05"/></body><geom size="0.08"/>\n      </body>\n    </body>\n'
                "  </worldbody>",
            )
        (tmp_path / "robot.xml").write_text(text)
        estimate = estimate_of_file(some, tmp_path / "robot.xml")
        robot = estimate.to_robot(tmp_path / "new.xml", overwrite=True, like=tmp_path / "robot.xml")
        again = didim.load_robot(tmp_path / "new.xml")
        for one, other in zip(robot.joints, again.joints, strict=True):
            assert other.link == pytest.approx(one.link, rel=1e-9, abs=1e-12)


def test_identified_gains_go_to_the_servos(some, tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text(PENDULUM)
    estimate = estimate_of_file(some, path)
    loop = didim.PD(kp=14.0, kv=11.0, drive_gain=2.0)
    estimate = replace(estimate, controller=loop, gains={"kp1": (14.0, 0.1), "kv1": (11.0, 0.1)})
    estimate.to_robot(tmp_path / "new.xml", like=path)
    found = didim.load_controller(tmp_path / "new.xml")
    assert found.kp == pytest.approx([14.0])
    assert found.kv == pytest.approx([11.0])
    general = PENDULUM.replace(
        '<position name="servo" joint="pivot" kp="80" kv="6"',
        '<general name="servo" joint="pivot" biastype="affine" gainprm="80" biasprm="0 -80 -6"',
    )
    path.write_text(general)
    estimate.to_robot(tmp_path / "other.xml", like=path)
    assert didim.load_controller(tmp_path / "other.xml").kp == pytest.approx([14.0])
    path.write_text(PENDULUM.replace("position", "motor").replace('kp="80" kv="6"', ""))
    with pytest.raises(didim.InputError, match="it has 0 servos"):
        estimate.to_robot(tmp_path / "third.xml", like=path)
    assert not (tmp_path / "third.xml").exists()


def test_what_mjcf_cannot_express_is_said(some, tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text(PENDULUM)
    effects = ["rotor", "asymmetric_viscous", "coulomb", "offset", "stribeck"]
    estimate = estimate_of_file(some, path, effects=effects)
    with pytest.warns(LeftOutWarning, match="offset .* is left out.*stribeck.*left out"):
        estimate.to_robot(tmp_path / "new.xml", like=path)


def test_wrong_files_and_existing_ones(some, tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text(PENDULUM)
    estimate = estimate_of_file(some, path)
    other = tmp_path / "other.xml"
    other.write_text(PANDA)
    with pytest.raises(didim.InputError, match="is not the MJCF of the identified robot"):
        estimate.to_robot(tmp_path / "new.xml", like=other)
    with pytest.raises(didim.InputError, match="exists already"):
        estimate.to_robot(other, like=path)
    with pytest.raises(didim.InputError, match="would be lost"):
        estimate.to_robot(path, like=path, overwrite=True)
    with pytest.raises(didim.InputError, match=r"ends in \.xml"):
        estimate.to_robot(tmp_path / "new.urdf", stiff_friction=True)
    with pytest.raises(didim.InputError, match="as it does"):
        estimate.to_robot(tmp_path / "new.urdf", like=path)
    path.write_text(TWO_ARMS)
    two = estimate_of_file(some, path)
    with pytest.raises(didim.InputError, match="several joints"):
        two.to_robot(tmp_path / "new.xml", like=path)
    assert not (tmp_path / "new.xml").exists()


def test_meshes_are_found_from_another_folder(some, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "robot.xml").write_text(PANDA)
    estimate = estimate_of_file(some, tmp_path / "a" / "robot.xml")
    estimate.to_robot(tmp_path / "b" / "new.xml", like=tmp_path / "a" / "robot.xml")
    spec = mujoco.MjSpec.from_file(str(tmp_path / "b" / "new.xml"))
    assert (spec.meshdir, spec.texturedir) == ("../a/assets", "../a")


def test_table_for_other_simulators(tmp_path, capsys):
    path = tmp_path / "robot.xml"
    path.write_text(PENDULUM)
    effects = ["rotor", "viscous", "coulomb", "offset"]
    estimate = replace(
        estimate_of(didim.DynamicModel(didim.load_robot(path), effects), 0.01),
        controller=didim.PD(kp=20.0, kv=3.0, drive_gain=2.0),
    )
    table = estimate.simulator_table()
    (row,) = table.rows
    robot = estimate.to_robot()
    assert (row.armature, row.damping) == (
        robot.joints[0].nominal["Ia"],
        robot.joints[0].nominal["Fv"],
    )
    assert (row.kp, row.kv) == (120.0, 6.0)
    assert "offset" in table.left_out[0]
    assert "pivot" in str(table)
    assert "frictionloss" in str(table)
    estimate.save(tmp_path / "x.json")
    assert main(["export", str(tmp_path / "x.json"), "--table"]) == 0
    shown = capsys.readouterr()
    assert str(table) in shown.out
    assert "offset" in shown.err
    out = ["--out", str(tmp_path / "new.xml"), "--like", str(path)]
    assert main(["export", str(tmp_path / "x.json"), *out]) == 0
    assert "left out" in capsys.readouterr().err
    assert main(["export", str(tmp_path / "x.json")]) == 2
    assert "--table" in capsys.readouterr().err
    assert main(["export", str(tmp_path / "x.json"), *out]) == 2
    assert "exists already" in capsys.readouterr().err


def test_armature_is_a_comment_of_a_urdf(some, tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text(PENDULUM)
    estimate = estimate_of_file(some, path)
    estimate.to_robot(tmp_path / "new.urdf")
    estimate.to_robot(tmp_path / "again.urdf", like=tmp_path / "new.urdf")
    for name in ("new.urdf", "again.urdf"):
        text = (tmp_path / name).read_text()
        assert text.count("<!-- didim: Armature") == 1
        ia = didim.load_robot(tmp_path / name).joints[0].nominal["Ia"]
        assert f"joint 1 (pivot) {ia:.6g} kg m²" in text


def test_included_files_become_part_of_the_new_one(some, tmp_path):
    (tmp_path / "parts").mkdir()
    start, end = PENDULUM.index("<body"), PENDULUM.index("</worldbody>")
    (tmp_path / "parts" / "rod.xml").write_text(f"<a><!-- kept -->{PENDULUM[start:end]}</a>")
    source = tmp_path / "robot.xml"
    source.write_text(PENDULUM[:start] + '<include file="parts/rod.xml"/>' + PENDULUM[end:])
    estimate = estimate_of_file(some, source)
    robot = estimate.to_robot(tmp_path / "new.xml", like=source)
    text = (tmp_path / "new.xml").read_text()
    assert "<!-- kept -->" in text
    assert "include" not in text
    assert didim.load_robot(tmp_path / "new.xml").joints[0].link == pytest.approx(
        robot.joints[0].link, rel=1e-9
    )


def test_bodies_that_mujoco_makes_have_no_place_for_values(some, tmp_path):
    text = PENDULUM.replace("<body", '<replicate count="2" offset="1 0 0"><body').replace(
        "</body>", "</body></replicate>"
    )
    text = text[: text.index("<actuator>")] + "</mujoco>"
    (tmp_path / "robot.xml").write_text(text)
    estimate = estimate_of_file(some, tmp_path / "robot.xml")
    assert estimate.model.robot.n == 2
    with pytest.raises(didim.InputError, match="made by <replicate> or <attach>"):
        estimate.to_robot(tmp_path / "new.xml", like=tmp_path / "robot.xml")
