"""TCP transfers with sizes of a law that arrive at random, or at the times of a file.

Arrival times, sizes, directions and parts each have a stream of their own; those of Poisson arrivals are the same under
every law of sizes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field, model_validator

from mayfly.arrays import Floats, Integers
from mayfly.errors import MayflyError
from mayfly.fields import Group, Rate, Seconds, Section, Whole
from mayfly.laws import registry as laws
from mayfly.laws.section import SIZES, LawName, Sizes
from mayfly.laws.sizes import SizeLaw
from mayfly.workload.arrivals import stream
from mayfly.workload.hosts import Hosts
from mayfly.workload.offering import Part, Transfers, offering, payload_bytes, whole
from mayfly.workload.renewal import Arrivals, Poisson, Recorded, WeibullGaps
from mayfly.workload.sources.common import FROM, GROUP, TO, TRANSPORT, USERS

if TYPE_CHECKING:
    import polars as pl


class PartSection(Section):
    """Part of the transfers with a direction and a round-trip time of its own (Chen 2012, Table 9.1)."""

    share: float = Field(gt=0, le=1, description="of the transfers and of their load; what parts leave is as above")
    up_share: float = Field(0.0, ge=0, le=1, description="share of the part's transfers in the reverse direction")
    rtt: Seconds | None = Field(
        None, gt=0, le=60, description="round-trip time without queueing, of the wired path; of the path when absent"
    )
    group: Group = Field(None, description=GROUP)
    transport: Group = Field(None, description=TRANSPORT)


def transfer_flows(transfers: Transfers, duration_s: float, seed: int, mss: int, header_bytes: int) -> pl.DataFrame:
    """Draw start, size and direction of transfers.

    Parameters
    ----------
    transfers : Transfers
        The laws.
    duration_s : float
        They start in [0, duration_s), s.
    seed : int
        Seed of the run.
    mss, header_bytes : int
        Payload of a full packet and header of every packet, bytes.

    Returns
    -------
    polars.DataFrame, shape (n_flows, 3)
        ``start_s, size_bytes, direction``; with parts also ``rtt_s`` and ``group``; ``transport`` where one is given.

    Raises
    ------
    MayflyError
        A value is outside its bounds, or the law has no mean to make a load of.
    """
    import polars as pl

    for share in (transfers.up_share, *(part.up_share for part in transfers.parts)):
        if not 0 <= share <= 1:
            raise MayflyError(f"up_share = {share}: must be from 0 to 1")
    law, arrivals = transfers.law, transfers.arrivals
    if arrivals.has_rate:
        starts, sizes = offering(transfers, duration_s, seed, mss + header_bytes)
    else:
        assert isinstance(arrivals, Recorded)
        for name, given in (("load", transfers.load_bps), ("exact_load", transfers.exact_load or None)):
            if given is not None:
                raise MayflyError(f"{name} = {given}: must be left out where a file has the arrivals")
        starts = arrivals.starts(seed, None, duration_s)
        sizes = whole(law.sample(stream(seed, "sizes"), len(starts)))
    rows = pl.DataFrame({"start_s": starts, "size_bytes": payload_bytes(sizes, mss)})
    if transfers.transport is not None:
        rows = rows.with_columns(transport=pl.lit(transfers.transport))
    up_share: float | Floats = transfers.up_share
    if transfers.parts:
        part = _drawn_parts(transfers.parts, seed, len(starts))
        rest = Part(0.0, transfers.up_share)
        of = [*transfers.parts, rest]
        up_share = np.array([one.up_share for one in of])[part]
        rows = rows.with_columns(
            rtt_s=pl.Series([one.rtt_s for one in of], dtype=pl.Float64).gather(part),
            group=pl.Series([one.group or transfers.group for one in of], dtype=pl.String).gather(part),
        )
        if any(one.transport for one in of):
            names = pl.Series([one.transport or transfers.transport for one in of], dtype=pl.String)
            rows = rows.with_columns(transport=names.gather(part))
    up = stream(seed, "directions").random(len(starts)) < up_share
    return rows.with_columns(direction=pl.Series(np.where(up, "up", "down")))


def _drawn_parts(parts: tuple[Part, ...], seed: int, n: int) -> Integers:
    """Place of the part of each of ``n`` transfers; ``len(parts)`` where it belongs to none."""
    shares = [part.share for part in parts]
    if not (min(shares) >= 0 and sum(shares) <= 1 + 1e-9):
        raise MayflyError(f"share = {', '.join(map(str, shares))}: must be at least 0 and together at most 1")
    edges = np.cumsum(shares)
    # Shares of 0.45 + 0.45 + 0.09 + 0.01 are all there is, whatever their binary fractions sum up to.
    edges[-1] = 1.0 if abs(edges[-1] - 1) <= 1e-9 else edges[-1]
    return np.searchsorted(edges, stream(seed, "parts").random(n), side="right")


class TransfersSection(Section):
    """TCP transfers with sizes in MSS, beside flows of other kinds."""

    load: Rate | None = Field(
        None, description="offered load of the transfers on the wire; none when absent, unless arrivals = trace"
    )
    arrivals: Literal["poisson", "weibull", "trace"] = Field(
        "poisson", description="times between transfers, or their start times from a file, which takes no load"
    )
    arrival_shape: float | None = Field(
        None, ge=0.2, le=100, description="weibull: shape of the times between arrivals; below 1 bursts, 1 is poisson"
    )
    arrival_file: str | None = Field(
        None, description="trace: CSV with the column start_s, seconds, from the working directory"
    )
    law: LawName = Field("zipf", description="law of the sizes, by the four fields below; sizes takes all its others")
    minimum: float | None = Field(
        None, description="smallest size, MSS; zipf, pareto: any three of these four, else 6, mean 40, cov 6"
    )
    maximum: float | None = Field(None, description="largest size, MSS")
    mean: float | None = Field(None, description="mean size, MSS")
    cov: float | None = Field(None, description="coefficient of variation of the size")
    sizes: Sizes | None = Field(None, description=f"{SIZES}, in place of law, minimum, maximum, mean and cov")
    exact_load: bool = Field(False, description="make the realised load the nominal one")
    up_share: float = Field(0.0, ge=0, le=1, description="share of transfers in the reverse direction")
    senders: Whole = Field(5, ge=1, le=100_000, description="hosts that send downwards, one access link each")
    receivers: Whole = Field(5, ge=1, le=100_000, description="hosts at the other side")
    users: int | None = Field(
        None, strict=True, ge=1, le=1_000_000, description=f"whom each transfer is drawn for, {USERS}"
    )
    group: Group = Field(None, description=GROUP)
    transport: Group = Field(None, description=TRANSPORT)
    from_: Group = Field(None, alias="from", description=FROM)
    to: Group = Field(None, description=TO)
    part: tuple[PartSection, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _default_law(cls, given: Any) -> Any:
        """Minimum 6, mean 40, CoV 6, unless the scenario says otherwise (shared errata of Chen 2012, 4.4.2)."""
        if not isinstance(given, dict) or given.get("law", "zipf") not in ("zipf", "pareto"):
            return given
        if not any(name in given for name in ("minimum", "maximum", "mean", "cov")):
            given = {**given, "minimum": 6, "mean": 40, "cov": 6}
        return given

    @model_validator(mode="after")
    def _arrivals_complete(self) -> TransfersSection:
        for name, kind in (("arrival_shape", "weibull"), ("arrival_file", "trace")):
            value = getattr(self, name)
            if (value is None) == (self.arrivals == kind):
                what = "must be given with" if value is None else "only goes with"
                raise ValueError(f"{name} = {'none' if value is None else value}: {what} arrivals = {kind}")
        if self.arrivals == "trace" and self.load is not None:
            raise ValueError(f"load = {self.load}: must be left out with arrivals = trace, which set it")
        if (shares := sum(part.share for part in self.part)) > 1 + 1e-9:
            raise ValueError(f"share of all [[workload.part]] = {shares:g}: must be at most 1")
        if self.part and self.load is None and self.arrivals != "trace":
            raise ValueError("[[workload.part]] without load: there are no transfers to take part of")
        if self.arrivals == "trace" and self.exact_load:
            raise ValueError("exact_load = true: must be left out with arrivals = trace")
        return self

    @property
    def has_transfers(self) -> bool:
        """Whether there are any: a network may lack the groups that they would go between."""
        return self.load is not None or self.arrivals == "trace"

    def drawn(self, ends: tuple[Hosts, Hosts] | None) -> Transfers:
        """The transfers, between the hosts of ``ends``.

        Raises
        ------
        MayflyError
            A law that cannot be.
        """
        return Transfers(
            self._sizes(),
            self.load,
            up_share=self.up_share,
            exact_load=self.exact_load,
            users=self.users,
            group=self.group,
            transport=self.transport,
            ends=ends,
            arrivals=self._arrivals(),
            parts=tuple(Part(part.share, part.up_share, part.rtt, part.group, part.transport) for part in self.part),
        )

    def _sizes(self) -> SizeLaw:
        if self.sizes is not None:
            return self.sizes.drawn("workload.sizes")
        flat = {name: getattr(self, name) for name in ("minimum", "maximum", "mean", "cov")}
        try:
            return laws.law_of(self.law, flat)
        except MayflyError as error:
            if self.law in ("zipf", "pareto"):
                raise
            # A field of a ready scenario cannot be unset; the table replaces all of them.
            raise MayflyError(f"workload: {error}; or give workload.sizes, which replaces these fields") from None

    def _arrivals(self) -> Arrivals:
        # _arrivals_complete has seen that what the kind takes is there.
        if self.arrivals == "weibull":
            assert self.arrival_shape is not None
            return WeibullGaps(self.arrival_shape)
        if self.arrivals == "trace":
            assert self.arrival_file is not None
            return Recorded(self.arrival_file)
        return Poisson()
