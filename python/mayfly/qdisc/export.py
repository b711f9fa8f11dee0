"""What queueing disciplines count, for Prometheus: an endpoint that reads them when it is asked.

Names follow https://prometheus.io/docs/practices/naming/: base units (bytes, seconds), ``_total`` for what only grows.
"""

import contextlib
import io
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mayfly.errors import MayflyError
from mayfly.qdisc.changes import marks, shaped_bps
from mayfly.qdisc.show import Row, read
from mayfly.text.quantity import shown

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

LISTEN = "127.0.0.1:9817"
TOP_MOST = 16
"""Users of a discipline that it tells: labels of an endpoint must not grow with what strangers send."""

LOOKS_S = 0.5

PATIENCE_S = 10.0
"""With a client that sends or takes nothing, s."""

MOST_CLIENTS = 32
"""Connections that are open at once; another one ends the oldest of them, and Prometheus needs a few ms."""

_ADDRESS = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([\w.-]+)):(\d{1,5})")
_PREFIX = "mayfly_qdisc"
_WHERE = ("device", "kind", "handle", "parent")

Value = Callable[[Row], "int | float | None"]

_COUNTERS: dict[str, tuple[str, Value]] = {
    "sent_bytes": ("Bytes sent", lambda row: row.sent_bytes),
    "sent_packets": ("Packets sent", lambda row: row.sent_pkts),
    "dropped_packets": ("Packets dropped", lambda row: row.drops_pkts),
    "marked_packets": ("Packets marked (ECN)", marks),
    "pushed_out_packets": ("Packets that waited and had to make room", lambda row: row.own.get("pushed_out")),
    "early_dropped_packets": ("Packets dropped by queue management", lambda row: row.own.get("early")),
    "admitted_users": ("Users that got standing", lambda row: row.own.get("admitted")),
    "sharing_users": ("Users that found the table full and share a slot", lambda row: row.own.get("sharing")),
    "bypassed_flows": ("Flows that began without a slot of their own", lambda row: row.own.get("bypassed")),
}
_GAUGES: dict[str, tuple[str, Value]] = {
    "backlog_bytes": ("Bytes that wait", lambda row: row.backlog_bytes),
    "backlog_packets": ("Packets that wait", lambda row: row.backlog_pkts),
    "shaped_bytes_per_second": ("Rate of the discipline's own shaper", lambda row: _shaped_bytes_per_s(row)),
    "waiting_users": ("Users with packets that wait", lambda row: row.own.get("users")),
    "waiting_flows": ("Flows with packets that wait", lambda row: row.own.get("flows")),
    "newcomer_packets": ("Packets of new users that wait", lambda row: row.own.get("newcomers")),
    "table_users": ("Slots of the table of users", lambda row: row.own.get("table_users")),
    "table_used_users": ("Slots of the table of users that are taken", lambda row: row.own.get("table_used")),
}
_OF_USERS: dict[str, tuple[str, str, float]] = {
    "user_sent_bytes_total": ("Bytes sent of a user", "bytes", 1),
    "user_sent_packets_total": ("Packets sent of a user", "packets", 1),
    "user_dropped_packets_total": ("Packets dropped of a user", "drops", 1),
    "user_marked_packets_total": ("Packets marked of a user", "marks", 1),
    "user_backlog_bytes": ("Bytes of a user that wait", "backlog", 1),
    "user_flows": ("Flows of a user that wait", "flows", 1),
    "user_credit_bytes": ("How far a user is behind its share; negative: ahead", "credit", 1),
    "user_wait_p50_seconds": ("Half of a user's packets waited less", "wait_p50_us", 1e-6),
    "user_wait_p95_seconds": ("95 % of a user's packets waited less", "wait_p95_us", 1e-6),
}


def _shaped_bytes_per_s(row: Row) -> float | None:
    rate_bps = shaped_bps(row)
    return None if rate_bps is None else rate_bps / 8


def address_of(listen: str) -> tuple[str, int]:
    """Where to listen.

    Parameters
    ----------
    listen : str
        Host and port: ``127.0.0.1:9817``, ``[::1]:9817``.

    Returns
    -------
    host : str
    port : int

    Raises
    ------
    MayflyError
        Something else.

    Examples
    --------
    >>> address_of("127.0.0.1:9817"), address_of("[::1]:9817")
    (('127.0.0.1', 9817), ('::1', 9817))
    """
    match = _ADDRESS.fullmatch(listen)
    if not match or not 1 <= int(match[3]) <= 65535:
        raise MayflyError(f"--listen = {shown(listen)}: must be host and port, such as {LISTEN} or [::1]:9817")
    return match[1] or match[2], int(match[3])


class Counts:
    """Reads the disciplines whenever Prometheus asks.

    Parameters
    ----------
    device : str, optional
        One interface only, and the device through which goes what arrives there.
    top : int
        Users of a discipline that are told, those that sent most lately.
    """

    def __init__(self, device: str | None, top: int):
        self.device, self.top = device, top

    def describe(self) -> Iterable["Metric"]:
        """Nothing is read before it is asked for."""
        return []

    def collect(self) -> Iterator["Metric"]:
        """One family after another, and whether the disciplines could be read."""
        from prometheus_client.metrics_core import GaugeMetricFamily

        from mayfly.qdisc.watch import readings

        rows = list[Row]()
        try:
            rows = [change.row for change in next(readings(self.device, 1, both_ways=True)).changes]
            success = 1
        except MayflyError:
            success = 0
        yield GaugeMetricFamily(f"{_PREFIX}_read_success", "Whether the disciplines could be read", value=success)
        yield from families(rows, self.top)


def families(rows: Sequence[Row], top: int) -> Iterator["Metric"]:
    """What the disciplines count, as families of Prometheus.

    Parameters
    ----------
    rows : sequence of Row
    top : int
        Users of a discipline that are told.

    Yields
    ------
    prometheus_client.metrics_core.Metric
    """
    from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

    kinds: list[tuple[dict[str, tuple[str, Value]], type[Any]]] = [
        (_COUNTERS, CounterMetricFamily),
        (_GAUGES, GaugeMetricFamily),
    ]
    for declared, kind in kinds:
        for name, (about, value) in declared.items():
            family = kind(f"{_PREFIX}_{name}", about, labels=_WHERE)
            for row in rows:
                found = value(row)
                if found is not None:
                    family.add_metric(_where(row), found)
            if family.samples:
                yield family
    waits = HistogramMetricFamily(f"{_PREFIX}_wait_seconds", "How long packets waited that were sent", labels=_WHERE)
    for row in rows:
        if row.own.get("waits"):
            # Without a sum: the discipline keeps none.
            waits.add_metric(_where(row), _buckets(row.own["waits"]), sum_value=None)
    if waits.samples:
        yield waits
    for name, (about, field, scale) in _OF_USERS.items():
        kind = CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily
        family = kind(f"{_PREFIX}_{name}", about, labels=(*_WHERE, "user"))
        for row in rows:
            for user in row.own.get("top", ())[:top]:
                family.add_metric((*_where(row), user["user"]), user[field] * scale)
        if family.samples:
            yield family


def _where(row: Row) -> tuple[str, str, str, str]:
    return row.device, row.kind, row.handle, row.parent


def _buckets(waits: Sequence[dict[str, int]]) -> list[tuple[str, float]]:
    """Packets below each bound, of counts between bounds; the last one may have none above it.

    Examples
    --------
    >>> _buckets([{"below_us": 128, "packets": 3}, {"below_us": 256, "packets": 1}])
    [('0.000128', 3), ('0.000256', 4), ('+Inf', 4)]
    """
    total, found = 0, list[tuple[str, float]]()
    for wait in waits:
        total += wait["packets"]
        if "below_us" in wait:
            found.append((str(wait["below_us"] / 1e6), total))
    return [*found, ("+Inf", total)]


def export(
    device: str | None, listen: str = LISTEN, top: int = TOP_MOST, started: Callable[[str], None] = print
) -> None:
    """Answers Prometheus until interrupted.

    Parameters
    ----------
    device : str, optional
        One interface only, in both directions.
    listen : str
        Host and port.
    top : int
        Users of a discipline that are told, 0 to 16.
    started : callable
        Told the address once it answers.

    Raises
    ------
    MayflyError
        A bad option, an address that cannot be had, no such interface, or the library is missing.
    """
    host, port = address_of(listen)
    if not 0 <= top <= TOP_MOST:
        raise MayflyError(f"--top = {top}: must be from 0 to {TOP_MOST}")
    try:
        from prometheus_client import CollectorRegistry, start_http_server
    except ImportError:
        raise MayflyError("needs prometheus_client: pip install 'mayfly[metrics]'") from None
    read(device)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Counts(device, top))
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        raise MayflyError(f"--listen = {listen}: {error.strerror}") from None
    withstand(server)
    started(f"http://{listen}/metrics")
    try:
        # A signal may reach a thread that answers: this one looks for it every now and then.
        while True:
            time.sleep(LOOKS_S)
    finally:
        server.shutdown()
        thread.join()


def withstand(server: Any) -> None:
    """Bounds what strangers take of a server that has a thread for each connection, and says nothing of them.

    Parameters
    ----------
    server : ThreadingWSGIServer
        Of prometheus_client: it would wait for ever, for any number of clients, and print where a request is odd.
    """
    clients, changing = dict[socket.socket, None](), threading.Lock()
    answer = server.process_request_thread

    class Handler(server.RequestHandlerClass):  # type: ignore[misc]
        timeout = PATIENCE_S

        def get_stderr(self) -> io.StringIO:
            return io.StringIO()

    def answered(request: socket.socket, client: Any) -> None:
        with changing:
            oldest = [*clients][: max(0, len(clients) + 1 - MOST_CLIENTS)]
            for one in oldest:
                del clients[one]
            clients[request] = None
            for one in oldest:
                # Its thread finds the end of it, and closes it.
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
        try:
            answer(request, client)
        finally:
            with changing:
                clients.pop(request, None)

    server.RequestHandlerClass = Handler
    server.process_request_thread = answered
    server.handle_error = lambda request, client: None
