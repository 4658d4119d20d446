"""How we know it: one file per method."""

from didim.identification.didim import DIDIM
from didim.identification.identify import identify
from didim.identification.idim import IDIM
from didim.identification.output_error import OutputError
from didim.identification.system import LinearSystem

__all__ = ["DIDIM", "IDIM", "LinearSystem", "OutputError", "identify"]
