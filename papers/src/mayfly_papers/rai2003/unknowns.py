"""What Rai 2003 does not tell of its simulations in ns-2."""

from collections.abc import Sequence
from dataclasses import replace

from mayfly_papers.declare.declaration import Experiment
from mayfly_papers.declare.unknowns import Calibration, Setting, Unknown
from mayfly_papers.rai2003.claims import CLAIMS, EXPERIMENTS, LARGE_WINDOW, READINGS

UNKNOWNS = (
    Unknown(
        "rate",
        "speed of the bottleneck",
        (*READINGS.values(), "3mbit", "2.6mbit"),
        "only in a figure; a load of 0.7 is 3.2 Mb/s by the means of Table 1, 3.9 Mb/s by what ns-2 makes of them; "
        "0.70 and 0.75 with a UDP flow of 128 kb/s are 2.6 Mb/s",
    ),
    Unknown("window", "receiver window", (20, 40, 64, 100, LARGE_WINDOW), "not told; ns-2's default is 20", "packets"),
)
"""The laws of the traffic are printed, and are not searched."""


def experiments(setting: Setting) -> Sequence[Experiment]:
    """Web traffic alone, and beside the UDP flow."""
    given = {"network.rate": setting["rate"], "tcp.receiver_window": setting["window"]}
    return [replace(own, overrides={**own.overrides, **given}) for own in EXPERIMENTS if own.id in ("web-means", "udp")]


_CELLS = ("transmission-means", "active-flows-means", "loss-means", "one-packet-flows-means", "udp-jitter", "udp-loss")

CALIBRATION = Calibration(
    UNKNOWNS,
    experiments,
    tuple(claim for claim in CLAIMS if claim.id in _CELLS),
    {"rate": READINGS["means"], "window": LARGE_WINDOW},
)
