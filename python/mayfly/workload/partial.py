"""What a reading of captures left out since a limit was reached: said first, or refused where a list must be whole."""

from collections.abc import Mapping, Sequence
from typing import Any

from mayfly.errors import MayflyError
from mayfly.limits import stopped_sentence
from mayfly.text.readable import share_text
from mayfly.workload.reading import MOST_VOLUMES, ReadOptions

PARTS = "cut the capture into parts (editcap -A and -B, or -c) and read each"
"""What always helps."""


def given_up(counts: Mapping[str, Any]) -> int:
    """Connections that are in no row of a table of connections, since a limit was reached.

    Parameters
    ----------
    counts : mapping
        As :func:`mayfly.workload.connections.connections` returns it; of a table that was written, ``lost`` has those
        that did not wait in a file.

    Returns
    -------
    int

    Examples
    --------
    >>> given_up({"evicted": 7}), given_up({"evicted": 7, "lost": 0}), given_up({})
    (7, 0, 0)
    """
    return int(counts.get("lost", counts.get("evicted", 0)))


def partial_sentences(counts: Mapping[str, Any], most_open: int = ReadOptions.max_flows) -> list[str]:
    """Say what a reading left out, a sentence for each limit.

    Parameters
    ----------
    counts : mapping
        As :func:`mayfly.workload.connections.connections` returns it.
    most_open : int
        Bound of the connections that were open at once.

    Returns
    -------
    list of str
        Each begins with ``Partial:``; empty where all was read.

    Examples
    --------
    >>> partial_sentences({"evicted": 2_000, "duration_s": 9.0})
    ['Partial: more than 1,000,000 connections were open at once, and 2,000 that were silent for longest are left ...
    >>> partial_sentences({"evicted": 0, "duration_s": 9.0})
    []
    """
    found = []
    if stopped := stopped_sentence(dict(counts), float(counts.get("duration_s", 0.0))):
        found.append(stopped)
    if lost := given_up(counts):
        found.append(
            f"Partial: more than {most_open:,} connections were open at once, and {lost:,} that were silent for "
            f"longest are left out: {PARTS}"
        )
    if (sentence := loads_sentence(counts)) is not None:
        found.append(sentence)
    return found


def loads_sentence(counts: Mapping[str, Any]) -> str | None:
    """Say that the loads over time are of a part of the packets.

    Parameters
    ----------
    counts : mapping
        As :func:`mayfly.workload.connections.connections` returns it.

    Returns
    -------
    str or None
        None where all packets are in them.

    Examples
    --------
    >>> print(loads_sentence({"volumes_left_out": 9_000, "decoded": 90_000}))
    Partial: 10.0 % of the packets are in no load over time, since at most 1,048,576 directions of connections are ...
    """
    left = counts.get("volumes_left_out", 0)
    if not left:
        return None
    share = share_text(left / max(counts.get("decoded", 0), left))
    return (
        f"Partial: {share} of the packets are in no load over time, since at most {MOST_VOLUMES:,} directions of "
        f"connections are counted: loads, busiest hosts and waits on the captured link are of the others: {PARTS}"
    )


def refuse_partial(
    counts: Mapping[str, Any], source: str, what: str, most_open: int | None = ReadOptions.max_flows
) -> None:
    """Refuse a reading that left something out.

    Parameters
    ----------
    counts : mapping
        As :func:`mayfly.workload.connections.connections` returns it.
    source : str
        What the message calls the captures.
    what : str
        What must be whole, such as ``a flow list``.
    most_open : int, optional
        Bound of the connections that were open at once; None where memory was the bound.

    Raises
    ------
    MayflyError
        A limit of number, memory or time was reached; one line.

    Examples
    --------
    >>> counts = {"evicted": 2_000, "packets": 3_000_000, "duration_s": 9.0}
    >>> refuse_partial(counts, "big.pcap", "a flow list")
    Traceback (most recent call last):
    mayfly.errors.MayflyError: big.pcap: 2,000 connections do not fit, since more than 1,000,000 were open at once: ...
    >>> refuse_partial({"evicted": 0}, "small.pcap", "a flow list")
    """
    rest = f"{what} must be whole"
    if stopped := counts.get("stopped"):
        raise MayflyError(
            f"{source}: reading reached {stopped['at']} after {stopped['packets']:,} packets, "
            f"{stopped['connections']:,} connections and {counts.get('duration_s', 0.0):.3g} s of the capture: {rest}: "
            f"use `mayfly {stopped['more']} COMMAND`, or {PARTS}"
        )
    if not (lost := given_up(counts)):
        return
    if most_open is None:
        raise MayflyError(
            f"{source}: {lost:,} connections do not fit into the memory of the command: {rest}: "
            f"use `mayfly --memory SIZE COMMAND` with more, or {PARTS}"
        )
    raise MayflyError(
        f"{source}: {lost:,} connections do not fit, since more than {most_open:,} were open at once: {rest}: {PARTS}"
    )


def named(paths: Sequence[Any]) -> str:
    """Captures as messages call them.

    Examples
    --------
    >>> named(["a.pcap", "b.pcap"])
    'a.pcap, b.pcap'
    """
    return ", ".join(map(str, paths))
