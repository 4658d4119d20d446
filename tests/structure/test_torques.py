"""The torques of suspects in parts are those of the whole record."""

from __future__ import annotations

import numpy as np
import pytest

import didim
from didim.simulation.records import record_set
from didim.structure import suspect
from didim.structure.columns import SimulatedFit
from didim.structure.of_loop import suspects_of_loop
from didim.structure.of_robot import suspects_of_robot
from didim.structure.suspect import earlier
from didim.structure.torques import SuspectTorques
from support.virtual import loop, model, scara_record


def along(controller):
    """The fit of a SCARA at its own parameters, its course, and suspects that are torques."""
    record, _ = scara_record(noise=0.05, periods=1)
    base = model().base
    selection = didim.DIDIM(controller=controller).selection
    records = record_set(base, [record], controller, selection, 1.0, None)
    fit = SimulatedFit(base, base.nominal, controller, records, records.window(1.0))
    courses = fit.courses()
    largest = np.full(2, 1e-3)
    suspects = [
        *suspects_of_loop(courses[0].law, courses, largest, ()),
        *suspects_of_robot(base, courses, {}, True),
    ]
    return courses[0], [each for each in suspects if not each.directions]


@pytest.mark.parametrize("rate", [None, 400.0])
def test_parts_are_the_whole(rate):
    controller = loop() if rate is None else didim.PD(natural_frequency=30.0, rate=rate)
    course, suspects = along(controller)
    torques = SuspectTorques(course, suspects)
    late = 0.5 * course.law.period
    columns = []
    for each in suspects:
        for signals in (each.torque or each.command)(course):
            for s in signals.values():
                columns.append(s if each.torque else -earlier(course.t, s[:, None], late)[:, 0])
    whole = np.column_stack(columns)
    assert torques.disturbances.place.shape == (2, whole.shape[1])
    scale = np.maximum(np.abs(whole).max(axis=0), 1e-12)
    for start, stop in ((0, 300), (299, 1000), (course.t.size - 50, course.t.size)):
        part = torques.disturbances.torques(start, stop)
        assert np.all(np.abs(part - whole[start:stop]) <= 1e-12 * scale)
    recorded = torques.recorded(100, 200)
    at = [k for k, (j, c) in enumerate(torques.disturbances.place.T) if (c, j) in torques.commands]
    if rate is None:
        assert np.allclose(recorded, -whole[100:200, at], atol=1e-12)
    assert recorded.shape == (100, len(at))


def test_no_suspect_is_asked_for_a_whole_record(monkeypatch):
    record, _ = scara_record(noise=0.05, periods=2)
    lengths, part = [], suspect.Course.part

    def asked(course, start, stop):
        lengths.append(stop - start)
        return part(course, start, stop)

    def refused(course):
        raise AssertionError(course)

    monkeypatch.setattr(suspect.Course, "part", asked)
    monkeypatch.setattr("didim.structure.of_robot._drive", lambda j: _drive(j, refused))
    found = didim.identify(model(), record, didim.DIDIM(controller=loop(), refine=True))
    assert found.lack.rows
    *pushed, recorded = sorted(lengths)
    assert max(pushed) < 0.3 * record.t.size  # four seconds at a time
    assert recorded <= record.t.size  # what is decimated is read at once where it is short


def _drive(j, refuse):
    """The drive's suspect, which refuses whole records."""
    torque = suspect.on_joint(
        j, lambda course: refuse(course) if course.whole is None else -0.01 * course.tau[:, j]
    )
    remedy = didim.results.lack_of_fit.Remedy.DRIVE_GAIN
    return suspect.Suspect(f"drive{j + 1}", "drive gains", remedy, j, "%", torque=torque)
