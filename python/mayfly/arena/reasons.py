"""Why a discipline trails in a row, where it is known; the page says it beside the figure.

A reason is here when a run shows it: with the option changed that it names, or by another row of the board. The runs of
`lfq` (build of 2026-11-25, seeds 101 to 103, full length, means) stand beside each.
"""

from collections.abc import Mapping

_KEPT = (
    "an address that is kept for longer than `probation` is a user of its own; who can keep many is many users, as to "
    "every queue that is fair by address"
)
# probation=0.2: 0.995 fair shares in place of 2.05 (docs/arena-sensitivity.md).

_FIRST = (
    "efd lets all beyond its threshold wait behind: its transfers of 21 to 300 packets take longer, as a row of their "
    "own shows"
)

_OVERLOAD = (
    "more is offered than the link carries: it leaves the long transfers their share, which others give to the short "
    "ones, as the row of that share shows"
)

_BULK = "CoDel leaves a bulk flow alone while it is behind; the rest is between CoDel and COBALT: fq_codel has 37.6 ms"
# bulk-1000 (build of 2026-11-26, seeds 101 to 104): 38.8 ms; without lags 37.6.

_CONTROLS = (
    "CoDel leaves who is behind alone, and a sender that paces itself, as BBR does, is behind for most of the time"
)
# controls-10: RTT 65.3 ms, least 0.918; without lags 60.0, 0.943. controls-50: 55.9, 0.921; 47.7, 0.928.

_SLOW_LINK = "CoDel costs long transfers throughput on a slow link: FIFO with it, `codel`, has as much"
# rate-1, above 300 packets, seeds 101 to 104: 41.3 s; fifo 32.4, codel 42.3.

_PAGES = "six connections of a page are one user, as each of two endless transfers is; fair queues by flow give it six"
# pages over HTTP/1.1, 95 %: 5.97 s; with user=flow 4.00, without lags 6.11; fq_codel 4.32.

_STALL = "who is level with the clock waits for the credit of those who come back: the lags"
# load-80: 1.17 s; without lags 0.37. spaced: 0.43 and 0.27.

_CODEL = "CoDel keeps the window of a long transfer short where the path is long; fq_codel has as much"
# above 300 packets, with interval=1, fifo, fq_codel: rate-50 2.03, 1.79, 1.67, 2.02 s; rtt-100 8.03, 6.03, 5.18, 7.94;
# rtt-600 16.4, 10.9, 10.4, 18.9 (21 to 300 packets 2.98, with interval=1 2.75);
# buffer-thirty 6.58, 5.31, 4.72, 6.23; buffer-one 6.95, 6.31, 5.73, 6.65.

_CELL = (
    "acknowledgements are charged what they acknowledge, so that downloads get as much as uploads; uploads alone, as "
    "others leave them, carry more"
)
# cell-30: 23.9 Mbit/s and a balance of 0.96; with medium=wire 25.0 and 0.0002.

_SLOW = "the slow station has its share in bytes, which takes the time of the others, as the row of the least shows"

REASONS: Mapping[str, Mapping[str, str]] = {
    "lfq": {
        "load-80:short": _FIRST,
        "rate-1:short": _FIRST,
        "rtt-5:short": _FIRST,
        "enterprise:short": _FIRST,
        "load-104:short": _FIRST,
        "load-130:short": _FIRST,
        "overload:short": _OVERLOAD,
        "bulk-100:rtt": _BULK,
        "bulk-1000:rtt": _BULK,
        **{f"controls-{mbps}:{name}": _CONTROLS for mbps in (10, 50) for name in ("rtt", "least", "bbr")},
        "rate-1:long": _SLOW_LINK,
        "pages:http1-p95": _PAGES,
        "load-80:stall": _STALL,
        "spaced:stall": _STALL,
        "new-ports:stall": _STALL,
        "split:stall": _STALL,
        "kept-addresses:attacker": _KEPT,
        "kept-addresses:short": _KEPT,
        "rate-50:long": _CODEL,
        "rtt-100:long": _CODEL,
        "rtt-600:long": _CODEL,
        "rtt-600:middling": _CODEL,
        "buffer-one:long": _CODEL,
        "buffer-thirty:long": _CODEL,
        "cell-30:total": _CELL,
        "cell-300:total": _CELL,
        "slow-station:total": _SLOW,
    },
}
"""By discipline and row."""
