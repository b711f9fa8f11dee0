"""UDP flows that send the packets of a file."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from mayfly.errors import MayflyError
from mayfly.headers import UDP_HEADER_BYTES
from mayfly.workload.hosts import Hosts
from mayfly.workload.sources.datagrams import Datagrams, DatagramsSection

if TYPE_CHECKING:
    import polars as pl


class ReplaySection(DatagramsSection):
    """UDP flows that send the packets of a file, which says their lengths."""

    file: str = Field(description="CSV with the columns time_s and bytes (on the wire), from the working directory")

    def drawn(self, mss: int, ends: tuple[Hosts, Hosts] | None) -> Replay:
        """The source, between the hosts of ``ends``."""
        return Replay(**self.shared(), ends=ends, file=self.file)


@dataclass(frozen=True)
class Replay(Datagrams):
    """UDP flows that send the packets of a file.

    Parameters
    ----------
    file : path
        CSV with the columns ``time_s``, ascending, and ``bytes`` on the wire, 29 to 65535; the first packet leaves when
        the flow begins.
    """

    kind: ClassVar[str] = "replay"

    file: str | os.PathLike[str] = ""
    packets: pl.Series = field(init=False, repr=False, compare=False)
    """Bursts of the file, once it is read."""

    def rows(self, duration_s: float, rng: np.random.Generator) -> pl.DataFrame:
        """Rows of the flow list; the file is read once."""
        object.__setattr__(self, "packets", self.read(self.lasts_s(duration_s)))
        return super().rows(duration_s, rng)

    def bursts(self, lasts_s: float, rng: np.random.Generator) -> pl.Series:
        """A burst for each packet."""
        return self.packets

    def read(self, lasts_s: float) -> pl.Series:
        """The file's packets of the first ``lasts_s``."""
        import polars as pl

        from mayfly.workload.bursts import MOST_BYTES, of_flow

        try:
            table = pl.read_csv(os.fspath(self.file), schema_overrides={"time_s": pl.Float64, "bytes": pl.Int64})
            at_s, lengths = table["time_s"], table["bytes"]
        except (OSError, pl.exceptions.PolarsError) as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:120]
            raise MayflyError(f"{self.file}: not a trace with the columns time_s and bytes: {reason}") from None
        if at_s.is_empty() or at_s.has_nulls() or lengths.has_nulls() or not at_s.is_finite().all():
            raise MayflyError(f"{self.file}: must hold a time_s and bytes in every row, and at least one")
        if not at_s.is_sorted():
            row = int((at_s.diff() < 0).arg_max() or 0)
            raise MayflyError(f"{self.file}: row {row + 1}: time_s = {at_s[row]:g}: must not be before the row above")
        if not lengths.is_between(UDP_HEADER_BYTES + 1, MOST_BYTES).all():
            row = int((~lengths.is_between(UDP_HEADER_BYTES + 1, MOST_BYTES)).arg_max() or 0)
            bounds = f"{UDP_HEADER_BYTES + 1} to {MOST_BYTES}"
            raise MayflyError(f"{self.file}: row {row + 1}: bytes = {lengths[row]}: must be from {bounds}")
        since_s = at_s.to_numpy() - at_s[0]
        kept = since_s < lasts_s
        return of_flow(since_s[kept], lengths.to_numpy()[kept], 1, np.zeros(int(kept.sum())))
