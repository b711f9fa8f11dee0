"""Chen 2012, 9.2.2, Fig. 9.2 to 9.6: what is said of well-behaved transfers, held against the captures at hand.

What words are taken to mean: *around* and *similar*, within a factor of 1.25; *larger* of two
distributions, more often than not (Mann and Whitney); *small* pacing, below 1 ms, where the text begins the large one.
"""

from collections.abc import Callable

import numpy as np

from mayfly_papers.chen2012.apps.tables import INTERNET, INTRANET, PARTIES, Transfers, larger, near_one, transfers
from mayfly_papers.declare import data
from mayfly_papers.declare.capture_facts import constant
from mayfly_papers.declare.declaration import Claim, Printed, Row
from mayfly_papers.declare.rows import Quantity, at_least, at_most, within

PRINTED = data.printed(__package__)
MEDIANS = PRINTED["medians_ms"]

FACTOR = 1.25

DIFFERENCES = data.reasons(__package__)


def of(side: str, capture: str, measure: Callable[[Transfers], float]) -> Quantity:
    """A number of the transfers of one side of a capture."""
    return constant(lambda: measure(transfers(side, capture)))


def beside(measure: Callable[[Transfers, Transfers], float], capture: str = "mix") -> Quantity:
    """A number of the intranet transfers of a capture beside its Internet ones."""
    return constant(lambda: measure(transfers("intranet", capture), transfers("Internet", capture)))


def around(name: str, ours: Quantity, printed: float, unit: str = "") -> Row:
    """Row that holds when ours is within `FACTOR` of the printed number."""
    return Row(
        name,
        ours,
        unit,
        Printed(printed),
        lambda runs: np.minimum(ours(runs) - printed / FACTOR, printed * FACTOR - ours(runs)),
        f"within a factor of {FACTOR:g}",
    )


def _claim(name: str, source: str, says: str, rows: list[Row], note: str = "") -> Claim:
    settings = "Well-behaved connections of the captures: handshake, data both ways, FIN or RST"
    cited = f"Chen 2012, 9.2.2, {source}"
    return Claim(f"apps-{name}", cited, says, settings, tuple(rows), DIFFERENCES.get(f"apps-{name}"), note)


def volume() -> Claim:
    """Fig. 9.2."""
    measures = {
        "packets": Transfers.packets,
        "bytes": Transfers.size_bytes,
        "mean bytes per packet": Transfers.packet_bytes,
    }

    def ahead(measure: Callable[[Transfers], np.ndarray]) -> Quantity:
        return beside(lambda inside, outside: larger(measure(inside), measure(outside)))

    rows = []
    for what, measure in measures.items():
        ours = ahead(measure)
        form = at_least if what == "packets" else at_most
        rows.append(form(f"probability of more {what} in an intranet than an Internet connection, mix", ours, 0.5))
    says = "intranet connections have more packets than Internet ones and fewer bytes: their packets are smaller"
    return _claim("volume", "Fig. 9.2", says, rows, "Only the mix has enough of both. Bytes are payload.")


def ratios() -> Claim:
    """Fig. 9.3(a)."""
    rows = [
        at_least(f"share with a ratio within {FACTOR:g} of 1, intranet, {name}", of("intranet", name, _even), 0.8)
        for name in INTRANET
    ]
    rows.append(
        at_least("that share less that of the Internet, mix", beside(lambda one, other: _even(one) - _even(other)), 0)
    )
    rows += [
        at_least(
            f"largest ratio of a connection, Internet, {name}",
            of("Internet", name, lambda t: t.down_over_up().max()),
            10,
            printed=Printed(PRINTED["ratios"]["largest ratio of a connection, Internet"]),
        )
        for name in INTERNET
    ]
    says = (
        "in more than 80 % of the intranet connections the ratio of data packets in both directions is 1; that of "
        "Internet connections grows up to 10 000"
    )
    return _claim("ratio", "Fig. 9.3(a)", says, rows, "Data packets of the remote party over those of the initiator.")


def _even(found: Transfers) -> float:
    return near_one(found.down_over_up(), FACTOR)


def round_trips() -> Claim:
    """Fig. 9.3(b)."""
    rows = [
        around(f"median, {side}, {name}", of(side, name, lambda t: 1e3 * np.median(t.rtt_s())), printed, "ms")
        for side, captures, printed in (
            ("intranet", INTRANET, MEDIANS["intranet"]),
            ("Internet", INTERNET, MEDIANS["internet"]),
        )
        for name in captures
    ]
    apart = beside(lambda inside, outside: np.median(inside.rtt_s()) / np.median(outside.rtt_s()))
    rows.append(
        at_most(
            "median of the intranet over the Internet, mix",
            apart,
            0.1,
            printed=Printed(round(MEDIANS["intranet"] / MEDIANS["internet"], 4)),
        )
    )
    says = (
        "round-trip times have medians of 0.38 ms in the intranet and 33.6 ms to the Internet, of different magnitudes"
    )
    return _claim("round-trips", "Fig. 9.3(b)", says, rows, "DATA-ACK, mean of a connection, both parts of the path.")


def warm_ups() -> list[Claim]:
    """Fig. 9.4."""

    def medians(found: Transfers) -> float:
        initiator, remote = (np.median(found.warm_ups_s(party)) for party in PARTIES)
        return initiator / remote

    inside = []
    for name in INTRANET:
        text = f"median of the initiator over the remote party, intranet, {name}"
        ours = of("intranet", name, medians)
        inside += [within(text, ours, FACTOR), at_least(text, ours, 1)]
    outside = [
        around(
            f"share of the initiator below 0.1 ms, Internet, {name}",
            of("Internet", name, lambda t: float(np.mean(t.warm_ups_s("initiator") < 1e-4))),
            0.6,
        )
        for name in INTERNET
    ]
    outside += [
        at_least(
            f"share of the remote party above 10 ms, Internet, {name}",
            of("Internet", name, lambda t: float(np.mean(t.warm_ups_s("remote party") > 1e-2))),
            0.8,
        )
        for name in INTERNET
    ]
    note = "As the tap sees them, of trains that follow one of the other side."
    return [
        _claim(
            "warm-ups-intranet",
            "Fig. 9.4",
            "intranet warm-ups of both parties are similar, those of the initiator slightly larger",
            inside,
            note,
        ),
        _claim(
            "warm-ups-internet",
            "Fig. 9.4",
            "around 60 % of the warm-ups of Internet initiators are below 0.1 ms, more than 80 % of those of remote "
            "parties above 10 ms",
            outside,
            note,
        ),
    ]


def trains() -> list[Claim]:
    """Fig. 9.5."""

    def alone(party: str) -> Callable[[Transfers], float]:
        return lambda t: float(np.mean(t.train_packets(party) < 2))

    outside = [
        at_least(
            f"share of the initiator below 3 packets, Internet, {name}",
            of("Internet", name, lambda t: float(np.mean(t.train_packets("initiator") < 3))),
            0.95,
        )
        for name in INTERNET
    ]
    outside += [
        at_least(
            f"probability of a larger train of the remote party, Internet, {name}",
            of("Internet", name, lambda t: larger(t.train_packets("remote party"), t.train_packets("initiator"))),
            0.5,
        )
        for name in INTERNET
    ]
    inside = [
        at_least(
            f"share of the {party} below 2 packets, intranet, {name}",
            of("intranet", name, alone(party)),
            0.8,
        )
        for name in INTRANET
        for party in PARTIES
    ]
    return [
        _claim(
            "trains-internet",
            "Fig. 9.5(b)",
            "Internet trains of the remote party are larger than the initiator's, more than 95 % of which have less "
            "than 3 packets",
            outside,
        ),
        _claim("trains-intranet", "Fig. 9.5(a)", "more than 80 % of the intranet trains are of one packet", inside),
    ]


def counts() -> Claim:
    """Fig. 9.6(a)."""

    def means(found: Transfers) -> float:
        initiator, remote = (found.train_counts(party).mean() for party in PARTIES)
        return initiator / remote

    rows = [
        within(f"mean trains of the initiator over the remote party, {side}, {name}", of(side, name, means), FACTOR)
        for side, captures in (("Internet", INTERNET), ("intranet", INTRANET))
        for name in captures
    ]
    ours = beside(lambda inside, outside: larger(inside.both("trains"), outside.both("trains")))
    rows.append(at_least("probability of more trains in an intranet than an Internet connection, mix", ours, 0.5))
    says = "both parties have nearly the same numbers of trains, and intranet connections have more than Internet ones"
    return _claim("train-counts", "Fig. 9.6(a)", says, rows)


def pacing() -> Claim:
    """Fig. 9.6(b)."""
    rows = [
        at_least(f"share below 1 ms, Internet, {name}", of("Internet", name, lambda t: 1 - _paced(t)), 0.8)
        for name in INTERNET
    ]
    rows += [around(f"share from 1 ms on, intranet, {name}", of("intranet", name, _paced), 0.3) for name in INTRANET]
    ours = beside(lambda inside, outside: _paced(inside) - _paced(outside))
    rows.append(at_least("that share less that of the Internet, mix", ours, 0))
    says = "more than 80 % of the Internet pacing times are small, around 30 % of the intranet ones are 1 ms to 1000 s"
    return _claim("pacing", "Fig. 9.6(b)", says, rows, "Total pacing of each side of a connection.")


def _paced(found: Transfers) -> float:
    return float(np.mean(found.pacing_s() >= 1e-3))


CLAIMS = (volume(), ratios(), round_trips(), *warm_ups(), *trains(), counts(), pacing())
"""Claims of 9.2.2."""
