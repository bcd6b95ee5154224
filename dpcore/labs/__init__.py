"""Labs: what the sources printed, what is true, and why it matters, at the sources' own parameters; and their errata.

``LABS`` holds every lab by name and imports the one that is asked for; `dpcore.labs.errata` lists every mistake.
"""

from dpcore.labs.base import LABS, Lab, LabCheck, Picture, Plot, Regions, Story, enter, lab, series, together

__all__ = ["LABS", "Lab", "LabCheck", "Picture", "Plot", "Regions", "Story", "enter", "lab", "series", "together"]
