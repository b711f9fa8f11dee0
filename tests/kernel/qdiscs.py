"""Our queue disciplines in the kernel: what every test of them runs over. A new one is a row of `ROWS`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A queue discipline: its module, and options of its own (name, value) with what `tc -j` shows of each."""

    id: str
    options: tuple[tuple[str, str, object], ...]

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
)
MODULES = tuple(row.module for row in ROWS)
