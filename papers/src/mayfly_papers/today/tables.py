"""Tables of the page of today: what the claims compare, discipline by discipline."""

from collections.abc import Iterable, Sequence

from mayfly_papers.declare.declaration import Runs
from mayfly_papers.declare.markdown import number, table
from mayfly_papers.today.runs import (
    BUFFERS,
    CELL,
    CELL_BUFFERS,
    ISOLATED,
    LOADS,
    MIXED_LOADS,
    NAMES,
    SHORTER,
    SPLITS,
    STREAM_LOADS,
    STREAM_RATES,
    TODAY,
    UNDERLOAD,
    WIDE,
    WIRED,
    stream_id,
    wired_id,
)

Column = tuple[str, str, str]
"""Heading, experiment, measure."""


def tables(runs: Runs) -> str:
    """All of them.

    Parameters
    ----------
    runs : Runs
        Of the page.

    Returns
    -------
    str
        Markdown.
    """
    parts = ["## Numbers", "Means over the replications: times in seconds of what was completed, goodput in Mb/s."]
    parts += [*wired(runs), *streams(runs), *beside(runs), *in_a_cell(runs)]
    return "\n\n".join(parts) + "\n"


def _titled(title: str, runs: Runs, disciplines: Sequence[str], columns: Iterable[Column]) -> list[str]:
    columns = list(columns)
    body = [
        [NAMES[d], *(number(float(runs.values(experiment, d, measure).mean())) for _, experiment, measure in columns)]
        for d in disciplines
    ]
    return [f"### {title}", table(["", *(head for head, _, _ in columns)], body)]


def wired(runs: Runs) -> list[str]:
    """Response times by transport and load."""
    names = {"thesis": "the thesis' transport", "cubic": "CUBIC", "bbr": "BBR", "ecn": "CUBIC with ECN"}
    measures = {
        "up to 20 MSS": "small_s",
        "99 % of these": "small_p99_s",
        "21 to 300": "middling_s",
        "above 300": "large_s",
        "mean queue, packets": "queue_mean",
        "mean table, entries": "table_mean",
        "loss": "loss",
    }
    cases = [("thesis", UNDERLOAD), *((transport, load) for transport in TODAY for load in LOADS)]
    found = []
    for transport, load in cases:
        columns = [(head, wired_id(transport, load), measure) for head, measure in measures.items()]
        disciplines = (*WIRED, WIDE) if transport in ("cubic", "bbr") else WIRED
        found += _titled(f"10 Mb/s, {names[transport]}, {load:g} Mb/s offered", runs, disciplines, columns)
    for transport in ("cubic", "bbr"):
        columns = [(head, f"fast-{transport}", measure) for head, measure in measures.items()]
        found += _titled(f"50 Mb/s and 44 ms, {names[transport]}, 40 Mb/s offered", runs, SHORTER, columns)
    return found


def streams(runs: Runs) -> list[str]:
    """Loss, waiting time and regularity of streams."""
    found = []
    measures = {"loss": "loss", "99 % of waits": "wait_p99_s", "gaps within 10 %": "regular"}
    for load in STREAM_LOADS:
        columns = [
            (f"{head}, {rate / 1e6:g} Mb/s", stream_id(name, load), measure)
            for name, rate in STREAM_RATES.items()
            for head, measure in measures.items()
        ]
        found += _titled(f"One stream beside {load} Mb/s, 50 packets", runs, WIRED[:-1], columns)
    return found


def beside(runs: Runs) -> list[str]:
    """Bulk transfers, pages, kept connections, greedy users."""
    bulk = [
        (f"{head}, {buffer} packets", f"bulk-{buffer}", measure)
        for buffer in BUFFERS
        for head, measure in {"up to 20 MSS": "small_s", "round trip of the endless": "bulk_rtt_s"}.items()
    ]
    web = [
        (f"{version}, {share}", "pages", f"{name}{tail}")
        for name, version in {"http1": "HTTP/1.1", "http2": "HTTP/2"}.items()
        for share, tail in {"median": "_s", "95 %": "_p95_s"}.items()
    ]
    answers = [("answer, kept connection", "requests", "kept_s"), ("answer, new connection", "requests", "fresh_s")]
    greedy = [(f"5 MB over {n}", f"split-{n}", "attacker_s") for n in SPLITS]
    greedy += [(f"short beside {n}", f"split-{n}", "short_s") for n in SPLITS]
    greedy += [("UDP of 5 Mb/s", "spaced", "attacker_mbps"), ("three long transfers beside it", "spaced", "long_mbps")]
    return [
        *_titled("Beside three endless transfers", runs, WIRED, bulk),
        *_titled("Pages beside two bulk transfers", runs, (*WIRED, WIDE), web),
        *_titled("Answers beside two bulk transfers", runs, WIRED, answers),
        *_titled("Greedy users", runs, ISOLATED, greedy),
    ]


def in_a_cell(runs: Runs) -> list[str]:
    """Fairness, round trips and response times in a cell."""
    measures = {"up over down": "ratio", "both": "total_mbps", "round trip, down": "down_rtt_s"}
    cases = {f"802.11a, {b} packets": f"5v5-{b}" for b in CELL_BUFFERS}
    cases |= {"802.11n, one queue": "5v5-n-shared", "802.11n, a queue per station": "5v5-n-airtime-fair"}
    five = [(f"{head}, {case}", name, measure) for case, name in cases.items() for head, measure in measures.items()]
    sizes = {"up to 20 MSS": "small_s", "above 300": "large_s"}
    mixed = [
        (f"{way}, {head}, {load} Mb/s", f"cell-{load}", f"{way}_{measure}")
        for load in MIXED_LOADS
        for way in ("down", "up")
        for head, measure in sizes.items()
    ]
    return [
        *_titled("Five uploads against five downloads", runs, CELL, five),
        *_titled("Transfers both ways, 802.11a, 30 packets", runs, CELL, mixed),
    ]


SECTIONS = (tables,)
