"""The effects that a joint can have beside the inertia of its link, and the names of their
parameters.
"""

from __future__ import annotations

from collections.abc import Iterable

from didim.errors import InputError, nearest
from didim.robot.catalogue import CATALOGUE
from didim.robot.effect import Effect

LINK = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")

STEMS: dict[str, tuple[str, ...]] = {
    name: tuple(effect.unknown) for name, effect in CATALOGUE.items()
}
"""Effects of a joint and their parameters, in the order in which the parameters are listed
(Khalil's, eq. 3).
"""

EFFECT_STEMS = tuple(stem for stems in STEMS.values() for stem in stems)

COUPLING_STEMS: dict[str, str] = {"rotor": "Ia", "viscous": "Fv", "coulomb": "Fc"}
"""Effects that can couple several joints."""

EFFECTS = (*STEMS, "coupling")

_EXCLUSIVE = (
    ("viscous", "asymmetric_viscous"),
    ("coulomb", "asymmetric_coulomb"),
    ("offset", "asymmetric_coulomb"),
    ("load_friction", "asymmetric_load_friction"),
)


def family(effect: str) -> str:
    """The symmetric name of an effect: `asymmetric_viscous` and `viscous` are one family."""
    return effect.removeprefix("asymmetric_")


def check_own_name(effect: Effect, where: str) -> None:
    """Refuse an effect of a user's own with the name of another one that didim has."""
    shipped = CATALOGUE.get(effect.name)
    if effect.name in EFFECTS and (shipped is None or effect.torque != shipped.torque):
        raise InputError(
            f"{where}: an effect that didim has is called so; choose another name, or name "
            f"{effect.name!r} in the effects of the joint."
        )


def check_effects(
    effects: Iterable[str], where: str, known: Iterable[str] = tuple(STEMS)
) -> frozenset[str]:
    """The effects as a set, refused where one is unknown or two are linearly dependent."""
    if isinstance(effects, str):
        raise InputError(f"{where}: effects must be a list of names, not the text {effects!r}.")
    chosen = list(effects)
    for effect in chosen:
        if effect not in known:
            raise InputError(f"{where}: unknown effect {effect!r}; {nearest(str(effect), known)}")
    for one, other in _EXCLUSIVE:
        if one in chosen and other in chosen:
            raise InputError(
                f"{where}: the effects {one!r} and {other!r} exclude each other, since their "
                "columns are linearly dependent; "
                "keep one of them."
            )
    return frozenset(chosen)
