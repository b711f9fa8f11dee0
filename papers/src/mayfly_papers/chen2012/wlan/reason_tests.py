"""Runs that show why claims of Chen 2012, ch. 7, do not come out as printed."""

from mayfly_papers.chen2012.wlan.cell import BOTH_UNITS, EXPERIMENTS, of
from mayfly_papers.declare.declaration import Claim
from mayfly_papers.declare.rows import at_least, at_most, ratio

__all__ = ["EXPERIMENTS", "TESTS"]


def one_buffer() -> Claim:
    """SCFQ gains what FIFO gains, and little in absolute terms."""
    rows = [
        at_least(
            f"down throughput, {name}, {b} MSS, bytes over packets",
            ratio(of(d, "down_mbps", b, "bytes"), of(d, "down_mbps", b)),
            2,
        )
        for d, name in (("fifo", "FIFO"), ("scfq", "SCFQ"))
        for b in (30, 70)
    ]
    rows += [
        at_most(
            f"share of downloads, SCFQ, {b} MSS, {unit}",
            ratio(of("scfq", "down_mbps", b, unit), of("scfq", "total_mbps", b, unit)),
            0.02,
        )
        for b in (30, 70)
        for unit in ("packets", "bytes")
    ]
    says = (
        "a buffer shared by all flows gives downloads several times as much in bytes under SCFQ as under FIFO; under "
        "SCFQ that is still next to nothing"
    )
    return Claim("one-buffer", "Chen 2012, 7.3.2", says, BOTH_UNITS, tuple(rows))


def nothing_left() -> Claim:
    """BEFD at 70 packets is no FIFO."""
    packets, fifo = of("efd", "ratio", 70), of("fifo", "ratio", 70)
    rows = (
        at_least("up over down, 70 packets, FIFO over BEFD", ratio(fifo, packets), 4),
        at_least("loss of data, BEFD, 70 MSS, packets over bytes", of_loss("efd"), 2),
    )
    says = "with 70 packets BEFD has left the unfairness of FIFO, so that bytes have none of that to take away"
    return Claim("nothing-left", "Chen 2012, 7.3.2", says, BOTH_UNITS, rows)


def of_loss(discipline: str):
    """Loss of data at 70 MSS, packets over bytes."""
    return ratio(of(discipline, "data_loss", 70), of(discipline, "data_loss", 70, "bytes"))


TESTS = (one_buffer(), nothing_left())
