"""Scenario sections of the sources beside transfers, CBR, permanent and batch flows."""

from typing import Literal

from pydantic import Field, model_validator

from mayfly.scenario.fields import Buffer, Group, Rate, Seconds, Section, Whole

USERS = "each with a pair of hosts of its own; hosts are drawn when absent"
GROUP = "name of these flows in records and summary"
FROM = "group of hosts that send: senders when absent"
TO = "group of hosts that receive: receivers when absent"
Direction = Literal["down", "up"]
DIRECTION = "down, or up: from a receiver to a sender"
Place = Literal["random", "even"]
PLACE = "how spread places the flows: drawn uniformly, or at equal distances"


class Part(Section):
    """Part of the transfers with a direction and a round-trip time of its own (Chen 2012, Table 9.1)."""

    share: float = Field(gt=0, le=1, description="of the transfers and of their load; what parts leave is as above")
    up_share: float = Field(0.0, ge=0, le=1, description="share of the part's transfers in the reverse direction")
    rtt: Seconds | None = Field(
        None, gt=0, le=60, description="round-trip time without queueing, of the wired path; of the path when absent"
    )
    group: Group = Field(None, description=GROUP)


class _Datagrams(Section):
    packet: Whole = Field(1000, ge=29, le=65_535, description="wire length, bytes")
    start: Seconds = Field(0.0, description="when the first flow begins")
    stop: Seconds | None = Field(None, description="from then on none is sent; end of the run when absent")
    flows: Whole = Field(1, ge=1, le=1_000_000, description="number of such flows")
    spread: Seconds = Field(0.0, description="each begins and stops later by a time below this; 0: in step")
    place: Place = Field("random", description=PLACE)
    users: int | None = Field(
        None, strict=True, ge=1, le=1_000_000, description=f"whom the flows are dealt to, {USERS}"
    )
    group: Group = Field(None, description=GROUP)
    from_: Group = Field(None, alias="from", description=FROM)
    to: Group = Field(None, description=TO)

    def shared(self) -> dict:
        """What all UDP sources take, by the names of the workload."""
        return {
            "packet_bytes": self.packet,
            "start_s": self.start,
            "stop_s": self.stop,
            "flows": self.flows,
            "spread_s": self.spread,
            "place": self.place,
            "users": self.users,
            "group": self.group,
        }


class OnOff(_Datagrams):
    """UDP flows that are on, at a constant rate, and off in turn (Zhao 2004, II.C.3)."""

    rate: Rate = Field(description="while on, on the wire")
    on: Seconds = Field(gt=0, description="length of the periods that are on; the first one is")
    off: Seconds = Field(gt=0, description="length of the periods that are off")
    periods: Literal["fixed", "exponential"] = Field("fixed", description="of these lengths, or drawn with these means")

    def drawn(self, mss: int, ends):
        """The source of the workload, between the hosts of ``ends``."""
        from mayfly.workload.sources import datagrams

        return datagrams.OnOff(
            **self.shared(), ends=ends, rate_bps=self.rate, on_s=self.on, off_s=self.off, periods=self.periods
        )


class Vbr(_Datagrams):
    """UDP flows whose rate is drawn anew at random times (Zhao 2004, II.C.6)."""

    rate_min: Rate = Field("500kbit", description="smallest rate, on the wire")
    rate_max: Rate = Field("1500kbit", description="largest rate; each is drawn uniformly")
    period_min: Seconds = Field("1s", gt=0, description="shortest time to the next rate")
    period_max: Seconds = Field("20s", gt=0, description="longest time; each is drawn uniformly")

    @model_validator(mode="after")
    def _ascending(self) -> "Vbr":
        for name in ("rate", "period"):
            low, high = getattr(self, f"{name}_min"), getattr(self, f"{name}_max")
            if low > high:
                raise ValueError(f"{name}_max = {high}: must be at least {name}_min, {low}")
        return self

    def drawn(self, mss: int, ends):
        """The source of the workload, between the hosts of ``ends``."""
        from mayfly.workload.sources import datagrams

        return datagrams.Vbr(
            **self.shared(),
            ends=ends,
            rate_min_bps=self.rate_min,
            rate_max_bps=self.rate_max,
            period_min_s=self.period_min,
            period_max_s=self.period_max,
        )


class Replay(_Datagrams):
    """UDP flows that send the packets of a file, which says their lengths."""

    file: str = Field(description="CSV with the columns time_s and bytes (on the wire), from the working directory")

    def drawn(self, mss: int, ends):
        """The source of the workload, between the hosts of ``ends``."""
        from mayfly.workload.sources import datagrams

        return datagrams.Replay(**self.shared(), ends=ends, file=self.file)


class ShortTerm(Section):
    """Short-term TCP flows: sources that open a connection now and then (Zhao 2004, II.C.4 and IV.A.1)."""

    sources: Whole = Field(1, ge=1, le=1_000_000, description="number of sources")
    size: Buffer = Field(10, description="payload of a connection: MSS, or bytes such as 10kB")
    times: Whole = Field(1, ge=1, le=1_000_000, description="connections of a source in a period")
    period: Seconds = Field("10s", gt=0, description="length of a period")
    arrivals: Literal["uniform", "exponential", "even"] = Field(
        "exponential", description="instants drawn uniformly in each period, exponential gaps, or equal gaps"
    )
    start: Seconds = Field(0.0, description="begin of the first period")
    spread: Seconds = Field(0.0, description="exponential, even: the first connection comes a time below this later")
    users: int | None = Field(
        None, strict=True, ge=1, le=1_000_000, description=f"whom the sources are dealt to, {USERS}"
    )
    group: Group = Field(None, description=GROUP)
    from_: Group = Field(None, alias="from", description=FROM)
    to: Group = Field(None, description=TO)

    def drawn(self, mss: int, ends):
        """The source of the workload, between the hosts of ``ends``."""
        from mayfly.workload.sources import short_term

        return short_term.ShortTerm(
            sources=self.sources,
            size_bytes=self.size[0] * (1 if self.size[1] == "bytes" else mss),
            times=self.times,
            period_s=self.period,
            arrivals=self.arrivals,
            start_s=self.start,
            spread_s=self.spread,
            users=self.users,
            group=self.group,
            ends=ends,
        )
