"""Reports in a real browser: headless Chromium opens them from disk, as a person would."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from didim.cli import main
from didim.fleet.page import fleet_page
from support.estimates import estimate_of
from support.many import virtual_fleet
from support.plans import plan_of
from support.reported import found, hostile
from support.virtual import model, share_paper

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: pip install '.[test]'"
)

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium on this machine: on Debian, apt install chromium"
    ),
]

QUIET = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as driver:
        opened = driver.chromium.launch(
            executable_path=CHROMIUM, args=[*QUIET.split(), "--disable-sync"]
        )
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as monkeypatch:
        share_paper(monkeypatch)
        files = ["--report", str(folder / "demo.html"), "--picture", str(folder / "demo.png")]
        assert main(["demo", *files]) == 0
    return folder / "demo.html"


def new_page(browser, **settings: Any) -> Any:
    """A page of its own context, which keeps what the browser complains of and asks for."""
    page = browser.new_context(**settings).new_page()
    page.complaints, page.asked = [], []
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda problem: page.complaints.append(str(problem)))
    page.on("request", lambda request: page.asked.append(request.url))
    return page


@pytest.fixture(scope="module")
def desktop(browser) -> Any:
    """The page that tests with a mouse go to their file with: a context costs half a second."""
    return new_page(browser)


@pytest.fixture
def opened(browser, desktop):
    """A function that opens a file, on the desktop's page or, with settings, on one of its own."""
    own = []

    def open_file(
        file: Path, width: int = 1280, color_scheme: str = "light", **settings: Any
    ) -> Any:
        page = desktop
        if settings:
            page = new_page(browser, **settings)
            own.append(page.context)
        page.goto("about:blank")  # nothing of the page before is left, not even where it was
        page.set_viewport_size({"width": width, "height": 850})
        page.emulate_media(media="screen", color_scheme=color_scheme)
        page.complaints, page.asked = [], []
        page.goto(file.resolve().as_uri())
        return page

    yield open_file
    for context in own:
        context.close()


def paths(page, plot) -> list[str]:
    return [path.get_attribute("d") for path in plot.query_selector_all("path")]


def test_the_demo_opens_quickly_and_asks_for_nothing(opened, demo):
    page = opened(demo)
    assert page.complaints == []
    assert page.asked == [demo.resolve().as_uri()]
    assert demo.stat().st_size < 6e6
    assert page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd") < 2000
    plots = page.query_selector_all(".plot")
    assert len(plots) >= 11
    assert all(plot.query_selector("svg") and plot.get_attribute("aria-label") for plot in plots)


def test_the_verdict_is_on_the_first_screen(opened, demo):
    for width in (1280, 390):
        page = opened(demo, width)
        box = page.query_selector(".banner h1").bounding_box()
        assert box["y"] + box["height"] < 300
        assert page.query_selector(".uses").bounding_box()["y"] < 400
        assert page.inner_text(".banner h1").endswith("This model may be used.")


def test_a_drag_zooms_the_joints_of_a_record_together(opened, demo):
    page = opened(demo)
    plots = page.query_selector_all(".plot[tabindex]")
    before = [paths(page, plot) for plot in plots]
    plots[0].scroll_into_view_if_needed()
    box = plots[0].bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.4 * box["width"], middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.5 * box["width"], middle, steps=4)
    page.mouse.up()
    low, high = (float(part) for part in plots[0].get_attribute("data-view").split())
    assert 20 < low < high < 35
    assert plots[1].get_attribute("data-view") == plots[0].get_attribute("data-view")
    after = [paths(page, plot) for plot in plots]
    assert after[0] != before[0]
    assert after[1] != before[1]
    assert after[2] == before[2], "another record stays as it is"
    assert "measured" in page.inner_text("output >> nth=0")
    page.mouse.dblclick(box["x"] + 0.5 * box["width"], middle)
    assert [paths(page, plot) for plot in plots] == before
    assert page.complaints == []


@pytest.mark.long
def test_buttons_and_keys_zoom_too(opened, demo):
    page = opened(demo, 390, has_touch=True, is_mobile=True)
    plot = page.query_selector(".plot[tabindex]")
    page.query_selector("button[data-act=in]").tap()
    first = plot.get_attribute("data-view")
    page.query_selector("button[data-act=right]").tap()
    assert plot.get_attribute("data-view") != first
    plot.focus()
    for key in ("+", "ArrowLeft", "-", "0"):
        seen = plot.get_attribute("data-view")
        page.keyboard.press(key)
        assert plot.get_attribute("data-view") != seen, key
    box = page.query_selector("button[data-act=in]").bounding_box()
    assert min(box["width"], box["height"]) >= 44


@pytest.mark.parametrize("width", [320, 768, 1280])
def test_no_page_is_wider_than_the_screen(opened, demo, width):
    page = opened(demo, width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if width >= 390:
        assert (
            page.evaluate(
                "(w => w.scrollWidth - w.clientWidth)(document.querySelector('#parameters .wide'))"
            )
            <= 0
        )


BROKEN_NAMES = """
() => [...document.querySelectorAll("#parameters th[scope=row]")].filter((th) => {
  const range = document.createRange();
  range.selectNodeContents(th);
  const tops = [...range.getClientRects()].map((rect) => Math.round(rect.top / 8));
  return Math.max(...tops) - Math.min(...tops) > 1;
}).map((th) => th.innerText)
"""


@pytest.mark.parametrize("width", [400, 1280])
def test_parameter_names_do_not_break_and_wide_tables_scroll(opened, tmp_path, width):
    """A six-joint robot with long formulas, on a phone too."""
    arm = model("tx40")
    file = estimate_of(arm).report(tmp_path / "arm.html")
    page = opened(file, width)
    assert page.evaluate(BROKEN_NAMES) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for table in page.query_selector_all("#parameters .wide"):
        table.evaluate("each => each.scrollLeft = 1e4")
        end = table.evaluate("each => each.scrollLeft + each.clientWidth - each.scrollWidth")
        assert abs(end) <= 1, "the last column can be reached"


CONTRAST = """
() => {
  const linear = (c) => (c /= 255, c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const light = (text) => {
    const [r, g, b] = text.match(/[\\d.]+/g).map((part) => linear(Number(part)));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (e) => {
    const clear = (e) => /rgba\\(.*, 0\\)|transparent/.test(getComputedStyle(e).backgroundColor);
    while (e && clear(e)) e = e.parentElement;
    return getComputedStyle(e || document.body).backgroundColor;
  };
  const low = [];
  const shown = "p, li, td, th, h1, h2, h3, a, dd, dt, figcaption, button, .level, .sign";
  for (const e of document.querySelectorAll(shown)) {
    const a = light(getComputedStyle(e).color), b = light(ground(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) low.push(`${e.tagName} ${e.className} ${ratio.toFixed(2)}`);
  }
  return [...new Set(low)];
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_light_and_dark(opened, demo, tmp_path, scheme):
    for kind in ("several records", "unsolved"):  # with care, and not at all
        file = found(kind).report(tmp_path / f"{kind}.html")
        assert opened(file, color_scheme=scheme).evaluate(CONTRAST) == []
    page = opened(demo, color_scheme=scheme)
    assert page.evaluate(CONTRAST) == []
    ground = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")


def test_print_is_light_and_has_no_buttons(opened, demo):
    page = opened(demo, color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert (
        page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        == "rgb(255, 255, 255)"
    )
    assert not page.query_selector(".tools").is_visible()
    assert page.query_selector(".plot svg").is_visible()


def test_names_that_mean_harm_do_none(opened, tmp_path):
    page = opened(hostile().report(tmp_path / "hostile.html"))
    assert page.evaluate("window.broken") is None
    assert page.complaints == []
    assert len(page.asked) == 1
    page = opened(tmp_path / "hostile.html", 390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize(
    "kind",
    [
        "IDIM",
        "unsolved",
        "no records",
        "effects",
        *(pytest.param(each, marks=pytest.mark.long) for each in ("gains", "open loop")),
    ],
)
def test_other_estimates_open_without_complaint(opened, tmp_path, kind):
    page = opened(found(kind).report(tmp_path / "x.html"))
    assert page.complaints == []
    assert all(plot.query_selector("svg") for plot in page.query_selector_all(".plot"))


def test_a_drag_beyond_the_frame_ends_at_the_frame(opened, demo):
    page = opened(demo)
    plot = page.query_selector(".plot[tabindex]")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 1.2 * box["width"], box["y"] + 50, steps=4)
    page.mouse.up()
    low, high = (float(part) for part in plot.get_attribute("data-view").split())
    assert 50 < low < 60
    assert high == pytest.approx(61.8, abs=0.1)


def test_keys_of_the_browser_are_left_to_it(opened, demo):
    page = opened(demo)
    plot = page.query_selector(".plot[tabindex]")
    plot.focus()
    for key in ("Control++", "Control+-", "Alt+ArrowLeft"):
        page.keyboard.press(key)
    assert plot.get_attribute("data-view") is None


@pytest.fixture(scope="module")
def plan(tmp_path_factory) -> Path:
    return plan_of().report(tmp_path_factory.mktemp("plan") / "plan.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_plan_can_be_read(opened, plan, scheme):
    for width in (320, 1280):
        page = opened(plan, width, color_scheme=scheme)
        assert page.complaints == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(CONTRAST) == []
    assert all(plot.query_selector("svg") for plot in page.query_selector_all(".plot"))


def test_a_fleet_can_be_read(opened, tmp_path):
    fleet = virtual_fleet(0, odd=0.3, drift=0.04)
    links = ["reports/x.html"] * len(fleet.members)
    (tmp_path / "fleet.html").write_bytes(fleet_page(fleet, links))
    for width, scheme in ((320, "light"), (1280, "dark")):
        page = opened(tmp_path / "fleet.html", width, color_scheme=scheme)
        assert page.complaints == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(CONTRAST) == []
    plots = page.query_selector_all(".plot")
    assert len(plots) == 2 * len(fleet.names)
    assert all(plot.query_selector("svg") for plot in plots)


def test_the_robot_of_a_plan_is_turned_and_moved(opened, plan):
    page = opened(plan)
    plot = page.query_selector("#space .plot")
    seen = [paths(page, plot)]
    page.query_selector("#space button[data-act=left]").click()
    seen.append(paths(page, plot))
    plot.focus()
    page.keyboard.press("ArrowUp")
    seen.append(paths(page, plot))
    box = plot.bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 260, box["y"] + 200, steps=3)
    page.mouse.up()
    seen.append(paths(page, plot))
    before = page.inner_text("#space output")
    page.eval_on_selector(
        "#space input", "e => { e.value = 100; e.dispatchEvent(new Event('input')); }"
    )
    seen.append(paths(page, plot))
    assert all(one != other for one, other in pairwise(seen))
    assert page.inner_text("#space output") != before
    assert "nearest limit" in before
    assert page.complaints == []
