"""The sources beside the transfers: a file each in this folder, and a row here.

A source is a section of the scenario with ``drawn(mss, ends)``, which gives what draws its flows: ``rows(duration_s,
rng)`` of flows that start at times known beforehand, or ``pages_of(...)`` of pages that wait for each other.
"""

from mayfly.fields import Section
from mayfly.workload.sources.batch import BatchSection
from mayfly.workload.sources.call import CallSection
from mayfly.workload.sources.cbr import CbrSection
from mayfly.workload.sources.gaming import GamingSection
from mayfly.workload.sources.http import HttpSection
from mayfly.workload.sources.on_off import OnOffSection
from mayfly.workload.sources.permanent import PermanentSection
from mayfly.workload.sources.replay import ReplaySection
from mayfly.workload.sources.short_term import ShortTermSection
from mayfly.workload.sources.vbr import VbrSection
from mayfly.workload.sources.video import VideoSection
from mayfly.workload.sources.web import WebSection

SOURCES: dict[str, type[Section]] = {
    "cbr": CbrSection,
    "permanent": PermanentSection,
    "batch": BatchSection,
    "web": WebSection,
    "on_off": OnOffSection,
    "vbr": VbrSection,
    "replay": ReplaySection,
    "short_term": ShortTermSection,
    "http": HttpSection,
    "call": CallSection,
    "video": VideoSection,
    "gaming": GamingSection,
}
"""Section of each, by its name below ``[workload]``."""

SINGLE = ("web", "http")
"""Of these one section may be written without brackets: ``[workload.web]``."""
