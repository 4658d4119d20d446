"""`Ripple`: what is left of the torque of a joint, as a spectrum over its position.

Gears and motors leave sines of the position, `order` periods in a turn of 2 pi. A least squares
sine at each order (the periodogram of Lomb and Scargle) needs no even steps of the position; the
orders are even, so that their sums are products of a few powers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError
from didim.results.validation import ComparedRows
from didim.robot.effect import Effect

Array = NDArray[np.float64]

LARGEST_ORDER = 200.0
OVERSAMPLING = 4
"""Orders to each that the range of the motion tells apart."""

FEWEST_ROWS = 30

BLOCK = 32
"""Orders that are summed at once."""


@dataclass(frozen=True, eq=False)
class Ripple:
    """The spectrum of what is left, over the position of one joint."""

    joint: int
    """Counted from 0."""
    orders: Array
    """(M,) periods in a turn of the joint, or 2 pi times those in a metre."""
    power: Array
    """(M,) fraction of the squared residual of the joint that a sine of that order takes away."""
    rows: int

    @property
    def order(self) -> float:
        """That of the largest power, by a parabola through its neighbours."""
        k = int(self.power.argmax())
        if not 0 < k < self.orders.size - 1:
            return float(self.orders[k])
        before, top, after = self.power[k - 1 : k + 2]
        bend = before - 2 * top + after
        step = 0.5 * (before - after) / bend if bend < 0 else 0.0
        return float(self.orders[k] + step * (self.orders[k] - self.orders[k - 1]))

    @property
    def p_value(self) -> float:
        """How often white noise of so many rows has as large a power at any order."""
        tail = (1.0 - float(self.power.max())) ** (0.5 * (self.rows - 3))
        return float(-np.expm1(self.independent * np.log1p(-min(tail, 1.0 - 1e-16))))

    @property
    def independent(self) -> float:
        """Orders that the range of the motion tells apart."""
        return self.orders.size / OVERSAMPLING

    def effect(self, order: float | None = None) -> Effect:
        """A ripple of this order on the joint, to be identified; by default of the largest
        power.
        """
        return Effect(
            f"ripple{self.joint + 1}",
            "Rs * sin(order * q) + Rc * cos(order * q)",
            {"Rs": {"unit": "N.m"}, "Rc": {"unit": "N.m"}},
            {"order": self.order if order is None else float(order)},
            joint=self.joint + 1,
            conservative=True,
        )


def ripple_of(joint: int, rows: Sequence[ComparedRows]) -> Ripple:
    """The spectrum of the residual of a joint, over the rows in which it moves."""
    moves = [each.moves[:, joint] for each in rows]
    pairs = list(zip(rows, moves, strict=True))
    none = [np.zeros(0)]
    q = np.concatenate([*none, *(each.motion.q[used, joint] for each, used in pairs)])
    rho = np.concatenate([*none, *((each.y - each.found)[used, joint] for each, used in pairs)])
    return spectrum(joint, q, rho)


def spectrum(joint: int, q: Array, rho: Array) -> Ripple:
    """The spectrum of a residual rho (r,) over the positions q (r,) of a joint."""
    reach = float(np.ptp(q)) if q.size else 0.0
    if q.size < FEWEST_ROWS or reach <= 0.0:
        raise InputError(
            f"The spectrum of joint {joint + 1} needs at least {FEWEST_ROWS} rows in which it "
            f"moves, found {q.size}; identify with records, and decimate less."
        )
    step = 2 * np.pi / (OVERSAMPLING * reach)
    count = max(OVERSAMPLING + 1, int(LARGEST_ORDER / step))
    orders: Array = np.asarray(step * np.arange(OVERSAMPLING, count + 1), dtype=np.float64)
    power = _periodogram(q, rho - rho.mean(), step, count)[OVERSAMPLING:]
    return Ripple(joint, orders, np.clip(power, 0.0, 1.0 - 1e-12), q.size)


def _periodogram(q: Array, rho: Array, step: float, count: int) -> Array:
    """(count + 1,) fraction of rho' rho that a sine and a cosine of q k step take away, from k = 0:
    with A = sum rho e^(i q k step), B = sum e^(2 i q k step), r rows,

        power = 2 (r |A|^2 - Re(conj(B) A^2)) / ((r^2 - |B|^2) rho' rho).
    """
    A = _sums(rho, q, step, count)
    B = _sums(np.ones_like(q), q, 2 * step, count)
    rows, size = float(q.size), max(float(rho @ rho), 1e-300)
    power = 2 * (rows * np.abs(A) ** 2 - np.real(B.conj() * A**2))
    return np.asarray(power / np.maximum((rows**2 - np.abs(B) ** 2) * size, 1e-300))


def _sums(weights: Array, q: Array, step: float, count: int) -> NDArray[np.complex128]:
    """(count + 1,) sum of weights e^(i q k step), a block of powers at a time."""
    starts = np.arange(0, count + 1, BLOCK)
    powers = np.exp(1j * step * np.outer(q, np.arange(min(BLOCK, count + 1))))
    first = weights * np.exp(1j * step * np.outer(starts, q))
    return np.asarray((first @ powers).ravel()[: count + 1])
