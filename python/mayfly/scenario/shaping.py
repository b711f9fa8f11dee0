"""The section ``[network.shaper]``: what paces packets before a link, and the rules by which it follows the link."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from mayfly.fields import Buffer, Rate, Seconds, Section, Whole, as_written

_SHARE = Field(None, gt=0, le=10)


class Autorate(Section):
    """The rules of cake-autorate, from its documentation (README, comments of its defaults, CHANGELOG up to 3.5).

    A fall: where enough of the last pings are delayed, the rate is multiplied, the more, the longer their mean delay
    is. A rise: whenever the load is measured and is high, and no fall is due. At low load the rate returns to its base.
    """

    min_rate: Rate | None = Field(
        None,
        description="the rate is never below; when absent, what 95 % of the seconds of the trace are above, and at "
        "least a twentieth of its mean",
    )
    base_rate: Rate | None = Field(
        None, description="rate at low load, and the first one; when absent, what three quarters of the seconds exceed"
    )
    max_rate: Rate | None = Field(None, description="the rate is never above; when absent, that of the fastest second")
    reverse_min_rate: Rate | None = Field(None, description="the same of the other direction")
    reverse_base_rate: Rate | None = Field(None, description="the same of the other direction")
    reverse_max_rate: Rate | None = Field(None, description="the same of the other direction")
    signal: Literal["rtt", "one-way"] = Field(
        "rtt",
        description="what a ping tells: half its round-trip time counts either way (fping), or each delay (tsping)",
    )
    pingers: Whole = Field(6, ge=1, le=1000, description="reflectors that take turns, each with its own baseline")
    ping_interval: Seconds = Field(as_written("300ms"), ge=0.01, le=60, description="between two pings of a reflector")
    load_interval: Seconds = Field(as_written("200ms"), ge=0.001, le=60, description="between two measurements of load")
    high_load: float = Field(0.75, gt=0, le=1, description="share of the rate above which the load is high")
    delay_threshold: Seconds = Field(
        as_written("30ms"), gt=0, le=60, description="a ping is delayed above it; a full packet's time is added"
    )
    rise_threshold: Seconds = Field(
        as_written("10ms"), ge=0, le=60, description="mean delay up to which the rate rises most"
    )
    fall_threshold: Seconds = Field(
        as_written("60ms"), gt=0, le=60, description="mean delay from which on the rate falls most"
    )
    window: Whole = Field(6, ge=1, le=1000, description="pings that are looked at")
    delayed: Whole = Field(3, ge=1, le=1000, description="of these, how many must be delayed for a fall")
    baseline_rise: float = Field(0.001, ge=0, le=1, description="weight of a longer ping in the baseline")
    baseline_fall: float = Field(0.9, ge=0, le=1, description="weight of a shorter ping in the baseline")
    fall_least: float = Field(0.99, ge=0.01, le=1, description="factor of a fall at the delay threshold")
    fall_most: float = Field(0.75, ge=0.01, le=1, description="factor of a fall at the fall threshold")
    rise_least: float = Field(1.0, ge=1, le=10, description="factor of a rise at the delay threshold")
    rise_most: float = Field(1.04, ge=1, le=10, description="factor of a rise at the rise threshold")
    decay_down: float = Field(0.99, ge=0.01, le=1, description="factor of a step down to the base rate")
    decay_up: float = Field(1.01, ge=1, le=10, description="factor of a step up to the base rate")
    fall_refractory: Seconds = Field(as_written("300ms"), le=600, description="time after a fall without a change")
    decay_refractory: Seconds = Field(as_written("1s"), le=600, description="time between two steps to the base rate")
    silence: Seconds = Field(
        as_written("10s"), gt=0, le=3600, description="without an answer for so long, the rates are the least"
    )

    @model_validator(mode="after")
    def _in_order(self) -> "Autorate":
        if not self.rise_threshold < self.delay_threshold < self.fall_threshold:
            raise ValueError(
                f"delay_threshold = {self.delay_threshold}: must be between rise_threshold, {self.rise_threshold}, and "
                f"fall_threshold, {self.fall_threshold}"
            )
        if self.delayed > self.window:
            raise ValueError(f"delayed = {self.delayed}: must be at most the window, {self.window}")
        return self


class Shaper(Section):
    """A shaper before the bottleneck or behind it, which then has a queue of its own: FIFO, as that of a modem.

    The discipline and the buffer of the scenario are those of the shaper.
    """

    rate: Rate | None = Field(None, description="rate at which packets pass")
    share: Annotated[float | None, _SHARE] = Field(
        None, description="the same as a share of the mean rate of the link, 0.9 where neither is given"
    )
    reverse_rate: Rate | None = Field(None, description="of the other direction")
    reverse_share: Annotated[float | None, _SHARE] = Field(
        None, description="the same as a share of the mean rate there; as share when absent"
    )
    ways: Literal["both", "down", "up"] = Field("both", description="directions that have a shaper")
    modem_buffer: Buffer = Field(as_written(1000), description="limit of the queue behind the shaper")
    reverse_modem_buffer: Buffer | None = Field(None, description="that of the other direction; as modem_buffer")
    place: Literal["before", "behind"] = Field(
        "before", description="of the link; behind it, as for what arrives at a router, bursts wait in its FIFO first"
    )
    reverse_place: Literal["before", "behind"] | None = Field(
        None, description="that in the other direction; as place when absent"
    )
    controller: Literal["none", "autorate"] = Field(
        "none", description="what sets the rates; autorate: `[network.shaper.autorate]`"
    )
    autorate: Autorate = Field(default_factory=Autorate)

    @model_validator(mode="after")
    def _has_one_rate(self) -> "Shaper":
        for way in ("", "reverse_"):
            rate, share = getattr(self, f"{way}rate"), getattr(self, f"{way}share")
            if rate is not None and share is not None:
                raise ValueError(f"{way}rate = {rate} with {way}share = {share}: must be one of them")
            if self.controller != "none" and (rate is not None or share is not None):
                given = f"{way}rate" if rate is not None else f"{way}share"
                raise ValueError(
                    f"{given} with a controller: must be left out: [network.shaper.autorate] has the rates"
                )
        return self
