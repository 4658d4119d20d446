"""Checks of the settings that methods with simulations share."""

from __future__ import annotations

from typing import Any

from didim.control.law import Controller
from didim.control.simulated_loop import EstimatedGains
from didim.errors import InputError, shortened
from didim.results.start import check_initial
from didim.simulation.records import check_start
from didim.validation import flag, real, whole


def check_iteration(settings: Any, where: str) -> None:
    """Convert what every iteration has, or refuse it."""
    for name in ("tol_residual", "tol_parameters"):
        tolerance = real(getattr(settings, name), f"{where}: {name}", above=0.0)
        object.__setattr__(settings, name, tolerance)
    limit = whole(settings.max_iterations, f"{where}: max_iterations", least=1)
    object.__setattr__(settings, "max_iterations", limit)
    object.__setattr__(settings, "start", check_start(settings.start, where))
    flag(settings.lack_of_fit, f"{where}: lack_of_fit")
    _ = settings.selection


def check_settings(settings: Any, where: str) -> None:
    """The same for DIDIM and output error, with their transient, gains and delay."""
    if settings.transient is not None:
        transient = real(settings.transient, f"{where}: transient, in s,", least=0.0)
        object.__setattr__(settings, "transient", transient)
    object.__setattr__(settings, "estimate_gains", estimated_gains(settings, where))
    flag(settings.estimate_delay, f"{where}: estimate_delay", optional=True)
    check_iteration(settings, where)


def estimated_gains(settings: Any, where: str) -> EstimatedGains:
    """True, False, or names of gains, which only a loop given by its gains has."""
    given = settings.estimate_gains
    if isinstance(given, bool):
        return given
    names = tuple(given) if isinstance(given, list | tuple) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError(
            f"{where}: estimate_gains must be True, False or a list of gains such as "
            f'["kiv", "kp1"], found {shortened(given)}.'
        )
    if settings.controller is not None and settings.controller.by_poles:
        raise InputError(
            f"{where}: estimate_gains by names needs a loop that is given by its gains (kp, kv); "
            "natural_frequency leaves all of them open: set True."
        )
    return names


def check_controller(controller: object, where: str) -> None:
    """Refuse what is no loop."""
    if not isinstance(controller, Controller):
        raise InputError(
            f"{where}: controller must be a loop such as didim.PD, found "
            f"{type(controller).__name__}."
        )


def check_loop(settings: Any, where: str) -> None:
    """Refuse what is no loop, a start that cannot be one, and retuning without an inertia."""
    controller = settings.controller
    check_controller(controller, where)
    check_initial(settings.initial)
    flag(settings.gain_update, f"{where}: gain_update", optional=True)
    if settings.gain_update and not controller.by_poles and controller.inertia is None:
        raise InputError(
            f"{where}: gain_update of a loop given by its gains needs the inertia that they were "
            "tuned for."
        )


def follows_inertia(settings: Any) -> bool:
    """Whether the gains follow the parameters (59): as set, else those of loops given by poles."""
    given = settings.gain_update
    return settings.controller.by_poles if given is None else bool(given)
