"""The sources beside the transfers: a file each in this folder, and a row here.

A source is a section of the scenario with ``drawn(mss, ends)``, which gives what draws its flows: ``rows(duration_s,
rng)`` of flows that start at times known beforehand, or ``pages_of(...)`` of pages that wait for each other.
"""

from mayfly.fields import Later

SOURCES: dict[str, Later] = {
    "cbr": Later("mayfly.workload.sources.cbr", "CbrSection"),
    "permanent": Later("mayfly.workload.sources.permanent", "PermanentSection"),
    "batch": Later("mayfly.workload.sources.batch", "BatchSection"),
    "web": Later("mayfly.workload.sources.web", "WebSection"),
    "on_off": Later("mayfly.workload.sources.on_off", "OnOffSection"),
    "vbr": Later("mayfly.workload.sources.vbr", "VbrSection"),
    "replay": Later("mayfly.workload.sources.replay", "ReplaySection"),
    "short_term": Later("mayfly.workload.sources.short_term", "ShortTermSection"),
    "http": Later("mayfly.workload.sources.http", "HttpSection"),
    "call": Later("mayfly.workload.sources.call", "CallSection"),
    "video": Later("mayfly.workload.sources.video", "VideoSection"),
    "gaming": Later("mayfly.workload.sources.gaming", "GamingSection"),
}
"""Section of each, by its name below ``[workload]``."""

SINGLE = ("web", "http")
"""Of these one section may be written without brackets: ``[workload.web]``."""
