"""The share of traffic that does not respond to drops, as the estimator inside a queue told it."""

from typing import Any

from mayfly.comparison.measured import Measured
from mayfly.comparison.sections.section import Section
from mayfly.metrics.estimates import estimate_row


def measure(of: Measured) -> dict[str, Any]:
    """The key ``nonresponsive``, of disciplines that estimate it."""
    found = estimate_row(of.samples, of.workload.begin_s)
    return {"nonresponsive": found} if found else {}


SECTION = Section(measure)
