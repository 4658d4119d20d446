"""The report as text: every section for every kind of estimate, nothing from outside unescaped,
nothing overwritten.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import didim
import didim.report
from didim.report.data import report_data
from didim.report.sections import SECTIONS
from didim.report.sections.convergence import Convergence
from support.reported import HOSTILE, KINDS, found, hostile
from support.virtual import inverse_record, loop, model, scara_record

TEMPLATES = Path(didim.report.__file__).parent / "templates"


class Reader(HTMLParser):
    """Elements, attributes and visible text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text, self.open = "", []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "link", "br", "img", "line"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag != "line":
            assert self.open.pop() == tag, f"{tag} is closed out of turn"

    def handle_data(self, data):
        if self.open[-1:] not in (["script"], ["style"]):
            self.text += data


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("reports")
    return {
        kind: found(kind).report(folder / f"{kind}.html").read_text(encoding="utf-8")
        for kind in KINDS
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_section_is_there_or_says_why_not(pages, kind):
    page = Reader(pages[kind])
    assert not page.open, "every element is closed"
    anchors = [attributes["id"] for tag, attributes in page.tags if tag == "section"]
    there = ("friction",) if kind != "effects" else ("friction", "effects")
    optional = [
        each for each in ("friction", "effects", "improvement", "payload") if each not in there
    ]
    assert anchors == [each.anchor for each in SECTIONS if each.anchor not in optional]
    links = {attributes["href"] for tag, attributes in page.tags if tag == "a"}
    assert {f"#{anchor}" for anchor in anchors[1:]} <= links
    for word in ("nan", "inf", "None", "undefined", "Undefined", "{{", "}}"):
        assert (
            not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", page.text.replace("null", ""))
            or kind == "unsolved"
        ), word


@pytest.mark.slow
def test_sections_that_do_not_apply_say_so_in_a_line(pages):
    for kind, sentence in (
        ("IDIM", "IDIM does not iterate"),
        ("IDIM", "IDIM simulates no motion"),
        ("IDIM", "IDIM simulates no loop"),
        ("no records", "The records are not part of a saved estimate"),
        ("several records", "No record was held out"),
        ("open loop", "simulates no loop here"),
    ):
        assert sentence in Reader(pages[kind]).text, (kind, sentence)


@pytest.mark.slow
def test_the_first_screen_says_what_and_whether(pages):
    text = pages["DIDIM"]
    top = Reader(text[: text.index("<dl")] + "</section></main></body></html>").text
    assert "scara" in top
    assert "DIDIM" in top
    assert "This model may be used." in top
    assert "Torque of other motions" in top
    assert "Do not use this model." in Reader(pages["unsolved"]).text


def test_one_section_one_class_one_template():
    names = {path.stem for path in TEMPLATES.glob("*.html")}
    assert names == {section.anchor for section in SECTIONS} | {
        "page",
        "macros",
        "absent",
        "notebook",
    }
    assert len({type(section) for section in SECTIONS}) == len(SECTIONS)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_loaded(pages, kind):
    page = Reader(pages[kind])
    for tag, attributes in page.tags:
        assert tag not in ("img", "iframe", "object", "embed", "base", "form", "audio", "video")
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith("#") or attributes["href"] == "data:,"
        assert "style" not in attributes, "the policy would not allow it"
        assert not [name for name in attributes if name.startswith("on")]
    style = pages[kind][pages[kind].index("<style>") : pages[kind].index("</style>")]
    assert "url(" not in style
    assert "@import" not in style


@pytest.mark.slow
def test_the_policy_names_the_only_script_that_may_run(pages):
    text = pages["DIDIM"]
    policy = re.search(r'Policy" content="([^"]*)"', text).group(1).replace("&#39;", "'")
    assert "default-src 'none'" in policy
    for element in ("script", "style"):
        content = re.search(rf"<{element}>(.*?)</{element}>", text, re.DOTALL).group(1)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{element}-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy


@pytest.mark.slow
def test_names_from_outside_are_escaped(tmp_path):
    text = hostile().report(tmp_path / "hostile.html").read_text(encoding="utf-8")
    page = Reader(text)
    assert not [tag for tag, _ in page.tags if tag == "img"]
    assert [attributes.get("type") for tag, attributes in page.tags if tag == "script"] == [
        "application/json",
        None,
    ]
    assert page.text.count(HOSTILE) > 10, "it is shown as it is written"
    assert "&amp;49" not in text
    assert "&amp;{{ 7*7 }}" in text
    data = re.search(r'id="pictures">(.*?)</script>', text, re.DOTALL).group(1)
    assert "<" not in data
    assert any(
        HOSTILE in series["name"]
        for each in json.loads(data)
        if each["kind"] == "curves"
        for series in each["series"]
    )
    assert "<script" not in hostile()._repr_html_()


@pytest.mark.slow
def test_the_table_has_units_intervals_and_formulas(pages):
    text = pages["DIDIM"]
    row = re.search(r"<tr[^>]*><th scope=\"row\">ZZ1R</th>(.*?)</tr>", text).group(1)
    cells = re.findall(r"<td[^>]*>(.*?)</td>", row)
    estimate = found("DIDIM")
    low, high = estimate.interval()[0]
    assert cells[:5] == [
        f"{estimate.values[0]:.4g}",
        "kg m²",
        f"{low:.4g}",
        f"{high:.4g}",
        f"{estimate.relative_sigma[0]:.2g}",
    ]
    assert 'class="n"' in row
    assert "ZZ1 + Ia1 + 0.25*M2" in text


@pytest.mark.slow
def test_how_to_run_it_again(pages):
    text = Reader(pages["DIDIM"]).text
    for each in found("DIDIM").provenance["data"]:
        assert each["sha256"] in text
    assert found("DIDIM").provenance["held_out"][0]["sha256"] in text
    for name in ("python", "numpy", "scipy", "numba", "didim"):
        assert f"{name} {found('DIDIM').provenance['versions'][name]}" in text
    assert '"decimation": 20' in text


@pytest.mark.slow
def test_estimated_gains_are_in_the_table_and_the_loop(pages):
    text = Reader(pages["gains"]).text
    assert "kp1" in text
    assert "Its gains were estimated" in text
    assert f"{found('gains').gains['kp1'][0]:.4g}" in text


@pytest.mark.slow
def test_records_of_a_loaded_estimate_can_be_given(tmp_path):
    estimate = found("DIDIM")
    loaded = didim.load_estimate(estimate.save(tmp_path / "x.json"))
    assert loaded.experiments == ()
    text = loaded.report(
        tmp_path / "x.html", estimate.experiments, list(estimate.held_out)
    ).read_text()
    assert text.count('data-act="in"') == 4
    assert "not those that" not in text
    other, _ = scara_record(noise=0.02)
    text = loaded.report(tmp_path / "y.html", experiments=other).read_text()
    assert "The records of this report are not those that the parameters were fitted to." in text


def test_a_record_of_another_time_or_size_is_shown_from_its_start(tmp_path):
    estimate, record = found("IDIM"), found("IDIM").experiments[0]
    late = replace(record, t=np.asarray(record.t) + 1.7e9, q_ref=None)
    text = replace(estimate, experiments=(late,)).report(tmp_path / "x.html").read_text()
    assert "time, s, from 1700000000" in text


def test_nothing_is_overwritten_and_wrong_names_are_refused(tmp_path):
    estimate, file = found("IDIM"), tmp_path / "x.html"
    file.write_text("mine")
    with pytest.raises(didim.InputError, match="exists already"):
        estimate.report(file)
    assert file.read_text() == "mine"
    estimate.report(file, overwrite=True)
    for path, message in (
        (tmp_path / "x.pdf", "must end in .html"),
        (tmp_path / "no" / "x.html", "no folder"),
        (3, "path"),
    ):
        with pytest.raises(didim.InputError, match=message):
            estimate.report(path)
    for wrong in (3, [3], "run.csv"):
        with pytest.raises(didim.InputError, match="experiments must be"):
            estimate.report(tmp_path / "y.html", experiments=wrong)
    assert not (tmp_path / "y.html").exists()


def test_a_record_that_cannot_be_predicted_is_said(tmp_path):
    estimate = found("DIDIM")
    other = didim.Experiment(
        np.arange(0, 1, 0.01), np.ones((100, 2)), np.zeros((100, 2)), name="too short"
    )
    text = Reader(replace(estimate, held_out=(other,)).report(tmp_path / "x.html").read_text()).text
    assert "Not predicted: The record is too short" in text


@pytest.mark.slow
def test_long_records_stay_small(tmp_path):
    """300 s at 1 kHz: the curves are thinned to a budget."""
    t = np.arange(0, 300, 1e-3)
    q, dq, ddq = didim.Fourier.random(model().robot, 1, periods=40).sample(t)
    tau = model().inverse_dynamics(q, dq, ddq, model().nominal)
    estimate = didim.identify(model(), didim.Experiment(t, tau, None, q), didim.IDIM(cutoff=None))
    assert estimate.report(tmp_path / "x.html").stat().st_size < 6e6


@pytest.mark.slow
def test_notebooks_show_verdict_and_table():
    text = Reader(found("gains")._repr_html_()).text
    assert "converged" in text
    assert "ZZ1R" in text
    assert "kp1" in text
    assert "may be used" in text


def test_records_in_another_order_are_the_same_records(tmp_path):
    estimate = found("several records")
    text = estimate.report(tmp_path / "x.html", experiments=estimate.experiments[::-1]).read_text()
    assert "are not those that" not in text
    assert "are not those that" not in found("no records").report(tmp_path / "y.html").read_text()


def test_held_out_records_that_are_given_are_judged(tmp_path):
    """Tables, pictures and verdict are of the records of this report."""
    estimate = replace(found("DIDIM"), validation=(), held_out=())
    other, _ = scara_record(noise=0.02)
    text = Reader(
        estimate.report(
            tmp_path / "x.html", validation=replace(other, name="given later")
        ).read_text()
    ).text
    assert "No record was held out" not in text
    assert text.count("given later") >= 4
    assert "This model may be used." in text


def test_records_of_one_name_zoom_apart(tmp_path):
    estimate = found("several records")
    alike = tuple(replace(each, name="") for each in estimate.experiments)
    text = replace(estimate, experiments=alike).report(tmp_path / "x.html").read_text()
    data = json.loads(re.search(r'id="pictures">(.*?)</script>', text, re.DOTALL).group(1))
    assert len({each["zoom"] for each in data if each.get("zoom")}) == 2


@pytest.mark.slow
def test_positions_are_not_called_torques(pages):
    text = pages["position"]
    table = re.search(r'id="validation">.*?</table>', text, re.DOTALL).group(0)
    assert ">fit<" not in table
    assert "of the position" in text


@pytest.mark.slow
def test_what_is_not_known_is_not_called_uncorrelated(pages):
    assert "Fewer than two parameters have a known uncertainty" in pages["unsolved"]


def test_many_joints_have_curves_that_can_be_told_apart():
    from didim.report.sections.section import color

    assert len({color(k) for k in range(16)}) == 16


def pictures_of(text: str) -> dict[str, dict]:
    """The pictures of a page, by the label of their x axis and their order."""
    data = json.loads(re.search(r'id="pictures">(.*?)</script>', text, re.DOTALL).group(1))
    return {f"{each['x']} {k}": each for k, each in enumerate(data) if each["kind"] == "curves"}


def section_of(text: str, anchor: str) -> str:
    return re.search(rf'<section id="{anchor}">.*?</section>', text, re.DOTALL).group(0)


@pytest.mark.slow
def test_friction_has_a_picture_of_each_joint_with_band_and_rows(pages):
    shown = [each for name, each in pictures_of(pages["DIDIM"]).items() if "velocity" in name]
    assert [[s["style"] for s in each["series"]] for each in shown] == [
        ["points", "band", "line"]
    ] * 2
    text = Reader(section_of(pages["DIDIM"], "friction")).text
    curve = found("DIDIM").friction(0)
    assert f"{curve.torque[-1]:.3g} N m at {curve.velocity[-1]:.3g} rad/s" in text
    assert f"{curve.points.size} rows" in text
    lines = [each["series"][-1] for each in shown]
    drawn = np.frombuffer(base64.b64decode(lines[0]["y"]), "<f4")
    np.testing.assert_allclose(drawn, curve.torque, rtol=1e-5)


@pytest.mark.slow
def test_effects_shapes_and_loads_are_shown(pages):
    text = pages["effects"]
    shown = pictures_of(text)
    assert sum("position, rad" in name for name in shown) == 2
    loaded = [each for name, each in shown.items() if "velocity" in name]
    assert [s["name"] for s in loaded[0]["series"]][-1] == "without load"
    estimate = found("effects")
    value, sigma = estimate.shapes["vs1"]
    row = re.search(r"<th scope=\"row\">vs1</th>(.*?)</tr>", text).group(1)
    assert re.findall(r"<td[^>]*>(.*?)</td>", row)[:3] == [
        f"{value:.4g}",
        "rad/s",
        f"{2 * sigma:.4g}",
    ]
    assert "ds1 = 2" in section_of(text, "parameters")
    assert "vs1" in Reader(estimate._repr_html_()).text
    assert "vs1" in estimate.summary()


@pytest.mark.slow
def test_curves_without_records_have_no_points_and_unknown_ones_no_band(pages):
    shown = [each for name, each in pictures_of(pages["no records"]).items() if "velocity" in name]
    assert [s["style"] for s in shown[0]["series"]] == ["band", "line"]
    shown = [each for name, each in pictures_of(pages["unsolved"]).items() if "velocity" in name]
    assert [s["style"] for s in shown[0]["series"]] == ["line"]
    assert "How well it is known cannot be said" in pages["unsolved"]


def test_a_model_without_friction_has_no_such_section(tmp_path):
    bare = didim.DynamicModel(didim.load_robot("scara"), ["rotor", "offset"])
    record = inverse_record(bare, np.nan_to_num(bare.nominal), noise=0.1)
    text = didim.identify(bare, record, didim.IDIM()).report(tmp_path / "x.html").read_text()
    assert 'id="friction"' not in text
    assert 'id="effects"' not in text
    assert "#friction" not in text


def test_convergence_shows_every_kind_of_parameter():
    """A spring's stiffness is neither inertia nor friction."""
    names = ["rotor", "viscous", "coulomb", didim.effects()["spring"].at(1)]
    springy = didim.DynamicModel(model().robot, names)
    record, _ = scara_record(rate=200.0, noise=0.02, periods=1)
    method = didim.DIDIM(controller=loop(), decimation=5, lack_of_fit=False)
    estimate = didim.identify(springy, record, method)
    shown = Convergence().content(report_data(estimate))["figures"][1]
    assert {series.name for series in shown.series} == set(estimate.names)
    assert any(name.startswith("ks") for name in estimate.names)
