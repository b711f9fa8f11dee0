"""Queueing disciplines of interfaces as a table for the terminal."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from mayfly.show.terminal import empty_table

if TYPE_CHECKING:
    from mayfly.qdisc.show import Row

_PREFIXES = ("", "k", "M", "G", "T")


def scaled(number: float) -> str:
    """A number with three digits and a decimal prefix.

    Examples
    --------
    >>> scaled(999), scaled(12_340), scaled(1.5e9)
    ('999', '12.3k', '1.5G')
    """
    power = 0
    while abs(number) >= 1000 and power < len(_PREFIXES) - 1:
        number, power = number / 1000, power + 1
    return f"{number:.3g}{_PREFIXES[power]}"


def _options(options: dict[str, Any]) -> str:
    """Options as tc writes them: a flag is its name alone, true or (fq, dualpi2, htb) null in JSON.

    Examples
    --------
    >>> _options({"limit": 60, "nat": False, "horizon_drop": None, "priomap": [1, 2], "loss-random": {"loss": 0.2}})
    'limit 60 horizon_drop priomap 1 2 loss-random loss 0.2'
    """
    return " ".join(_shown(name, value) for name, value in options.items() if value is not False)


def _shown(name: str, value: Any) -> str:
    if value is True or value is None:
        return name
    if isinstance(value, dict):
        return f"{name} {_options(value)}"
    if isinstance(value, list):
        return " ".join((name, *(_options(one) if isinstance(one, dict) else str(one) for one in value)))
    return f"{name} {value}"


def qdisc_table(rows: Sequence["Row"], rates_bps: Sequence[float | None] | None = None) -> Group:
    """Disciplines with what waits, what went and what they alone count.

    Parameters
    ----------
    rows : sequence of Row
        Of :func:`mayfly.qdisc.show.read`.
    rates_bps : sequence, optional
        Bit/s of each between two readings.

    Returns
    -------
    rich.console.Group
        A table, and below it a line for each discipline that counts something of its own.
    """
    table = empty_table(Text("Queueing disciplines"))
    for name in ("interface", "at", "what"):
        table.add_column(name, no_wrap=True)
    for name in ("waiting", "", "sent", "dropped", *([] if rates_bps is None else ["bit/s"])):
        table.add_column(name, justify="right", no_wrap=True)
    for number, row in enumerate(rows):
        counts = (f"{row.backlog_pkts}p", f"{scaled(row.backlog_bytes)}B", f"{scaled(row.sent_bytes)}B")
        cells = [row.device, row.parent, row.kind, *counts, str(row.drops_pkts)]
        if rates_bps is not None:
            rate = rates_bps[number]
            cells.append("" if rate is None else scaled(rate))
        table.add_row(*map(Text, cells))
    kinds = Counter((row.device, row.kind) for row in rows)
    return Group(table, *(Text(line) for row in rows if (line := _more(row, kinds[row.device, row.kind] > 1))))


def _hidden(name: str, value: Any) -> bool:
    """What is for a page, and what htb says of itself."""
    return name.startswith("direct_") or isinstance(value, list)


def _more(row: "Row", alike: bool) -> str:
    """What only this discipline counts, and its options; empty for one that just passes on.

    With its place where its interface has several `alike`: classes and hardware queues each have one.
    """
    own = ", ".join(_shown(name, value) for name, value in row.own.items() if not _hidden(name, value))
    name = f"{row.kind} at {row.parent}" if alike else row.kind
    return f"{name}: {own}; {_options(row.options)}" if own else ""
