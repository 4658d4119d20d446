"""Loads that a robot carries: a payload from a record with it, and drive gains from a payload of
which one number is known.
"""

from didim.payload.drive_gains import identify_drive_gains
from didim.payload.gain_result import DriveGains
from didim.payload.identify import identify_payload
from didim.payload.result import Payload, PayloadSigma

__all__ = [
    "DriveGains",
    "Payload",
    "PayloadSigma",
    "identify_drive_gains",
    "identify_payload",
]
