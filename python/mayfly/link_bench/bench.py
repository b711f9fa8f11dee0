"""``mayfly link-trace bench``: shapers, controllers and disciplines on one trace, under transfers that never end."""

import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import polars as pl

from mayfly import _native
from mayfly.discipline_registry import parse, split
from mayfly.errors import MayflyError
from mayfly.link_trace.facts import trace_facts
from mayfly.link_trace.files import read_trace
from mayfly.scenario.scenario import Scenario, scenario_of
from mayfly.show.notebook import Result
from mayfly.show.table import Cell, Table
from mayfly.simulate.run import run_one, workload
from mayfly.text import quantity
from mayfly.text.readable import MISSING, digits, rate_text, share_text

SHARES = (0.9, 0.7, 0.5)
"""Rates of constant shapers, as shares of the mean rate of the trace."""

LEAST_SHARE = 0.05
"""... and the rate that 95 % of the seconds exceed, where it is at least this share of the mean."""

_MOST_S = 120.0


@dataclass(frozen=True)
class SetUp:
    """A set-up of the bench.

    Parameters
    ----------
    name : str
        Of the row.
    discipline : str
        Of the shaper; without one, of the link itself.
    shaper : dict or None
        Section ``[network.shaper]``.
    """

    name: str
    discipline: str
    shaper: dict[str, Any] | None


@dataclass(frozen=True, repr=False)
class Bench(Result):
    """What each set-up carried, and how long pings took.

    Parameters
    ----------
    facts : dict
        Of the trace and the workload.
    rows : list of dict
        ``name``, ``discipline``, ``shaper``, ``goodput_bps``, ``share`` (of what the trace could carry), ``ping``
        (as in ``users``, docs/tables.md), ``power``.
    """

    facts: dict[str, Any]
    rows: list[dict[str, Any]]

    def document(self) -> dict[str, Any]:
        """All of it for JSON."""
        return {
            "schema": 1,
            "command": "link-trace bench",
            **self.facts,
            "rows": self.rows,
            "sentences": self.sentences(),
        }

    def table(self) -> Table:
        """A row for each set-up."""
        best = self._best()
        rows = tuple(
            (
                row["name"],
                Cell(share_text(row["share"]), row is best or None),
                rate_text(row["goodput_bps"]),
                *(_ms(row["ping"], name) for name in ("p50_ms", "p95_ms", "p99_ms")),
                share_text((row["ping"] or {}).get("loss")),
            )
            for row in self.rows
        )
        heads = ("set-up", "share of\nthe trace", "goodput", "ping p50", "p95", "p99", "lost")
        return Table("What each set-up carries, and the ping under load", heads, rows)

    def headlines(self) -> list[str]:
        """What is told after the table: all but the advice, which stands before it."""
        return self.sentences()[1:]

    def sentences(self) -> list[str]:
        """The advice first."""
        return [self.advice, *self._on_link(), f"The trace: {trace_facts(self.facts['trace'])}"]

    @property
    def advice(self) -> str:
        """What to put before the link."""
        best, plain = self._best(), self.rows[0]
        if best is None or plain["power"] is None:
            return "No shaper can be told to be better: too few pings came back."
        if best["power"] <= plain["power"]:
            others = f"the best of them, {best['name']}, {_costs(best)}"
            return f"No shaper helps here: {plain['name']} has {_costs(plain)}; {others}."
        return f"Use {best['name']}: {_costs(best)}; {plain['name']}: {_costs(plain)}."

    def _on_link(self) -> list[str]:
        """What a discipline in the modem would do."""
        own = self._best_on_link()
        if own is None or own is self.rows[0]:
            return []
        return [f"Where the modem itself can have {own['discipline']}, it needs no shaper: {_costs(own)}."]

    def _best(self) -> dict[str, Any] | None:
        """The shaper of the largest power: goodput over the p95 of the ping (Kleinrock 1979)."""
        shaped = [row for row in self.rows if row["shaper"] is not None and row["power"] is not None]
        return max(shaped, key=lambda row: row["power"], default=None)

    def _best_on_link(self) -> dict[str, Any] | None:
        own = [row for row in self.rows if row["shaper"] is None and row["power"] is not None]
        return max(own, key=lambda row: row["power"], default=None)


def _p95(row: dict[str, Any]) -> float | None:
    return (row["ping"] or {}).get("p95_ms")


def _ms(ping: dict[str, Any] | None, name: str) -> str:
    value = (ping or {}).get(name)
    return MISSING if value is None else f"{digits(value)} ms"


def _costs(row: dict[str, Any]) -> str:
    """What a set-up carries, and its ping."""
    return f"{share_text(row['share'])} of what the trace could carry, p95 of the ping {digits(_p95(row) or 0.0)} ms"


def set_ups(disciplines: Sequence[str], shaped: str, least_share: float | None) -> list[SetUp]:
    """The rows of the bench.

    Parameters
    ----------
    disciplines : sequence of str
        On the link itself, without a shaper.
    shaped : str
        Discipline of every shaper.
    least_share : float or None
        The rate that 95 % of the seconds exceed, as a share of the mean.

    Examples
    --------
    >>> [one.name for one in set_ups(["fifo"], "fq_codel", 0.3)][-2:]
    ['shaper at 30 % of the mean, which 95 % of the seconds exceed, fq_codel', 'autorate, fq_codel']
    """
    found = [SetUp(f"no shaper, {label}", label, None) for label in disciplines]
    found += [
        SetUp(f"shaper at {share:.0%} of the mean, {shaped}".replace("%", " %", 1), shaped, {"share": share})
        for share in SHARES
    ]
    if least_share is not None:
        name = f"shaper at {100 * least_share:.0f} % of the mean, which 95 % of the seconds exceed, {shaped}"
        found.append(SetUp(name, shaped, {"share": least_share}))
    return [*found, SetUp(f"autorate, {shaped}", shaped, {"controller": "autorate"})]


def bench(
    trace: str | os.PathLike[str],
    reverse: str | os.PathLike[str] | None = None,
    *,
    duration: str | float | None = None,
    flows: int = 4,
    rtt: str | float = "40ms",
    buffer: str | int = "250ms",
    disciplines: str | Sequence[str] = ("fifo", "fq_codel"),
    shaped: str = "fq_codel",
    seed: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Bench:
    """Runs transfers that never end over a link that varies, under each set-up.

    Parameters
    ----------
    trace, reverse : path
        Traces of both directions; the reverse one is as the other when it is not given.
    duration : str or float, optional
        Time simulated; the length of the trace, at most 120 s, when not given.
    flows : int
        Downloads that never end, 1 to 1000.
    rtt : str or float
        Round-trip time without queueing, at least 4 ms.
    buffer : str or int
        Limit of the modem's queue, and of the shaper's: packets, bytes, or a time at the mean rate.
    disciplines : str or sequence of str
        What the link itself may have, the first of which the modem has behind a shaper: FIFO.
    shaped : str
        Discipline of the shapers.
    seed : int
        Of the runs.
    progress : callable, optional
        Called with the fraction done.

    Returns
    -------
    Bench

    Raises
    ------
    MayflyError
        A file, a value or a discipline that is refused.
    """
    forward = read_trace(trace)
    names = split(disciplines) if isinstance(disciplines, str) else list(disciplines)
    for name in (*names, shaped):
        parse(name)
    lasts = min(forward.period_s, _MOST_S) if duration is None else quantity.seconds(duration, "duration")
    rtt_s = quantity.seconds(rtt, "rtt")
    if not 0.004 <= rtt_s <= 60:
        raise MayflyError(f"rtt = {rtt}: must be from 4 ms to 60 s")
    if not 1 <= flows <= 1000:
        raise MayflyError(f"flows = {flows}: must be from 1 to 1000")
    size, unit = quantity.buffer(buffer, "buffer", rate_bps=forward.mean_bps)
    limit: str | int = f"{size}B" if unit == "bytes" else size
    least = forward.percentile_bps(0.05) / forward.mean_bps
    rows = set_ups(names, shaped, least if LEAST_SHARE <= least < min(SHARES) else None)

    def scenario(row: SetUp) -> Scenario:
        network: dict[str, Any] = {
            "link_trace": os.fspath(trace),
            "delay": rtt_s / 2 - 0.002,
            "access_rate": "100gbit",
            "buffer": limit,
        }
        network |= {} if reverse is None else {"reverse_link_trace": os.fspath(reverse)}
        network |= {} if row.shaper is None else {"shaper": row.shaper | {"modem_buffer": limit}}
        given = {
            "duration": lasts,
            "seed": seed,
            "sample_interval": 0,
            "network": network,
            "tcp": {"preset": "linux"},
            "workload": {"permanent": [{"flows": flows, "spread": 1}]},
            "probes": {"ping": True, "interval": "50ms"},
        }
        return scenario_of(given, "link-trace bench")

    possible_bps = forward.bits(0.0, lasts) / lasts
    done = 0

    def run(row: SetUp) -> dict[str, Any]:
        nonlocal done
        own = scenario(row)
        result = run_one(own, parse(row.discipline), workload(own))
        goodput = float(result.records["delivered_bytes"].sum()) * 8 / lasts
        ping = _ping(result.probes.filter(probe="ping"), result.idle_rtt_s, lasts)
        p95 = (ping or {}).get("p95_ms")
        done += 1
        if progress is not None:
            progress(done / len(rows))
        return {
            "name": row.name,
            "discipline": row.discipline,
            "shaper": row.shaper,
            "goodput_bps": goodput,
            "share": goodput / possible_bps if possible_bps > 0 else 0.0,
            "ping": ping,
            "power": None if not p95 else goodput / p95,
        }

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(run, rows))
    facts = {
        "trace": forward.document,
        "reverse": None if reverse is None else read_trace(reverse).document,
        "duration_s": lasts,
        "possible_bps": possible_bps,
        "flows": flows,
        "rtt_s": rtt_s,
    }
    return Bench(facts, found)


def _ping(packets: pl.DataFrame, idle_s: float | None, end_s: float) -> dict[str, Any] | None:
    """Round-trip times of the pings of a run that ends so, s."""
    if idle_s is None:
        return None
    sent, returned = (
        packets[name].cast(pl.Float64).fill_null(float("nan")).to_numpy() for name in ("sent_s", "returned_s")
    )
    found: dict[str, Any] | None = json.loads(_native.ping_figures(sent, returned, idle_s, end_s))
    return found
