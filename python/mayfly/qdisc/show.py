"""What queueing disciplines say of themselves: `tc -s -j qdisc show`, and the maps of the BPF qdisc."""

import json
import re
from dataclasses import dataclass, field, replace
from typing import Any

from mayfly.errors import MayflyError
from mayfly.qdisc import system
from mayfly.qdisc.steps import output

_STANDARD = {
    "kind", "handle", "parent", "root", "dev", "options", "refcnt", "bytes", "packets", "drops", "overlimits",
    "requeues", "backlog", "qlen", "offloaded", "ingress_block", "egress_block", "rate", "pps",
}  # fmt: skip
_INTERNAL = ("noqueue", "clsact", "ingress")

_REPEATED = {"fq": {"throttled": "throttled_flows", "throttled_2": "throttled"}}
"""Names for what a kind prints twice under one name, as the kernel's ``struct tc_fq_qd_stats`` has them."""


_UNKNOWN = re.compile(r"\[Unknown qdisc, optlen=\d+\]\s*")
"""Words of tc in its JSON for options of a queue discipline that is newer than itself: ``cake_mq`` for 6.1."""


@dataclass(frozen=True)
class Row:
    """A queueing discipline at an interface.

    Parameters
    ----------
    device, kind, handle, parent : str
        Where; the parent is ``root`` for what is at the root.
    options : dict
        As tc names them.
    sent_bytes, sent_pkts, drops_pkts, backlog_bytes, backlog_pkts : int
        Totals since it was made, and what waits.
    own : dict of str to int
        Statistics that only this discipline has.
    parent_kind : str
        Kind of the discipline below which it is; empty at the root.
    """

    device: str
    kind: str
    handle: str
    parent: str
    options: dict[str, Any]
    sent_bytes: int
    sent_pkts: int
    drops_pkts: int
    backlog_bytes: int
    backlog_pkts: int
    own: dict[str, Any] = field(default_factory=dict)
    parent_kind: str = ""

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return dict(vars(self))


def read(device: str | None) -> list[Row]:
    """What is there now.

    Parameters
    ----------
    device : str, optional
        One interface only.

    Returns
    -------
    list of Row
        Without those that queue nothing.

    Raises
    ------
    MayflyError
        There is no such interface, or no tc.
    """
    rows = [row for row in all_rows(device) if row.kind not in _INTERNAL]
    return _with_maps(rows) if any(row.kind == "bpf_efd" for row in rows) else rows


def all_rows(device: str | None) -> list[Row]:
    """As :func:`read`, with those that queue nothing, and without maps."""
    command = [system.program("tc"), "-s", "-j", "qdisc", "show", *(["dev", device] if device else [])]
    # Asked about one interface, tc does not say which.
    return [replace(row, device=row.device or device or "") for row in parse(output(command))]


def parse(text: str) -> list[Row]:
    """Rows from what `tc -s -j qdisc show` prints.

    Parameters
    ----------
    text : str
        JSON of tc, without the words that stand for options it does not know. Names are read without the blanks that
        tc prints around some. Where an object has one name
        several times, the second is read as ``name_2``, the third as ``name_3``; those of ``fq`` have the names of the
        kernel, ``throttled_flows`` (flows that wait for their time) and ``throttled`` (how often one had to).

    Returns
    -------
    list of Row

    Raises
    ------
    MayflyError
        It is something else.

    Examples
    --------
    >>> text = '[{"kind":"efd","handle":"1:","dev":"eth0","root":true,"bytes":9,"packets":1,"drops":0,"backlog":0,'
    >>> row, = parse(text + '"qlen":0,"high_pkts":0,"pushed_out":3}]')
    >>> row.parent, row.own
    ('root', {'high_pkts': 0, 'pushed_out': 3})
    """
    try:
        found = json.loads(_UNKNOWN.sub("", text) or "[]", object_pairs_hook=_named)
    except json.JSONDecodeError as error:
        raise MayflyError(f"tc -j prints no JSON: {error.msg}; iproute2 5.0 or later is needed") from None
    rows = [_row(row) for row in found]
    kinds = {(row.device, row.handle): row.kind for row in rows}
    # A parent is a handle, or a class in it: 8002: or 8002:4.
    return [
        replace(row, parent_kind=kinds.get((row.device, f"{row.parent.partition(':')[0]}:"), ""))
        if ":" in row.parent
        else row
        for row in rows
    ]


def _named(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON with every value that tc printed.

    Examples
    --------
    >>> _named([("weights ", [3, 1]), ("throttled", 1), ("throttled", 9)])
    {'weights': [3, 1], 'throttled': 1, 'throttled_2': 9}
    """
    found = dict[str, Any]()
    for name, value in pairs:
        name = plain = name.strip()
        number = 1
        while name in found:
            number += 1
            name = f"{plain}_{number}"
        found[name] = value
    return found


def _row(row: dict[str, Any]) -> Row:
    names = _REPEATED.get(row.get("kind", ""), {})
    return Row(
        device=row.get("dev", ""),
        kind=row.get("kind", ""),
        handle=row.get("handle", ""),
        parent="root" if row.get("root") else row.get("parent", ""),
        options=row.get("options", {}) or {},
        sent_bytes=row.get("bytes", 0),
        sent_pkts=row.get("packets", 0),
        drops_pkts=row.get("drops", 0),
        backlog_bytes=row.get("backlog", 0),
        backlog_pkts=row.get("qlen", 0),
        own={names.get(name, name): value for name, value in row.items() if name not in _STANDARD},
    )


def _with_maps(rows: list[Row]) -> list[Row]:
    """The counters of the BPF qdisc, from its map; without bpftool, or the privilege, there are none."""
    import socket

    try:
        dump = json.loads(output([system.program("bpftool"), "-j", "map", "dump", "name", "efd_queues"]))
        names = {index: name for index, name in socket.if_nameindex()}
    except (MayflyError, json.JSONDecodeError, OSError):
        return rows
    own = {}
    for entry in dump:
        counters = entry.get("formatted", entry)["value"]["counters"]
        where = (names.get(counters.pop("ifindex")), f"{counters.pop('handle') >> 16:x}:")
        own[where] = {name: value for name, value in counters.items() if name not in ("parent", "unused")}
    return [replace(row, own=own.get((row.device, row.handle), row.own)) for row in rows]


def rate_bps(before: Row | None, now: Row, interval_s: float) -> float | None:
    """Bit/s sent between two readings; None when there is no earlier one of the same discipline.

    Examples
    --------
    >>> a, b = (Row("eth0", "efd", "1:", "root", {}, sent, 0, 0, 0, 0) for sent in (0, 1250))
    >>> rate_bps(a, b, 1.0)
    10000.0
    """
    if before is None or now.sent_bytes < before.sent_bytes or interval_s <= 0:
        return None
    return (now.sent_bytes - before.sent_bytes) * 8 / interval_s
