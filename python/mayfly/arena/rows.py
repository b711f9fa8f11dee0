"""The rows of the board: one figure of one experiment each, with its unit and which way is better."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from mayfly.arena.experiments import TITLES
from mayfly.scenario.attacks import ATTACKS, Attack, Board


@dataclass(frozen=True)
class Row:
    """One criterion.

    Parameters
    ----------
    id : str
    title : str
        For a reader.
    experiment, figure : str
        Where it is taken from (:mod:`mayfly.arena.experiments`).
    unit : str
        ``s``, ``share``, ``times``, ``Mbit/s``, ``bytes``.
    better : {"lower", "higher", "one", "even"}
        ``one``: what matters is the distance above 1, as of an attacker's fair shares; ``even``: the ratio to 1, either
        way.
    tie : float
        Difference below which two are alike, whatever chance says, in the unit.
    """

    id: str
    title: str
    experiment: str
    figure: str
    unit: str
    better: Literal["lower", "higher", "one", "even"] = "lower"
    tie: float = 0.0


TIE = 0.03
"""Two that differ by less than 3 % are alike: nobody would choose by it, and a dozen seeds hardly tell it."""

_SIZES = {"short": "up to 20 packets", "middling": "21 to 300 packets", "long": "above 300 packets"}


def _transfers(experiment: str, words: str) -> list[Row]:
    return [
        Row(f"{experiment}:{name}", f"{words}: transfers of {size}", experiment, f"{name}_s", "s", tie=0.001)
        for name, size in _SIZES.items()
    ]


def _cell(experiment: str, words: str) -> list[Row]:
    return [
        Row(f"{experiment}:balance", f"{words}: lesser direction over the greater", experiment, "balance", "share",
            "higher", 0.05),
        Row(f"{experiment}:total", f"{words}: goodput of both", experiment, "total_mbps", "Mbit/s", "higher"),
    ]  # fmt: skip


def _attack(attack: Attack, board: Board) -> list[Row]:
    id, words = attack.id, board.words
    if not attack.joins:
        return [
            Row(f"{id}:short", f"{words}: their slowdown, median", id, "slowdown_p50", "times", tie=0.05),
            Row(f"{id}:stall", f"{words}: longest stall of long ones", id, "stall_s", "s", tie=0.2),
            Row(f"{id}:long", f"{words}: fair share left to long ones", id, "long", "times", "higher", 0.05),
        ]
    return [
        Row(f"{id}:attacker", f"{words}: attacker's fair shares", id, "attacker", "times", "one", 0.05),
        Row(f"{id}:short", f"{words}: slowdown of short transfers, 95 %", id, "slowdown_p95", "times", tie=0.05),
        Row(f"{id}:stall", f"{words}: longest stall of long transfers", id, "stall_s", "s", tie=0.2),
    ]


def _controls(experiment: str, names: Collection[str], rate: str) -> list[Row]:
    words = f"{', '.join(TITLES[name] for name in names)} on {rate}"
    return [
        Row(f"{experiment}:least", f"{words}: least goodput over the mean", experiment, "least", "share", "higher",
            0.02),
        *(Row(f"{experiment}:{name}", f"{words}: fair shares of {TITLES[name]}", experiment, name, "times", "even",
              0.05) for name in names),
        Row(f"{experiment}:rtt", f"{words}: RTT of the bulk", experiment, "rtt_s", "s", tie=0.002),
        Row(f"{experiment}:total", f"{words}: goodput of all", experiment, "total_mbps", "Mbit/s", "higher"),
    ]  # fmt: skip


ROWS: tuple[Row, ...] = (
    *_transfers("load-50", "half full"),
    *_transfers("load-80", "8 of 10 Mbit/s"),
    Row("load-80:stall", "8 of 10 Mbit/s: longest stall of a long transfer", "load-80", "stall_s", "s", tie=0.2),
    *_transfers("load-104", "overload 1.04"),
    *_transfers("load-130", "overload 1.3"),
    *_transfers("rate-1", "1 Mbit/s"),
    *_transfers("rate-50", "50 Mbit/s"),
    *_transfers("rate-1000", "1 Gbit/s"),
    *_transfers("rtt-5", "5 ms"),
    *_transfers("rtt-100", "100 ms"),
    *_transfers("rtt-600", "600 ms"),
    *_transfers("buffer-a tenth", "buffer of 0.1 BDP"),
    *_transfers("buffer-one", "buffer of 1 BDP"),
    *_transfers("buffer-thirty", "buffer of 30 BDP"),
    Row("bulk-100:short", "behind bulk, 100 packets: short transfers", "bulk-100", "short_s", "s", tie=0.001),
    Row("bulk-100:rtt", "behind bulk, 100 packets: RTT of the bulk", "bulk-100", "bulk_rtt_s", "s", tie=0.002),
    Row("bulk-1000:short", "behind bulk, 1000 packets: short transfers", "bulk-1000", "short_s", "s", tie=0.001),
    Row("bulk-1000:rtt", "behind bulk, 1000 packets: RTT of the bulk", "bulk-1000", "bulk_rtt_s", "s", tie=0.002),
    Row("pages:http1", "pages over HTTP/1.1, median", "pages", "http1_s", "s"),
    Row("pages:http1-p95", "pages over HTTP/1.1, 95 %", "pages", "http1_p95_s", "s"),
    Row("pages:http2", "pages over HTTP/2, median", "pages", "http2_s", "s"),
    Row("pages:http2-p95", "pages over HTTP/2, 95 %", "pages", "http2_p95_s", "s"),
    Row("call:loss", "call of 64 kbit/s: loss", "call", "loss", "share", tie=0.001),
    Row("call:jitter", "call of 64 kbit/s: jitter", "call", "jitter_s", "s", tie=0.0002),
    Row("call:wait", "call of 64 kbit/s: wait in the queue, 99 %", "call", "wait_p99_s", "s", tie=0.001),
    Row("video:loss", "stream of 500 kbit/s: loss", "video", "loss", "share", tie=0.001),
    Row("video:wait", "stream of 500 kbit/s: wait in the queue, 99 %", "video", "wait_p99_s", "s", tie=0.001),
    Row("video-own:loss", "stream of 500 kbit/s, a user of its own: loss", "video-own", "loss", "share", tie=0.001),
    Row("video-own:wait", "stream of 500 kbit/s, a user of its own: wait, 99 %",
        "video-own", "wait_p99_s", "s", tie=0.001),
    *(row for attack in ATTACKS if attack.board is not None for row in _attack(attack, attack.board)),
    Row("mixed-rtt:least", "RTTs of 10 to 200 ms: least goodput over the mean", "mixed-rtt", "least", "share",
        "higher", 0.02),
    Row("mixed-rtt:total", "RTTs of 10 to 200 ms: goodput of all", "mixed-rtt", "total_mbps", "Mbit/s", "higher"),
    *_controls("controls-10", ("cubic", "reno", "bbr"), "10 Mbit/s"),
    *_controls("controls-50", ("cubic", "reno", "bbr"), "50 Mbit/s"),
    *_controls("scalable-50", ("cubic", "bbr3", "prague"), "50 Mbit/s"),
    Row("asymmetric:down", "20 down, 1 up, uploads: goodput down", "asymmetric", "down_mbps", "Mbit/s", "higher"),
    Row("asymmetric:short", "20 down, 1 up, uploads: short transfers", "asymmetric", "short_s", "s", tie=0.001),
    *_cell("cell-30", "cell, 30 packets"),
    *_cell("cell-300", "cell, 300 packets"),
    *_cell("cell-n", "cell of 802.11n"),
    Row("slow-station:total", "cell with a slow station: goodput", "slow-station", "total_mbps", "Mbit/s", "higher"),
    Row("slow-station:least", "cell with a slow station: least goodput over the mean", "slow-station", "least",
        "share", "higher", 0.02),
    *_transfers("enterprise", "enterprise mix, both ways"),
    Row("memory", "memory for flows at 8 of 10 Mbit/s", "load-80", "memory_bytes", "bytes", tie=131_072),
)  # fmt: skip
"""In the order of the board."""
