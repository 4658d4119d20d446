"""A user's own control law: one compiled function of a fixed signature."""

from __future__ import annotations

from collections.abc import Callable

from didim.errors import InputError
from didim.jit.function_pointers import CFunction, CompilationError
from didim.jit.types import double_pointer, float64, int64, void

_SIGNATURE = void(float64, int64, *[double_pointer] * 7)


class UserLaw:
    """A compiled law; make one with `control_law`."""

    def __init__(self, function: Callable[..., None]) -> None:
        self._function = function
        self.name = getattr(function, "__name__", str(function))
        try:
            self._compiled = CFunction(function, _SIGNATURE)
        except CompilationError as problem:
            raise InputError(
                f"The law {self.name!r} cannot be compiled: {problem} It must be "
                "law(t, n, q_ref, dq_ref, ddq_ref, q, dq, memory, v) in code that Numba "
                "understands."
            ) from problem

    @property
    def address(self) -> int:
        """Where the compiled function lies in memory."""
        return self._compiled.address

    def __reduce__(self) -> tuple[type[UserLaw], tuple[Callable[..., None]]]:
        """Copies and other processes compile the function anew."""
        return UserLaw, (self._function,)

    def __repr__(self) -> str:
        return f"UserLaw({self.name})"


def control_law(function: Callable[..., None]) -> UserLaw:
    """Compile a law of your own for `didim.OwnLaw`: a decorator.

    The function is `law(t, n, q_ref, dq_ref, ddq_ref, q, dq, memory, v)`: time t (s), n joints, and
    arrays that are indexed with 0 to n - 1. It reads the reference and the motion as the controller
    sees it, may keep what it likes in `memory` from one sample to the next (of a sampled law), and
    writes the control signal into v. It must be code that Numba compiles.
    """
    return UserLaw(function)
