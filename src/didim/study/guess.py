"""Which column of a log is probably what, from the names that people give them, or from what they
hold; for `didim init --data`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError
from didim.signals.columns import usual_names
from didim.signals.readers.table import Table
from didim.signals.units import NAMES, unit_named
from didim.study.content import Block, content_of, numbers_of

Array = NDArray[np.float64]
Named = str | int | list[str] | list[int]
"""Columns as a study writes them."""

_TIME = re.compile(r"(t|time|times|timestamp|stamp|secs?|seconds)", re.IGNORECASE)
_UNIT = re.compile(
    r"[_ "
    r"]*[\[(]?(?<![A-Za-z])"
    r"(deg/s|rad/s|rad|degrees|deg|rpm|mm|nm|n\.m|ms|us|ns|sec|s|m|a|ma|v)[\])]?$",
    re.IGNORECASE,
)

_REFERENCE_WORDS = re.compile(
    r"ref(erence)?|des(ired)?|command(ed)?|cmd|target|goal|setpoint|soll|sp$|^r_", re.IGNORECASE
)

_WORDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "dq",
        re.compile(
            r"^(dq|qd|qdot|w|omega|v|vel|velocity|velocities|speed|actualvelocity|jointvelocity)$"
        ),
    ),
    (
        "tau",
        re.compile(
            r"^(tau|torque|torques|trq|effort|efforts|moment|force|jointtorque|motortorque|u)$"
        ),
    ),
    (
        "q",
        re.compile(
            r"^(q|pos|position|positions|angle|angles|theta|joint|j|"
            r"jointposition|actualposition|measuredposition|qm)$"
        ),
    ),
    ("control", re.compile(r"^(control|voltage|current|currents|cur|i|iq|amps)$")),
)


@dataclass(frozen=True)
class Guess:
    """What a log probably holds."""

    columns: dict[str, Named]
    units: dict[str, str]
    """Where they are not SI."""
    remarks: tuple[str, ...] = ()
    """What the columns were taken for, and what is asked for, in sentences."""

    @property
    def missing(self) -> list[str]:
        """Signals that a study needs and that could not be guessed."""
        choices = (("t",), ("tau", "control"), ("q", "q_ref"))
        return [keys[0] for keys in choices if not {*keys} & {*self.columns}]


def guess(table: Table, joints: Sequence[str]) -> Guess:
    """Columns and units of a log of these joints: from the names, and from what the columns hold
    where they have none.
    """
    columns = guessed_columns(table, joints)
    if table.headed:
        return Guess({**columns}, guessed_units(columns, table.units))
    return _by_content(table, len(joints))


def _by_content(table: Table, n: int) -> Guess:
    found = content_of([*table.values()], n)
    columns: dict[str, Named] = {}
    seen = []
    if found.time is not None:
        columns["t"] = found.time + 1
        seen.append(f"column {found.time + 1} rises steadily: t")
    positions: list[Block] = [*dict.fromkeys(q for q, _ in found.pairs)]
    if positions:
        q, dq = map(numbers_of, found.pairs[0])
        columns |= {"q": q, "dq": dq}
        seen.append(f"{_shown(q)} are the integrals of {_shown(dq)}: q and dq")
    if len(positions) == 2:
        columns["q_ref"] = numbers_of(positions[1])
        seen.append(f"{_shown(columns['q_ref'])} are smoother positions: q_ref")
    rest = [block for block in found.rest if positions]
    if len(rest) == 1:
        columns["tau"] = numbers_of(rest[0])
        seen.append(f"{_shown(columns['tau'])} remain: tau, or control if they are no torques")
    remarks = ["The file has no header: columns are counted from 1."]
    remarks += [f"By what they hold, {'; '.join(seen)}. Correct it where it is wrong."] * bool(seen)
    units = {"t": found.unit} if found.unit != "s" else {}
    there = [*table.values()]
    largest = {
        numbers: max(float(np.nanmax(np.abs(there[k]), initial=0.0)) for k in block)
        for block in found.rest
        if isinstance(numbers := numbers_of(block), str)
    }
    guessed = Guess(columns, units)
    if guessed.missing and largest:
        sizes = ", ".join(f"{_shown(block)} (up to {size:.3g})" for block, size in largest.items())
        remarks.append(f"Not yet named: {sizes}.")
    if "tau" in guessed.missing:
        example = _shown(numbers_of(found.rest[0])) if found.rest else '"14-19"'
        remarks.append(
            f"Which are the joint torques? Add tau = {example} to columns; if they are currents or "
            f"voltages, control = {example}, and drive_gain below."
        )
    return replace(guessed, remarks=tuple(remarks))


def _shown(numbers: Named) -> str:
    return f'"{numbers}"' if isinstance(numbers, str) else str(numbers)


def guessed_columns(
    table: Mapping[str, Array], joints: Sequence[str]
) -> dict[str, str | list[str]]:
    """From t, tau (or control), q_ref, q and dq to columns of the table, as far as they can be
    guessed from their names, for the given joints.
    """
    found: dict[str, str | list[str]] = {}
    time = next((name for name in table if _TIME.fullmatch(_bare(name))), None)
    if time is not None:
        found["t"] = time
    for key in ("tau", "q_ref", "q", "dq"):
        try:
            usual = usual_names(table, key, joints)
        except InputError:  # the numbering is ambiguous
            continue
        if len(usual) == len(joints) or (
            len(usual) == 1 and table[usual[0]].shape[1:] == (len(joints),)
        ):
            found[key] = usual[0] if len(usual) == 1 else usual
    for stem, columns in _groups((name for name in table if name != time), joints).items():
        signal = _signal(stem)
        if signal is not None and len(columns) == len(joints) and signal not in found:
            found[signal] = columns[0] if len(columns) == 1 else columns
    if "tau" in found:
        found.pop("control", None)
    return found


def guessed_units(
    columns: Mapping[str, str | list[str]], stated: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The units where they are not SI: those that the file states for its columns, or that their
    names end in, "pos_deg", "time [ms]".
    """
    units = {}
    for key, names in columns.items():
        found = {
            (stated or {}).get(name) or _unit(name) or ""
            for name in ([names] if isinstance(names, str) else names)
        }
        unit = unit_named(found.pop()) if len(found) == 1 else ""
        if NAMES[key].get(unit, 1.0) != 1.0:
            units[key] = unit
    return units


def _unit(name: str) -> str | None:
    match = _UNIT.search(name.strip())
    return None if match is None else match[1].lower()


def _bare(name: str) -> str:
    """A name without its unit."""
    return _UNIT.sub("", name.strip()).strip()


def _groups(names: Iterable[str], joints: Sequence[str]) -> dict[str, list[str]]:
    """Columns that differ in a joint's name or number only, by what they share, in the order of the
    joints.
    """
    by_joint: dict[str, dict[int, str]] = {}
    by_number: dict[str, dict[int, str]] = {}
    longest_first = sorted(range(len(joints)), key=lambda j: -len(joints[j]))
    short = _without_common_ends(joints)
    for name in names:
        at, called = next(
            (
                (j, words[j])
                for words in (joints, short)
                for j in longest_first
                if words[j] and words[j] in name
            ),
            (None, ""),
        )
        numbers = re.findall(r"\d+", name)
        if at is not None:
            by_joint.setdefault(name.replace(called, "", 1), {})[at] = name
        if numbers:
            by_number.setdefault(re.sub(r"\d+(?!.*\d)", "", name), {})[int(numbers[-1])] = name
        elif len(joints) == 1:
            by_number.setdefault(name, {})[1] = name
    groups = {stem: [found[j] for j in sorted(found)] for stem, found in by_number.items()}
    return groups | {
        stem: [found[j] for j in sorted(found)]
        for stem, found in by_joint.items()
        if len(found) == len(joints)
    }


def _without_common_ends(joints: Sequence[str]) -> list[str]:
    """What the names of the joints differ in, "shoulder_pan" of "shoulder_pan_joint"; empty where
    that is too short to be found in a name.
    """
    start, end = _common(joints), _common([joint[::-1] for joint in joints])
    bare = [joint[start : len(joint) - end].strip("_-. ") for joint in joints]
    usable = len(joints) > 1 and all(len(each) > 2 for each in bare)
    return bare if usable else [""] * len(joints)


def _common(words: Sequence[str]) -> int:
    """Letters with which all words begin."""
    return sum(
        1 for _ in takewhile(lambda letters: len({*letters}) == 1, zip(*words, strict=False))
    )


def _signal(stem: str) -> str | None:
    """What a stem such as "pos_cmd" or "Joint Torque [Nm]" stands for."""
    plain = _bare(re.sub(r"[\[(].*?[\])]", "", _bare(stem)))
    is_reference = bool(_REFERENCE_WORDS.search(plain))
    word = (
        re.sub(r"[^a-z]", "", _REFERENCE_WORDS.sub("", plain).lower())
        .removeprefix("actual")
        .removeprefix("measured")
    )
    if is_reference and not word:
        return "q_ref"
    tokens = [token.lower() for token in re.findall(r"[A-Za-z]+", _REFERENCE_WORDS.sub(" ", plain))]
    for key, pattern in _WORDS:
        if pattern.match(word) or any(len(token) > 1 and pattern.match(token) for token in tokens):
            return key if not is_reference else ("q_ref" if key == "q" else None)
    return None
