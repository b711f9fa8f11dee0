"""Chen 2012, 9.2.2: well-behaved transfers of captures at hand, what is measured of them, table and figures."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl
from scipy.stats import mannwhitneyu

from mayfly.profile.answer import Profile
from mayfly_papers.declare.capture_facts import CAPTURES, is_present, profiled
from mayfly_papers.declare.declaration import Runs
from mayfly_papers.declare.figure import Curve, Figure
from mayfly_papers.declare.markdown import table

INTERNET = ("office", "home", "mix")
INTRANET = ("lab", "mix")
"""Captures with at least `FEWEST` well-behaved connections across the boundary of the site, and inside it."""

FEWEST = 30
SIDES = {"Internet": "external", "intranet": "internal"}
PARTIES = {"initiator": "opener", "remote party": "responder"}
POINTS = 300
"""Most points of a curve."""


@dataclass(frozen=True, eq=False)
class Transfers:
    """Well-behaved transfers of one side of a capture.

    Parameters
    ----------
    connections, trains : polars.DataFrame
        Rows of these.
    """

    connections: pl.DataFrame
    trains: pl.DataFrame

    def both(self, column: str) -> np.ndarray:
        """A column of a side, summed over both."""
        return (
            self.connections.select(pl.sum_horizontal(f"opener_{column}", f"responder_{column}")).to_series().to_numpy()
        )

    def size_bytes(self) -> np.ndarray:
        """Payload of both directions, each byte once."""
        return self.both("distinct_bytes")

    def packets(self) -> np.ndarray:
        """Of both directions, with and without data."""
        return self.both("packets")

    def packet_bytes(self) -> np.ndarray:
        """Mean payload of the packets."""
        return self.size_bytes() / self.packets()

    def down_over_up(self) -> np.ndarray:
        """Data packets of the remote party over those of the initiator (Fig. 9.3(a))."""
        found = self.connections
        return (found["responder_distinct_packets"] / found["opener_distinct_packets"]).to_numpy()

    def rtt_s(self) -> np.ndarray:
        """Mean DATA-ACK round-trip time of the whole path, where both parts were measured (Fig. 9.3(b))."""
        found = self.connections
        whole = found["data_ack_to_opener_mean_s"] + found["data_ack_to_responder_mean_s"]
        return whole.drop_nulls().to_numpy()

    def warm_ups_s(self, party: str) -> np.ndarray:
        """Of the trains of a party after one of the other (Fig. 9.4): the first train of a connection has none."""
        trains = self.trains.filter(pl.col("connection_id") == pl.col("connection_id").shift(1))
        return trains.filter(side=PARTIES[party])["warm_up_s"].to_numpy()

    def own_warm_ups_s(self, party: str) -> np.ndarray:
        """The same less the way from the tap to the party and back, as its handshake took."""
        part = pl.col(f"handshake_to_{PARTIES[party]}_s")
        paths = self.connections.select("connection_id", part.alias("part_s"))
        trains = self.trains.filter(pl.col("connection_id") == pl.col("connection_id").shift(1))
        trains = trains.filter(side=PARTIES[party]).join(paths, on="connection_id")
        return (trains["warm_up_s"] - trains["part_s"]).to_numpy()

    def train_packets(self, party: str) -> np.ndarray:
        """Data packets of the trains of a party (Fig. 9.5)."""
        return self.trains.filter(side=PARTIES[party])["packets"].to_numpy()

    def train_counts(self, party: str) -> np.ndarray:
        """Trains of a party per connection (Fig. 9.6(a))."""
        return self.connections[f"{PARTIES[party]}_trains"].to_numpy()

    def pacing_s(self) -> np.ndarray:
        """Total pacing of each side (Fig. 9.6(b)); negative where an ideal transfer would take longer."""
        return np.concatenate([self.connections[f"{end}_pacing_s"].drop_nulls().to_numpy() for end in PARTIES.values()])


def well_behaved(connections: pl.DataFrame, trains: pl.DataFrame) -> Transfers:
    """Connections with a complete handshake, data both ways and a FIN or RST (9.2.2), and their trains.

    Parameters
    ----------
    connections, trains : polars.DataFrame
        All of a capture, trains by connection and time.

    Returns
    -------
    Transfers
    """
    ended = pl.any_horizontal("opener_fin", "responder_fin", "opener_rst", "responder_rst")
    both_ways = (pl.col("opener_distinct_bytes") > 0) & (pl.col("responder_distinct_bytes") > 0)
    kept = connections.filter(pl.col("rtt_s").is_not_null(), both_ways, ended)
    return Transfers(kept, trains.filter(pl.col("connection_id").is_in(kept["connection_id"].implode())))


@cache
def transfers(side: str, capture: str) -> Transfers:
    """Well-behaved transfers across the boundary of the site or inside it.

    Parameters
    ----------
    side : str
        Of `SIDES`.
    capture : str
        Of :data:`mayfly_papers.declare.capture_facts.CAPTURES`.

    Returns
    -------
    Transfers
    """
    found = profiled(capture)
    return well_behaved(found.frame.filter(side=SIDES[side]), _trains(found))


def _trains(found: Profile) -> pl.DataFrame:
    assert found.connections.trains is not None, "captures are read with their trains"
    return found.connections.trains


def larger(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Probability that a value of ours is larger than one of theirs, ties counted half (Mann and Whitney's U)."""
    return float(mannwhitneyu(ours, theirs, method="asymptotic").statistic / (len(ours) * len(theirs)))


def near_one(ratios: np.ndarray, factor: float = 1.25) -> float:
    """Share within a factor of 1."""
    return float(np.mean(np.abs(np.log(ratios)) <= np.log(factor)))


def percent(flags: np.ndarray) -> str:
    """Share that is true."""
    return f"{100 * flags.mean():.1f} %"


def _pair(of: Callable[[str], float]) -> str:
    return ", ".join(f"{of(party):.3g}" for party in PARTIES)


ROWS: tuple[tuple[str, str, str, Callable[[Transfers], str]], ...] = (
    ("connections", "3000", "3000", lambda t: f"{t.connections.height}"),
    ("median bytes (9.2)", "more", "fewer", lambda t: f"{np.median(t.size_bytes()):.0f}"),
    ("median packets (9.2)", "fewer", "more", lambda t: f"{np.median(t.packets()):.3g}"),
    (
        "down over up, data packets, within 1.25 of 1 (9.3)",
        "",
        "more than 80 %",
        lambda t: f"{100 * near_one(t.down_over_up()):.1f} %",
    ),
    ("median round-trip time, DATA-ACK (9.3)", "33.6 ms", "0.38 ms", lambda t: f"{1e3 * np.median(t.rtt_s()):.3g} ms"),
    (
        "warm-ups of the initiator below 0.1 ms (9.4)",
        "around 60 %",
        "",
        lambda t: percent(t.warm_ups_s("initiator") < 1e-4),
    ),
    (
        "warm-ups of the remote party above 10 ms (9.4)",
        "more than 80 %",
        "",
        lambda t: percent(t.warm_ups_s("remote party") > 1e-2),
    ),
    (
        "median warm-up of initiator, remote party, ms (9.4)",
        "",
        "similar",
        lambda t: _pair(lambda p: 1e3 * np.median(t.warm_ups_s(p))),
    ),
    (
        "the same less the way from the tap to that party and back, ms",
        "",
        "",
        lambda t: _pair(lambda p: 1e3 * np.median(t.own_warm_ups_s(p))),
    ),
    (
        "warm-ups of the initiator below 0.1 ms, first trains counted with 0",
        "",
        "",
        lambda t: percent(t.trains.filter(side="opener")["warm_up_s"].to_numpy() < 1e-4),
    ),
    (
        "trains of the initiator below 2 packets (9.5)",
        "",
        "more than 80 %",
        lambda t: percent(t.train_packets("initiator") < 2),
    ),
    (
        "trains of the remote party below 2 packets (9.5)",
        "",
        "more than 80 %",
        lambda t: percent(t.train_packets("remote party") < 2),
    ),
    (
        "trains of the initiator below 3 packets (9.5)",
        "more than 95 %",
        "",
        lambda t: percent(t.train_packets("initiator") < 3),
    ),
    (
        "mean train of initiator, remote party, packets (9.5)",
        "the second is larger",
        "",
        lambda t: _pair(lambda p: t.train_packets(p).mean()),
    ),
    (
        "mean trains of initiator, remote party per connection (9.6)",
        "nearly the same",
        "nearly the same",
        lambda t: _pair(lambda p: t.train_counts(p).mean()),
    ),
    (
        "pacing of a side of 1 ms or more (9.6)",
        "less than 20 %",
        "around 30 %",
        lambda t: percent(t.pacing_s() >= 1e-3),
    ),
)
"""What is measured, what is said of the Internet and of the intranet connections of Eurecom, and ours as text."""


SAID = {
    "9.2": "At Eurecom intranet connections have more packets than Internet connections and fewer bytes.",
    "9.3": "At Eurecom more than 80 % of the intranet connections have a ratio of 1, Internet connections of up to "
    "10 000; round-trip times are 0.38 ms and 33.6 ms in the median, in the same shape.",
    "9.4": "At Eurecom the warm-ups of both parties of intranet connections are alike, those of the initiator a little "
    "larger. Of Internet initiators around 60 % are below 0.1 ms, of remote parties more than 80 % above 10 ms.",
    "9.5": "At Eurecom Internet trains of the remote party are larger than those of the initiator, 95 % of which have "
    "fewer than 3 packets; more than 80 % of the intranet trains have one packet.",
    "9.6": "At Eurecom both parties have nearly as many trains, intranet connections more than Internet ones; around "
    "30 % of the intranet pacing is 1 ms to 1000 s, more than 80 % of the Internet pacing is small.",
}
"""What the text says of each figure."""


def profile_table(runs: Runs) -> str:
    """What 9.2.2 measures, of every capture, as a section of the page.

    Parameters
    ----------
    runs : Runs
        Not needed.

    Returns
    -------
    str
        Markdown.
    """
    heads, columns = [""], [[name for name, *_ in ROWS]]
    for side, captures in (("Internet", INTERNET), ("intranet", INTRANET)):
        heads += [f"Eurecom, {side}", *(f"{name}, {side}" for name in captures)]
        columns.append([internet if side == "Internet" else intranet for _, internet, intranet, _ in ROWS])
        columns += [[of(transfers(side, name)) for *_, of in ROWS] for name in captures]
    few = transfers("Internet", "lab").connections.height
    neither = profiled("mix")
    remote = well_behaved(neither.frame.filter(side="neither"), _trains(neither)).connections.height
    note = (
        f"Left out: {few} Internet connections of the lab, fewer than {FEWEST}, and {remote} of the mix between two "
        "hosts outside. The office and the home have no intranet connections. The tap of the office is beside the "
        "clients, and its users are programs: how long they think is theirs. Warm-ups are as the tap sees them, with "
        "the path to the end that answers."
    )
    return f"## Trains, warm-ups and pacing (9.2.2)\n\n{table(heads, list(zip(*columns, strict=True)))}\n\n{note}\n"


def figures() -> list[Figure]:
    """Figures 9.2 to 9.6 of the captures that are there, as shares above a value.

    Returns
    -------
    list of Figure
        In the order of the thesis.
    """
    drawn = [
        ("9.2", "payload of a connection", "bytes", Transfers.size_bytes),
        ("9.2", "packets of a connection", "packets", Transfers.packets),
        ("9.3", "data packets down over up", "ratio", Transfers.down_over_up),
        ("9.3", "round-trip time", "s", Transfers.rtt_s),
        *(("9.4", f"warm-ups of the {party}", "s", lambda t, p=party: t.warm_ups_s(p)) for party in PARTIES),
        *(("9.5", f"trains of the {party}", "packets", lambda t, p=party: t.train_packets(p)) for party in PARTIES),
        *(
            ("9.6", f"trains per connection, {party}", "trains", lambda t, p=party: t.train_counts(p))
            for party in PARTIES
        ),
        ("9.6", "pacing of a side", "s", Transfers.pacing_s),
    ]
    return [
        Figure(
            f"fig-{number.replace('.', '-')}-{place}",
            f"Figure {number}: {what}",
            f"{SAID[number]} Share of the values above x; 0 and less, which no logarithm shows, are counted in it.",
            f"{what} ({unit})",
            "share above",
            tuple(
                curve(side, name, of)
                for side, captures in (("Internet", INTERNET), ("intranet", INTRANET))
                for name in captures
                if is_present(name)
            ),
            source=f"Chen 2012, Fig. {number}",
        )
        for place, (number, what, unit, of) in enumerate(drawn)
    ]


def curve(side: str, capture: str, of: Callable[[Transfers], np.ndarray]) -> Curve:
    """Share above each of at most `POINTS` quantiles."""
    values = np.sort(of(transfers(side, capture)).astype(float))
    places = np.unique(np.linspace(0, len(values) - 1, POINTS).round().astype(int))
    x = values[places]
    above = 1 - np.searchsorted(values, x, side="right") / len(values)
    shown = (x > 0) & (above > 0)
    about = f"{side} connections of {CAPTURES[capture][0].rpartition('/')[2]}"
    return Curve(f"{side}, {capture}", about, x[shown], above[shown])


SECTIONS = (profile_table,)
