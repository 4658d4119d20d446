"""How the loop changes what the torque tells, joint by joint: the columns of a method that
simulates the loop, approximated for the search.

With the plant D = J s^2 + Fv s and the controller K = g (C (kp + s) + ki / s), C = kv + kiv / s, a
parameter changes the torque by K / (D + K) of its regressor's column, and a gain by D / (D + K) of
what it changes the command by. Gains are therefore visible near the bandwidth alone. The reported
sigma rests on the exact sensitivities.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.control.simulated_loop import GAINS, assumed_inertia, numeric_gains
from didim.control.tuning import largest_inertias
from didim.dynamics.model import BaseModel

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

SLOWEST = 1e-3
"""Real part of s, 1/s: keeps integrals finite at zero frequency."""


@dataclass(frozen=True, eq=False)
class LoopFilters:
    """Frequency responses on a grid of N samples over the duration, and their use on columns."""

    model: BaseModel
    parameters: Array
    """(b,)."""
    loop: Controller
    duration: float
    samples: int
    gains_unknown: bool

    @cached_property
    def _s(self) -> Complex:
        """(F, 1) s at the frequencies of the real FFT."""
        omega = 2 * np.pi * np.fft.rfftfreq(self.samples, self.duration / self.samples)
        return np.asarray((1j * omega + SLOWEST)[:, None], dtype=np.complex128)

    @cached_property
    def _gains(self) -> dict[str, Array]:
        J = largest_inertias(self.model, self.parameters)
        gains = numeric_gains(self.model, self.loop, assumed_inertia(self.loop, J))
        return {kind: getattr(gains, kind) for kind in (*GAINS, "ff")}

    @cached_property
    def _responses(self) -> tuple[Complex, list[tuple[int, Complex, Complex]]]:
        """(F, n) of parameters; for each gain its joint and the (F,) responses by which its
        relative change acts, of the torque and of the velocity.
        """
        s, gain = self._s, self._gains
        g = np.abs(np.diag(self.loop.drive(self.model)))
        scale = np.ones_like(g)
        if self.loop.model_term == "computed_torque":
            scale = largest_inertias(self.model, self.parameters)
        C = g * scale * (gain["kv"] + gain["kiv"] / s)
        K = C * (gain["kp"] + s) + g * scale * gain["ki"] / s
        viscous = np.maximum(np.diag(self.model.values(self.parameters).viscous), 0.0)
        D = largest_inertias(self.model, self.parameters) * s**2 + viscous * s
        sensitivity = D / (D + K)
        shares = 1.0 if self.loop.model_term == "none" else 0.0
        lag = 1.0 - gain["ff"]
        error = C * gain["kp"] + g * scale * gain["ki"] / s
        by_torque, by_speed = shares / error, C * lag / error
        commands = {
            "kp": (C * gain["kp"] * by_torque, C * gain["kp"] * by_speed),
            "kv": (
                g * scale * gain["kv"] * gain["kp"] * by_torque,
                g * scale * gain["kv"] * (gain["kp"] * by_speed - lag),
            ),
            "ki": (
                g * scale * gain["ki"] / s * by_torque,
                g * scale * gain["ki"] / s * by_speed,
            ),
            "kiv": (
                g * scale * gain["kiv"] / s * gain["kp"] * by_torque,
                g * scale * gain["kiv"] / s * (gain["kp"] * by_speed - lag),
            ),
        }
        columns = [
            (int(j), sensitivity[:, j] * commands[kind][0][:, j],
             sensitivity[:, j] * commands[kind][1][:, j])
            for kind in GAINS
            for j in np.flatnonzero(gain[kind])
        ]  # fmt: skip
        return K / (D + K), columns if self.gains_unknown else []

    @property
    def names(self) -> tuple[str, ...]:
        """Of the gains that are unknown, in the order of their columns."""
        if not self.gains_unknown:
            return ()
        gain = self._gains
        return tuple(f"{kind}{j + 1}" for kind in GAINS for j in np.flatnonzero(gain[kind]))

    @property
    def values(self) -> Array:
        """Of these gains."""
        gain = self._gains
        found = [gain[kind][j] for kind in GAINS for j in np.flatnonzero(gain[kind])]
        return np.array(found if self.gains_unknown else [], dtype=float)

    def columns(self, W: Array, tau: Array, dq: Array) -> Array:
        """(N, n, p + k) columns of the simulated torque, from those of the regressor (N, n, p)."""
        parameters, gains = self._responses
        N, n, p = W.shape
        out = np.zeros((N, n, p + len(gains)))
        out[:, :, :p] = self._filter(W, parameters[:, :, None])
        spectra = np.fft.rfft(tau, axis=0), np.fft.rfft(dq, axis=0)
        for k, (j, of_tau, of_dq) in enumerate(gains):
            out[:, j, p + k] = np.fft.irfft(of_tau * spectra[0][:, j] + of_dq * spectra[1][:, j], N)
        return out

    def adjoint(self, by: Array, p: int) -> tuple[Array, Array, Array]:
        """Derivatives of a number by W, tau and dq, from those by the columns."""
        parameters, gains = self._responses
        N, n, _ = by.shape
        by_tau, by_dq = np.zeros((N, n)), np.zeros((N, n))
        for k, (j, of_tau, of_dq) in enumerate(gains):
            spectrum = np.fft.rfft(by[:, j, p + k])
            by_tau[:, j] += np.fft.irfft(of_tau.conj() * spectrum, N)
            by_dq[:, j] += np.fft.irfft(of_dq.conj() * spectrum, N)
        return self._filter(by[:, :, :p], parameters.conj()[:, :, None]), by_tau, by_dq

    def _filter(self, signal: Array, response: Complex) -> Array:
        spectrum = np.fft.rfft(signal, axis=0)
        return np.asarray(np.fft.irfft(response * spectrum, self.samples, axis=0))
