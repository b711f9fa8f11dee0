"""Runs that show why claims of Rai 2003 do not come out as printed."""

from mayfly_papers.declare.declaration import Claim
from mayfly_papers.declare.rows import at_least, at_most, below, quantity, ratio
from mayfly_papers.rai2003.claims import EXPERIMENTS

__all__ = ["EXPERIMENTS", "TESTS"]


def window_and_load() -> Claim:
    """LAS loses what large windows send."""
    of = {
        window: {
            (way, name): quantity(f"web-{window}", way, name)
            for way in ("fifo", "las")
            for name in ("loss", "large_loss")
        }
        for window in ("means", "window-1000")
    }
    rows = (
        at_least(
            "loss of flows above 100 packets, LAS, window of 1000 over 64",
            ratio(of["window-1000"]["las", "large_loss"], of["means"]["las", "large_loss"]),
            1.3,
        ),
        below(
            "all packets, LAS, window of 64",
            of["means"]["las", "loss"],
            of["window-1000"]["las", "loss"],
            "",
            "below 1000",
        ),
        below(
            "all packets, FIFO, window of 1000",
            of["window-1000"]["fifo", "loss"],
            of["window-1000"]["las", "loss"],
            "",
            "below LAS",
        ),
    )
    says = "LAS loses more than FIFO with a window of 1000 packets, and less than that with one of 64"
    return _claim("window-and-load", "4.4", says, rows)


def never_full_of_short_flows() -> Claim:
    """No flow below 10 packets loses anything under LAS."""
    rows = tuple(
        at_most(f"loss of flows below 10 packets, LAS, {run}", quantity(run, "las", "few_loss"), 1e-6)
        for run in ("web-means", "web-rounded", "web-window-1000")
    )
    says = "under LAS no flow below 10 packets loses a packet, whatever the window and the speed"
    return _claim("never-full-of-short-flows", "4.4", says, rows)


def _claim(name: str, section: str, says: str, rows) -> Claim:
    settings = "`web-ns2` at 3.2 and 3.9 Mb/s, 12 000 s, receiver windows of 64 and 1000"
    return Claim(name, f"Rai 2003, {section}", says, settings, tuple(rows))


TESTS = (window_and_load(), never_full_of_short_flows())
