"""What workers run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import polars as pl

Done = tuple[dict[str, Any], "pl.DataFrame | None"]
"""A row and, where kept, a table."""


class Job(Protocol):
    """What is handed out: a run of a sweep, a trial of the arena, a shard of a capture."""

    def run(self, key: str) -> Done:
        """Runs it, under that address."""

    def lost(self, key: str, error: str) -> Done:
        """Its row where it was not run to its end, and why."""
