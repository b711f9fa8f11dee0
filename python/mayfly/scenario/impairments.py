"""The section ``[[network.impairment]]``: packets that the link of interest drops, marks or delays by name."""

from typing import Any, Literal

from pydantic import Field, model_validator

from mayfly.fields import Delay, Seconds, Section, Whole


class Impairment(Section):
    """A rule of the link of interest, behind its queues: which packets of a direction, and what becomes of them."""

    direction: Literal["data", "ack"] = Field(
        "data", description="`data`: to the receiver of the data; `ack`: back to its sender"
    )
    do: Literal["drop", "mark", "delay", "hold"] = Field(
        description="mark: CE, where the packet is capable of ECN; delay: by `by`, so that others may overtake it; "
        "hold: what would come between `from` and `to` comes at `to`"
    )
    segment: int | None = Field(
        None, strict=True, ge=0, lt=1 << 32, description="number of a segment of each flow; 0 is the SYN"
    )
    transmission: Whole = Field(1, ge=1, lt=1 << 32, description="first (1) or a later transmission of that segment")
    ack: int | None = Field(
        None, strict=True, ge=0, lt=1 << 32, description="number of a packet back in each flow; 0 is the SYN-ACK"
    )
    from_: Seconds | None = Field(None, alias="from", description="beginning of a window of time, for all packets")
    to: Seconds | None = Field(None, description="its end")
    by: Delay | None = Field(None, description="delay")

    @model_validator(mode="after")
    def _names_packets(self) -> "Impairment":
        given = [self.segment is not None, self.ack is not None, self.from_ is not None or self.to is not None]
        if sum(given) != 1:
            raise ValueError("must have one of `segment`, `ack`, and `from` with `to`")
        if given[2] and (self.from_ is None or self.to is None or self.from_ >= self.to):
            raise ValueError("must have `from` before `to`")
        for name, direction in (("segment", "data"), ("ack", "ack")):
            if getattr(self, name) is not None and self.direction != direction:
                raise ValueError(f"`{name}` with direction = '{self.direction}': must be '{direction}'")
        if (self.do == "delay") != (self.by is not None):
            raise ValueError("`by` goes with do = 'delay'")
        if self.do == "hold" and not given[2]:
            raise ValueError("do = 'hold': must have `from` and `to`")
        return self

    @property
    def native(self) -> dict[str, Any]:
        """As the native module takes it.

        Examples
        --------
        >>> Impairment(segment=5, do="drop").native["whom"]
        {'segment': {'number': 5, 'transmission': 1}}
        >>> Impairment(direction="ack", do="hold", **{"from": "70ms", "to": "0.1s"}).native["effect"]
        {'hold_until_ns': 100000000}
        """

        def ns(seconds: float | None) -> int:
            return round((seconds or 0.0) * 1e9)

        if self.segment is not None:
            whom: dict[str, Any] = {"segment": {"number": self.segment, "transmission": self.transmission}}
        elif self.ack is not None:
            whom = {"ack": self.ack}
        else:
            whom = {"window": {"from_ns": ns(self.from_), "to_ns": ns(self.to)}}
        effects = {"delay": {"delay_ns": ns(self.by)}, "hold": {"hold_until_ns": ns(self.to)}}
        return {"direction": self.direction, "whom": whom, "effect": effects.get(self.do, self.do)}
