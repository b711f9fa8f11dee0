"""Scripted connections: the column ``script`` of a flow list.

A script lists the trains of a connection in turn, separated by ``|``: a direction and a payload in bytes, where wanted
with the parts in it whose arrival is recorded, by the bytes up to the end of each, and with the time between the
packets of the train. A ``wait`` is the think time before the train that follows::

    up 400 | wait 20ms | down 14600 pace 1ms | wait 2s | up 400 | down 90000 parts 30000,90000

Over QUIC a train may be made of streams, each so many bytes long, which do not wait for each other; where a train of as
many requests comes before, each stream follows its own request by the think time (HTTP/3)::

    up 800 streams 400,400 | wait 20ms | down 90000 streams 30000,60000

What waits for the flow (its ``stage``) waits until the connection is closed; with ``done`` as the last part, until
the last train has come in, as a user waits who does not see how a connection ends::

    up 400 | wait 20ms | down 14600 | done

A wait counts from the last byte of the train before at the end that answers; between two trains of one end, from the
last acknowledgement of the first; before the first train, from the connection being set up. Source: Chen 2012, 9.2,
which takes connections apart into trains, warm-up (waits), theoretical times and pacing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

import numpy as np
import polars as pl

from mayfly.arrays import Integers
from mayfly.errors import MayflyError

EXPECTED = "trains and waits such as `up 400 | wait 20ms | down 14600 pace 1ms`"

MOST_BYTES = 2**40
"""Largest payload of a train and of a script, bytes."""

LONGEST_S = 86_400.0
"""Longest wait or time between two packets, s: a day."""

DONE = "done"
"""The last part of a script whose flow is over for others with its last train."""

_UNITS_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_TIME = r"(\d{1,14}(?:\.\d{1,9})?)\s*(ns|us|ms|s)"
_TRAIN = re.compile(
    rf"(up|down)\s+(\d{{1,13}})(?:\s+(parts|streams)\s+(\d{{1,13}}(?:,\d{{1,13}})*))?(?:\s+pace\s+{_TIME})?", re.ASCII
)
_WAIT = re.compile(rf"wait\s+{_TIME}", re.ASCII)


@dataclass(frozen=True)
class Train:
    """One train of a script.

    Parameters
    ----------
    direction : str
        ``up`` or ``down``, as in a flow list.
    size_bytes : int
        Payload, bytes.
    wait_ns : int
        Think time before it, ns.
    pace_ns : int
        Time between its packets, ns; 0 sends what the window allows.
    parts : tuple of int
        Bytes up to the end of each part, 1 to `size_bytes`, in any order.
    streams : bool
        Whether each part is a stream of its own; then they are in order, and the last one ends the train.
    done : bool
        Of the last train: the flow counts as over for others when it has come in.
    """

    direction: str
    size_bytes: int
    wait_ns: int = 0
    pace_ns: int = 0
    parts: tuple[int, ...] = ()
    streams: bool = False
    done: bool = False


def parsed(text: str) -> list[Train]:
    """Read a script.

    Parameters
    ----------
    text : str
        As above.

    Returns
    -------
    list of Train
        In turn; at least one.

    Raises
    ------
    MayflyError
        A part that is none, a value out of its bounds, or a wait that no train follows.

    Examples
    --------
    >>> parsed("up 400 | wait 20ms | down 14600 pace 1ms")[1]
    Train(direction='down', size_bytes=14600, wait_ns=20000000, pace_ns=1000000, parts=(), streams=False, done=False)
    >>> parsed("up 400 | pause 1s")
    Traceback (most recent call last):
    mayfly.errors.MayflyError: 'pause 1s': must be `up BYTES [parts BYTES,...] [pace TIME]`, `up BYTES streams ...
    """
    trains, wait_ns = [], None
    told = [part.strip() for part in text.split("|")]
    done = len(told) > 1 and told[-1] == DONE
    for part in told[:-1] if done else told:
        if found := _WAIT.fullmatch(part):
            if wait_ns is not None:
                raise MayflyError(f"{_short(part)}: must not follow another wait")
            wait_ns = _ns(part, *found.groups())
        elif found := _TRAIN.fullmatch(part):
            size_bytes = int(found[2])
            if not 1 <= size_bytes <= MOST_BYTES:
                raise MayflyError(f"{_short(part)}: must be from 1 to 2^40 bytes")
            ends = tuple(int(end) for end in (found[4] or "").split(",") if end)
            if streams := found[3] == "streams":
                ends = _stream_ends(part, ends, size_bytes, found[5] is not None)
            if wrong := [end for end in ends if not 1 <= end <= size_bytes]:
                raise MayflyError(f"{_short(part)}: part {wrong[0]}: must be from 1 to {size_bytes} bytes")
            pace_ns = _ns(part, found[5], found[6]) if found[5] else 0
            trains.append(Train(found[1], size_bytes, wait_ns or 0, pace_ns, ends, streams))
            wait_ns = None
        else:
            bound = "`up BYTES [parts BYTES,...] [pace TIME]`, `up BYTES streams BYTES,...`, or `down`, or `wait TIME`"
            raise MayflyError(f"{_short(part)}: must be {bound}")
    if wait_ns is not None:
        raise MayflyError(f"{_short(part)}: must come before a train")
    if sum(train.size_bytes for train in trains) > MOST_BYTES:
        raise MayflyError(f"{_short(text)}: must be at most 2^40 bytes in all")
    return [*trains[:-1], replace(trains[-1], done=True)] if done else trains


def _stream_ends(part: str, sizes: tuple[int, ...], size_bytes: int, paced: bool) -> tuple[int, ...]:
    """Where streams of ``sizes`` end that make up a train of ``size_bytes``."""
    if paced:
        raise MayflyError(f"{_short(part)}: must be without pace: its streams share the connection")
    if min(sizes) < 1 or sum(sizes) != size_bytes:
        raise MayflyError(f"{_short(part)}: streams: must be of 1 byte or more, {size_bytes} bytes in all")
    return tuple(accumulate(sizes))


def _ns(part: str, number: str, unit: str) -> int:
    whole, _, rest = number.partition(".")
    ns = int(whole) * _UNITS_NS[unit] + round(float(f"0.{rest or 0}") * _UNITS_NS[unit])
    if ns > LONGEST_S * 1e9:
        raise MayflyError(f"{_short(part)}: must be at most a day")
    return ns


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


def written(trains: list[Train]) -> str:
    """A script as text.

    Parameters
    ----------
    trains : list of Train
        In turn.

    Returns
    -------
    str
        As :func:`parsed` reads it.

    Examples
    --------
    >>> written([Train("up", 400), Train("down", 9000, wait_ns=20_000_000)])
    'up 400 | wait 20ms | down 9000'
    >>> written([Train("down", 9000, parts=(3000, 9000), streams=True)])
    'down 9000 streams 3000,6000'
    """
    parts = []
    for train in trains:
        if train.wait_ns:
            parts.append(f"wait {_time(train.wait_ns)}")
        pace = f" pace {_time(train.pace_ns)}" if train.pace_ns else ""
        ends = f" parts {','.join(map(str, train.parts))}" if train.parts else ""
        if train.streams:
            sizes = (end - before for before, end in pairwise((0, *train.parts)))
            ends = f" streams {','.join(map(str, sizes))}"
        parts.append(f"{train.direction} {train.size_bytes}{ends}{pace}")
        parts += [DONE] if train.done else []
    return " | ".join(parts)


def _time(ns: int) -> str:
    unit = next(unit for unit in ("s", "ms", "us", "ns") if ns % _UNITS_NS[unit] == 0)
    return f"{ns // _UNITS_NS[unit]}{unit}"


def volumes(scripts: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Payload and first direction of each script.

    Parameters
    ----------
    scripts : polars.Series of str, shape (n_flows,)
        Null for a flow without one.

    Returns
    -------
    size_bytes, first : polars.Series, shape (n_flows,)
        Payload of all trains, bytes, and direction of the first; null without script.

    Raises
    ------
    MayflyError
        The first script that is none, with its row, from 1.
    """
    known = {}
    for text in scripts.unique().drop_nulls():
        try:
            known[text] = parsed(text)
        except MayflyError as error:
            row = (scripts == text).arg_max()
            raise MayflyError(f"row {row + 1}: script: {error}") from None
    texts = list(known)
    sizes = [sum(train.size_bytes for train in trains) for trains in known.values()]
    firsts = [trains[0].direction for trains in known.values()]
    return (
        scripts.replace_strict(texts, sizes, default=None, return_dtype=pl.Int64),
        scripts.replace_strict(texts, firsts, default=None, return_dtype=pl.String),
    )


def wire_bytes(scripts: pl.Series, mss: int, header_bytes: int) -> dict[str, pl.Series]:
    """What each script brings in either direction.

    Parameters
    ----------
    scripts : polars.Series of str, shape (n_flows,)
        Null for a flow without one.
    mss, header_bytes : int
        Payload of a full TCP packet and header of every TCP packet, bytes.

    Returns
    -------
    dict of polars.Series, each of shape (n_flows,)
        ``down`` and ``up``, bytes of the data packets with headers; null without script.

    Examples
    --------
    >>> wire_bytes(pl.Series(["up 400 | wait 20ms | down 3000", None]), 1460, 40)["down"].to_list()
    [3120, None]
    """
    known = {text: parsed(text) for text in scripts.unique().drop_nulls()}

    def brought(way: str) -> list[int]:
        sizes = [[train.size_bytes for train in trains if train.direction == way] for trains in known.values()]
        return [sum(size + -(-size // mss) * header_bytes for size in own) for own in sizes]

    return {
        way: scripts.replace_strict(list(known), brought(way), default=None, return_dtype=pl.Int64)
        for way in ("down", "up")
    }


def native(flows: pl.DataFrame) -> dict[str, Integers | dict[str, Integers]]:
    """Trains of the scripted flows as the native module takes them.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        A normalised flow list.

    Returns
    -------
    dict of ndarray, each of shape (n_trains,)
        ``flow``, ``forward``, ``bytes``, ``wait_ns``, ``pace_ns``, by flow and place; and ``parts``, arrays of shape
        (n_parts,) ``flow``, ``train``, ``end``, ``number``, by flow, train and end; and ``streams``, arrays of shape
        (n_trains,) ``flow``, ``train`` of the trains whose parts are streams, by both; and ``done``, array of the
        flows that are over for others with their last train.
    """
    rows: list[tuple[int, ...]] = []
    parts: list[tuple[int, ...]] = []
    streams: list[tuple[int, ...]] = []
    done: list[int] = []
    known: dict[str, list[Train]] = {}
    if "script" in flows.columns:
        scripted = flows.with_row_index("row").filter(pl.col("script").is_not_null())
        for row, text, direction in scripted.select("row", "script", "direction").iter_rows():
            trains = known.get(text) or known.setdefault(text, parsed(text))
            rows += [(row, t.direction == direction, t.size_bytes, t.wait_ns, t.pace_ns) for t in trains]
            done += [row] if trains[-1].done else []
            for place, train in enumerate(trains):
                streams += [(row, place)] if train.streams else []
                ends = sorted((end, number) for number, end in enumerate(train.parts, 1))
                parts += [(row, place, end, number) for end, number in ends]
    names = {"flow": np.uint32, "forward": np.uint8, "bytes": np.uint64, "wait_ns": np.uint64, "pace_ns": np.uint64}
    of_parts = {"flow": np.uint32, "train": np.uint32, "end": np.uint64, "number": np.uint32}
    of_streams = {"flow": np.uint32, "train": np.uint32}
    columns: dict[str, Integers | dict[str, Integers]] = {"done": np.array(done, np.uint32)}
    columns |= {"parts": _columns(parts, of_parts), "streams": _columns(streams, of_streams)}
    return _columns(rows, names) | columns


def _columns(rows: list[tuple[int, ...]], types: Mapping[str, type]) -> dict[str, Integers]:
    columns = zip(*rows, strict=True) if rows else [()] * len(types)
    return {name: np.array(values, dtype) for (name, dtype), values in zip(types.items(), columns, strict=True)}


def trains_frame(trains: pl.DataFrame, flows: pl.DataFrame) -> pl.DataFrame:
    """When the trains of scripted flows were under way.

    Parameters
    ----------
    trains : polars.DataFrame, shape (n_trains, 6)
        Native table ``trains``.
    flows : polars.DataFrame
        The list that was run.

    Returns
    -------
    polars.DataFrame, shape (n_trains, 7)
        ``flow_id``, ``train``, ``part`` (null for all of the train), ``direction``, ``size_bytes`` (of a part: up to
        its end), ``start_s``, ``end_s``.
    """
    rows, sizes = trains["flow_id"], []
    known: dict[str, list[Train]] = {}
    for text, train, part in zip(flows["script"].gather(rows), trains["train"], trains["part"], strict=True):
        own = (known.get(text) or known.setdefault(text, parsed(text)))[train]
        sizes.append(own.size_bytes if part is None else own.parts[part - 1])
    down = (flows["direction"].gather(rows) == "down") == trains["forward"]
    return trains.select(
        flows["flow_id"].gather(rows),
        "train",
        "part",
        pl.when(down).then(pl.lit("down")).otherwise(pl.lit("up")).alias("direction"),
        pl.Series("size_bytes", sizes, dtype=pl.Int64),
        "start_s",
        "end_s",
    )
