"""Sensitivities of the closed loop: the derivatives of the discrete step, stage by stage, in m
directions at once.

The directions are the b parameters of the model, disturbances, which are torques s(t) times an
unknown that is zero, gains of the law and of the drive, and delay and zeros of the reference. From
M ddq = tau - N - D' f,

    M d(ddq) = d(tau) - (d tau/d q) d(q) - (d tau/d dq) d(dq) - W d(chi) - D' d(f),

where W is the regressor (2) at the motion itself, with a column s for each disturbance. Contacts
keep what they do: the force of one that slides changes with its Coulomb limit only; one that is
held changes its force so that its velocity still comes to zero within the step, d(u) + h D d(ddq) =
0. Away from a change of these sets the derivatives are those of the simulation itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from didim.control.kernels.tangent import law_tangent_type
from didim.dynamics.kernels.regressor import columns_type
from didim.jit.struct_pointers import struct_reader
from didim.jit.types import float64, int64, record_type
from didim.simulation.kernels.linearised import linearised_type


class Tangent(NamedTuple):
    """The derivatives that a run carries along, and scratch. Columns m are padded to a multiple of
    LANES, those of the outputs are not.
    """

    driven_code: int  # address of the machine code of `driven`, 0: none
    free_code: int  # the same without d(tau), where the law is in the matrices, 0: it is not
    ahead_code: int  # the same at the stages behind the first, where steps are made as a whole
    motion_code: int  # that of derivatives and link columns of the robot, 0: none
    group: int  # stages that are linearised at once
    at: Any  # Linearised
    columns: Any  # of the regressor
    law: Any
    y: Any  # (s, m) of the state: q, dq and, where the law has them, the integrals
    x: Any  # (s, m) of the state at a stage
    K: Any  # (5, s, m) of the rates
    tau: Any  # (n, m) of the torque
    seen: Any  # (n, m) of the velocity that a sampled controller sees
    parameters: int  # columns of W that are those of parameters, b
    filled: int  # and with disturbances and shapes
    M: Any  # (n, n) scratch
    ground: Any
    A: Any  # (c, c) D M^-1 D' of the held contacts, factored
    reaction: Any  # (c, padded n) scratch of `keep_held`, as is the next
    force: Any  # (c, m)
    share: Any  # (n,) part of a change of torque that reaches the load
    own: Any  # (2, n, n) scratch of `add_terms_tangent`
    jump: Any  # (n,) of the velocity, where contacts are arrested
    jolted: Any  # (n, m) W there
    reach: Any  # (2,) s, how far ahead a stage is, and the one before it
    none: Any  # (max(n, 3),) zeros
    disturbance: Any  # (N, S) torques, linear between the times of the next
    time: Any  # (N,) s
    place: Any  # (2, S) int64 row and column of W of each
    cursor: Any  # (1,) int64 interval of the time before
    first: Any  # (1,) int64 output row that the buffers begin with
    out_tau: Any  # (rows, n, m)
    out_q: Any  # (rows, n, m)


_vector, _matrix, _cube = float64[::1], float64[:, ::1], float64[:, :, ::1]
tangent_type = record_type(
    Tangent,
    *[int64] * 5,
    linearised_type,
    columns_type,
    law_tangent_type,
    _matrix,
    _matrix,
    _cube,
    _matrix,
    _matrix,
    int64,
    int64,
    *[_matrix] * 5,
    _vector,
    _cube,
    _vector,
    _matrix,
    *[_vector] * 2,
    _matrix,
    _vector,
    int64[:, ::1],
    int64[::1],
    int64[::1],
    _cube,
    _cube,
)
read_tangent = struct_reader(tangent_type)
