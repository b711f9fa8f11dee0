"""The sections of a comparison: each measures a part of the summary and puts it into tables.

A section is a module here and its name in :data:`SECTIONS`. Its ``SECTION`` says what it measures and shows.
"""

from mayfly.comparison.sections import (
    cell,
    congestion,
    engines,
    group_transfers,
    groups,
    interfaces,
    links,
    media,
    models,
    nonresponsive,
    pages,
    trains,
    users,
)
from mayfly.comparison.sections.section import Section

SECTIONS: tuple[Section, ...] = (
    links.SECTION,
    users.SECTION,
    engines.SECTION,
    models.SECTION,
    cell.SECTION,
    pages.SECTION,
    media.SECTION,
    group_transfers.SECTION,
    trains.SECTION,
    groups.SECTION,
    interfaces.SECTION,
    congestion.SECTION,
    nonresponsive.SECTION,
)
"""In the order of terminal and page."""
