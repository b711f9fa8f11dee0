"""The sections of a comparison: each measures a part of the summary and puts it into tables.

A section says what it measures and shows. It stands in the module of its subject, and in :data:`SECTIONS`.
"""

from mayfly.comparison.sections import cell, congestion, groups, links, models, users, worst
from mayfly.comparison.sections.section import Section

SECTIONS: tuple[Section, ...] = (
    links.SECTION,
    users.SECTION,
    worst.SECTION,
    models.ENGINES,
    models.SECTION,
    cell.SECTION,
    users.PAGES,
    users.MEDIA,
    groups.TRANSFERS,
    users.TRAINS,
    groups.SECTION,
    links.INTERFACES,
    congestion.SECTION,
    congestion.ESTIMATOR,
)
"""In the order of terminal and page."""
