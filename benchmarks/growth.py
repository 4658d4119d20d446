"""How time and memory grow: against joints, duration, rate and the number of experiments, with the
fitted exponents.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import didim
from support.records import DATA

JOINTS = (2, 4, 6, 8, 12)
DURATIONS = (10, 30, 100)
RATES = (500, 1000, 2000)
MOST = {"IDIM": (2.0, None), "DIDIM": (2.0, None), "refined DIDIM": (1.5, 90.0)}
"""Of 1000 s at 1 kHz: GiB and seconds."""
LONGEST = {
    "didim --help": 0.5,
    "first didim demo": 25.0,
    "second didim demo": 8.0,
    "didim identify, SCARA": 1.5,
    "DIDIM with unknown gains, TX40, 10 s": 4.3,
    "refined DIDIM, TX40, 10 s": 1.3,
    "the double pendulum's record, 75 s, with its tests": 7.7,
}
"""What a person waits for, s."""


@dataclass(frozen=True)
class Growth:
    """Times over sizes, and the exponent of the power law that fits them."""

    task: str
    sizes: tuple[float, ...]
    seconds: tuple[float, ...]
    most: float | None
    """What the exponent may be; None: beside others."""

    @property
    def exponent(self) -> float:
        """Slope of log time over log size."""
        return float(np.polyfit(np.log(self.sizes), np.log(self.seconds), 1)[0])


def chain(n: int) -> didim.DynamicModel:
    """An arm of n joints whose axes alternate, in gravity."""
    joint = """
[[joint]]
name = "joint_{j}"
alpha = "{alpha}"
d = {d}
position = [-1.5, 1.5]
inertial = {{ mass = 1.0, centre = [0.1, 0.0, 0.02], inertia = [0.02, 0.0, 0.0, 0.03, 0.0, 0.03] }}
nominal = {{ Ia = 0.05, Fv = 0.5, Fc = 0.5 }}
"""
    text = 'name = "chain"\neffects = ["rotor", "viscous", "coulomb"]\n'
    text += "".join(
        joint.format(j=j, alpha="-pi/2" if j % 2 else "pi/2", d=0.15 if j else 0.0)
        for j in range(n)
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "chain.toml"
        file.write_text(text)
        return didim.DynamicModel(didim.load_robot(file))


def virtual(
    model: didim.DynamicModel, seconds: float = 10.0, rate: float = 1000.0, seed: int = 0
) -> didim.Experiment:
    """A record in a stiff loop."""
    trajectory = didim.Fourier.random(
        model.robot, seed, period=10.0, periods=max(1, round(seconds / 10)), share=0.4
    )
    record, _ = didim.virtual_experiment(
        model, model.nominal, loop(), trajectory, rate=rate, noise=0.01, seed=seed
    )
    return record


def loop() -> didim.PD:
    """Stiff enough for plain DIDIM."""
    return didim.PD(natural_frequency=200.0)


def taken(function: Callable[[], object], repeats: int = 3) -> float:
    """Best time, s."""
    best = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - begin)
    return best


def growths() -> list[Growth]:
    """All of them."""
    tx40 = didim.DynamicModel(didim.load_robot("tx40"), ["rotor", "viscous", "coulomb"])
    simulated, identified = [], []
    for n in JOINTS:
        model = chain(n)
        record = virtual(model)
        method = didim.DIDIM(
            controller=loop(),
            initial="nominal",
            max_iterations=2,
            exact_interval=False,
            lack_of_fit=False,
        )
        # one step a sample whatever the number of joints: stiffness is another matter
        soft = didim.PD(natural_frequency=30.0)

        def run(m: Any = model, r: Any = record, s: Any = soft) -> Any:
            return didim.simulate(m, m.nominal, s, t=r.t, q_ref=r.q_ref, check=False)

        simulated.append(taken(run))
        identified.append(taken(lambda m=model, r=record, s=method: didim.identify(m, r, s), 2))
    long = [virtual(tx40, seconds) for seconds in DURATIONS]
    fast = [virtual(tx40, 10.0, rate) for rate in RATES]
    several = [virtual(tx40, 10.0, seed=seed) for seed in range(4)]
    method = didim.DIDIM(
        controller=loop(),
        initial="nominal",
        max_iterations=2,
        exact_interval=False,
        lack_of_fit=False,
    )
    identify = lambda records: taken(lambda: didim.identify(tx40, records, method), 2)  # noqa: E731
    return [
        Growth("simulation against joints, 10 s", JOINTS, tuple(simulated), 2.0),
        Growth("DIDIM, 2 iterations, against joints", JOINTS, tuple(identified), 3.0),
        Growth(
            "DIDIM, 2 iterations, TX40, against duration, s",
            DURATIONS,
            tuple(map(identify, long)),
            1.1,
        ),
        Growth(
            "DIDIM, 2 iterations, TX40, against rate, Hz", RATES, tuple(map(identify, fast)), None
        ),
        Growth(
            "DIDIM, 2 iterations, TX40, against experiments",
            (1, 2, 4),
            tuple(identify(several[:k]) for k in (1, 2, 4)),
            None,
        ),
    ]


_MEMORY = """
import resource, sys, time
import didim
from benchmarks.growth import loop, virtual
model = didim.DynamicModel(didim.load_robot("tx40"), ["rotor", "viscous", "coulomb"])
record = virtual(model, 1000.0)
methods = {
    "IDIM": didim.IDIM(cutoff=60.0),
    "DIDIM": didim.DIDIM(controller=loop(), initial="nominal", max_iterations=2),
    "refined DIDIM": didim.DIDIM(
        controller=loop(), initial="nominal", max_iterations=2, refine=True
    ),
}
begin = time.perf_counter()
found = didim.identify(model, record, methods[sys.argv[1]])
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(memory, time.perf_counter() - begin, found.status)
"""


def memory() -> dict[str, tuple[float, float, str]]:
    """Peak GiB, seconds and status of each method on 1000 s at 1 kHz of six joints, each in a
    process of its own.
    """
    found = {}
    for method in ("IDIM", "DIDIM", "refined DIDIM"):
        run = subprocess.run(
            [sys.executable, "-c", _MEMORY, method],
            capture_output=True,
            text=True,
            env=dict(os.environ),
            check=False,
        )
        try:
            peak, seconds, status = run.stdout.split()
            found[method] = (float(peak), float(seconds), status)
        except ValueError:
            found[method] = (
                float("nan"),
                float("nan"),
                (run.stderr.strip().splitlines() or ["failed"])[-1],
            )
    return found


def cold_start() -> dict[str, float]:
    """Seconds of what a person waits for, in processes of their own; the first demo compiles into a
    new cache. The study is that of `didim init`, and its first run compiles.
    """
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        fresh = {**os.environ, "DIDIM_CACHE_DIR": folder}
        demo = [
            sys.executable,
            "-m",
            "didim",
            "demo",
            "--picture",
            f"{folder}/demo.png",
            "--report",
            f"{folder}/demo.html",
        ]
        didim_command = [sys.executable, "-m", "didim"]
        study = f"{folder}/study.toml"
        identify = [*didim_command, "identify", study]
        for made in ([*didim_command, "init", study, "--robot", "scara"], identify):
            subprocess.run(made, check=True, capture_output=True)
        subprocess.run(identify, check=True, capture_output=True)
        for name, command in (
            ("import didim", [sys.executable, "-c", "import didim"]),
            ("didim --help", [sys.executable, "-m", "didim", "--help"]),
            ("first didim demo", demo),
            ("second didim demo", demo),
        ):
            begin = time.perf_counter()
            subprocess.run(command, env=fresh, check=True, capture_output=True)
            found[name] = time.perf_counter() - begin
        found["didim identify, SCARA"] = taken(
            lambda: subprocess.run(identify, check=True, capture_output=True)
        )
    return found


def exact_method() -> dict[str, float]:
    """Seconds of the exact method on the TX40 case, and of a measured record where it is at hand,
    after compiling.
    """
    case = didim.load_case(Path(__file__).parents[1] / "cases" / "tx40.toml")
    record, _ = case.experiment()
    record = record.between(record.t[0], record.t[0] + 10.0)
    found = {}
    for name, setting in (
        ("DIDIM with unknown gains, TX40, 10 s", "estimate_gains"),
        ("refined DIDIM, TX40, 10 s", "refine"),
    ):
        method = didim.DIDIM(controller=case.controller, lack_of_fit=False, **{setting: True})
        found[name] = taken(lambda m=method: didim.identify(case.model, record, m), 2)
    if (DATA / "double_pendulum").exists():
        os.environ.setdefault("DIDIM_DATA", str(DATA))
        study = Path(__file__).parents[1] / "examples" / "double_pendulum.toml"
        name = "the double pendulum's record, 75 s, with its tests"
        found[name] = taken(lambda: didim.load_study(study).run(), 2)
    return found


def text(
    growing: list[Growth], peaks: dict[str, tuple[float, float, str]], starts: dict[str, float]
) -> str:
    """All of it as Markdown."""
    lines = ["| growth | sizes | seconds | exponent | at most |", "|---|---|---|---:|---:|"]
    for each in growing:
        sizes, seconds = (
            ", ".join(f"{s:g}" for s in each.sizes),
            ", ".join(f"{s:.2g}" for s in each.seconds),
        )
        missed = "" if each.most is None or each.exponent <= each.most else " **missed**"
        lines.append(
            f"| {each.task} | {sizes} | {seconds} | {each.exponent:.2f} | "
            f"{'' if each.most is None else each.most}{missed} |"
        )
    lines += [
        "",
        "| 1000 s at 1 kHz, TX40 | peak GiB | at most | seconds | at most | status |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for method, (peak, seconds, status) in peaks.items():
        memory_asked, time_asked = (
            _asked(*pair) for pair in zip((peak, seconds), MOST[method], strict=True)
        )
        lines.append(
            f"| {method} | {peak:.2f} | {memory_asked} | {seconds:.0f} | {time_asked} | {status} |"
        )
    lines += ["", "| what a person waits for | seconds | at most |", "|---|---:|---:|"]
    lines += [
        f"| {name} | {seconds:.2f} | {_asked(seconds, LONGEST.get(name))} |"
        for name, seconds in starts.items()
    ]
    return "\n".join(lines)


def _asked(found: float, most: float | None) -> str:
    """What is asked for, and whether it is reached."""
    if most is None:
        return ""
    return f"{most:g}, reached" if found <= most else f"{most:g}, **missed**"


def as_json(growing: list[Growth]) -> list[dict[str, object]]:
    """Growths as plain data."""
    return [json.loads(json.dumps({**vars(each), "exponent": each.exponent})) for each in growing]
