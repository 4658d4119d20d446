"""MuJoCo compiles an MJCF file (extra `mujoco`): defaults, classes, frames and angles are its job.

Shapes that only draw or collide are left out where a body states its inertia, so that their mesh
files need not be there.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError
from didim.robot.mjcf.tree import MjcfTree

Array = NDArray[np.float64]

Model = Any
"""mujoco.MjModel; the package has types of its own, and may be absent."""


def mujoco_for(purpose: str) -> Any:
    """The package `mujoco`; `purpose` says what needs it where it is absent."""
    try:
        import mujoco
    except ImportError:
        raise InputError(f'{purpose} MuJoCo: pip install "didim[mujoco]".') from None
    return mujoco


def rotation_of(quaternion: Array) -> Array:
    """The rotation (3, 3) of a quaternion w, x, y, z."""
    turned = np.zeros(9)
    mujoco_for("MJCF files need").mju_quat2Mat(turned, np.ascontiguousarray(quaternion))
    return turned.reshape(3, 3)


def compiled(tree: MjcfTree) -> Model:
    """MuJoCo's model of a file, without what its dynamics do not need."""
    return compiled_text(tree.text, tree.path)


def compiled_text(text: str, path: Path, edit: Callable[[Any], None] | None = None) -> Model:
    """MuJoCo's model of the text of an MJCF file that lies, or will lie, at `path`; `edit` changes
    its MjSpec first.
    """
    where = path.name
    mujoco = mujoco_for(f"{where}: MJCF files need")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what MuJoCo would like to be written otherwise
            spec = mujoco.MjSpec.from_string(text)
            spec.modelfiledir = str(path.parent.resolve())
            _leave_out(spec, mujoco, path)
            if edit is not None:
                edit(spec)
            return spec.compile()
    except InputError:
        raise
    except Exception as problem:  # MuJoCo raises ValueError, and errors of its own
        said = " ".join(str(problem).split())
        raise InputError(f"{where}: MuJoCo cannot compile it: {said}") from None


def _leave_out(spec: Any, mujoco: Any, path: Path) -> None:
    """Delete meshes that no inertia needs; refuse those that one needs and that are absent."""
    from_geoms = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    files = {mesh.name or Path(mesh.file).stem: mesh.file for mesh in spec.meshes}
    used = set()
    for pair in list(spec.pairs):
        spec.delete(pair)
    for body in spec.bodies:
        stated = body.name == "world" or (body.explicitinertial and not from_geoms)
        for geom in list(body.geoms):
            if not geom.meshname and not geom.hfieldname:
                continue
            if stated:
                spec.delete(geom)
                continue
            used.add(geom.meshname)
            file = files.get(geom.meshname, "")
            if file and not _mesh_path(spec, path, file).is_file():
                raise InputError(
                    f"{path.name}, body {body.name!r}: its inertia follows from the mesh {file!r}, "
                    "which is not there; put the file there, or give the body an <inertial>."
                )
    for sensor in list(spec.sensors):
        spec.delete(sensor)
    for skin in list(spec.skins):
        spec.delete(skin)
    for mesh in list(spec.meshes):
        if (mesh.name or Path(mesh.file).stem) not in used:
            spec.delete(mesh)
    spec.discard_visual()


def _mesh_path(spec: Any, path: Path, file: str) -> Path:
    name = Path(file).name if spec.strippath else file
    return path.parent / spec.meshdir / name
