"""How the robot follows a reference in its loop, and what its torque then tells, joint by joint:
approximated for the search.

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
from scipy import fft

from didim.control.law import GAINS, Controller
from didim.control.simulated_loop import assumed_inertia, numeric_gains
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
        omega = 2 * np.pi * fft.rfftfreq(self.samples, self.duration / self.samples)
        return np.asarray((1j * omega + SLOWEST)[:, None], dtype=np.complex128)

    @cached_property
    def _gains(self) -> dict[str, Array]:
        gains = numeric_gains(self.model, self.loop, assumed_inertia(self.loop, self._inertia))
        return {kind: getattr(gains, kind) for kind in (*GAINS, "ff")}

    @cached_property
    def _drive(self) -> Array:
        """(n,) torque per unit of the gains; of computed torque these are accelerations."""
        g = np.abs(np.diag(self.loop.drive(self.model)))
        return g * self._inertia if self.loop.model_term == "computed_torque" else g

    @cached_property
    def _inertia(self) -> Array:
        return largest_inertias(self.model, self.parameters)

    @cached_property
    def _parts(self) -> tuple[Complex, Complex, Complex, Complex]:
        """(F, n) D, g C, g ki / s and K."""
        s, gain, g = self._s, self._gains, self._drive
        viscous = np.maximum(np.diag(self.model.values(self.parameters).viscous), 0.0)
        D = self._inertia * s**2 + viscous * s
        C, integral = g * (gain["kv"] + gain["kiv"] / s), g * gain["ki"] / s
        return D, C, integral, C * (gain["kp"] + s) + integral

    @cached_property
    def _follows(self) -> Complex:
        """(F, n) response of the motion to the reference; 1 at zero frequency, and where the
        controller has a model of the motion.
        """
        D, C, integral, K = self._parts
        if self.loop.model_term in ("feedforward", "computed_torque"):
            return np.ones_like(D)
        found = (C * (self._gains["kp"] + self._gains["ff"] * self._s) + integral) / (D + K)
        found[0] = 1.0
        return found

    @cached_property
    def _responses(self) -> tuple[Complex, list[tuple[int, Complex, Complex]]]:
        """(F, n) of parameters; for each gain its joint and the (F,) responses by which its
        change acts, of the torque and of the speed dq - ff dq_r.
        """
        s, gain, g = self._s, self._gains, self._drive
        D, C, integral, K = self._parts
        share = 1.0 if self.loop.model_term == "none" else 0.0
        error = C * gain["kp"] + integral
        of_tau, of_speed = share / error, C / error  # of the position error
        loop_error = gain["kp"] * of_tau, gain["kp"] * of_speed - 1.0  # of kp e + ff dq_r - dq
        commands = {
            "kp": (C * gain["kp"] * of_tau, C * gain["kp"] * of_speed),
            "kv": tuple(g * gain["kv"] * each for each in loop_error),
            "ki": (integral * of_tau, integral * of_speed),
            "kiv": tuple(g * gain["kiv"] / s * each for each in loop_error),
        }
        shown = D / (D + K)
        columns = []
        for kind in GAINS:
            first, second = commands[kind]
            for j in np.flatnonzero(gain[kind]):
                part = shown[:, j] / gain[kind][j]  # the commands are those of relative changes
                columns.append((int(j), part * first[:, j], part * second[:, j]))
        return K / (D + K), columns if self.gains_unknown else []

    @property
    def names(self) -> tuple[str, ...]:
        """Of the gains that are unknown, in the order of their columns."""
        if not self.gains_unknown:
            return ()
        gain = self._gains
        return tuple(f"{kind}{j + 1}" for kind in GAINS for j in np.flatnonzero(gain[kind]))

    @property
    def joints(self) -> NDArray[np.int64]:
        """Of these gains."""
        found = [np.flatnonzero(self._gains[kind]) for kind in GAINS if self.gains_unknown]
        return np.concatenate([np.zeros(0, dtype=np.int64), *found])

    @property
    def values(self) -> Array:
        """Of these gains."""
        gain = self._gains
        found = [gain[kind][j] for kind in GAINS for j in np.flatnonzero(gain[kind])]
        return np.array(found if self.gains_unknown else [], dtype=float)

    @property
    def stiffness(self) -> Array:
        """(n,) torque per position error, N.m/rad or N/m."""
        return np.abs(self._drive * self._gains["kv"] * self._gains["kp"])

    @property
    def bandwidth(self) -> float:
        """Highest natural frequency of a joint in its loop, Hz."""
        return float(np.sqrt(np.max(self.stiffness / self._inertia)) / (2 * np.pi))

    @property
    def feedforward(self) -> Array:
        """(n,) fraction of the velocity of the reference that the law adds."""
        return self._gains["ff"]

    def followed(self, signal: Array, adjoint: bool = False) -> Array:
        """A signal (N, n) of the reference as the robot follows it; or, from derivatives by what
        it does, those by the reference.
        """
        return self._filter(signal, self._follows.conj() if adjoint else self._follows)

    def columns(self, W: Array, tau: Array, speed: Array) -> Array:
        """(N, n, p + k) columns of the simulated torque, from those of the regressor (N, n, p), the
        torque and dq - ff dq_r.
        """
        parameters, gains = self._responses
        N, n, p = W.shape
        out = np.zeros((N, n, p + len(gains)))
        out[:, :, :p] = self._filter(W, parameters[:, :, None])
        spectra = fft.rfft(tau, axis=0), fft.rfft(speed, axis=0)
        for k, (j, of_tau, of_speed) in enumerate(gains):
            found = of_tau * spectra[0][:, j] + of_speed * spectra[1][:, j]
            out[:, j, p + k] = fft.irfft(found, N)
        return out

    def adjoint(self, by: Array, p: int) -> tuple[Array, Array, Array]:
        """Derivatives of a number by W, tau and the speed, from those by the columns."""
        parameters, gains = self._responses
        N, n, _ = by.shape
        by_tau, by_speed = np.zeros((N, n)), np.zeros((N, n))
        for k, (j, of_tau, of_speed) in enumerate(gains):
            spectrum = fft.rfft(by[:, j, p + k])
            by_tau[:, j] += fft.irfft(of_tau.conj() * spectrum, N)
            by_speed[:, j] += fft.irfft(of_speed.conj() * spectrum, N)
        return self._filter(by[:, :, :p], parameters.conj()[:, :, None]), by_tau, by_speed

    def _filter(self, signal: Array, response: Complex) -> Array:
        return np.asarray(fft.irfft(response * fft.rfft(signal, axis=0), self.samples, axis=0))
