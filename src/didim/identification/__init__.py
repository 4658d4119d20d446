"""How we know it: one iteration for all methods, and one short file per method."""

from didim.identification.identify import identify
from didim.identification.methods.didim import DIDIM
from didim.identification.methods.idim import IDIM
from didim.identification.methods.iv import IV
from didim.identification.methods.output_error import OutputError
from didim.regression.system import LinearSystem

__all__ = ["DIDIM", "IDIM", "IV", "LinearSystem", "OutputError", "identify"]
