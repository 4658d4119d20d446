"""What a person sets to add a suspect, in a sentence."""

from __future__ import annotations

from didim.control.kernels.law import Law
from didim.results.lack_of_fit import Remedy
from didim.structure.suspect import Suspect

_LAWS = {"ki": "pid", "kiv": "cascade"}


def setting_of(suspect: Suspect, value: float, law: Law | None, names: tuple[str, ...]) -> str:
    """The setting; `names` are those of the robot's joints."""
    joint = (
        "" if suspect.joint is None else f" of joint {suspect.joint + 1} ({names[suspect.joint]})"
    )
    kind = suspect.name.rstrip("0123456789")
    match suspect.remedy:
        case Remedy.GAIN:
            change = (
                f"{1 + 0.01 * value:.4g} times" if abs(value) < 90 else "quite another value of"
            )
            which = joint or " of every joint"
            return f"Set {change} {kind}{which}, or estimate_gains = true."
        case Remedy.INTEGRAL:
            unit = "kp kv" if kind == "ki" else "kv"
            return f'Set law = "{_LAWS[kind]}" with {kind} = {value:.3g} {unit}{joint}.'
        case Remedy.VELOCITY_REFERENCE:
            old = 0.0 if law is None else float(law.ff[suspect.joint or 0])
            return f"Set velocity_reference = {old + value:.3g}{joint}."
        case Remedy.FEEDFORWARD:
            return f"Add the feedforward of the controller's own model{joint}."
        case Remedy.DELAY:
            period = 0.0 if law is None else law.period
            samples = f", {value / period:.2g} samples" if period else ""
            return f"Set the delay of the command: {value:.3g} s{samples}."
        case Remedy.REFERENCE_DELAY:
            return f"Set estimate_delay = true: the reference comes {value:.3g} s late."
        case Remedy.DRIVE_GAIN:
            factor = 1.0 + 0.01 * value
            return f"Set {factor:.4g} times the drive gain{joint}, for the log and the loop."
        case Remedy.SATURATION:
            return f"Set the saturation{joint} to the largest recorded command."
        case Remedy.EFFECT:
            return f'Add the effect "{suspect.effect}"{joint}.'
        case Remedy.COUPLING:
            return f"Declare a coupling{joint} with the next one in the robot file."
        case Remedy.PAYLOAD:
            return (
                "That record carries a load: identify the others without it, save the result, and "
                "run didim payload RESULT FILE on it."
            )
        case Remedy.GRAVITY:
            return "Check how the robot is mounted: set its gravity."
        case Remedy.JOINT_ZERO:
            return f"Check the zero{joint}: shift its positions."
        case Remedy.TIME_SHIFT:
            return f"Set torque_delay = {value:.3g} for the record."
