"""Shapes of an MJCF file that collide, for the design of motions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from didim.robot.mjcf.compile import Model, mujoco_for, rotation_of
from didim.robot.shape import Shape

Array = NDArray[np.float64]


def shapes_of_body(model: Model, body: int, origin: Array) -> tuple[Shape, ...]:
    """The capsules, cylinders, spheres and boxes of a body that collide, about `origin`."""
    types = mujoco_for("MJCF files need").mjtGeom
    found = []
    first = int(model.body_geomadr[body])
    for geom in range(first, first + int(model.body_geomnum[body])):
        if not model.geom_contype[geom] and not model.geom_conaffinity[geom]:
            continue
        size = model.geom_size[geom]
        kind, sizes = {
            int(types.mjGEOM_SPHERE): ("sphere", (size[0],)),
            int(types.mjGEOM_CAPSULE): ("capsule", (size[0], 2 * size[1])),
            int(types.mjGEOM_CYLINDER): ("cylinder", (size[0], 2 * size[1])),
            int(types.mjGEOM_BOX): ("box", tuple(2 * size)),
        }.get(int(model.geom_type[geom]), ("", ()))
        if kind:
            place = model.geom_pos[geom] - origin
            found.append(Shape(kind, sizes, rotation_of(model.geom_quat[geom]), place))
    return tuple(found)
