"""Urvoy-Keller 2007, 6 and 7: LAS and LASACK in a cell of 802.11b, downloads of three laws, and a mix with uploads.

Figures come without their data: what the text says they show is the claim. What words mean was written down before the
runs: *accurate*, within 25 %; *marginally affected*, by less than a factor
of 2; *equivalent rates*, within 5 %. Endless flows are in :mod:`mayfly_papers.urvoykeller2007.endless`.
"""

from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any

import numpy as np
import polars as pl

from mayfly.laws.registry import law_of
from mayfly.laws.service import deterministic
from mayfly.models.queue.mg1 import MG1
from mayfly.models.queue.policies import POLICIES
from mayfly.models.wlan.tcp import cycle_capacity
from mayfly.models.wlan.times import CellTimes
from mayfly.scenario.airtimes import airtimes
from mayfly_papers.chen2012.wlan.measures import MSS_BYTES
from mayfly_papers.declare import data
from mayfly_papers.declare.declaration import Claim, Experiment, Measures, Printed, Row, Runs, Values
from mayfly_papers.declare.rows import (
    Quantity,
    at_least,
    at_most,
    below,
    greater_by,
    printed_beside,
    quantity,
    ratio,
    within,
)
from mayfly_papers.declare.unknowns import Setting
from mayfly_papers.urvoykeller2007 import measures, passage

DIFFERENCES = data.reasons(__package__)

PRINTED = data.printed(__package__)

REPLICATIONS = 5
LOADS = (1, 2, 3, 4, 5, 6, 7)
NAMES = {"fifo": "FIFO", "las": "LAS", "lasack": "LASACK"}

LAWS: dict[str, dict[str, Any]] = {
    "bp-9.67": {"law": "pareto", "minimum": 3, "maximum": 13_333, "exponent": 1.4},
    "sexp-9.67": {"law": "shifted-exponential", "minimum": 3, "mean": 10.13},
    "ln-9.67": {"law": "lognormal", "mean": 7.13, "cov": 4.07},
    "bp-6.67": {"law": "pareto", "minimum": 3, "maximum": 13_333, "exponent": 1.73},
    "sexp-6.67": {"law": "shifted-exponential", "minimum": 3, "mean": 7.13},
    "ln-6.67": {"law": "lognormal", "mean": 4.13, "cov": 4.84},
}
"""Law of each row of Table 1, before rounding."""

TABLE_1 = PRINTED["table_1"]
"""Capacity by law, then `LOADS`, Mb/s."""

MIX_CAPACITY = PRINTED["mix_capacity"]


def rounded_down(flows: pl.DataFrame, replication: int) -> pl.DataFrame:
    """Sizes are rounded down to whole packets in place of up; downloads are traced."""
    return _traced(flows.with_columns(size_bytes=pl.col("size_bytes") - MSS_BYTES))


def smallest_traced(flows: pl.DataFrame, replication: int) -> pl.DataFrame:
    """Sizes are rounded down to whole packets in place of up; the smallest flows are traced."""
    return _traced(rounded_down(flows, replication), measures.SMALLEST_PACKETS)


def above_three(flows: pl.DataFrame, replication: int) -> pl.DataFrame:
    """Sizes are rounded down to whole packets in place of up, and 3 MSS larger; the smallest flows are traced."""
    return _traced(flows.with_columns(size_bytes=pl.col("size_bytes") + 2 * MSS_BYTES), measures.SMALLEST_PACKETS)


def _traced(flows: pl.DataFrame, most_packets: int | None = None) -> pl.DataFrame:
    chosen = pl.col("direction") == "down"
    if most_packets is not None:
        chosen &= pl.col("size_bytes") <= most_packets * MSS_BYTES
    return flows.with_columns(group=pl.when(chosen).then(pl.lit(passage.TRACED)))


FIRST: Setting = {"preamble": "long", "acks": 2, "window": 3, "time": "present", "forgotten": 30}
"""What was taken until 2026-11, but for the close, which the text tells."""

SETTING: Setting = {"preamble": "short", "acks": 11, "window": 3, "time": "groups", "forgotten": 30}
"""What the page runs; `unknowns.py` says what each name means."""

TOLD = {"tcp.fin_on_data": True, "tcp.handshake_ack": False}
"""6.1.1: a sender of three packets emits a SYN, these, of which the last has the FIN, and one acknowledgement."""


def cell_of(setting: Setting) -> dict[str, Any]:
    """Fields of the scenario."""
    return TOLD | {
        "network.wlan.short_preamble": setting["preamble"] == "short",
        "network.wlan.ack_rate": f"{setting['acks']}mbit",
        "tcp.initial_window": int(setting["window"]),
    }


def forgetting(discipline: str, setting: Setting) -> str:
    """The label with the time after which an idle flow counts as new."""
    told = {} if discipline == "fifo" or setting["forgotten"] == 30 else {"timeout": setting["forgotten"]}
    return discipline + (f"({','.join(f'{name}={value}' for name, value in told.items())})" if told else "")


@cache
def _mean_packets(law: str) -> float:
    """Before rounding."""
    sizes = LAWS[law]
    return law_of(sizes["law"], {name: value for name, value in sizes.items() if name != "law"}).mean_packets()


def downloads_at(
    law: str,
    load_mbps: float,
    disciplines: tuple[str, ...],
    measure: Callable[..., Measures],
    up_share: float = 0.0,
    setting: Setting = SETTING,
    variant: str = "",
) -> Experiment:
    """Transfers of a law of sizes, of which the downloads are traced."""
    sizes = LAWS[law]
    mean = _mean_packets(law)
    shift = 2 if law.startswith("ln") else -1
    given = {
        "workload.sizes": sizes,
        # What is offered after rounding is the load printed.
        "workload.load": round(load_mbps * 1e6 * mean / (mean + shift)),
        "workload.exact_load": True,
        "workload.up_share": up_share,
        "sample_interval": 0,
        "trace": passage.TRACED,
        "trace_limit": TRACE_LIMIT,
    }
    alone = measure is measures.capacity_only
    prepare = above_three if shift == 2 else smallest_traced if alone else rounded_down
    identity = f"{'mix-' if up_share else ''}{law}-{load_mbps}{variant}"
    labels = tuple(forgetting(discipline, setting) for discipline in disciplines)
    own = partial(measure, window=int(setting["window"]), reading=str(setting["time"]))
    return Experiment(identity, given | cell_of(setting), labels, REPLICATIONS, own, "wlan-b", prepare)


TRACE_LIMIT = 20_000_000
"""Packets: more than any run sends."""


def experiments(setting: Setting, variant: str = "", laws: Iterable[str] = tuple(LAWS)[1:]) -> tuple[Experiment, ...]:
    """Downloads of the first law under FIFO and LAS, of the other laws under LAS, and the mix."""
    more: dict[str, Any] = {"setting": setting, "variant": variant}
    return (
        *(downloads_at("bp-9.67", load, ("fifo", "las"), measures.downloads, **more) for load in LOADS),
        *(downloads_at(law, load, ("las",), measures.capacity_only, **more) for law in laws for load in LOADS),
        *(downloads_at("bp-6.67", load, ("fifo", "lasack"), measures.mixed, 1 / 3, **more) for load in (2, 3, 5)),
    )


OTHER = "-long"
"""Ending of what is run with the other preamble: a reading that lost."""

EXPERIMENTS = experiments(SETTING) + experiments({**SETTING, "preamble": "long"}, OTHER, ())


def _told(variant: str) -> str:
    return "; long preambles" if variant else ""


def _claim(name: str, source: str, says: str, rows: list, settings: str, note: str = "") -> Claim:
    return Claim(name, f"Urvoy-Keller 2007, {source}", says, settings, tuple(rows), DIFFERENCES.get(name), note)


def _of(discipline: str, measure: str, load: float, variant: str = "") -> Quantity:
    return quantity(f"bp-9.67-{load}{variant}", discipline, measure)


_DOWN = "`wlan-b`, downloads, bounded Pareto of mean 9.67 MSS, 50 kB, 1000 s"
_MIX = "`wlan-b`, downloads to uploads 2:1, bounded Pareto of mean 6.67 MSS, 50 kB, 1000 s"


def measured_load() -> Claim:
    """First transmissions and retransmissions."""
    rows = [
        greater_by(
            f"sent again, FIFO, {load} Mb/s",
            _of("fifo", "again_mbps", load),
            _of("las", "again_mbps", load),
            "Mb/s",
            "above LAS",
        )
        for load in LOADS
    ]
    rows += [
        within(
            f"first transmissions, FIFO over LAS, {load} Mb/s",
            ratio(*(_of(d, "unique_mbps", load) for d in ("fifo", "las"))),
            1.05,
        )
        for load in LOADS
    ]
    says = "FIFO sends more in all, but the rate of first transmissions is that of LAS: the rest is sent again"
    return _claim("measured-load", "6, Fig. 11", says, rows, _DOWN)


def saturation() -> Claim:
    """From 5 Mb/s on."""
    rows = [
        at_most(f"growth of active flows, {NAMES[d]}, {load} Mb/s", _of(d, "growth", load), 1.25)
        for d in ("fifo", "las")
        for load in (1, 2, 3)
    ]
    rows += [
        at_least(f"growth of active flows, {NAMES[d]}, {load} Mb/s", _of(d, "growth", load), 1.25)
        for d in ("fifo", "las")
        for load in (5, 6, 7)
    ]
    says = "the number of active flows grows for loads above 4 Mb/s, under LAS and FIFO both"
    return _claim("saturation", "6", says, rows, _DOWN, "Mean of the last quarter of the run over that of the second.")


def active_ratio() -> Claim:
    """FIFO leaves more unfinished."""
    left = {load: ratio(*(_of(d, "unfinished", load) for d in ("fifo", "las"))) for load in (5, 6, 7)}
    rows = []
    for load, own in left.items():
        rows.append(at_least(f"active after 1000 s, FIFO over LAS, {load} Mb/s", own, 1.6))
        rows.append(at_most(f"active after 1000 s, FIFO over LAS, {load} Mb/s", own, 2))
    says = "after 1000 s FIFO is left with 60 to 100 % more unfinished flows than LAS"
    return _claim("active-ratio", "6, Fig. 12", says, rows, _DOWN, "At the loads that overload the cell.")


def responses() -> Claim:
    """LAS is faster for most."""
    rows = [
        below(
            f"{text}, LAS, {load} Mb/s",
            _of("las", f"{name}_s", load),
            _of("fifo", f"{name}_s", load),
            "s",
            "below FIFO",
        )
        for load in (2, 5)
        for name, text in (("smallest", "3 MSS"), ("half", "up to the median"), ("ninety", "80 to 95 % quantile"))
    ]
    rows.append(
        below("largest 1 %, FIFO, 2 Mb/s", _of("fifo", "largest_s", 2), _of("las", "largest_s", 2), "s", "below LAS")
    )
    rows.append(
        at_most("largest 1 % that complete, LAS, 5 Mb/s", _of("las", "largest_done", 5), 1, direction="below 1")
    )
    says = (
        "response times are smaller under LAS for most sizes at all loads; the largest flows pay at 2 Mb/s, and some "
        "do not complete at 5"
    )
    return _claim("responses", "6, Fig. 13, 14", says, rows, _DOWN)


def resilience() -> Claim:
    """From 2 to 5 Mb/s."""

    def growth(discipline: str, name: str) -> Quantity:
        return ratio(*(_of(discipline, f"{name}_s", load) for load in (5, 2)))

    rows = [
        at_most(f"{text}, 5 over 2 Mb/s, LAS", growth("las", name), 2)
        for name, text in (("smallest", "3 MSS"), ("half", "up to the median"))
    ]
    rows.append(
        at_least(
            "3 MSS, 5 over 2 Mb/s, FIFO",
            growth("fifo", "smallest"),
            10,
            printed=Printed(PRINTED["resilience"]["3 MSS, 5 over 2 Mb/s, FIFO"]),
        )
    )
    says = (
        "from 2 to 5 Mb/s most flows are marginally affected under LAS; under FIFO the smallest take 100 times as long"
    )
    return _claim("resilience", "6, Fig. 13, 14", says, rows, _DOWN)


def small_flows() -> Claim:
    """Why small flows are fast."""
    rows = []
    for load in (2, 5):
        rows.append(at_most(f"3 MSS, sent again, LAS, {load} Mb/s", _of("las", "smallest_again", load), 0.01))
        rows.append(
            below(
                f"3 MSS, RTT, LAS, {load} Mb/s",
                _of("las", "smallest_rtt_s", load),
                _of("fifo", "smallest_rtt_s", load),
                "s",
                "below FIFO",
            )
        )
        rows += [
            at_most(f"up to the median, window, {NAMES[d]}, {load} Mb/s", _of(d, "half_cwnd", load), 3, "MSS")
            for d in ("fifo", "las")
        ]
    says = "the smallest flows have little to no loss and short round trips under LAS; their windows are 1 to 3 MSS"
    return _claim("small-flows", "6, Fig. 13, 14", says, rows, _DOWN)


def layers() -> Claim:
    """Where packets are lost as the load grows."""

    def more(name: str) -> Quantity:
        return lambda runs: _of("las", name, 7)(runs) - _of("las", name, 1)(runs)

    rows = [
        below(
            "more MAC retransmissions, 1 to 7 Mb/s, LAS",
            more("mac_retries"),
            more("queue_drops"),
            "frames",
            "below drops",
            logarithms=False,
        ),
        greater_by(
            "drops at the access point, 7 Mb/s, LAS",
            _of("las", "queue_drops", 7),
            _of("las", "queue_drops", 1),
            "packets",
            "above 1 Mb/s",
        ),
    ]
    says = "the load increases drops at the access point, more than retransmissions of the MAC"
    return _claim("layers", "6.1.1, Fig. 15", says, rows, _DOWN)


def ps_over(name: str, load: float, variant: str = "") -> Quantity:
    """What M/G/1 PS gives the mean size over what FIFO takes; it is linear (Urvoy-Keller 2007, Eq. 3)."""

    def of_runs(runs: Runs) -> Values:
        bits, passage_s = (_of("fifo", f"{name}_{what}", load, variant)(runs) for what in ("bits", "passage_s"))
        return ps_seconds_per_bit(runs, load, variant) * bits / passage_s

    return of_runs


def ps_seconds_per_bit(runs: Runs, load: float, variant: str = "") -> Values:
    """Slope of the response time of PS, s/bit, at the capacity of the run of LAS; overload counts as 99.9 % load."""
    capacity = _of("las", "capacity_mbps", load, variant)(runs) * 1e6
    rho = np.minimum(_of("fifo", "offered_bps", load, variant)(runs) / capacity, 0.999)
    one_bit = deterministic(1.0)
    return np.array([float(POLICIES["ps"].response(MG1(one_bit, one), 1.0)) for one in rho]) / capacity


def queue_models(variant: str = "") -> Claim:
    """M/G/1 against the access point."""
    parts = {"half": "up to the median", "ninety": "80 to 95 % quantile"}
    rows = [
        within(f"LAS model over measured, {text}, {load} Mb/s", _of("las", f"{name}_las", load, variant), 1.25)
        for load in (1, 2, 3)
        for name, text in parts.items()
    ]
    rows += [
        at_most(f"PS model over measured, {text}, 1 Mb/s", ps_over(name, 1, variant), 1) for name, text in parts.items()
    ]
    rows += [
        at_least(f"PS model over measured, {text}, 3 Mb/s", ps_over(name, 3, variant), 1)
        for name, text in parts.items()
    ]
    says = "M/G/1/LAS is accurate at all loads; M/G/1/PS takes FIFO for faster at low loads, for slower near 1"
    note = "The capacity is that of Eq. 10 in the run of LAS on the same flows."
    return _claim(f"queue-models{variant}", "6.1, Fig. 16 to 18", says, rows, _DOWN + _told(variant), note)


def cycles() -> Claim:
    """Capacity by ideal cycles."""
    times = CellTimes.of(airtimes("802.11b", lengths=[1536, 76]))
    found = {window: cycle_capacity(times, window / 2) for window in (31, 1023)}

    def near(name: str, bps: float, printed: float) -> Row:
        return within(f"{name} over {printed} Mb/s", lambda runs: np.full(2, bps / printed / 1e6), 1.05)

    def growth(runs: Runs) -> Values:
        return np.full(2, found[31].down_bps / found[1023].down_bps)

    rows = [
        near("flows of 3 MSS (C_k), smallest window", found[31].smallest_bps, 3.5),
        near("the same among uploads (C_mix)", found[31].mixed_bps, 2.6),
        at_least("downloads, window 31 over 1023", growth, 5),
    ]
    says = "ideal cycles give 3.5 Mb/s for the smallest flows, 2.6 among uploads, and decay rapidly with contention"
    note = "A formula, not a simulation: intervals have no width. The numbers are read off Fig. 10 in the text."
    return _claim("cycles", "5.2, 6.1.1, 7.1, Fig. 10, Eq. 2 and 11", says, rows, "`mayfly model wlan`, 802.11b", note)


def table_1(variant: str = "", laws: Iterable[str] = tuple(TABLE_1)) -> Claim:
    """Capacities."""
    rows = [
        printed_beside(
            f"{law}, {load} Mb/s", quantity(f"{law}-{load}{variant}", "las", "capacity_mbps"), Printed(value), "Mb/s"
        )
        for law, values in TABLE_1.items()
        if law in laws
        for load, value in zip(LOADS, values, strict=True)
    ]
    settings = f"`wlan-b`, downloads of three laws and two means, LAS, 50 kB, 1000 s{_told(variant)}"
    says = "estimated capacity at the IP level"
    return _claim(f"table-1{variant}", "6.1.1, Table 1", says, rows, settings, "Laws by mean in MSS.")


def table_1_shape() -> Claim:
    """What the table tells."""

    def of(law: str, load: float) -> Quantity:
        return quantity(f"{law}-{load}", "las", "capacity_mbps")

    rows = [below(f"{law}, 1 Mb/s", of(law, 1), of(law, 7), "Mb/s", "below 7 Mb/s") for law in LAWS]
    rows += [
        within(f"{law} over bp-{mean}, {load} Mb/s", ratio(of(law, load), of(f"bp-{mean}", load)), 1.05)
        for mean in ("9.67", "6.67")
        for law in (f"sexp-{mean}", f"ln-{mean}")
        for load in (1, 4, 7)
    ]
    rows += [
        below(f"bp-9.67, {load} Mb/s", of("bp-9.67", load), of("bp-6.67", load), "Mb/s", "below bp-6.67")
        for load in LOADS
    ]
    says = "the capacity grows with the load, depends on the mean size and not on the law"
    return _claim("table-1-shape", "6.1.1, Table 1", says, rows, "`wlan-b`, downloads, LAS, 50 kB, 1000 s")


def mix_responses(variant: str = "") -> Claim:
    """Downloads and uploads together."""

    def of(discipline: str, name: str, load: float) -> Quantity:
        return quantity(f"mix-bp-6.67-{load}{variant}", discipline, name)

    rows = [
        below(
            f"{way} up to the median, LASACK, {load} Mb/s",
            of("lasack", f"{way}_half_s", load),
            of("fifo", f"{way}_half_s", load),
            "s",
            "below FIFO",
        )
        for load in (3, 5)
        for way in ("down", "up")
    ]
    rows += [
        below(
            f"up to the median, uploads, FIFO, {load} Mb/s",
            of("fifo", "up_half_s", load),
            of("fifo", "down_half_s", load),
            "s",
            "below downloads",
        )
        for load in (3, 5)
    ]
    rows += [
        below(
            f"up to the median, downloads, LASACK, {load} Mb/s",
            of("lasack", "down_half_s", load),
            of("lasack", "up_half_s", load),
            "s",
            "below uploads",
        )
        for load in (3, 5)
    ]
    rows += [
        at_most(
            "3 MSS, downloads, 5 over 2 Mb/s, LASACK",
            ratio(*(of("lasack", "down_smallest_s", load) for load in (5, 2))),
            2,
        ),
        at_least(
            "3 MSS, downloads, 5 over 2 Mb/s, FIFO",
            ratio(*(of("fifo", "down_smallest_s", load) for load in (5, 2))),
            2,
            printed=Printed(PRINTED["mix_responses"]["3 MSS, downloads, 5 over 2 Mb/s, FIFO"]),
        ),
    ]
    says = (
        "LASACK keeps response times low for most flows both ways; FIFO favours uploads, LASACK downloads slightly; "
        "short flows take almost 10 times as long under FIFO from 2 to 5 Mb/s, and as long as before under LASACK"
    )
    settings = _MIX + _told(variant)
    return _claim(f"mix-responses{variant}", "7, Fig. 19, 20", says, rows, settings)


def mix_capacity(variant: str = "") -> Claim:
    """Capacity and model of the mix."""

    def of(name: str, load: float) -> Quantity:
        return quantity(f"mix-bp-6.67-{load}{variant}", "lasack", name)

    rows = [
        printed_beside(f"capacity, {load} Mb/s", of("capacity_mbps", load), MIX_CAPACITY, "Mb/s") for load in (3, 5)
    ]
    rows += [
        within(f"LASACK model over measured, {text}, 3 Mb/s", of(f"{name}_las", 3), 1.25)
        for name, text in (("half", "up to the median"), ("ninety", "80 to 95 % quantile"))
    ]
    says = "the capacity is 2.65 Mb/s at 3 and 5 Mb/s, and M/G/1/LASACK captures the time at the access point"
    settings = _MIX + _told(variant)
    return _claim(f"mix-capacity{variant}", "7.1, Fig. 21, 22", says, rows, settings)


def mix_overload(variant: str = "") -> Claim:
    """Downloads at a load above 1."""

    def of(name: str) -> Quantity:
        return quantity(f"mix-bp-6.67-5{variant}", "lasack", name)

    rows = [
        at_least("downloads that the model starves, 5 Mb/s", of("starved_share"), 0),
        at_most("downloads that the model starves, 5 Mb/s", of("starved_share"), 0.5, direction="below half"),
        below(
            "completed, of the downloads that the model starves, 5 Mb/s",
            of("starved_done"),
            of("served_done"),
            "",
            "below those it serves",
            logarithms=False,
        ),
    ]
    says = "at 5 Mb/s M/G/1/LASACK gives no result for the last quantiles of size: the largest wait without end"
    settings = _MIX + _told(variant)
    return _claim(f"mix-overload{variant}", "7.1, Fig. 22", says, rows, settings)


CLAIMS = (
    measured_load(),
    saturation(),
    active_ratio(),
    responses(),
    resilience(),
    small_flows(),
    layers(),
    queue_models(),
    cycles(),
    table_1(),
    table_1_shape(),
    mix_responses(),
    mix_capacity(),
    mix_overload(),
    queue_models(OTHER),
    table_1(OTHER, ("bp-9.67",)),
    mix_responses(OTHER),
    mix_capacity(OTHER),
    mix_overload(OTHER),
)
"""Claims of 6 and 7."""
