"""What users of the link feel under each discipline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mayfly.comparison.sections.section import Section

if TYPE_CHECKING:
    import polars as pl

    from mayfly.comparison.measured import Measured


def measure(of: Measured) -> dict[str, Any]:
    """The key ``users``: transfers by size, ping, call, pages, video, downloads."""
    import polars as pl

    from mayfly.metrics.users import users_row

    first = of.runs[0]
    trains = [run.trains for run in of.runs if run.trains.width]
    probes = [run.probes.with_columns(replication=pl.lit(run.replication)) for run in of.runs if run.probes.width]
    calls = [run.calls.with_columns(replication=pl.lit(run.replication)) for run in of.runs if run.calls.width]
    found = users_row(
        of.records,
        pl.concat(trains) if trains else pl.DataFrame(),
        pl.concat(probes) if probes else pl.DataFrame(),
        first.idle_rtt_s,
        of.workload.begin_s,
        of.end_s,
        _streams(of),
        pl.concat(calls) if calls else None,
        of.frames,
        of.segments,
    )
    return {"users": found}


def _streams(of: Measured) -> pl.DataFrame:
    """Pieces of the streams of all replications."""
    import polars as pl

    from mayfly.workload.streams import streams_of

    mss = of.workload.packets["mss"]
    found = [
        streams_of(run.records, mss).with_columns(replication=pl.lit(run.replication, pl.Int32)) for run in of.runs
    ]
    return pl.concat(found)


SECTION = Section(measure)
