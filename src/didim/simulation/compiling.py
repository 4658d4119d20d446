"""What a closed loop in time needs compiled, by a second process while this one compiles the
kernels of dynamics and filters.
"""

from __future__ import annotations

from typing import Any

from didim.dynamics.kernels.direct import inertia_matrix_batch
from didim.dynamics.kernels.inverse import inverse_dynamics_batch
from didim.dynamics.kernels.regressor import regressor_batch, regressor_entries_batch
from didim.dynamics.kernels.terms import term_slopes_batch
from didim.jit.ahead import compile_ahead
from didim.jit.compiled import Entry
from didim.signals.kernels.zero_phase import forward_backward
from didim.simulation.kernels.fixed import run_fixed, run_sensitive
from didim.simulation.kernels.plant import rates, rates_by_code, sample


def compile_loop_ahead(sampled: bool, sensitive: bool) -> bool:
    """Compile what the cache lacks for the loop of a controller, `sampled` or continuous, in two
    processes; `sensitive`: with the sensitivities. Returns whether it lacks any.
    """
    there: list[Entry[..., Any]] = [rates_by_code, rates, *([sample] if sampled else []), run_fixed]
    there += [term_slopes_batch, *([run_sensitive] if sensitive else [])]
    here: list[Entry[..., Any]] = [
        inertia_matrix_batch,
        regressor_batch,
        regressor_entries_batch,
        forward_backward,
        inverse_dynamics_batch,
    ]
    compile_ahead(there, here)
    return not all(each.cached for each in there)


def compile_method_ahead(method: object) -> None:
    """The same for a method of identification, if it has a controller."""
    if (loop := getattr(method, "controller", None)) is not None:
        compile_loop_ahead(loop.rate is not None, getattr(method, "exact_interval", False))
