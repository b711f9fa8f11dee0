"""Chen 2012, 6.4 and 7.3 (Chen 2013, IV): five endless uploads against five downloads in a cell of 802.11a.

The figures come without their data: what the text says they show is the claim. What words mean here was written down
before these runs, after trial runs with one seed: *fair*, within 10 % of each other; *a good level of fairness*, within
a factor of 2, and an order of magnitude nearer to 1 than FIFO; *unfair*, above 10; *negligible loss*, below 1 %;
*similar*, within a factor of 1.5.
The mixed workload is in :mod:`mayfly_papers.chen2012.wlan.mixed`.
"""

import numpy as np

from mayfly_papers.chen2012.wlan import measures
from mayfly_papers.chen2012.wlan.printed_tables import LARS
from mayfly_papers.declare.data import reasons
from mayfly_papers.declare.declaration import Claim, Experiment, Row, Runs, Values
from mayfly_papers.declare.rows import (
    Quantity,
    at_least,
    at_most,
    below,
    greater_by,
    nearer_one,
    one_run_deviation,
    quantity,
    ratio,
    within,
)

DIFFERENCES = reasons(__package__)

NAMES = {
    "fifo": "FIFO",
    "scfq": "SCFQ",
    "efd": "BEFD",
    "pefd": "PEFD",
    "efdack": "EFDACK",
    "lasack": "LASACK",
    LARS: "LARS",
    "run2c": "Run2C",
    "run2cack": "Run2CACK",
    "las": "LAS",
}
"""Names in the text; BEFD is EFD counting bytes."""

DISCIPLINES = tuple(NAMES)[:-1]
SMALL = (10, 20, 30, 50, 70)
ABOVE_20 = (30, 50, 70)
LARGE = (300, 500)
REPLICATIONS = 30
"""As in 6.4; a third of them in bytes."""

PACKET_BYTES = 1500


def _experiment(unit: str, packets: int) -> Experiment:
    buffer = packets if unit == "packets" else f"{packets * PACKET_BYTES}B"
    given = {"network.buffer": buffer, "sample_interval": 0}
    replications = REPLICATIONS if unit == "packets" else REPLICATIONS // 3
    return Experiment(_id(unit, packets), given, DISCIPLINES, replications, measures.persistent, "wlan-5v5")


def _id(unit: str, packets: int) -> str:
    return f"5v5-{packets}" if unit == "packets" else f"5v5-{packets}-in-bytes"


EXPERIMENTS = (
    *(_experiment("packets", packets) for packets in (*SMALL, *LARGE)),
    *(_experiment("bytes", packets) for packets in SMALL),
)


def of(discipline: str, measure: str, packets: int, unit: str = "packets") -> Quantity:
    return quantity(_id(unit, packets), discipline, measure)


def _claim(name: str, source: str, says: str, rows, note: str = "", settings: str = "") -> Claim:
    text = settings or "`wlan-5v5`, 100 s, buffers of the access point in packets"
    return Claim(name, f"Chen 2012, {source}", says, text, tuple(rows), DIFFERENCES.get(name), note)


def unfair() -> Claim:
    """FIFO, SCFQ, BEFD and Run2C at small buffers."""
    rows = [
        at_least(f"up over down, {NAMES[d]}, {b} packets", of(d, "ratio", b), 10)
        for d in ("fifo", "scfq", "efd", "run2c")
        for b in SMALL
    ]
    says = "with small buffers uploads get far more than downloads under FIFO, SCFQ, BEFD and Run2C"
    return _claim("unfair", "6.4, Fig. 6.2", says, rows)


def befd_worse() -> Claim:
    """BEFD is less fair than FIFO, by 2 to 3 orders of magnitude."""
    rows = []
    for b in SMALL:
        own = of("efd", "ratio", b)
        name = f"up over down, BEFD, {b} packets"
        rows.append(below(f"{name}, against FIFO", of("fifo", "ratio", b), own, direction="FIFO below BEFD"))
        rows += [at_least(name, own, 100), at_most(name, own, 1000)] if b <= 30 else []
    says = "BEFD is less fair than FIFO; uploads get 2 to 3 orders of magnitude more when the buffer is small"
    return _claim("befd", "6.4, Fig. 6.2", says, rows, "Small is up to 30 packets; in the first rows ours is FIFO's.")


def fair() -> Claim:
    """LASACK and LARS."""
    rows = [
        within(f"up over down, {NAMES[d]}, {b} packets", of(d, "ratio", b), 1.1)
        for d in ("lasack", LARS)
        for b in SMALL
    ]
    return _claim("fair", "6.4, Fig. 6.2", "LASACK and LARS share the cell fairly at all small buffers", rows)


def good_fairness() -> Claim:
    """PEFD and EFDACK above 20 packets."""
    rows = []
    for d in ("pefd", "efdack"):
        for b in ABOVE_20:
            name, own = f"up over down, {NAMES[d]}, {b} packets", of(d, "ratio", b)
            rows.append(within(name, own, 2))
            for other in ("fifo", "scfq", "efd"):
                there = f"ten times nearer to 1 than {NAMES[other]}"
                rows.append(nearer_one(name, own, of(other, "ratio", b), there, 10))
    says = "above 20 packets PEFD and EFDACK enforce a good level of fairness, far better than FIFO, SCFQ and BEFD"
    return _claim("good-fairness", "6.4, Fig. 6.2", says, rows)


def not_perfect() -> Claim:
    """LASACK and LARS are fairer than PEFD and EFDACK."""
    rows = [
        nearer_one(
            f"up over down, {NAMES[d]}, {b} packets",
            of(d, "ratio", b),
            of(e, "ratio", b),
            f"nearer to 1 than {NAMES[e]}",
        )
        for d in ("lasack", LARS)
        for e in ("pefd", "efdack")
        for b in ABOVE_20
    ]
    return _claim("fairest", "6.4, Fig. 6.2", "the fairness of LASACK and LARS is above that of PEFD and EFDACK", rows)


def aggregate() -> Claim:
    """Fairness costs no throughput."""
    rows = [
        below(
            f"{NAMES[other]}, {b} packets",
            of(other, "total_mbps", b),
            of(d, "total_mbps", b),
            "Mb/s",
            f"below {NAMES[d]}",
        )
        for d in ("pefd", "efdack")
        for other in ("fifo", "scfq")
        for b in ABOVE_20
    ]
    says = "the aggregate throughput of PEFD and EFDACK is larger than that of FIFO and SCFQ"
    return _claim("aggregate-throughput", "6.4, Fig. 6.2", says, rows)


def loss() -> Claim:
    """Who loses."""
    rows = [
        at_most(f"loss of data, {NAMES[d]}, {b} packets", of(d, "data_loss", b), 0.01)
        for d in ("lasack", LARS, "pefd", "efdack")
        for b in ABOVE_20
    ]
    rows += [
        at_least(f"loss of data, {NAMES[d]}, {b} packets", of(d, "data_loss", b), 0.1)
        for d in ("fifo", "efd", "run2c", "run2cack")
        for b in (10, 30)
    ]
    says = (
        "downloads lose much with small buffers under FIFO, BEFD, Run2C and Run2CACK; loss is negligible above 20 "
        "packets under LASACK, LARS, PEFD and EFDACK"
    )
    return _claim("loss", "6.4; 7.3.1, Fig. 7.2", says, rows, "Much is above 10 %.")


def run2cack() -> Claim:
    """Run2CACK is FIFO for long flows."""

    def row(b: int) -> Row:
        own, fifo = of("run2cack", "ratio", b), of("fifo", "ratio", b)

        def margin(runs: Runs) -> Values:
            theirs = np.log(fifo(runs))
            return one_run_deviation(theirs) - np.abs(np.log(own(runs)).mean() - theirs)

        return Row(
            f"up over down, Run2CACK over FIFO, {b} packets",
            ratio(own, fifo),
            margin=margin,
            direction="apart less than single runs of FIFO",
        )

    says = "Run2CACK degenerates to FIFO, as endless transfers soon are in its low queue"
    return _claim("run2cack", "6.4, Fig. 6.2; 7.3.1", says, [row(b) for b in SMALL])


def rtt() -> Claim:
    """One queue, one round-trip time."""
    rows = [
        within(
            f"RTT of downloads over uploads, {NAMES[d]}, {b} packets",
            ratio(of(d, "down_rtt_s", b), of(d, "up_rtt_s", b)),
            1.5,
        )
        for d in ("fifo", "efd")
        for b in SMALL
    ]
    rows += [
        below(f"RTT of uploads, {NAMES[d]}, 10 packets", of(d, "up_rtt_s", 10), of(d, "up_rtt_s", 70), "s", "below 70")
        for d in ("fifo", "efd")
    ]
    says = "under FIFO and BEFD round-trip times are alike both ways, and grow with the buffer"
    return _claim("rtt", "6.4, Fig. 6.3", says, rows)


def windows() -> Claim:
    """Downloads cannot open their window."""
    rows = [
        at_least(f"window of uploads over downloads, FIFO, {b} packets", of("fifo", "window_ratio", b), 5)
        for b in SMALL
    ]
    rows += [
        below(
            f"window of downloads, BEFD, {b} packets",
            of("efd", "down_cwnd", b),
            of("fifo", "down_cwnd", b),
            "MSS",
            "below FIFO",
        )
        for b in SMALL
    ]
    says = "under FIFO the windows of downloads do not grow, under BEFD still less"
    return _claim("windows", "6.4, Fig. 6.3", says, rows, "Do not grow: five times below those of uploads.")


def inflated() -> Claim:
    """EFDACK lengthens the round trip of uploads."""

    def apart(d: str, b: int) -> Quantity:
        return ratio(of(d, "up_rtt_s", b), of(d, "down_rtt_s", b))

    rows = [
        at_least(f"RTT of uploads over downloads, {NAMES[d]}, {b} packets", apart(d, b), 1.5)
        for d in ("efdack", LARS, "pefd")
        for b in ABOVE_20
    ]
    rows += [
        below(
            f"RTT of uploads over downloads, PEFD, {b} packets",
            apart("pefd", b),
            apart("efdack", b),
            "",
            "below EFDACK",
        )
        for b in ABOVE_20
    ]
    says = "EFDACK inflates the round-trip time of uploads, LARS does so too, and PEFD to a lesser extent"
    return _claim("inflated-rtt", "6.4, Fig. 6.3", says, rows)


def large_buffers() -> Claim:
    """No loss, no unfairness, long queues."""
    all_of = [d for d in DISCIPLINES if d != "run2c"]
    rows = [at_most(f"loss of data, {NAMES[d]}, 500 packets", of(d, "data_loss", 500), 1e-9) for d in all_of]
    rows += [at_most(f"loss of data, {NAMES[d]}, 300 packets", of(d, "data_loss", 300), 0.01) for d in all_of]
    rows += [within(f"up over down, {NAMES[d]}, 500 packets", of(d, "ratio", 500), 1.1) for d in all_of]
    rows.append(
        greater_by(
            "RTT, FIFO, 500 packets",
            of("fifo", "up_rtt_s", 500),
            of("lasack", "down_rtt_s", 30),
            "s",
            "above LASACK's at 30",
        )
    )
    says = "from about 300 packets on nothing is lost, above that all disciplines are fair, and FIFO is slow"
    return _claim("large-buffers", "6.4; 7.3", says, rows)


def in_bytes_helps() -> Claim:
    """Bytes help FIFO, Run2CACK and BEFD."""
    rows = []
    for d in ("fifo", "run2cack", "efd"):
        for b in (10, 30, 70):
            own = of(d, "data_loss", b, "bytes")
            rows.append(
                at_least(f"loss of data, {NAMES[d]}, {b} MSS, packets over bytes", ratio(of(d, "data_loss", b), own), 2)
            )
            rows.append(
                nearer_one(
                    f"up over down, {NAMES[d]}, {b} MSS, bytes",
                    of(d, "ratio", b, "bytes"),
                    of(d, "ratio", b),
                    "nearer to 1 than in packets",
                )
            )
    says = (
        "buffers in bytes drastically lower the loss of downloads, and improve fairness, under FIFO, Run2CACK and BEFD"
    )
    return _claim("bytes-help", "7.3.2, Fig. 7.3", says, rows, "Drastically: by half or more.", BOTH_UNITS)


BOTH_UNITS = "`wlan-5v5`, 100 s, buffers in packets against 1500 bytes for each of them"


def insensitive() -> Claim:
    """LASACK, LARS and SCFQ do not mind."""
    rows = [
        within(
            f"{way} throughput, {NAMES[d]}, {b} MSS, bytes over packets",
            ratio(own(b, "bytes"), own(b, "packets")),
            1.25,
        )
        for d in ("lasack", LARS, "scfq")
        for way, own in (
            ("down", lambda b, unit, d=d: of(d, "down_mbps", b, unit)),
            ("up", lambda b, unit, d=d: of(d, "up_mbps", b, unit)),
        )
        for b in (10, 30, 70)
    ]
    says = "LASACK, LARS and SCFQ are insensitive to the unit of the buffer"
    return _claim("bytes-insensitive", "7.3.2, Fig. 7.3; 7.5", says, rows, "Insensitive: within 25 %.", BOTH_UNITS)


def no_loss_whatever() -> Claim:
    """LASACK and LARS lose nothing."""
    rows = [
        at_most(f"loss of data, {NAMES[d]}, 30 MSS, {unit}", of(d, "data_loss", 30, unit), 0.01)
        for d in ("lasack", LARS)
        for unit in ("packets", "bytes")
    ]
    says = "LASACK and LARS lose no packet, whether the buffer counts packets or bytes"
    return _claim("bytes-no-loss", "7.3.2", says, rows, "None is read as below 1 %.", BOTH_UNITS)


def downloads_above() -> Claim:
    """PEFD and EFDACK favour downloads slightly with bytes."""
    rows = []
    for d in ("pefd", "efdack"):
        for b in ABOVE_20:
            own = of(d, "ratio", b, "bytes")
            rows.append(at_most(f"up over down, {NAMES[d]}, {b} MSS, bytes", own, 1))
            rows.append(within(f"up over down, {NAMES[d]}, {b} MSS, bytes", own, 2))
    says = "with bytes downloads get slightly more than uploads under PEFD and EFDACK, with a good level of fairness"
    return _claim("bytes-downloads", "7.3.2, Fig. 7.3", says, rows, "", BOTH_UNITS)


CLAIMS = (
    unfair(),
    befd_worse(),
    fair(),
    good_fairness(),
    not_perfect(),
    aggregate(),
    loss(),
    run2cack(),
    rtt(),
    windows(),
    inflated(),
    large_buffers(),
    in_bytes_helps(),
    insensitive(),
    no_loss_whatever(),
    downloads_above(),
)
"""Claims of 6.4 and 7.3."""
