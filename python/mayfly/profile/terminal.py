"""A profile as tables for the terminal, in the form of Chen 2012, Tables 8.1 and 8.2."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from mayfly.profile.sentences import NAMES, several, verdict
from mayfly.profile.traffic import DIRECTIONS
from mayfly.show import table as shown
from mayfly.text.readable import (
    MISSING,
    bytes_text,
    count_text,
    digits,
    printable,
    rate_text,
    share_text,
    time_text,
)

if TYPE_CHECKING:
    from rich.table import Table

GROUPS = ("all", "external", "internal", "lc-rp", "ls-rp", "lc-ls", "ls-ls")


def first_tables(document: Mapping[str, Any]) -> list[shown.Table | str]:
    """Make what the terminal shows first: is the link full, when, by whom.

    Parameters
    ----------
    document : mapping
        Of :meth:`mayfly.profile.answer.Profile.document`.

    Returns
    -------
    list of (mayfly.show.table.Table or str)
    """
    facts = dataset_facts(document)
    told = ", ".join(map(printable, document["captures"]))
    first: list[shown.Table | str] = [
        f"{told}: {facts['duration']} from {facts['date (UTC)']} UTC, "
        f"{several(document['dataset']['connections'], 'connection')}, {facts['bytes']}",
        "",
        "Is the link full?",
        *(f"  {sentence}" for sentence in verdict(document)),
        "",
    ]
    if document["link"]["hosts"]:
        first += [link_table(document), "", services_table(document), "", hosts_table(document), ""]
    return first


def link_table(document: Mapping[str, Any]) -> shown.Table:
    """Both directions of the link beside each other."""
    of, guess = document["link"]["directions"], document["link"]["guess"]
    busiest = [of[way]["busiest"] or {} for way in DIRECTIONS]
    repeated = [of[way]["retransmissions"] for way in DIRECTIONS]
    guesses = [guess[way] for way in DIRECTIONS]
    rows = (
        ("busiest second", *(rate_text(one.get("bps")) for one in busiest)),
        ("it begins at", *(time_text(one.get("start_s")) for one in busiest)),
        ("mean", *(rate_text(of[way]["mean_bps"]) for way in DIRECTIONS)),
        ("retransmissions", *(MISSING if part is None else f"{100 * part:.2f} %" for part in repeated)),
        ("rate of the link, a guess", *(_guessed(one, "rate", "bps", rate_text) for one in guesses)),
        ("its buffer, a guess", *(_guessed(one, "buffer", "bytes", bytes_text) for one in guesses)),
    )
    return shown.Table("Load of the link", ("", *DIRECTIONS), rows)


def _guessed(guess: Mapping[str, Any], name: str, unit: str, text: Callable[[float | None], str]) -> str:
    """Write a guess with its interval, in the unit of the guess."""
    value, low, high = (guess[f"{name}{bound}_{unit}"] for bound in ("", "_low", "_high"))
    if value is None:
        return MISSING
    shown_value, of = text(value).split(" ")
    scale = value / float(shown_value.replace(",", "")) if value else 1.0
    return f"{shown_value} [{digits(low / scale)}, {digits(high / scale)}] {of}"


def services_table(document: Mapping[str, Any]) -> shown.Table:
    """The services with the most traffic."""
    rows = tuple(
        (row["service"], bytes_text(row["down_bytes"]), bytes_text(row["up_bytes"]), share_text(row["share"]))
        for row in document["link"]["services"]
    )
    return shown.Table("What fills the link", ("", "down", "up", "of all"), rows)


def hosts_table(document: Mapping[str, Any]) -> shown.Table:
    """The hosts of the near side with the most traffic."""
    way = document["link"]["guess"]["busier"]
    rows = tuple(
        (
            row["host"],
            bytes_text(row["down_bytes"]),
            bytes_text(row["up_bytes"]),
            share_text(row["share"]),
            share_text(row["busiest_share"]),
        )
        for row in document["link"]["hosts"]
    )
    return shown.Table("Top hosts", ("", "down", "up", "of all", f"of the busiest\nsecond, {way}"), rows)


def profile_tables(document: Mapping[str, Any]) -> list[Table]:
    """Make the tables of the details.

    Parameters
    ----------
    document : mapping
        Of :meth:`mayfly.profile.answer.Profile.document`.

    Returns
    -------
    list of rich.table.Table
    """
    found = [dataset_table(document), composition_table(document), directions_table(document)]
    found += [measures_table(document), round_trips_table(document)]
    found += [fits_table(name, fits) for name, fits in document["fits"].items()]
    return found


def _table(title: str, heads: list[str], left: int = 1) -> Table:
    from rich.text import Text  # the page, which takes facts and tables without it, needs none of it

    from mayfly.show.terminal import FoldingTable, empty_table

    table: Table = empty_table(Text(title), FoldingTable)
    for place, head in enumerate(heads):
        side: Literal["left", "right"] = "left" if place < left else "right"
        table.add_column(Text(head, justify=side), justify=side, no_wrap=place >= left, overflow="fold")
    return table


def _add(table: Table, *cells: str) -> None:
    from rich.text import Text

    table.add_row(*map(Text, cells))


def dataset_facts(document: Mapping[str, Any]) -> dict[str, str]:
    """What was captured: texts by name, with units."""
    of = document["dataset"]
    return {
        "date (UTC)": of["date"] or MISSING,
        "duration": time_text(of["duration_s"]),
        "connections": count_text(of["connections"]),
        "bytes": bytes_text(of["bytes"]),
        "packets": count_text(of["packets"]),
        "local hosts": count_text(of["local_hosts"]),
        "remote hosts": count_text(of["remote_hosts"]),
    }


def dataset_table(document: Mapping[str, Any]) -> Table:
    """What was captured, in the form of Table 8.1."""
    table = _table("Dataset", ["", ", ".join(document["captures"])])
    for name, value in dataset_facts(document).items():
        _add(table, name, value)
    return table


def composition_table(document: Mapping[str, Any]) -> Table:
    """Traffic by class, in the form of Table 8.2: shares are of the side."""
    heads = ["class", "side", "connections", "%", "bytes", "%", "packets", "%"]
    table = _table("Traffic by class, shares of its side", heads, left=2)
    for row in document["composition"]:
        cells = []
        for measure, text in (("connections", count_text), ("bytes", bytes_text), ("packets", count_text)):
            part = row[f"{measure}_share_of_side"]
            cells += [text(row[measure]), MISSING if part is None else f"{100 * part:.1f}"]
        name = row["class"] if row["reason"] is None else f"other: {row['reason']}"
        _add(table, name, row["side"], *cells)
    whole = [sum(row[measure] for row in document["composition"]) for measure in ("connections", "bytes", "packets")]
    table.add_row("all", "", count_text(whole[0]), "", bytes_text(whole[1]), "", count_text(whole[2]), "")
    return table


def directions_table(document: Mapping[str, Any]) -> Table:
    """Traffic by direction: Fig. 8.1 as a table."""
    table = _table("Traffic by direction", ["", "bytes", "%", "packets", "%"])
    of_bytes, of_packets = document["directions"]["bytes"], document["directions"]["packets"]
    for name, row in of_bytes.items():
        other = of_packets[name]
        _add(
            table,
            name,
            bytes_text(row["bytes"]),
            _percent(row["share"]),
            count_text(other["packets"]),
            _percent(other["share"]),
        )
    return table


def _percent(part: float | None) -> str:
    return MISSING if part is None else f"{100 * part:.1f}"


def measures_table(document: Mapping[str, Any]) -> Table:
    """Medians of what connections are like, by side and class."""
    heads = ["", "flows", "size median", "95 %", "duration median", "95 %", "gap median", "RTT median", "retransmitted"]
    table = _table("Connections", heads)
    for group in GROUPS:
        sizes = document["size_bytes"].get(group)
        if sizes is None:
            continue
        durations, gaps, rtts = (document[name].get(group, {}) for name in ("duration_s", "gap_s", "rtt_s"))
        repeated = document["retransmission"].get(group, {}).get("rate")
        cells = [
            count_text(sizes["n"]),
            _of(bytes_text, sizes, "q50"),
            _of(bytes_text, sizes, "q95"),
            _of(time_text, durations, "q50"),
            _of(time_text, durations, "q95"),
            _of(time_text, gaps, "q50"),
            _of(time_text, rtts, "q50"),
            MISSING if repeated is None else f"{100 * repeated:.2f} %",
        ]
        _add(table, group, *cells)
    return table


ROUND_TRIPS = {
    "handshake": "handshake",
    "data_ack_to_opener": "DATA-ACK to opener",
    "data_ack_to_responder": "to responder",
    "data_ack": "both",
    "timestamp_to_opener": "timestamps to opener",
    "timestamp_to_responder": "to responder",
    "timestamp": "both",
}
"""Heads of the kinds of round-trip times."""


def round_trips_table(document: Mapping[str, Any]) -> Table:
    """Medians of the round-trip times of connections, by what they are from and the side of the tap."""
    of = document["round_trips"]
    kinds = [kind for kind in ROUND_TRIPS if kind in of]
    table = _table("Round-trip times, medians over connections", ["", *(ROUND_TRIPS[kind] for kind in kinds)])
    for group in GROUPS:
        if any(group in of[kind] and of[kind][group]["n"] for kind in kinds):
            _add(table, group, *(_of(time_text, of[kind].get(group, {}), "q50") for kind in kinds))
    return table


def _of(text: Callable[[float | None], str], of: Mapping[str, Any], name: str) -> str:
    return text(of.get(name))


def fits_table(name: str, fits: list[Mapping[str, Any]]) -> Table:
    """Laws by AIC."""
    table = _table(f"Laws of {NAMES[name]}", ["law", "parameters", "AIC - best", "KS", "p", "AD", "p"], left=2)
    for fit in fits:
        parameters = ", ".join(f"{key} {value:.4g}" for key, value in fit["parameters"].items())
        cells = [
            digits(fit["aic"] - fits[0]["aic"]),
            f"{fit['ks']:.3f}",
            _p(fit["ks_p"]),
            f"{fit['ad']:.4g}",
            _p(fit["ad_p"]),
        ]
        _add(table, fit["law"], parameters, *cells)
    return table


def _p(value: float | None) -> str:
    return MISSING if value is None else f"{value:.2g}"
