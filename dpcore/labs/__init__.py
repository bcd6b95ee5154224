"""Labs: what the sources printed, what is true, and why it matters, at the sources' own parameters; and their errata.

``LABS`` holds every lab by name and imports each when it is first used; `dpcore.labs.errata` lists every mistake.
"""

from dpcore.labs.base import Lab, LabCheck, Picture, Plot, Regions, Story, series, together
from dpcore.labs.catalogue import LABS, enter, lab

__all__ = ["LABS", "Lab", "LabCheck", "Picture", "Plot", "Regions", "Story", "enter", "lab", "series", "together"]
