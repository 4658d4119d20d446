"""The HTML report of a plan."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import didim
from didim.design.limits import Limits
from didim.design.summary import random_ratio
from didim.report.plan.page import plan_page
from didim.report.plan.space import space
from support.plans import plan_of


def pictures(page: bytes) -> list[dict]:
    found = re.search(rb'id="pictures">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_every_joint_has_a_picture_and_the_robot_a_scene():
    plan = plan_of()
    page = plan_page(plan, "didim excite panda")
    kinds = [each["kind"] for each in pictures(page)]
    assert kinds.count("curves") == plan.model.robot.n
    assert kinds.count("scene") == 1
    assert kinds.count("bars") == 1
    text = page.decode()
    assert "This motion stays inside every limit." in text
    assert "didim excite panda" in text
    assert 'id="gain"' not in text


def test_the_scene_has_the_capsules_in_their_places():
    plan = plan_of()
    scene = space(plan)["scene"]
    assert scene.capsules.shape[1:] == (len(scene.radii), 2, 3)
    link = [k for k, color in enumerate(scene.colors) if color == scene.keys[1][1]]
    np.testing.assert_allclose(scene.capsules[:, link[0], :, :2], 0.0, atol=1e-12)
    np.testing.assert_allclose(scene.capsules[:, link[0], 1, 2], 0.333 - 0.05)
    assert np.all(scene.nearest > 0)
    assert len(scene.names) == scene.t.size


def test_the_gain_over_an_estimate_is_shown():
    plan = plan_of()
    before = 4 * plan.sigma
    before[2] = np.inf
    page = plan_page(replace(plan, sigma_before=before)).decode()
    assert "falls to 0.25 of what it was" in page
    assert f"Not known at all until now: {plan.names[2]}." in page


def test_stopped_plans_and_messages_say_so():
    page = plan_page(replace(plan_of(), stopped=True, messages=("Mind the <gap>.",))).decode()
    assert "stopped on request" in page
    assert "Mind the &lt;gap&gt;." in page


def test_what_is_not_determined_is_counted_and_named():
    plan = plan_of()
    sigma = plan.sigma.copy()
    sigma[:40] = np.inf
    text = replace(plan, sigma=sigma).summary()
    assert f"not determined: 40 unknowns, {plan.names[0]}" in text
    assert f"of {np.count_nonzero(plan.values)} below 30 %" in text
    page = plan_page(replace(plan, sigma=sigma)).decode()
    assert "It does not determine 40 of 57 unknowns." in page


@pytest.mark.parametrize("name", ["emps", "double_pendulum", "tx40"])
def test_other_robots_have_a_report(name):
    """A sliding joint, a robot without shapes, one without limits in space."""
    plan = plan_of(name)
    plan = replace(plan, limits=Limits(plan.model.robot), sigma_random=None)
    page = plan_page(plan)
    assert "bars" not in [each["kind"] for each in pictures(page)]
    assert b"neither floor nor box" in page


def test_a_box_is_drawn():
    plan = plan_of()
    box = Limits(plan.model.robot, box=[[-1, 1], [-1, 1], [0, np.inf]])
    assert space(replace(plan, limits=box))["scene"].frame.shape == (12, 2, 3)


def test_names_mean_no_harm():
    plan = plan_of("scara")
    robot = replace(plan.model.robot, name="</script><script>alert(1)</script>")
    model = didim.DynamicModel(robot, effects=["viscous", "coulomb"]).base
    page = plan_page(replace(plan, model=model)).decode()
    assert "<script>alert" not in page


def test_the_ratio_to_the_random_plan():
    plan = plan_of()
    assert random_ratio(replace(plan, sigma_random=2 * plan.sigma)) == pytest.approx(0.5)
    assert np.isnan(random_ratio(replace(plan, sigma_random=None)))


def test_the_summary_names_what_is_least_known():
    plan = plan_of()
    worst = plan.names[int(np.argmax(plan.relative_sigma))]
    text = plan.summary()
    assert text.splitlines()[2].startswith(f"least known: {worst}")
    assert "every limit is met" in text
    assert "stopped" not in text
    assert "stopped on request" in replace(plan, stopped=True).summary()


def test_reports_are_not_written_over(tmp_path):
    file = plan_of("scara").report(tmp_path / "plan.html")
    with pytest.raises(didim.InputError, match="exists"):
        plan_of("scara").report(file)
    with pytest.raises(didim.InputError, match="html"):
        plan_of("scara").report(tmp_path / "plan.pdf")
