"""Which column of a log is probably what, from the names that people give them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError
from didim.signals.columns import usual_names
from didim.signals.units import NAMES, unit_named

Array = NDArray[np.float64]

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
