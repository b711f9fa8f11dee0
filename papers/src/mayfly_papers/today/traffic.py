"""Today's transport and rivals under other traffic: streams, bulk transfers, pages, kept connections, greedy users.

Words mean what they mean in :mod:`mayfly_papers.chen2012.wired.cbr` and
:mod:`mayfly_papers.chen2012.wlan.topology`: *protected* and
*without loss* are below 1 %, *regular* is within 10 % of the sender's period, *alike* within a factor of 1.1.
"""

from mayfly_papers.declare.data import reasons
from mayfly_papers.declare.declaration import Claim, Row
from mayfly_papers.declare.rows import Quantity, at_least, at_most, below, greater_by, quantity, ratio, within
from mayfly_papers.today.runs import BUFFERS, NAMES, SPLITS, STREAM_LOADS, stream_id

DIFFERENCES = reasons(__package__)

STREAM_NAMES = {"call": "64 kb/s", "video": "500 kb/s", "conference": "2.5 Mb/s"}
ALL = ("fifo", "fq_codel", "cake", "fq_pie", "pie")

FAIR_SHARE_MBPS = 2.25
"""Of the link, for each of four greedy users once the short transfers have theirs."""


def _claim(name: str, source: str, says: str, rows: list[Row], settings: str, note: str = "") -> Claim:
    return Claim(name, f"Chen 2012, {source}", says, settings, tuple(rows), DIFFERENCES.get(name), note)


def _sooner(text: str, experiment: str, measure: str, rivals: tuple[str, ...], unit: str = "s") -> list[Row]:
    return [
        below(
            f"{text}, EFD against {NAMES[rival]}",
            quantity(experiment, "efd", measure),
            quantity(experiment, rival, measure),
            unit,
            f"below {NAMES[rival]}",
        )
        for rival in rivals
    ]


STREAMS = "`wired`, CUBIC, 50 packets, one stream at a constant rate beside transfers of 4 and 8 Mb/s"


def _stream(name: str, load: float, discipline: str, measure: str) -> Quantity:
    return quantity(stream_id(name, load), discipline, measure)


def streams() -> list[Claim]:
    """Loss and regularity of streams."""
    loss = {
        name: [
            at_most(f"loss of {rate}, EFD, {load} Mb/s", _stream(name, load, "efd", "loss"), 0.01)
            for load in STREAM_LOADS
        ]
        for name, rate in STREAM_NAMES.items()
    }
    fewer = [
        greater_by(
            f"loss of {rate}, {NAMES[rival]} against EFD, {load} Mb/s",
            _stream(name, load, rival, "loss"),
            _stream(name, load, "efd", "loss"),
            direction="above EFD",
        )
        for name, rate in STREAM_NAMES.items()
        for load in STREAM_LOADS
        for rival in ("fifo", "las")
    ]
    regular = [
        at_least(
            f"gaps within 10 % of the period, 64 kb/s, EFD, {load} Mb/s", _stream("call", load, "efd", "regular"), 0.5
        )
        for load in STREAM_LOADS
    ]
    rivals = [
        row
        for name, rate in STREAM_NAMES.items()
        for load in STREAM_LOADS
        for row in (
            at_most(
                f"loss of {rate}, EFD less FQ-CoDel, {load} Mb/s",
                _difference(_stream(name, load, "efd", "loss"), _stream(name, load, "fq_codel", "loss")),
                0.01,
                direction="less than 1 % more than FQ-CoDel",
            ),
            below(
                f"99 % of the waits of {rate}, EFD against FQ-CoDel, {load} Mb/s",
                _stream(name, load, "efd", "wait_p99_s"),
                _stream(name, load, "fq_codel", "wait_p99_s"),
                "s",
                "below FQ-CoDel",
            ),
        )
    ]
    source = "4.6.4"
    return [
        _claim("stream-call", source, "EFD protects a 64 kb/s flow", loss["call"], STREAMS),
        _claim("stream-video", source, "a 500 kb/s flow goes without loss under EFD", loss["video"], STREAMS),
        _claim("stream-conference", source, "so does a video call of today, 2.5 Mb/s", loss["conference"], STREAMS),
        _claim("stream-others", source, "FIFO and LAS lose more of a stream than EFD", fewer, STREAMS),
        _claim("stream-regular", source, "EFD forwards a 64 kb/s flow regularly", regular, STREAMS),
        _claim(
            "stream-fq-codel",
            source,
            "EFD serves a stream as well as FQ-CoDel",
            rivals,
            STREAMS,
            "The rival is not in the thesis.",
        ),
    ]


def _difference(one: Quantity, other: Quantity) -> Quantity:
    return lambda runs: one(runs) - other(runs)


def bulk() -> list[Claim]:
    """Short transfers beside three endless ones, with a small and a bloated buffer."""
    settings = "10 Mb/s, 24 ms, three endless CUBIC transfers, 1 Mb/s of transfers up to 40 MSS; 100 and 1000 packets"
    small, large = (f"bulk-{buffer}" for buffer in BUFFERS)
    short = [
        row
        for buffer in BUFFERS
        for row in _sooner(
            f"up to 20 MSS, {buffer} packets",
            f"bulk-{buffer}",
            "small_s",
            ("fifo", "fq_codel", "cake", "fq_pie", "pie"),
        )
    ]
    short.append(
        within(
            "up to 20 MSS, EFD, 1000 packets over 100",
            ratio(*(quantity(experiment, "efd", "small_s") for experiment in (large, small))),
            1.1,
        )
    )
    trips = [
        row
        for buffer in BUFFERS
        for row in _sooner(
            f"round trip of the endless, {buffer} packets", f"bulk-{buffer}", "bulk_rtt_s", ("fifo", "fq_codel")
        )
    ]
    return [
        _claim(
            "bulk-short",
            "4.6.2",
            "behind bulk transfers EFD lets short flows finish soonest, whatever the buffer",
            short,
            settings,
        ),
        _claim(
            "bulk-round-trips",
            "4.5.2",
            "the round trips of long flows are shorter under EFD",
            trips,
            settings,
            "The thesis does not say so: it says that the low priority queue holds the bulk of what waits.",
        ),
    ]


def pages() -> list[Claim]:
    """Web pages and answers over kept connections."""
    versions = {"http1": "HTTP/1.1", "http2": "HTTP/2"}
    measures = {f"{name}{tail}": text for name, text in versions.items() for tail in ("_s", "_p95_s")}
    words = {m: f"{'95 %' if 'p95' in m else 'median'} of pages, {text}" for m, text in measures.items()}
    settings = "`pages` with CUBIC: 10 sessions of each version beside two bulk transfers, 300 s"

    def rows(rivals: tuple[str, ...]) -> list[Row]:
        return [row for measure, text in words.items() for row in _sooner(text, "pages", measure, rivals)]

    kept = [
        within(
            "answers, kept connections over new ones, EFD",
            ratio(*(quantity("requests", "efd", name) for name in ("kept_s", "fresh_s"))),
            1.1,
        ),
        *_sooner("answers over kept connections", "requests", "kept_s", ALL),
    ]
    one = below(
        "page over HTTP/2 over that of HTTP/1.1, FIFO against EFD",
        ratio(*(quantity("pages", "fifo", f"{name}_s") for name in ("http2", "http1"))),
        ratio(*(quantity("pages", "efd", f"{name}_s") for name in ("http2", "http1"))),
        direction="below EFD",
    )
    return [
        _claim("pages-fifo", "4.6.2, 9.3.2", "pages load sooner under EFD than under FIFO", rows(("fifo",)), settings),
        _claim(
            "pages-fq-codel",
            "4.6.2, 9.3.2",
            "pages load sooner under EFD than under FQ-CoDel",
            rows(("fq_codel",)),
            settings,
            "The rival is not in the thesis.",
        ),
        _claim(
            "pages-one-connection",
            "9.3.2",
            "what EFD gives to six connections of a page it does not give to the only one of HTTP/2",
            [one],
            settings,
        ),
        _claim(
            "kept-connections",
            "4.3, 9.3.2",
            "an answer over a connection that stays open is a short flow to EFD",
            kept,
            "10 Mb/s: answers of 12 MSS every 5 s over each of 10 connections, as many over new ones, two bulk flows",
            "An idle connection begins with its initial window again, as in Linux.",
        ),
    ]


def enterprise() -> list[Claim]:
    """The topological model."""
    settings = "`enterprise`, CUBIC, 300 packets in either direction, 15 Mb/s both ways together"
    measures = {f"{group}_small_s": f"up to 20 MSS, {group}" for group in ("intranet", "internet")}

    def rows(rivals: tuple[str, ...]) -> list[Row]:
        return [row for measure, text in measures.items() for row in _sooner(text, "enterprise", measure, rivals)]

    says = "short flows near and far finish sooner under EFD than under {}"
    note = "The rivals are not in the thesis."
    return [
        _claim("enterprise-fifo", "9.3.1", says.format("FIFO"), rows(("fifo",)), settings),
        _claim("enterprise-rivals", "9.3.1", says.format("the rivals"), rows(ALL[1:]), settings, note),
    ]


def greedy() -> list[Claim]:
    """Who takes more than a share."""
    gain = {
        d: ratio(*(quantity(f"split-{connections}", d, "attacker_s") for connections in SPLITS))
        for d in ("efd", "fifo", "fq_codel", "cake")
    }
    split = [
        below(
            f"time over one connection over that with {SPLITS[1]}, EFD against {NAMES[d]}",
            gain["efd"],
            gain[d],
            direction=f"below {NAMES[d]}",
        )
        for d in ("fq_codel", "cake")
    ]
    taken = quantity("spaced", "efd", "attacker_mbps")
    spaced = [
        greater_by(
            "goodput of three long transfers, EFD against FIFO",
            quantity("spaced", "efd", "long_mbps"),
            quantity("spaced", "fifo", "long_mbps"),
            "Mb/s",
            "above FIFO",
        ),
        at_most("goodput of the stream over its fair share, EFD", lambda runs: taken(runs) / FAIR_SHARE_MBPS, 1.25),
        greater_by(
            "goodput of three long transfers, EFD against FQ-CoDel",
            quantity("spaced", "efd", "long_mbps"),
            quantity("spaced", "fq_codel", "long_mbps"),
            "Mb/s",
            "above FQ-CoDel",
        ),
    ]
    users = "three users with a long CUBIC transfer each, twelve with short ones, 10 Mb/s, 20 ms"
    return [
        _claim(
            "isolation-split",
            "4.3",
            "splitting a transfer over 16 connections gains less under EFD than under the rivals",
            split,
            f"`gaming-split`: 5 MB every minute beside {users}",
            "The thesis does not say so: a flow is a five-tuple there.",
        ),
        _claim(
            "isolation-stream",
            "4.6.4",
            "a stream that does not respond has a low penalty for the TCP traffic beside it",
            spaced,
            f"`gaming-spaced`: evenly spaced UDP at 5 Mb/s beside {users}",
        ),
    ]


CLAIMS = (*streams(), *bulk(), *pages(), *enterprise(), *greedy())
"""Claims of 4.6.4 and 9, and of what they leave open."""
