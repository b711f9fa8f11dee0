"""The share of traffic that does not respond to drops, as the estimator inside a queue told it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mayfly.comparison.sections.section import Section

if TYPE_CHECKING:
    from mayfly.comparison.run_set import Measured
    from mayfly.summary_types import DisciplineRowPart


def measure(of: Measured) -> DisciplineRowPart:
    """The key ``nonresponsive``, of disciplines that estimate it."""
    from mayfly.metrics.estimates import estimate_row

    found = estimate_row(of.samples, of.workload.begin_s)
    return {"nonresponsive": found} if found else {}


SECTION = Section(measure)
