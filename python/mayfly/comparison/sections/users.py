"""What users of the link feel under each discipline."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mayfly import _native
from mayfly.comparison.sections.section import Section

if TYPE_CHECKING:
    from mayfly.comparison.run_set import Measured
    from mayfly.summary_types import DisciplineRowPart


def measure(of: Measured) -> DisciplineRowPart:
    """The key ``users``: transfers by size, ping, call, pages, video, downloads, streams."""
    from mayfly.metrics.users import Rule

    rule = of.workload.rule or Rule()
    observed = [run.observed for run in of.runs if run.observed is not None]
    span_s = (of.workload.begin_s, of.end_s)
    decided = (rule.above, rule.least_bytes, rule.while_busy)
    return {"users": json.loads(_native.users_of_runs(observed, of.runs[0].idle_rtt_s, span_s, *decided))}


SECTION = Section(measure)
