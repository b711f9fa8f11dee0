"""The section ``[network.wlan]`` of a scenario: a cell of 802.11 in place of the bottleneck link.

What the standard leaves open, or simulators do in ways of their own, is a field each; presets name sets of them.
"""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from mayfly.errors import MayflyError
from mayfly.fields import Bytes, Seconds, Section, Whole, as_written
from mayfly.scenario.airtimes import Airtimes, airtimes, highest_rate, overhead_bytes, standards
from mayfly.scenario.edca import CATEGORIES, category, dcf

MOST_STATIONS = 10_000

PRESETS: dict[str, dict[str, Any]] = {
    # ns-3.37, WifiMac without QoS (channel-access-manager.cc, txop.cc): two frames of equal power that begin together
    # are not detected as preambles, so that no EIFS follows a collision; a busy medium never makes a frame draw that
    # came while it was idle; what the MAC is handed in the instant in which a frame for it ends finds the medium idle.
    # Frames are heard 4 us after they begin, whatever the standard.
    "ns-3.37": {
        "eifs": False,
        "backoff": "idle-slots",
        "after_failure": "timeout-and-difs",
        "immediate": "arrival",
        "overtaken_draws": False,
        "reply_finds_idle": True,
        "cca": "4us",
    },
    # QualNet 4.5 is not public, and the papers say no more than the standard and its rate. A guess: what the standard
    # says, with its EIFS, and its retry limits.
    "qualnet-4.5-like": {
        "eifs": True,
        "backoff": "idle-slots",
        "after_failure": "timeout",
        "immediate": "idle",
        "overtaken_draws": True,
        "reply_finds_idle": False,
        "retry_limit": 7,
        "long_retry_limit": 4,
    },
    # The chain of Bianchi 2000: every slot counts, busy ones too, all wait alike, every frame draws.
    "bianchi": {
        "eifs": False,
        "backoff": "every-slot",
        "after_failure": "with-others",
        "immediate": "never",
    },
}
"""Fields of the section by name of the preset."""


def _as_list(value: object) -> object:
    return (value,) if isinstance(value, str | int | float) and not isinstance(value, bool) else value


FrameError = Annotated[float, Field(ge=0, lt=1)]


class Wlan(Section):
    """An 802.11 cell: access point and stations share the medium, and all hear each other."""

    preset: Literal["ns-3.37", "qualnet-4.5-like", "bianchi"] | None = Field(
        None, description="named settings; fields given beside it win"
    )
    standard: Literal["802.11a", "802.11b", "802.11g", "802.11n", "802.11ac"] = Field(
        "802.11a", description="slots, interframe spaces, windows, preambles and rates"
    )
    stations: Whole = Field(10, ge=1, le=MOST_STATIONS, description="stations")
    rate: str | None = Field(
        None, description="of data frames: 54mbit, or mcs7 with 802.11n and ac; the highest of the standard when absent"
    )
    rates: Annotated[tuple[str, ...], BeforeValidator(_as_list)] = Field(
        (), description="of the first stations, each both ways; the others have rate"
    )
    width: Literal[20, 40, 80, 160] = Field(20, description="802.11n and ac: channel, MHz")
    streams: Whole = Field(1, ge=1, le=8, description="802.11n and ac: spatial streams")
    short_guard: bool = Field(False, description="802.11n and ac: guard interval of 400 in place of 800 ns")
    short_preamble: bool = Field(False, description="802.11b: 96 in place of 192 us, but at 1 Mb/s")
    long_slot: bool = Field(False, description="802.11g: 20 in place of 9 us, as beside stations of 802.11b")
    ack_rate: str | None = Field(
        None,
        description="of ACK, CTS and RTS; the highest mandatory rate not above that of the data when absent",
    )
    retry_limit: Whole = Field(7, ge=1, le=255, description="transmissions of a frame before it is given up")
    long_retry_limit: Whole = Field(4, ge=1, le=255, description="of a frame behind RTS and CTS")
    rts_threshold: Bytes | None = Field(
        None, description="longest frame without RTS and CTS, bytes with MAC header; never RTS when absent"
    )
    frame_error: FrameError = Field(
        0.0, description="probability that a data frame is damaged without a collision; ACK, RTS and CTS are not"
    )
    frame_errors: Annotated[tuple[FrameError, ...], BeforeValidator(_as_list)] = Field(
        (), description="of the first stations, each both ways; the others have frame_error"
    )
    cca: Seconds | None = Field(
        None, le=1e-3, description="time within which a node does not notice another's frame; aCCATime when absent"
    )
    eifs: bool = Field(True, description="who hears a collision waits EIFS after it")
    backoff: Literal["idle-slots", "every-slot"] | None = Field(
        None, description="whether the slot that turns busy counts: idle-slots when absent, every-slot with edca"
    )
    after_failure: Literal["timeout", "timeout-and-difs", "with-others", "after-answer-time"] = Field(
        "timeout",
        description="when a sender without answer contends again: after its timeout, a DIFS after it, as the others, "
        "or all after the time of the answer",
    )
    immediate: Literal["idle", "arrival", "never"] = Field(
        "idle",
        description="a frame that finds the medium idle goes out once it was so for DIFS, DIFS after its arrival, "
        "or never without backoff",
    )
    overtaken_draws: bool = Field(True, description="such a frame draws a backoff when another is faster")
    reply_finds_idle: bool = Field(
        False, description="the medium is idle for what a node is handed as a frame for it ends, before its ACK"
    )
    edca: bool = Field(False, description="access categories of EDCA in place of plain DCF")
    categories: dict[str, Literal["bk", "be", "vi", "vo"]] = Field(
        default_factory=dict,
        description="edca: category by group of flows, such as { voice = 'vo' }; be for the others",
    )
    aggregate: int | None = Field(
        None,
        strict=True,
        ge=1,
        le=256,
        description="frames of an A-MPDU at most; 1 for none; 32 with 802.11n, 64 with ac when absent",
    )
    aggregate_bytes: Bytes | None = Field(
        None, description="length of an A-MPDU at most; that of the standard when absent"
    )
    aggregate_airtime: Seconds = Field(
        as_written("5.484ms"), gt=0, le=1, description="time of an A-MPDU on the air at most"
    )
    queues: Literal["shared", "per-station", "airtime-fair"] = Field(
        "shared",
        description="of the access point: one; one per station, each with discipline and buffer, in turn; or these "
        "by equal time on the air",
    )
    # mac80211 adds the weight of a station, 256 by default, in microseconds per round (net/mac80211/sta_info.h).
    airtime_quantum: Seconds = Field(
        as_written("256us"), gt=0, le=1, description="airtime-fair: time of a station in a round"
    )
    hidden_pairs: tuple[Any, ...] = Field((), description="must be empty: every node hears every other")

    @model_validator(mode="before")
    @classmethod
    def _fill_in_preset(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        preset = given.get("preset")
        return {**(PRESETS.get(preset, {}) if isinstance(preset, str) else {}), **given}

    @model_validator(mode="after")
    def _is_a_cell(self) -> "Wlan":
        if self.hidden_pairs:
            raise ValueError("hidden_pairs: must be left out: every node of a cell hears every other here")
        for name in ("rates", "frame_errors"):
            if len(given := getattr(self, name)) > self.stations:
                raise ValueError(f"{name} has {len(given)} values: must be at most {self.stations}, as stations")
        self._fits_standard()
        try:
            for rate in dict.fromkeys(self.station_rates):
                self.link(rate)
        except MayflyError as error:
            raise ValueError(str(error).removeprefix("network.wlan: ")) from None
        if self.categories and not self.edca:
            raise ValueError("categories without edca = true: must be left out")
        return self

    def _fits_standard(self) -> None:
        """Refuses what only other standards have."""
        wide = self.has_channel
        of_wide = {"width": 20, "streams": 1, "short_guard": False}
        for name, plain in of_wide.items():
            if not wide and getattr(self, name) != plain:
                raise ValueError(f"{name} = {getattr(self, name)}: only goes with 802.11n and 802.11ac")
        for name, standard in (("short_preamble", "802.11b"), ("long_slot", "802.11g")):
            if getattr(self, name) and self.standard != standard:
                raise ValueError(f"{name} = true: only goes with {standard}")
        if not wide and self.aggregated > 1:
            raise ValueError(f"aggregate = {self.aggregate}: must be 1 with {self.standard}")

    @property
    def has_channel(self) -> bool:
        """Whether rates are modulations of a channel, and frames can be aggregated."""
        result: bool = standards()[self.standard]["aggregates"]
        return result

    @property
    def common_rate(self) -> str:
        """Rate of stations that have none of their own."""
        return highest_rate(self.standard, self.width, self.streams) if self.rate is None else self.rate

    @property
    def station_rates(self) -> list[str]:
        """Rate of each station, shape (stations,)."""
        return [*self.rates, *[self.common_rate] * (self.stations - len(self.rates))]

    @property
    def station_errors(self) -> list[float]:
        """Probability that a frame from or to each station is damaged, shape (stations,)."""
        return [*self.frame_errors, *[self.frame_error] * (self.stations - len(self.frame_errors))]

    @property
    def aggregated(self) -> int:
        """Frames of an aggregate at most."""
        if self.aggregate is not None:
            return self.aggregate
        return {"802.11n": 32, "802.11ac": 64}.get(self.standard, 1)

    @property
    def fastest_bps(self) -> int:
        """Speed of the fastest station's data on the air, bit/s: what no flow exceeds."""
        result: int = round(max(self.link(rate).rate_bps for rate in set(self.station_rates)))
        return result

    @property
    def overhead_bytes(self) -> int:
        """What surrounds an IP packet in a frame, bytes; 802.11n and ac are for QoS stations."""
        return overhead_bytes(self.edca or self.has_channel)

    @property
    def air(self) -> dict[str, Any]:
        """What all frames share, by the names of the native module."""
        names = ("standard", "width", "streams", "short_guard", "short_preamble", "long_slot")
        return {name: getattr(self, name) for name in names}

    def link(self, rate: str, lengths: tuple[int, ...] = ()) -> Airtimes:
        """Timing of the link of a station.

        Parameters
        ----------
        rate : str
            Of its data frames.
        lengths : tuple of int
            PSDUs, bytes.

        Returns
        -------
        Airtimes
            Of data and control frames.

        Raises
        ------
        MayflyError
            A rate or channel there is not.
        """
        air = self.air
        return airtimes(air.pop("standard"), rate, lengths=lengths, ack_rate=self.ack_rate, **air)

    def native(self, category_of: list[int]) -> dict[str, Any]:
        """The cell as the native module takes it.

        Parameters
        ----------
        category_of : list of int
            Category of each flow, by place in :data:`mayfly.scenario.edca.CATEGORIES`; empty without EDCA.

        Returns
        -------
        dict
            Times in ns, lengths in bytes.
        """
        plain = standards()[self.standard]
        windows = plain["cw_min"], plain["cw_max"]
        dsss = self.standard == "802.11b"
        rows = [category(name, *windows, dsss) for name in CATEGORIES] if self.edca else [dcf(*windows)]
        return {
            "air": self.air,
            "rates": self.station_rates,
            "frame_errors": self.station_errors,
            "ack_rate": self.ack_rate,
            "categories": rows,
            "category_of": category_of,
            "overhead": self.overhead_bytes,
            "retry_limit": self.retry_limit,
            "long_retry_limit": self.long_retry_limit,
            "rts_threshold": self.rts_threshold,
            "cca_ns": None if self.cca is None else round(self.cca * 1e9),
            "eifs_after_collision": self.eifs,
            "decrement": self.backoff or ("every-slot" if self.edca else "idle-slots"),
            "after_failure": self.after_failure,
            "immediate": self.immediate,
            "overtaken_draws": self.overtaken_draws,
            "reply_finds_idle": self.reply_finds_idle,
            "aggregate": self.aggregated,
            "aggregate_bytes": self.aggregate_bytes,
            "aggregate_airtime_ns": round(self.aggregate_airtime * 1e9),
            "queues": self.queues,
            "airtime_quantum_ns": round(self.airtime_quantum * 1e9),
        }
