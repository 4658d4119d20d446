"""Long records are tested on blocks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import didim
from didim.signals.states import States
from didim.structure import blocks
from didim.structure.blocks import tested_blocks
from support.virtual import model


def record(seconds: float, rate: float = 100.0, **changed) -> didim.Experiment:
    t = np.arange(round(seconds * rate)) / rate
    given = {"tau": np.sin(t)[:, None] + 2.0, "q_ref": np.cos(t)[:, None]} | changed
    return didim.Experiment(t=t, **given)


def test_short_records_are_tested_whole():
    given = [record(30.0), record(60.0)]
    found = tested_blocks(given, 1.0)
    assert (list(found.records), found.origin, found.part) == (given, (0, 1), 1.0)


def test_blocks_are_spread_over_a_long_record(monkeypatch):
    monkeypatch.setattr(blocks, "MOST_SAMPLES", 10_000)
    long = record(1000.0)
    blocked = tested_blocks([long, record(10.0)], 1.0)
    found = blocked.records[:-1]
    assert [round(each.t[-1] - each.t[0]) for each in found] == [20] * 5
    assert found[0].t[0] == long.t[0]
    assert found[-1].t[-1] == pytest.approx(long.t[-1], abs=0.02)
    assert blocked.origin == (0, 0, 0, 0, 0, 1)
    assert blocked.part == pytest.approx(0.11, rel=0.02)
    slow = tested_blocks([long], 5.0)
    assert [each.t.size for each in slow.records] == [pytest.approx(10_000, abs=2)]
    assert (blocked.transient, slow.transient) == (3.0, 15.0)


def test_the_motions_of_blocks_are_those_of_their_samples(monkeypatch):
    monkeypatch.setattr(blocks, "MOST_SAMPLES", 10_000)
    given = [record(1000.0), record(10.0)]
    motions = [States(*[each.t[:, None] + k for k in range(3)]) for each in given]
    found = tested_blocks(given, 1.0)
    for block, motion in zip(found.records, found.parts_of(given, motions), strict=True):
        assert np.array_equal(motion.q[:, 0], block.t)
        assert np.array_equal(motion.ddq[:, 0], block.t + 2)


def test_a_block_in_which_a_joint_rests_without_torque(monkeypatch):
    monkeypatch.setattr(blocks, "MOST_SAMPLES", 10_000)
    tau = np.ones((100_000, 1))
    tau[:5000] = 0.0
    long = record(1000.0, tau=tau)
    assert tested_blocks([long], 1.0).records == (long,)
    assert tested_blocks([long], 1.0).transient == 1.0


@pytest.mark.parametrize(
    ("wrong", "first"), [(1.0, ""), pytest.param(0.95, "kp1", marks=pytest.mark.long)]
)
def test_what_is_missing_is_found_in_blocks(monkeypatch, wrong, first):
    """The tests of blocks and of the whole record name the same, with the same value."""
    scara = model("scara")
    J = didim.largest_inertias(scara, scara.nominal)
    omega = np.array([12.0, 30.0])
    kp, kv = omega / 2, 2 * omega * J
    motion = didim.Fourier.random(scara.robot, 3, period=10.0, periods=12, share=1.0)
    truth = didim.PD(kp=kp, kv=kv)
    made, _ = didim.virtual_experiment(scara, scara.nominal, truth, motion, rate=200.0, noise=0.02)
    assumed = didim.PD(kp=kp * [wrong, 1.0], kv=kv)
    method = didim.DIDIM(controller=assumed, initial="nominal", lack_of_fit=True, decimation=4)
    whole = didim.identify(scara, made, method)
    monkeypatch.setattr(blocks, "MOST_SAMPLES", 8_000)
    some = didim.identify(scara, made, method)
    assert (whole.lack.part, some.lack.part) == (1.0, pytest.approx(1 / 3, rel=0.15))
    assert f"Tested on {100 * some.lack.part:.2g} % of the records." in str(some.lack)
    assert some.tests["instruments"].p_value > 1e-3
    assert some.tests["durbin_wu_hausman"].p_value != whole.tests["durbin_wu_hausman"].p_value
    for found in (whole, some):
        assert found.lack.reason == ""
        assert [row.name for row in found.lack.found][:1] == ([first] if first else [])
    if first:
        rows = [each.lack.found[0] for each in (whole, some)]
        assert rows[0].value == pytest.approx(rows[1].value, abs=4 * rows[1].sigma)
        assert rows[1].sigma == pytest.approx(np.sqrt(3) * rows[0].sigma, rel=0.3)


@pytest.mark.parametrize("method", [didim.IDIM, didim.IV])
@pytest.mark.parametrize("missing", ["", "spring"])
def test_blocks_of_measured_motions_name_what_the_whole_record_does(monkeypatch, method, missing):
    """A spring that acts on joint 1, IDIM and IV."""
    scara, loop = model("scara"), didim.PD(natural_frequency=[20.0, 50.0])
    motion = didim.Fourier.random(scara.robot, 3, period=10.0, periods=12, share=1.0)
    made, _ = didim.virtual_experiment(scara, scara.nominal, loop, motion, rate=200.0, noise=0.02)
    if missing:
        scale = 0.1 * made.tau[:, 0].std() / made.q[:, 0].std()
        made = replace(made, tau=made.tau + scale * made.q * [1.0, 0.0])
    settings = {"controller": loop, "decimation": 4}
    whole = didim.identify(scara, made, method(**settings))
    monkeypatch.setattr(blocks, "MOST_SAMPLES", 8_000)
    some = didim.identify(scara, made, method(**settings))
    assert (whole.lack.part, some.lack.part) == (1.0, pytest.approx(1 / 3, rel=0.15))
    np.testing.assert_array_equal(some.values, whole.values)
    first, second = ([(row.effect, row.joint) for row in each.lack.found] for each in (whole, some))
    assert first == second == ([("spring", 0)] if missing else [])
    if missing:
        value, sigma = some.lack.found[0].value, some.lack.found[0].sigma
        assert abs(value - whole.lack.found[0].value) < 2 * sigma
        assert abs(value - scale) < 3 * sigma
