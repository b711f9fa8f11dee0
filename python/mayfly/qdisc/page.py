"""The page of `mayfly qdisc watch`: a block for each interface and direction."""

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from mayfly.qdisc.changes import Change, shaped_bps
from mayfly.qdisc.interface import ifb_of
from mayfly.show.terminal import HidingTable, empty_table
from mayfly.text.readable import MISSING, bytes_text, count_text, rate_text, share_text, time_text

_BARS = "▁▂▃▄▅▆▇█"
_USERS = 16


def page(found: Sequence[Change], device: str | None = None) -> Group:
    """What happens in disciplines.

    Parameters
    ----------
    found : sequence of Change
        Of one reading.
    device : str, optional
        Interface that was asked for.

    Returns
    -------
    rich.console.Group
        A block for each device: rate, what waits, drops and marks, and for each of its disciplines that tells them how
        long packets waited, the table of users, who takes far more than a share. A narrow terminal gets fewer
        columns of users.
    """
    devices = list(dict.fromkeys(change.row.device for change in found))
    if not devices:
        return Group(Text(f"{device or 'no interface'}: no discipline is configured"))
    blocks = [_block([change for change in found if change.row.device == name], devices) for name in devices]
    return Group(*(line for block in blocks for line in block))


def _block(found: Sequence[Change], devices: Sequence[str]) -> Iterable[RenderableType]:
    root = next((change for change in found if change.row.parent == "root"), found[0])
    # Below mq, and in classes, each has users of its own.
    inner = [change for change in found if change.row.own] or [root]
    told = [change for change in inner if change is not root] or [root]
    yield Text(_title(root, told, devices), style="bold")
    row = root.row
    waiting = f"{bytes_text(row.backlog_bytes)} in {count_text(row.backlog_pkts)} packets"
    shaped = [rate for change in found if (rate := shaped_bps(change.row))]
    marked = [change.marks_pkts for change in told if change.marks_pkts is not None]
    yield Text(
        f"  sends {_of(root.rate_bps, sum(shaped))}; {waiting} wait; "
        f"dropped {_number(root.drops_pkts)}, marked {_number(sum(marked) if marked else None)}"
    )
    for change in told:
        lines = list(_within(change))
        if lines and len(told) > 1:
            yield Text(f"  {change.row.kind} {change.row.handle} at {change.row.parent}: {rate_text(change.rate_bps)}")
        yield from lines
    yield Text()


def _within(change: Change) -> Iterable[RenderableType]:
    """Waits, tables, suspects and users of one discipline."""
    for line in (*_waits(change), _tins(change), _slots(change)):
        if line:
            yield Text(f"  {line}")
    for sentence in change.suspects():
        yield Text(f"  far more than a share: {sentence}", style="bold red")
    if change.users:
        yield _users(change)


def _title(root: Change, told: Sequence[Change], devices: Sequence[str]) -> str:
    device = root.row.device
    of = next((other for other in devices if other != device and ifb_of(other) == device), "")
    where = f"{of} down ({device})" if of else f"{device} up" if ifb_of(device) in devices else device
    kinds = dict.fromkeys((root.row.kind, *(change.row.kind for change in told)))
    return f"{where}: {', '.join(kinds)}"


def _of(rate_bps: float | None, most_bps: float | None) -> str:
    if rate_bps is None or not most_bps:
        return rate_text(rate_bps) + (f" of {rate_text(most_bps)}" if most_bps else "")
    return f"{rate_text(rate_bps)}, {share_text(rate_bps / most_bps)} of {rate_text(most_bps)}"


def _number(count: int | None) -> str:
    return MISSING if count is None else count_text(count)


def _microseconds(value: int | None) -> str:
    return MISSING if value is None else time_text(value / 1e6)


def _waits(change: Change) -> list[str]:
    """How long packets waited; and a bar for each bound, from the first that any packet was below to the last."""
    filled = [number for number, (_, packets) in enumerate(change.waits) if packets]
    if not filled:
        return []
    bins = change.waits[filled[0] : filled[-1] + 1]
    most = max(packets for _, packets in bins)
    # Whatever is there is seen: a dot is no packet.
    bars = "".join(_BARS[-(-packets * 7 // most)] if packets else "·" for _, packets in bins)
    half, most_of_them = _microseconds(change.wait_us(0.5)), _microseconds(change.wait_us(0.95))
    last = _microseconds(bins[-1][0]) if bins[-1][0] is not None else "more"
    told = f"waited: half of the packets less than {half}, 95 % less than {most_of_them}"
    return [told, f"{_microseconds(bins[0][0])} |{bars}| {last}"]


def _tins(change: Change) -> str:
    """What cake tells of waits in its place."""
    tins = change.row.own.get("tins", ())
    told = [
        f"{_microseconds(tin['avg_delay_us'])} in the mean, {_microseconds(tin['peak_delay_us'])} peak" for tin in tins
    ]
    return f"waited of late: {'; '.join(told)}" if told else ""


def _slots(change: Change) -> str:
    """How full the tables are, and what shares a slot."""
    own = change.row.own
    if "table_users" not in own:
        return ""
    shared, bypassed = (change.counts.get(name) for name in ("sharing", "bypassed"))
    return (
        f"waiting: {count_text(own['users'])} users, {count_text(own['flows'])} flows; table: "
        f"{count_text(own['table_used'])} of {count_text(own['table_users'])} users; "
        f"collisions: {_number(shared)} users, {_number(bypassed)} flows"
    )


def _users(change: Change) -> HidingTable:
    table = empty_table(None, HidingTable, padding=(0, 1, 0, 2))
    table.add_column("user", overflow="fold", max_width=34)
    for name in ("rate", "dropped", "p95", "flows", "credit", "marked", "p50", "waiting"):
        table.add_column(name, justify="right", no_wrap=True)
    for user in change.users[:_USERS]:
        cells = (
            user.name + (" (shared slot)" if user.shared else ""),
            rate_text(user.rate_bps),
            _number(user.drops_pkts),
            _microseconds(user.wait_p95_us),
            count_text(user.flows),
            ("-" if user.credit_bytes < 0 else "") + bytes_text(abs(user.credit_bytes)),
            _number(user.marks_pkts),
            _microseconds(user.wait_p50_us),
            bytes_text(user.backlog_bytes),
        )
        table.add_row(*map(Text, cells))
    assert isinstance(table, HidingTable)
    return table
