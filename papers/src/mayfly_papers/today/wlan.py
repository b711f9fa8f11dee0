"""Today's transport and rivals in a wireless cell: Fig. 6.2, 6.6 and 6.7 again, and the access point of today.

Words mean what they mean in :mod:`mayfly_papers.chen2012.wlan.cell`: *fair*, within 10 %; *a good level of fairness*,
within a factor of 2; *negligible*, below 10 %.
"""

from mayfly_papers.declare.data import reasons
from mayfly_papers.declare.declaration import Claim, Row
from mayfly_papers.declare.rows import Quantity, at_most, below, nearer_one, quantity, ratio, within
from mayfly_papers.today.runs import CELL_BUFFERS, MIXED_LOADS, NAMES

DIFFERENCES = reasons(__package__)

OURS = ("pefd", "efdack")
RIVALS = ("fq_codel", "cake", "fq_pie", "pie")
WAYS = {"down": "downloads", "up": "uploads"}

FIVE = "`wlan-5v5` with CUBIC, 60 s, 30 and 300 packets"
MODERN = "`wlan-5v5` with CUBIC over 802.11n, two streams, aggregates, 1000 packets, 20 s"
MIXED = "`wlan` with CUBIC, 30 packets, 10 and 20 Mb/s both ways, as many uploads as downloads"
NOT_THERE = "The rivals are not in the thesis."


def _claim(name: str, source: str, says: str, rows: list[Row], settings: str, note: str = "") -> Claim:
    return Claim(name, f"Chen 2012, {source}", says, settings, tuple(rows), DIFFERENCES.get(name), note)


def five() -> list[Claim]:
    """Endless uploads against downloads."""

    def apart(discipline: str, buffer: int) -> Quantity:
        return quantity(f"5v5-{buffer}", discipline, "ratio")

    def fairer(rivals: tuple[str, ...]) -> list[Row]:
        return [
            nearer_one(
                f"up over down, {NAMES[d]} against {NAMES[rival]}, {buffer} packets",
                apart(d, buffer),
                apart(rival, buffer),
                f"nearer to 1 than {NAMES[rival]}",
            )
            for rival in rivals
            for d in OURS
            for buffer in CELL_BUFFERS
        ]

    level = [within(f"up over down, {NAMES[d]}, {b} packets", apart(d, b), 2) for d in OURS for b in CELL_BUFFERS]
    lasack = [within(f"up over down, LASACK, {b} packets", apart("lasack", b), 1.1) for b in CELL_BUFFERS]
    source = "6.4, 7.3"
    return [
        _claim("cell-fair", source, "PEFD and EFDACK enforce a good level of fairness", level, FIVE),
        _claim("cell-fairer", source, "PEFD and EFDACK are fairer than FIFO", fairer(("fifo",)), FIVE),
        _claim(
            "cell-fairer-than-rivals",
            source,
            "PEFD and EFDACK are fairer than the rivals",
            fairer(RIVALS),
            FIVE,
            NOT_THERE,
        ),
        _claim("cell-lasack", source, "LASACK shares the cell fairly", lasack, FIVE),
    ]


def modern() -> list[Claim]:
    """802.11n, and the queues per station that access points of today have."""

    def of(queues: str, discipline: str, measure: str) -> Quantity:
        return quantity(f"5v5-n-{queues}", discipline, measure)

    shared = [
        nearer_one(
            f"up over down, {NAMES[d]} against {NAMES[rival]}, one queue",
            of("shared", d, "ratio"),
            of("shared", rival, "ratio"),
            f"nearer to 1 than {NAMES[rival]}",
        )
        for rival in ("fifo", *RIVALS)
        for d in OURS
    ]
    per_station = [
        nearer_one(
            "up over down, EFDACK against FIFO, a queue per station",
            of("airtime-fair", "efdack", "ratio"),
            of("airtime-fair", "fifo", "ratio"),
            "nearer to 1 than FIFO",
        ),
        below(
            "round trips of downloads, EFDACK against FQ-CoDel, a queue per station",
            of("airtime-fair", "efdack", "down_rtt_s"),
            of("airtime-fair", "fq_codel", "down_rtt_s"),
            "s",
            "below FQ-CoDel",
        ),
    ]
    return [
        _claim(
            "cell-n-one-queue", "6.4", "PEFD and EFDACK are fairer than FIFO and the rivals", shared, MODERN, NOT_THERE
        ),
        _claim(
            "cell-n-queue-per-station",
            "6.4",
            "EFDACK gains something where every station has a queue and equal time on the air",
            per_station,
            MODERN,
            "Such queues are not in the thesis; Linux has them in mac80211.",
        ),
    ]


def mixed() -> list[Claim]:
    """Transfers both ways."""

    def of(discipline: str, load: float, measure: str) -> Quantity:
        return quantity(f"cell-{load}", discipline, measure)

    def sooner(rivals: tuple[str, ...]) -> list[Row]:
        return [
            below(
                f"{text} up to 20 MSS, {NAMES[d]} against {NAMES[rival]}, {load} Mb/s",
                of(d, load, f"{way}_small_s"),
                of(rival, load, f"{way}_small_s"),
                "s",
                f"below {NAMES[rival]}",
            )
            for rival in rivals
            for d in OURS
            for load in MIXED_LOADS
            for way, text in WAYS.items()
        ]

    def apart(discipline: str, load: float) -> Quantity:
        return ratio(*(of(discipline, load, f"{way}_small_s") for way in WAYS))

    mitigated = [
        nearer_one(
            f"up to 20 MSS, downloads over uploads, {NAMES[d]} against {NAMES[rival]}, {load} Mb/s",
            apart(d, load),
            apart(rival, load),
            f"nearer to 1 than {NAMES[rival]}",
        )
        for rival in ("fifo", *RIVALS)
        for d in OURS
        for load in MIXED_LOADS
    ]
    long = [
        at_most(
            f"{text} above 300 MSS, {NAMES[d]} over FIFO, {load} Mb/s",
            ratio(*(of(name, load, f"{way}_large_s") for name in (d, "fifo"))),
            1.1,
        )
        for d in OURS
        for load in MIXED_LOADS
        for way, text in WAYS.items()
    ]
    source = "6.5.2"
    return [
        _claim(
            "cell-short-fifo", source, "short flows finish sooner than under FIFO both ways", sooner(("fifo",)), MIXED
        ),
        _claim(
            "cell-short-rivals",
            source,
            "short flows finish sooner than under the rivals",
            sooner(RIVALS),
            MIXED,
            NOT_THERE,
        ),
        _claim(
            "cell-mitigated",
            source,
            "PEFD and EFDACK mitigate the unfairness between directions",
            mitigated,
            MIXED,
            NOT_THERE,
        ),
        _claim("cell-long", source, "the response time of long flows increases negligibly", long, MIXED),
    ]


CLAIMS = (*five(), *modern(), *mixed())
"""Claims of 6 and 7."""
