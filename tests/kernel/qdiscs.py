"""Our queue disciplines in the kernel: what every test of them runs over. A new one is a row of `ROWS`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A queue discipline: its module, and options of its own (name, value) with what `tc -j` shows of each."""

    id: str
    options: tuple[tuple[str, str, object], ...]
    size_based: bool = True
    """Short flows go first."""

    @property
    def module(self) -> str:
        return f"sch_{self.id}"


ROWS = (
    Row(
        "efd",
        (
            ("limit 7", "limit", 7),
            ("limit 450kb", "limit_bytes", 450 * 1024),
            ("count packets", "count", "packets"),
            ("count acked", "count", "acked"),
            ("threshold 5p", "threshold", 5),
            ("threshold 4kb", "threshold", 4096),
            ("high las", "high", "las"),
            ("low las", "low", "las"),
            ("flows 3", "flows_limit", 3),
            ("nosplit", "split", False),
        ),
    ),
    Row(
        "estmred",
        (
            ("limit 7", "limit", 7),
            ("limit 60000b", "limit_bytes", 60_000),
            ("min 5", "min", 5),
            ("max 15000b", "max_bytes", 15_000),
            ("avpkt 700b", "avpkt", 700),
            ("bandwidth 10mbit", "bandwidth", 10_000_000),
            ("rtt 40ms", "rtt", 0.04),
            ("delay 40ms", "rtt", 0.08),
            ("estimate off", "estimate", "off"),
            ("method p0", "method", "p0"),
            ("probability 0.25", "probability", 0.25),
            ("weight 0.125", "weight", 0.125),
            ("gentle off", "gentle", "off"),
            ("spacing wait", "spacing", "wait"),
            ("ecn on", "ecn", "on"),
            ("mark_max 0.5", "mark_max", 0.5),
            ("queued_rtt 50ms", "queued_rtt", 0.05),
            ("sampling 10ms", "sampling", 0.01),
            ("per_estimate 21", "per_estimate", 21),
            ("start 60s", "start", 60),
            ("ticks 100", "ticks", 100),
            ("queue_filter 0.25", "queue_filter", 0.25),
            ("drop_filter 0.75", "drop_filter", 0.75),
            ("smoothing 0.5", "smoothing", 0.5),
            ("gamma_1 2", "gamma_1", 2),
            ("gamma_2 1", "gamma_2", 1),
            ("zero_intervals 5", "zero_intervals", 5),
            ("start_share 0.25", "start_share", 0.25),
            ("per_ack 2", "per_ack", 2),
            ("above 0.75", "above", 0.75),
            ("below 0.5", "below", 0.5),
            ("nosplit", "split", False),
        ),
        size_based=False,
    ),
)
MODULES = tuple(row.module for row in ROWS)
