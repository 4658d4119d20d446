"""Own effects in the <didim> element of a URDF's <robot>:

    <effect name="cable" joint="elbow" torque="k * (q - q0)" conservative="true">
      <unknown symbol="k" unit="N.m/rad" value="3.0" sign="positive"/>
      <fixed symbol="q0" value="0.2"/>
    </effect>

with <let symbol="" torque=""/> for abbreviations, <weight joint="" value=""/> for several joints
in place of `joint`, and channels="a b".
"""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element, SubElement

from didim.errors import InputError, shortened
from didim.robot.effect import Effect
from didim.robot.effect_parameter import PARAMETER_KEYS
from didim.robot.effect_tables import KEYS, effect_of, effect_table
from didim.robot.robot import Robot
from didim.robot.urdf.numbers import check_keys, numbers, written

EFFECT = "effect"

_CHILDREN = {"unknown": "symbol", "fixed": "symbol", "let": "symbol", "weight": "joint"}
"""Elements of <effect>, and the attribute that names each."""

_ATTRIBUTES = tuple(key for key in KEYS if key not in ("unknown", "fixed", "let", "weights"))


def read_effects(element: Element, where: str) -> tuple[Effect, ...]:
    """The effects of a <didim> element."""
    return tuple(
        effect_of(_table(each, f"{where}, effect {k + 1}"), f"{where}, effect {k + 1}")
        for k, each in enumerate(element.findall(EFFECT))
    )


def _table(element: Element, where: str) -> dict[str, Any]:
    """An <effect> with the keys of a table [[effect]]."""
    check_keys(element, _ATTRIBUTES, where, tuple(_CHILDREN))
    table: dict[str, Any] = dict(element.attrib)
    if "conservative" in table:
        table["conservative"] = _switch(element, "conservative", where)
    if "channels" in table:
        table["channels"] = table["channels"].split()
    table["unknown"] = _named(element, "unknown", where)
    for tag, key in (("fixed", "fixed"), ("let", "let"), ("weight", "weights")):
        if found := _named(element, tag, where):
            table[key] = found
    return table


def _named(element: Element, tag: str, where: str) -> dict[str, Any]:
    """The children with a tag, by the attribute that names them."""
    found: dict[str, Any] = {}
    naming = _CHILDREN[tag]
    for child in element.findall(tag):
        place = f"{where}, {tag}"
        word = child.get(naming)
        if word is None or word in found:
            problem = "is missing" if word is None else f"{shortened(word)} is given twice"
            raise InputError(f"{place}: the attribute {naming!r} {problem}.")
        found[word] = _content(child, tag, place)
    return found


def _content(child: Element, tag: str, where: str) -> Any:
    if tag == "let":
        check_keys(child, ("symbol", "torque"), where)
        return child.get("torque")
    if tag != "unknown":
        check_keys(child, (_CHILDREN[tag], "value"), where)
        return float(numbers(child, "value", None, where)[0])
    check_keys(child, ("symbol", *PARAMETER_KEYS), where)
    table: dict[str, Any] = {key: child.attrib[key] for key in child.attrib if key != "symbol"}
    if "value" in table:
        table["value"] = float(numbers(child, "value", None, where)[0])
    if "direction" in table:
        table["direction"] = round(numbers(child, "direction", None, where)[0])
    if "known" in table:
        table["known"] = _switch(child, "known", where)
    return table


def _switch(element: Element, key: str, where: str) -> bool:
    text = element.get(key)
    if text not in ("true", "false"):
        raise InputError(f"{where}: {key} must be true or false, found {shortened(text)}.")
    return text == "true"


def write_effects(element: Element, robot: Robot) -> None:
    """Add the robot's own effects to its <didim> element."""
    for effect in robot.effects:
        table = effect_table(effect, robot)
        child = SubElement(element, EFFECT, {key: table[key] for key in ("name", "torque")})
        if "joint" in table:
            child.set("joint", table["joint"])
        if "channels" in table:
            child.set("channels", " ".join(table["channels"]))
        if "conservative" in table:
            child.set("conservative", "true")
        if "about" in table:
            child.set("about", table["about"])
        for symbol, given in table["unknown"].items():
            attributes = {key: _attribute(value) for key, value in given.items()}
            SubElement(child, "unknown", {"symbol": symbol, **attributes})
        for symbol, value in table.get("fixed", {}).items():
            SubElement(child, "fixed", symbol=symbol, value=written(value))
        for symbol, text in table.get("let", {}).items():
            SubElement(child, "let", symbol=symbol, torque=text)
        for joint, weight in table.get("weights", {}).items():
            SubElement(child, "weight", joint=joint, value=written(weight))


def _attribute(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else written(value)
