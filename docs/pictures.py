"""Draws the pictures of README and docs: `make pictures`."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import didim

IMAGES = Path(__file__).parent / "images"
SHARES = {
    "links: inertia, Coriolis, gravity": (
        "XX",
        "XY",
        "XZ",
        "YY",
        "YZ",
        "ZZ",
        "MX",
        "MY",
        "MZ",
        "M",
    ),
    "rotor": ("Ia",),
    "viscous friction": ("Fv",),
    "Coulomb friction": ("Fc",),
}


def torque_shares() -> None:
    """What the torque of joint 2 of the TX40 is made of, along a smooth motion."""
    model = didim.DynamicModel(didim.load_robot("tx40"))
    t = np.linspace(0, 4, 2000)
    rate = np.array([1.3, 1.7, 2.1, 1.5, 1.9, 2.3])
    q = 0.9 * np.sin(t[:, None] * rate)
    dq, ddq = 0.9 * rate * np.cos(t[:, None] * rate), -0.9 * rate**2 * np.sin(t[:, None] * rate)
    contributions = model.regressor(q, dq, ddq)[:, 1] * model.nominal
    stems = [name.rstrip("0123456789") for name in model.parameter_names]
    figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
    axes.plot(t, contributions.sum(axis=1), color="black", linewidth=2, label="torque")
    for label, members in SHARES.items():
        axes.plot(
            t,
            contributions[:, [stem in members for stem in stems]].sum(axis=1),
            linewidth=1.3,
            label=label,
        )
    axes.set(
        xlabel="time, s",
        ylabel="torque, N.m",
        title="What is the torque of joint 2 of a TX40 made of?",
        xlim=(0, 4),
    )
    axes.axhline(0, color="0.7", linewidth=0.8, zorder=0)
    axes.legend(
        fontsize=8,
        ncols=5,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.18),
        frameon=False,
        columnspacing=1.2,
    )
    figure.savefig(IMAGES / "torque_shares.png", dpi=110)


def sticking() -> None:
    """The SCARA's first joint around a reversal: exact contacts rest, smooth friction creeps
    through.
    """
    model = didim.DynamicModel(didim.load_robot("scara"))
    loop = didim.PD(natural_frequency=[10.0, 60.0])
    moves = didim.PointToPoint(
        [0.0, 1.0, 2.2, 3.2], [[0.0, 0.0], [0.4, -0.5], [0.4, -0.5], [0.1, 0.3]]
    )
    t = np.linspace(0, 3.2, 3201)
    figure, (speed, slip) = plt.subplots(2, 1, figsize=(8, 4.2), layout="constrained", sharex=True)
    for label, settings, style in (
        ("exact", {}, {"color": "black", "linewidth": 1.8}),
        (
            "smooth, width 0.05 rad/s",
            {"friction": "smooth", "width": 0.05},
            {"color": "tab:red", "linewidth": 1.2},
        ),
    ):
        motion = didim.simulate(model, model.nominal, loop, t=t, q_ref=moves, **settings)
        speed.plot(t, motion.dq[:, 0], label=label, **style)
        slip.plot(t, motion.slip[:, 0], **style)
    speed.set(
        ylabel="velocity, rad/s",
        title="Does a joint with Coulomb friction come to rest? (SCARA, joint 1)",
    )
    slip.set(xlabel="time, s", ylabel="slip: torque / limit", xlim=(0, 3.2))
    speed.legend(frameon=False)
    figure.savefig(IMAGES / "sticking.png", dpi=110)


def demo() -> None:
    """Measured and estimated torques after DIDIM, as `didim demo` draws them."""
    from didim.demo import demo as run
    from didim.report.pictures import new_axes, torques

    shown, axes = run(), new_axes(2, 1)
    for j in range(2):
        torques(shown.didim, shown.runs.usual, j, axes[j, 0], between=(10.0, 40.0))
    axes[0, 0].figure.savefig(IMAGES / "demo.png", dpi=100)


def report() -> None:
    """The first screen of the demo's report, as Chromium shows it."""
    import shutil
    import tempfile

    from playwright.sync_api import sync_playwright

    from didim.demo import demo as run

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        page = run().didim.report(Path(folder) / "demo.html")
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        opened = browser.new_page(viewport={"width": 1080, "height": 570})
        opened.goto(page.as_uri())
        opened.screenshot(path=IMAGES / "report.png")
        browser.close()


def plan() -> None:
    """What the links of a Panda sweep over, from the report of its design case."""
    import shutil
    import tempfile

    from playwright.sync_api import sync_playwright

    from didim.study import load_study
    from didim.study.planned import plan_study

    study = load_study(IMAGES.parents[1] / "cases" / "excite_panda.toml")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        page = plan_study(study, {}, {})[0].report(Path(folder) / "plan.html")
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        opened = browser.new_page(viewport={"width": 900, "height": 700})
        opened.goto(page.as_uri())
        slider = "e => { e.value = 160; e.dispatchEvent(new Event('input')); }"
        opened.eval_on_selector("input[type=range]", slider)
        opened.query_selector("#space .plot").screenshot(path=IMAGES / "plan.png")
        browser.close()


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    torque_shares()
    sticking()
    demo()
    report()
    plan()
