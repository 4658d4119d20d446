"""The sections of the report, in the order in which they are read. One class and one template
each.
"""

from didim.report.sections.convergence import Convergence
from didim.report.sections.correlations import Correlations
from didim.report.sections.distances import Distances
from didim.report.sections.effects import Effects, Friction
from didim.report.sections.improvement import HowImproved
from didim.report.sections.lack import Lack
from didim.report.sections.loop import Loop
from didim.report.sections.mujoco import InMujoco
from didim.report.sections.origin import Origin
from didim.report.sections.parameters import Parameters
from didim.report.sections.payload import Carried
from didim.report.sections.residuals import Residuals
from didim.report.sections.section import Section
from didim.report.sections.tests import Tests
from didim.report.sections.torques import Torques
from didim.report.sections.validation import HeldOut
from didim.report.sections.verdict import Verdict

SECTIONS: tuple[Section, ...] = (
    Verdict(),
    Carried(),
    HowImproved(),
    Parameters(),
    Lack(),
    Friction(),
    Effects(),
    Torques(),
    HeldOut(),
    Residuals(),
    Tests(),
    Convergence(),
    Distances(),
    InMujoco(),
    Correlations(),
    Loop(),
    Origin(),
)

__all__ = ["SECTIONS", "Section"]
